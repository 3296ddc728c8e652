"""Names, files, paths and codes that training never had: `Kazimierz`, `report.pdf`, `/usr/bin`, `camelCase`, `C++`.

A network spells an unknown name from subwords and silently writes another one. If it has learned to carry placeholders,
such words are carried. Words that do not look like ordinary ones (`snake_case`, `C++`, `R&B`, `NULL`, `report.pdf`) are
carried in any language. Capitalised words are carried if the training text shows that capitals mark names, because its
rare capitalised words also appear in the target, as in English. In German, where every noun has a capital, the words
that resemble no known word are carried: whether or not they are names, a network can only guess. Knows the profiles of
both sides, no networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import COVERS, EMOJI_COVER, Span, SpanKind
from nmt_cli.text.characters import ANY_CLOSING, ANY_OPENING, BRACKETS, END_MARKS, INVISIBLE, LIVELY_MARKS, PAUSES
from nmt_cli.text.profile import TextProfile, split_compound

# Patterns as text: compiled at their first use, which most texts do not need.
NAME_TOKEN = rf"[^\s—–…{COVERS}{EMOJI_COVER}]+"
PART = rf"[^/{PAUSES}{LIVELY_MARKS}{re.escape(BRACKETS)}\"]+"  # of what stands between blanks
BEFORE_WORD = f"{ANY_OPENING}<*_{INVISIBLE}"
BEHIND_WORD = f"{END_MARKS}{PAUSES}{ANY_CLOSING}>*_{INVISIBLE}"
CALL = r"(?<![\w.])(?:[A-Za-z_][\w.]{1,60}\(\)|[a-zA-Z]\([a-z]\)|__[a-z]\w{0,40}__)(?!\w)"
OPTION = r"--[A-Za-z]\w"
NOT_IN_WORDS = r"[_\\@#+=^|~*]|(?<=[^\W\d_])&(?=[^\W\d_])"  # what no word has
GLUED = r"-{2,}|[#=|~^+]+"  # signs that may touch a word of the language and are no part of it
MERGE_FIELD = r"[«‹][A-Z]\w{1,40}[»›]"  # of a letter, where no quotation has such marks
LONE_SIGN = r"[&+=<>|/\\^~@#*→←⇒]{1,3}|<?[=-]{1,2}>|<[=-]{1,2}"  # between two words
ENUMERATOR = r"(?<!\S)\((?:[a-z]|[ivx]{2,4})\)(?=[\s,;]|$)"  # where one is not alone: (a) the house, (b) the garden
# A formula of letters and small numbers: x = y + 2, A -> B
FORMULA = (
    r"(?<![^\s(])[A-Za-z] (?:[=+*/<>^]|[<>=!]=|[-=]>) (?:[A-Za-z]|\d{1,2})"
    rf"(?: (?:[=+*/<>^-]|[<>=!]=|[-=]>) (?:[A-Za-z]|\d{{1,2}}))*(?=[\s{re.escape(BEHIND_WORD)}]|$)"
)
ABBREVIATION = r"[^\W\d_]{1,5}\.(?=,|\s+[\da-zß-ÿ])"  # its full stop ends no sentence: Dec. 24
INITIALS = r"(?<![\w.])(?:[A-ZÄÖÜ]\. ?){1,4}$"  # before a name: J. R. R. Tolkien
INITIALS_LENGTH = 12  # characters
FILE_TYPES = frozenset(
    "aac apk avi bak bat bin bmp bz2 cfg cmd conf cpp css csv dat db deb dll dmg doc docx eml env epub exe flac"
    " gif gz htm html ico ini ipynb iso jar java jpeg jpg js json jsx lock log md mkv mov mp3 mp4 mpg odp ods odt"
    " ogg pdf php png ppt pptx ps py rar rb rpm rs rss rtf scss sh sql srt svg tar tex tgz tiff tmp tmx toml ts"
    " tsv tsx ttf txt vcf vtt wav webm webp woff xhtml xlf xls xlsx xml xz yaml yml zip".split()
)
POSSESSIVE = r"['’]s?$"
LONGEST_CODE = 5  # letters of a text in capitals that is a code, not shouting: EUR, NULL
RARE_ACRONYM_COUNT = 10  # occurrences at most of an acronym that both sides have, and that a network may not know
FREQUENT_WORD_COUNT = 100  # occurrences from which a letter is a word: I
RARE_NAME_COUNT = 3  # occurrences at most; rare words show what a word that never occurred is likely to be
FEWEST_RARE = 10  # as many rare words with a capital show whether they are names
SHARE_OF_NAMES = 1 / 3
STEM = 4  # letters that a known word and its unknown form have in common at least
JOINING = "(?:e?s|e?n|er)$"  # between the parts of a compound: Arbeit-s-zeit
SHORTEST_MODIFIER = 3
NEW_WORDS_SELDOM = 0.03  # largest share of new words among which those with a capital are carried; 48,000 pairs have it
MAXIMUM_ENDING = 2  # letters at most by which a form differs from the known word
PARTS_REMEMBERED = 20_000


class Name(NamedTuple):
    """A carried range of a text."""

    start: int
    end: int
    is_code: bool = True  # whether it is written as no word is
    is_new: bool = False  # whether it is a word that training never had
    is_sure: bool = True  # else it may be another form of a known word
    is_mark: bool = False  # whether it is signs that touch a word of the language


class WordReader(Protocol):
    """Mistyped words, as `rewriting` knows them."""

    def is_known(self, word: str) -> bool: ...

    def find_intended(self, word: str, *, is_first: bool) -> str | None: ...

    def may_be_mistyped(self, word: str, *, is_first: bool) -> bool: ...


class CharacterReader(Protocol):
    """Characters that training never had, as `rewriting` knows them."""

    def spell(self, word: str) -> str: ...


class FormReader(Protocol):
    """Words that `rewriting` reads as others, and which are no names."""

    def cover_forms(self, text: str) -> str: ...


class NameFinder:
    """Finds the words of a text to carry."""

    def __init__(
        self,
        source: TextProfile,
        target: TextProfile,
        slips: WordReader,
        characters: CharacterReader,
        forms: FormReader,
    ) -> None:
        self.source, self.target = source, target
        self.slips, self.characters, self.forms = slips, characters, forms
        # Parts of texts between blanks that are no name and no part of one, and those that are no name alone.
        self.ordinary: set[str] = set()
        self.nameless: set[str] = set()

    @cached_property
    def capitals_are_names(self) -> bool:
        """Whether rare words with a capital within a sentence are names, which appear in the target too."""
        rare = self.source.words.list_capitalised(RARE_NAME_COUNT)
        carried = sum(map(self.target.words.contains, rare))
        return len(rare) >= FEWEST_RARE and carried >= SHARE_OF_NAMES * len(rare)

    def find_names(self, text: str) -> list[Name]:
        """Returns the ranges of words to carry, merging neighbours; the other spans of the text are covered."""
        if len(text) <= 2 * LONGEST_CODE and text.isupper() and (code := self.find_lone_code(text)):
            return [code]
        text = self.forms.cover_forms(text)
        if all(part in self.ordinary or self.is_ordinary(part) for part in text.split()):
            return []
        calls = [Name(*match.span()) for match in re.finditer(CALL, text)] if "(" in text or "__" in text else []
        calls += find_enumerators(text) if "(" in text else []
        calls += [Name(*match.span()) for match in re.finditer(FORMULA, text)]
        calls += self.find_merge_fields(text)
        covered = cover_names(text, calls)
        names: list[Name] = []
        for name in sorted([*calls, *self.find_words(covered)]):
            is_like = names and names[-1].is_code == name.is_code and not (names[-1].is_mark or name.is_mark)
            if is_like and text[names[-1].end : name.start] in (" ", "/"):
                last = names.pop()
                is_new, is_sure = last.is_new or name.is_new, last.is_sure or name.is_sure
                name = Name(last.start, name.end, name.is_code, is_new, is_sure)
            names.append(name)
        ends = [0, *(name.end for name in names)]
        return [take_initials(name, text, end) for name, end in zip(names, ends, strict=False) if name.is_sure]

    def find_lone_code(self, text: str) -> Name | None:
        """Returns the only word of a text if it is a few capitals, and no word that training had in small letters."""
        word = text.strip().lstrip(BEFORE_WORD).rstrip(BEHIND_WORD)
        usual = self.source.find_usual_case(word)
        is_code = word.isalpha() and len(word) <= LONGEST_CODE and (usual is None or usual == word)
        if not is_code or (len(word) == 1 and self.source.count_word(word) >= FREQUENT_WORD_COUNT):
            return None
        return Name(text.index(word), text.index(word) + len(word))

    def find_spans(self, text: str) -> Iterator[Span]:
        """Yields the names and codes of a text as spans."""
        for name in self.find_names(text):
            kind = SpanKind.CODE if name.is_code else SpanKind.NAME if name.is_new else SpanKind.RARE_NAME
            kind = SpanKind.SIGN if name.is_mark else kind
            yield Span(name.start, name.end, text[name.start : name.end], kind, is_extracted=name.is_mark)

    def find_merge_fields(self, text: str) -> Iterator[Name]:
        """Yields words between guillemets within a text, where training hardly ever quoted with them."""
        if ("«" in text or "‹" in text) and self.has_rare_sign("«"):
            yield from (Name(*match.span()) for match in re.finditer(MERGE_FIELD, text))

    def is_ordinary(self, part: str) -> bool:
        """Whether a part of a text between blanks is a known word or lacks a capital. Fast, since nearly all are."""
        word = part.lstrip(BEFORE_WORD).rstrip(BEHIND_WORD)
        letters = word.replace("'", "")
        if not letters.isalpha() or "()" in part or "«" in part or part.startswith("__") or re.match(ENUMERATOR, part):
            return False
        if not word.islower() and (not self.slips.is_known(word) or self.is_rare_name(word)):
            return False
        remember_part(part, self.ordinary)
        return True

    def find_words(self, text: str) -> Iterator[Name]:
        """Yields the words of a text to carry."""
        is_shouted = text.isupper()
        for match in re.finditer(NAME_TOKEN, text):
            part = match[0]
            if part in self.ordinary or part in self.nameless:
                continue
            bare = part.lstrip(BEFORE_WORD)
            if bare.startswith(".") and part.endswith(f"*{bare}"):
                bare = f"*{bare}"  # all files of a type: *.txt
            start = match.start() + len(part) - len(bare)
            written = re.sub(POSSESSIVE, "", bare.rstrip(BEHIND_WORD))
            word = self.characters.spell(written)
            if re.fullmatch(LONE_SIGN, part) and self.has_rare_sign(part):
                yield Name(*match.span())
            elif self.is_code(word):
                yield from self.find_glued(written, start) or [Name(start, start + len(written))]
            elif re.compile(ABBREVIATION).match(text, start):
                continue
            elif names := list(self.find_in_word(written, start, is_shouted=is_shouted)):
                yield from names
            elif word == word.lower() or self.source.has_word(word):  # whatever stands around it
                remember_part(part, self.nameless)

    def find_glued(self, written: str, start: int) -> list[Name]:
        """Returns the signs that touch known words, if there is nothing else between two blanks; else it is a code."""
        signs = list(re.finditer(GLUED, written))
        words = [word.strip(END_MARKS + PAUSES) for word in re.split(GLUED, written)]
        if not all(word == "" or self.source.has_word(word) for word in words):
            return []
        for before, sign, after in zip(words[:-1], signs, words[1:], strict=True):
            begins = after[:1].isupper() and (start == 0 or self.source.find_usual_case(after) != after)
            if not (begins if after and sign[0] != "|" else len(before) > 1):
                return []
        return [Name(start + sign.start(), start + sign.end(), is_mark=True) for sign in signs]

    def find_in_word(self, written: str, start: int, *, is_shouted: bool) -> Iterator[Name]:
        """Yields the word that begins at `start` if it is a name, or those of its parts that are: Tom/Kazimierz."""
        for part in re.finditer(PART, written):
            word, begin = self.characters.spell(part[0]), start + part.start()
            if self.is_name(word, is_first=begin == 0, is_shouted=is_shouted):
                is_new, is_sure = not self.source.has_word(word), not self.is_form(word)
                yield Name(begin, begin + len(part[0]), is_code=False, is_new=is_new, is_sure=is_sure)

    def has_rare_sign(self, part: str) -> bool:
        """Whether training almost never had one of the signs in this part of a text."""
        return any(self.source.character_counts.get(sign, 0) <= RARE_NAME_COUNT for sign in part)

    def is_code(self, word: str) -> bool:
        """Whether a word, without surrounding marks, is written unlike any word of a language."""
        if word.isalpha() or not any(map(str.isalpha, word)):
            return False
        if re.search(NOT_IN_WORDS, word) or re.match(OPTION, word):
            return len(word) > 1 and not self.source.has_word(word)
        if "/" in word:
            return self.is_path(word)
        return "." in word and self.is_file(word)

    def is_name(self, word: str, *, is_first: bool, is_shouted: bool) -> bool:
        """Whether a word, without surrounding marks, may be a name that training hardly had."""
        if len(word) < 2 or word == word.lower():
            return False
        if self.source.has_word(word):
            return self.is_rare_name(word)
        unknown = [part for part in split_compound(word) if not self.source.has_word(part)]
        if not any(part != part.lower() for part in unknown) or not all(map(str.isalpha, unknown)):
            return False
        is_camel = any(part[1:] != part[1:].lower() for part in unknown)  # camelCase, NULL
        if is_camel and not is_shouted:
            return self.slips.find_intended(word, is_first=is_first) is None
        if not self.capitals_are_names and (is_shouted or self.may_be_understood(word, is_first=is_first)):
            return False
        return not self.slips.may_be_mistyped(word, is_first=is_first)

    def may_be_understood(self, word: str, *, is_first: bool) -> bool:
        """Whether a network may understand an unknown capitalised word, in a language where capitals mark more than
        names.

        It may if the word is composed of known words or, at the beginning of a sentence, where verbs have capitals too,
        has the stem of one; and whenever unknown words are too frequent to carry them all.
        """
        if self.source.unseen_share > NEW_WORDS_SELDOM:
            return True
        key = word.lower()
        has_stem = is_first and self.source.words.find_line(key[: max(STEM, len(key) - MAXIMUM_ENDING)]) is not None
        return has_stem or any(self.is_compound(part) for part in split_compound(key))

    def is_compound(self, word: str) -> bool:
        """Whether a lower-case word is two known words, possibly joined by an element such as -s-: Schul-buch."""
        contains = self.source.words.contains
        for start in range(STEM, len(word) - SHORTEST_MODIFIER + 1):
            first, last = word[:start], word[start:]
            stem = re.sub(JOINING, "", first)
            if not any(map(contains, {first, stem, f"{first}e", f"{first}en"})):
                continue
            if any(contains(form) for form in (last, last[:-1], last[:-2]) if len(form) >= STEM):
                return True
        return False

    def is_rare_name(self, word: str) -> bool:
        """Whether a capitalised word is very rare and written identically in the target."""
        count, in_target = self.source.find_word(word), self.target.find_word(word)
        forms = [known.forms[0][0] for known in (count, in_target) if known.forms]
        most = RARE_ACRONYM_COUNT if word.isupper() else RARE_NAME_COUNT
        return count.total <= most and word[0].isupper() and forms == [word, word]

    def is_form(self, word: str) -> bool:
        """Whether a word may be an inflected form of a known word, because training has its beginning."""
        stems = (word[:-length] for length in range(1, MAXIMUM_ENDING + 1))
        return not self.source.has_word(word) and any(
            len(stem) >= STEM and stem.isalpha() and self.source.has_word(stem) for stem in stems
        )

    def is_path(self, word: str) -> bool:
        """Whether a word with a slash is a path, a unit or a sign such as I/O, not alternatives such as and/or."""
        parts = [part for part in word.replace("/-", "/").split("/") if part]  # Mieter/-in has two words
        if word[0] in "/." or word.count("/") > 1 or self.is_file(parts[-1]):
            return True
        if all(len(part) == 1 and part.isupper() for part in parts):
            return True
        short = [part for part in parts if len(part) < STEM or part.isupper()]
        return len(parts) > 1 and any(not self.source.has_word(part) for part in short)

    def is_file(self, word: str) -> bool:
        """Whether a word with a full stop names a file, a program or a member of one, and is no abbreviation."""
        first, *parts = word.split(".")
        if not parts or parts[-1] == "":
            return False
        if not first:  # .NET, .txt, not ...and
            return len(parts) == 1 and (parts[0].isupper() or not self.source.has_word(parts[0]))
        return parts[-1].lower() in FILE_TYPES or (len(parts) > 1 and all(len(part) > 1 for part in (first, *parts)))


class NameKind(Kind):
    """Names and codes, found by the profiles of both sides."""

    def find(self, text: str, spans: Sequence[Span], context: Context) -> Iterator[Span]:
        yield from context.names(text) if context.names is not None else ()


NAMES = NameKind(SpanKind.NAME)


def remember_part(part: str, memory: set[str]) -> None:
    """Adds a part of a text to a memory, emptying it first when full."""
    if len(memory) >= PARTS_REMEMBERED:
        memory.clear()
    memory.add(part)


def cover_names(text: str, names: list[Name]) -> str:
    """Returns a text with the characters of these names covered."""
    characters = list(text)
    for name in names:
        characters[name.start : name.end] = COVERS[0] * (name.end - name.start)
    return "".join(characters)


def find_enumerators(text: str) -> list[Name]:
    """Returns the bracketed letters that enumerate parts of a sentence; one at its beginning belongs to its frame."""
    matches = list(re.finditer(ENUMERATOR, text))
    return [Name(*match.span()) for match in matches if match.start() > 0] if len(matches) > 1 else []


def take_initials(name: Name, text: str, start: int) -> Name:
    """Extends a name by preceding initials that begin at `start` or later."""
    before = text[max(start, name.start - INITIALS_LENGTH) : name.start]
    initials = None if name.is_code else re.search(INITIALS, before)
    return name._replace(start=name.start - len(initials[0])) if initials and initials[0] != "I. " else name
