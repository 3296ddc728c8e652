"""Terms and the translations that they must have.

Knows text only: the terms of a line become spans, and take the way of all protected spans.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from nmt_cli.errors import DataError
from nmt_cli.text.normalise import UNSPACED, find_unspaced, normalise
from nmt_cli.text.spans import Span

# A term begins and ends beside what is no letter, and where either neighbour is of a script without blanks. Without
# IGNORECASE, which takes 10 ms to compile such a set of characters.
EDGE = rf"(?-i:(?<!\w)|(?!\w)|(?<={UNSPACED})|(?={UNSPACED}))"

VARIATIONS = "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))  # of emoji and of Han


@dataclass(frozen=True)
class Glossary:
    """Target terms by source term, both normalised."""

    terms: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> Glossary:
        """A file of `source TAB target`, a term a line; blank lines and lines that begin with `#` are passed over.

        Raises DataError naming the line for anything else, and for two targets of one source.
        """
        terms: dict[str, str] = {}
        lines: dict[str, int] = {}
        for number, raw in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            where = f"{path}, line {number:,}"
            line = decode_line(raw, where)
            if not line.strip() or line.startswith("#"):
                continue
            source, target = parse_line(line, where)
            if terms.get(source, target) != target:
                raise DataError(
                    f"{where}: {source!r} is already {terms[source]!r} on line {lines[source]:,}",
                    hint="keep one of the two lines",
                )
            terms[source], lines[source] = target, lines.get(source, number)
        if not terms:
            raise DataError(f"{path} holds no terms", hint="write a term a line: source, tab, target")
        return cls(terms)

    @cached_property
    def folded(self) -> dict[str, list[str]]:
        """The source terms by what they are without regard to case."""
        entries: dict[str, list[str]] = {}
        for source in self.terms:
            entries.setdefault(fold_case(source), []).append(source)
        return entries

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the terms as whole words, the longest first; any blanks stand for the blanks in a term."""
        longest_first = sorted(self.terms, key=len, reverse=True)
        bodies = (r"\s+".join(map(re.escape, term.split())) for term in longest_first)
        return re.compile(f"{EDGE}(?:{'|'.join(bodies)}){EDGE}", re.IGNORECASE)

    def find(self, text: str, spans: list[Span]) -> list[Span]:
        """`spans` and the terms in `text` that overlap none of them, in order."""
        protected = iter([*spans, Span(len(text) + 1, len(text) + 1, "", is_extracted=False)])
        following, terms = next(protected), []
        whole, places = compose(text)
        position = 0
        while match := self.pattern.search(whole, position):
            target = None if is_marked(whole, match) else self.choose_target(match[0])
            position = match.start() + 1 if target is None else match.end()  # in what is no term another may stand
            start, end = places[match.start()], places[match.end()]
            while following.end <= start:
                following = next(protected)
            if target is not None and end <= following.start:
                terms.append(Span(start, end, target, is_extracted=False))
        return sorted([*spans, *terms], key=lambda span: span.start)

    def choose_target(self, term: str) -> str | None:
        """What a term as it stands in a text becomes; all in capitals, or capitalised, if only the term is so.

        None if it is no term after all: to `re` i and ı are one letter.
        """
        written = normalise(term)
        if written in self.terms:
            return self.terms[written]
        source = next((term for term in self.folded.get(fold_case(written), []) if is_same_word(term, written)), None)
        if source is None:
            return None
        target = self.terms[source]
        if written.isupper() and len(written) > 1:
            return target.upper()
        return target[:1].upper() + target[1:] if written[:1].isupper() else target


def is_marked(text: str, match: re.Match[str]) -> bool:
    r"""Whether a mark stands beside the match, as a vowel sign of a longer word may; no mark is `\w`.

    In scripts without blanks the mark before a word is of the word before it.
    """
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    beside = ("" if find_unspaced(before) else before) + after
    return any(unicodedata.category(character) in ("Mn", "Mc") and character not in VARIATIONS for character in beside)


def is_same_word(word: str, other: str) -> bool:
    """Whether two words that fold to the same are the same: ı is a letter of its own, whose capital is I."""
    return not any({a, b} in ({"i", "ı"}, {"İ", "ı"}) for a, b in zip(word, other, strict=True))


def fold_case(text: str) -> str:
    """`text` without regard to case as `re` has it, to which ı and İ are i, ſ is s and ς is σ, but no ß is ss."""
    folds = ((character, character.casefold()) for character in text.replace("İ", "i").replace("ı", "i"))
    return "".join(fold if len(fold) == 1 else character.lower() for character, fold in folds)


def compose(text: str) -> tuple[str, Sequence[int]]:
    """`text` in NFC, as terms are, and for each of its places the one in `text`."""
    if unicodedata.is_normalized("NFC", text):
        return text, range(len(text) + 1)
    parts: list[str] = []  # of `text`, each with all that a character of NFC is composed of
    for character in text:
        if parts and normalise_composed(parts[-1] + character) != normalise_composed(parts[-1]) + character:
            parts[-1] += character
        else:
            parts.append(character)
    starts = accumulate(map(len, parts), initial=0)
    places = [start for start, part in zip(starts, parts, strict=False) for _ in normalise_composed(part)]
    return "".join(map(normalise_composed, parts)), [*places, len(text)]


def normalise_composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def decode_line(raw: bytes, where: str) -> str:
    try:
        return raw.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: byte 0x{raw[error.start]:02x} is not valid UTF-8") from error


def parse_line(line: str, where: str) -> tuple[str, str]:
    """Source and target of a line, normalised."""
    columns = [normalise(column) for column in line.split("\t")]
    if len(columns) != 2 or not all(columns):
        raise DataError(
            f"{where}: a term is two texts with a tab between them, and this is {line[:60]!r}",
            hint="write the source term, a tab and the target term",
        )
    return columns[0], columns[1]
