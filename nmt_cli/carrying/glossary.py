"""Finds glossary terms, which become their required translations.

If `file` must become `Datei`, `Files and a file.` has one term, from 12 to 16, that is written `Datei`. The terms of
a line become spans, treated like all protected spans. The time to find them hardly grows with the size of the glossary.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from nmt_cli.carrying.spans import Kind, Span, SpanKind
from nmt_cli.errors import DataError
from nmt_cli.formats import name_place
from nmt_cli.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.formats.sniffing import HEAD, recognise_format
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.normalise import UNSPACED, find_unspaced, normalise
from nmt_cli.text.streams import decode_lines
from nmt_cli.text.words import APOSTROPHES


class PrefixIndex:
    """Sorted entries, each with the longest other entry that it begins with."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.entries = sorted(set(entries))
        self.longest = max(map(len, self.entries), default=0)
        self.shorter: list[int] = []  # the numbers of these other entries; -1 if there is none
        enclosing: list[int] = []
        for number, entry in enumerate(self.entries):
            while enclosing and not entry.startswith(self.entries[enclosing[-1]]):
                enclosing.pop()
            self.shorter.append(enclosing[-1] if enclosing else -1)
            enclosing.append(number)

    def find_at(self, text: str, start: int) -> Iterator[str]:
        """Yields the entries that begin at `start`, longest first."""
        text = text[start : start + self.longest]
        number = bisect_right(self.entries, text) - 1  # whatever stands there begins this entry, or is it
        while number >= 0:
            if text.startswith(self.entries[number]):
                yield self.entries[number]
            number = self.shorter[number]


# One of the two neighbours is not a letter, or belongs to a script without blanks.
# Text, which Python compiles and caches at its first use: few lines have a glossary.
TERM_EDGE = rf"(?<!\w)|(?!\w)|(?<={UNSPACED})|(?={UNSPACED})"
BEHIND_EDGE = rf"(?<!\w.)|(?<!\w)|(?<={UNSPACED}.)|(?<={UNSPACED})"  # the same, one character later

LINES = ("text", "tsv")  # formats with a term on each line
SHORTEST_STEM = 3  # letters that all forms of a word have in common

SEVERAL_BLANKS = re.compile(r"\s\s|[^\S ]")  # or one that is no space

LIKE_AN_APOSTROPHE = f"{APOSTROPHES}ʔ"
ONE_APOSTROPHE = str.maketrans(dict.fromkeys(LIKE_AN_APOSTROPHE, APOSTROPHES[0]))

# Variation selectors, of emoji and of Han characters.
VARIATIONS = "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


@dataclass(frozen=True)
class Glossary:
    """The target term of each source term, both normalised."""

    terms: Mapping[str, str]
    ambiguous: Sequence[str] = ()  # the source terms of which further rows had another target

    @classmethod
    def load(cls, path: Path, languages: tuple[str, str] = ("", "")) -> Glossary:
        """Reads a file with one term per line, `source TAB target`; skips headings, blank lines and `#` comments.

        Other formats of pairs, such as spreadsheets, are read as `nmt prepare` reads them. Headings that name both
        `languages` choose the columns, in any order. Raises DataError, naming the line, for any line in another form.
        """
        from nmt_cli.formats.table_columns import are_headings, find_side  # most lines have no glossary

        content = path.read_bytes()
        format = recognise_format(path, content[:HEAD])
        if format.name not in LINES:
            from nmt_cli.formats.opening import open_reader

            reader = open_reader(CorpusFile(path), ReadOptions(has_comments=True))
            if reader.has_columns:
                source, target = languages
                reader.options = replace(reader.options, source_language=source or None, target_language=target or None)
            try:
                return cls.from_rows([(row.line, [row.source, row.target]) for row in reader], str(path))
            except DataError as error:
                if "--source-column" not in str(error.hint):  # which this command lacks
                    raise
                hint = "leave only the two columns of the terms, or name the languages of the model above them"
                raise DataError(error.message, hint=hint) from None
        lines = list(decode_lines(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), str(path)))
        rows = [[] if line.startswith("#") else line.rstrip("\r").split("\t") for line in lines]
        first, *others = [number for number, row in enumerate(rows) if "".join(row).strip()] or [0]
        head = [rows[number] for number in (first, *others[:1])]
        sides = [find_side(head, len(rows[first]), language) for language in languages]
        columns = [side for side in sides if side is not None]
        has_columns = len({*columns}) == len(sides)
        if has_columns or (others and len(rows[first]) == 2 and are_headings(rows[first], ())):
            rows[first] = []
        if has_columns:
            rows = [[row[column] for column in columns] if len(row) > max(columns) else row for row in rows]
        return cls.from_rows(enumerate(rows, start=1), str(path))

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, Sequence[str]]], name: str) -> Glossary:
        """Makes a glossary from numbered rows of a source and a target term; skips empty rows. Raises DataError.

        If a term has several targets, the first one counts.
        """
        terms: dict[str, str] = {}
        ambiguous: dict[str, None] = {}
        for number, row in rows:
            if not "".join(row).strip():
                continue
            source, target = check_row(row, name_place(name, number))
            if terms.setdefault(source, target) != target:
                ambiguous[source] = None
        if not terms:
            raise DataError(f"there are no terms in {name}", hint="write one term per line: source, tab, target")
        return cls(terms, tuple(ambiguous))

    @cached_property
    def folded(self) -> dict[str, list[str]]:
        """The source terms by case-folded form."""
        entries: dict[str, list[str]] = {}
        for source in self.terms:
            entries.setdefault(fold_apostrophes(fold_case(source)), []).append(source)
        return entries

    @cached_property
    def index(self) -> PrefixIndex:
        return PrefixIndex(self.folded)

    @cached_property
    def beginning(self) -> re.Pattern[str]:
        """Matches where a term may start in a text whose case is folded."""
        first = "".join(map(re.escape, sorted({term[0] for term in self.folded})))
        first = first.replace(APOSTROPHES[0], LIKE_AN_APOSTROPHE)
        return re.compile(rf"[{first}](?:{BEHIND_EDGE})", re.DOTALL)

    def find_terms(self, text: str) -> Iterator[Span]:
        """Yields the terms in a text whose other spans are covered."""
        composed, offsets = AlignedText.from_text(text).compose()
        offsets = [*offsets, len(text)]
        position = 0
        for start, end in self.find_longest(composed):
            if start < position or has_mark_beside(composed, start, end):
                continue
            target = self.choose_target(composed[start:end])
            if target is not None:  # else, another term may begin inside of it
                yield Span(offsets[start], offsets[end], target, SpanKind.TERM)
                position = end

    def occurs_in(self, text: str) -> bool:
        """Whether a text contains one of the terms."""
        return next(self.find_terms(text), None) is not None

    def find_longest(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields the start and end of each term found as whole words; of those with the same start, the longest.

        A space in a term matches any number of spaces.
        """
        folded, offsets = fold_line(text)
        plain = fold_apostrophes(folded)
        for match in self.beginning.finditer(folded):
            start = match.start()
            ends = (start + len(term) for term in self.index.find_at(plain, start))
            end = next((end for end in ends if re.compile(TERM_EDGE).match(folded, end)), None)
            if end is not None:
                yield offsets[start], offsets[end - 1] + 1

    @cached_property
    def bare(self) -> dict[str, str]:
        """The source terms by their folded form without diacritics, which plurals may change: Vertrag, Verträge."""
        return {bare_word(fold_line(term)[0]): term for term in self.terms}

    @cached_property
    def most_words(self) -> int:
        return max(term.count(" ") for term in self.bare) + 1

    def find_forms(self, text: str, language: str) -> Iterator[tuple[str, str]]:
        """Yields words that look like another form of a term but are not in the glossary, each with that term.

        For "our landlords" and the term "landlord", it yields "landlords" and "landlord". Only a person knows how to
        translate that form. Finds nothing in a language without known `inflections`.
        """
        inflections = find_rules(language).inflections
        if not inflections:
            return
        inside = {position for span in self.find_terms(text) for position in range(span.start, span.end)}
        words = list(re.finditer(r"\w+", text))
        bare = [bare_word(fold_case(word[0])) for word in words]
        for number, word in enumerate(words):
            for base in () if word.start() in inside else list_bases(bare[number], inflections):
                for first in range(max(0, number + 1 - self.most_words), number + 1):
                    if (term := self.bare.get(" ".join([*bare[first:number], base]))) is not None:
                        yield text[words[first].start() : word.end()], term

    def has_target(self, target: str, text: str, language: str) -> bool:
        """Whether a text has a form of each word of a term's translation, judging by the known inflections."""
        inflections = find_rules(language).inflections

        def read_words(side: str) -> list[set[str]]:
            words = [bare_word(fold_case(word)) for word in re.findall(r"\w+", side)]
            return [{word, *list_bases(word, inflections)} for word in words]

        forms = set[str]().union(*read_words(text))
        return all(not forms.isdisjoint(bases) for bases in read_words(target))

    def choose_target(self, term: str) -> str | None:
        """Returns the translation of a term found in a text, with the term's capitals where the glossary lacks them.

        Returns None for a false match: `re` does not distinguish i from ı.
        """
        written = normalise(term)
        if written in self.terms:
            return self.terms[written]
        terms = self.folded.get(fold_apostrophes(fold_case(written)), [])
        source = next((term for term in terms if is_same_word(term, written)), None)
        if source is None:
            return None
        target = self.terms[source]
        if written.isupper() and len(written) > 1:
            return target.upper()
        return target[:1].upper() + target[1:] if written[:1].isupper() else target


TERMS = Kind(SpanKind.TERM, search=lambda _, text, context: context.find_terms(text) if context.find_terms else ())


def has_mark_beside(text: str, start: int, end: int) -> bool:
    r"""Whether a combining mark, such as a vowel sign of a longer word, adjoins a term; `\w` matches no marks.

    In scripts without spaces, a mark before a word belongs to the previous word.
    """
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    beside = ("" if find_unspaced(before) else before) + after
    return any(unicodedata.category(character) in ("Mn", "Mc") and character not in VARIATIONS for character in beside)


def bare_word(word: str) -> str:
    """Returns a word without its combining marks, including those of composed letters."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def list_bases(form: str, inflections: Mapping[str, str]) -> Iterator[str]:
    """Yields the words that `form` may be a form of: city, citie and citi for cities."""
    for ending, pattern in inflections.items():
        for end in range(SHORTEST_STEM, len(form)):
            if re.fullmatch(pattern, form[end:]):
                yield form[:end] + ending


def is_same_word(word: str, other: str) -> bool:
    """Whether two words with the same folded form are equal, distinguishing ı, whose capital is I, from i."""
    return not any({a, b} in ({"i", "ı"}, {"İ", "ı"}) for a, b in zip(word, other, strict=True))


def fold_line(text: str) -> tuple[str, Sequence[int]]:
    """Returns a case-folded text with one space between words, and the position of each character in `text`."""
    if not SEVERAL_BLANKS.search(text):
        return fold_case(text), range(len(text))
    words, offsets = list[str](), list[int]()
    for word in re.finditer(r"\S+", text):
        words.append(fold_case(word[0]))
        offsets += range(word.start(), word.end() + 1)  # and the blank behind it
    return " ".join(words), offsets[:-1]


def fold_case(text: str) -> str:
    """Folds the case of `text` as `re` does: ı and İ become i, ſ becomes s, ς becomes σ, but ß does not become ss."""
    if text.isascii():
        return text.lower()
    folds = ((character, character.casefold()) for character in text.replace("İ", "i").replace("ı", "i"))
    return "".join(fold if len(fold) == 1 else character.lower() for character, fold in folds)


def fold_apostrophes(text: str) -> str:
    """Returns a text in which one sign replaces all apostrophes and the letter that they often stand for."""
    return text if text.isascii() and "`" not in text else text.translate(ONE_APOSTROPHE)


def check_row(row: Sequence[str], where: str) -> tuple[str, str]:
    """Returns the normalised source and target term of a row. Raises DataError for a malformed one."""
    columns = [normalise(column) for column in row]
    if len(columns) != 2 or not all(columns):
        line = "\t".join(row)
        raise DataError(
            f"{where}: {line[:60]!r} is not a source term and a target term",
            hint="write the source term, a tab and the target term",
        )
    return columns[0], columns[1]
