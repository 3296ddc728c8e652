"""Finds names, files and codes that never occurred in training: `Kazimierz`, `report.pdf`, `C++`.

A network spells an unknown name from subwords and silently writes another one. If it has learned to copy placeholders,
`I met Kazimierz.` is read as `I met ⟦0⟧.`; `codes` finds the words that do not look like ordinary ones, in any
language. Capitalised words are protected if capitals mark names in the training text, that is, if its rare capitalised
words also appear in the target, as in English. In German, where every noun has a capital, the words that resemble no
known word are protected: whether or not they are names, a network can only guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Protocol

from nmt_cli.carrying.codes import (
    BEFORE_WORD,
    BEHIND_WORD,
    CodeFinder,
    make_code,
    may_be_phrase,
    strip_marks,
    widen_code,
)
from nmt_cli.carrying.people import find_firms, find_persons, find_places, may_be_place
from nmt_cli.carrying.spans import COVERS, EMOJI_COVER, Context, Kind, Span, SpanKind, cover_spans
from nmt_cli.languages.codes import read_given_names
from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.text.characters import BRACKETS, LIVELY_MARKS, PAUSES
from nmt_cli.text.profile import TextProfile, WordCounts, WordEndings, split_compound
from nmt_cli.text.words import WORDS_REMEMBERED, KnownWords, remember_by_word

# Patterns as text: compiled at their first use, which most texts do not need.
NAME_TOKEN = rf"[^\s—–…{COVERS}{EMOJI_COVER}]+"
PART = rf"[^/{PAUSES}{LIVELY_MARKS}{re.escape(BRACKETS)}\"]+"  # of what stands between blanks
ABBREVIATION = r"[^\W\d_]{1,5}\.(?=,|\s+[\da-zß-ÿ])"  # its full stop ends no sentence: Dec. 24
ACRONYM = r"(?<![^\W_])(?<![A-Z] )[A-Z]{2,}(?![^\W_]| [A-Z]{2})"
INITIALS = r"(?<![\w.])(?:[A-ZÄÖÜ]\. ?){1,4}$"  # before a name: J. R. R. Tolkien
INITIALS_LENGTH = 12  # characters
BETWEEN_NAMES = (" ", "/", " & ", "–")  # Söhne & Co, Mo–Fr
POSSESSIVE = r"['’]s?$"
RARE_ACRONYM_COUNT = 10  # occurrences at most of an acronym that both sides have, and that a network may not know
RARE_NAME_COUNT = 3  # occurrences at most; rare words show what a word that never occurred is likely to be
FEWEST_RARE = 10  # as many rare words with a capital show whether they are names
SHARE_OF_NAMES = 1 / 3
FEW_NAMES = 0.03  # of the words that end alike: of 840 new words of documentation 67 % end so, of 236 names 14 %
STEM = 4  # letters that a known word and its unknown form have in common at least
SHORTEST_PART = 3  # letters of a part of a compound
MOST_PARTS = 3  # of one
NEW_WORDS_SELDOM = 0.03  # largest share of new words among which those with a capital are carried; 48,000 pairs have it
MAXIMUM_ENDING = 2  # letters at most by which a form differs from the known word
NAME_KINDS = (SpanKind.NAME, SpanKind.RARE_NAME, SpanKind.PLACE)


class WordReader(Protocol):
    """Recognises mistyped words; implemented in `rewriting`."""

    def is_known(self, word: str) -> bool: ...

    def find_intended(self, word: str, *, is_first: bool) -> str | None: ...

    def may_be_mistyped(self, word: str, *, is_first: bool) -> bool: ...


class WordForms:
    """The words of the training text and the rules of their language."""

    def __init__(self, words: WordCounts, rules: LanguageRules) -> None:
        self.words, self.rules = words, rules
        self.is_known = remember_by_word(WORDS_REMEMBERED)(self.judge_part)

    def has_all(self, word: str, source: str) -> bool:
        """Whether all hyphenated parts of a word are known or occur in `source`, which must be in lower case."""
        key = word.lower()
        if self.words.has_occurred(key):
            return True
        return all(len(part) < SHORTEST_PART or part in source or self.is_known(part) for part in split_compound(key))

    def judge_part(self, key: str) -> bool:
        """Whether a word occurs, or is a form of one that does, or a compound of such words."""
        return self.words.has_occurred(key) or self.is_form(key) or self.is_compound(key)

    def is_form(self, key: str) -> bool:
        """Whether a word differs from a known one only in its ending."""
        endings = self.rules.endings
        if not endings:
            return False
        stems = (key[:end] for end in range(len(key), STEM - 1, -1) if re.fullmatch(endings, key[end:]))
        return any(
            re.fullmatch(endings, other[len(stem) :]) for stem in stems for other in self.words.list_beginning(stem)
        )

    def is_compound(self, key: str, parts: int = MOST_PARTS) -> bool:
        """Whether a word consists of known words, possibly with linking letters between them: Arbeit-s-zeit."""
        if not self.rules.compound_links:
            return False
        for start in range(2, len(key) - SHORTEST_PART + 1):
            first, last = key[:start], key[start:]
            if self.may_begin(first) and (
                self.words.contains(last) or self.is_form(last) or (parts > 2 and self.is_compound(last, parts - 1))
            ):
                return True
        return False

    def may_begin(self, first: str) -> bool:
        """Whether a compound may begin with `first`."""
        if len(first) < SHORTEST_PART:
            return first in self.rules.prefixes
        if self.words.contains(first) or (len(first) >= STEM and self.is_form(first)):
            return True
        ends = range(SHORTEST_PART, len(first))
        return any(
            self.words.contains(first[:end]) and re.fullmatch(self.rules.compound_links, first[end:]) for end in ends
        )


@lru_cache(maxsize=4)
def make_forms(words: WordCounts, language: str) -> WordForms:
    return WordForms(words, find_rules(language))


class NameFinder:
    """Finds the words of a text that must be carried over."""

    def __init__(
        self,
        source: TextProfile,
        target: TextProfile,
        slips: WordReader,
        spell: Callable[[str], str],
        cover_forms: Callable[[str], str],
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        """`spell` writes a word in known characters; `cover_forms` covers gender-neutral words, which are not names."""
        self.source, self.target, self.languages = source, target, languages
        self.slips, self.spell, self.cover_forms = slips, spell, cover_forms
        self.codes = CodeFinder(source, languages[0])
        self.is_ordinary = remember_by_word(WORDS_REMEMBERED)(self.judge_part)
        self.nameless = KnownWords(WORDS_REMEMBERED)  # parts of texts between blanks that are no name alone

    @cached_property
    def capitals_are_names(self) -> bool:
        """Whether rare words with a capital within a sentence are names, which appear in the target too."""
        rare = self.source.words.list_capitalised(self.rare_count)
        carried = sum(map(self.target.words.contains, rare))
        return len(rare) >= FEWEST_RARE and carried >= SHARE_OF_NAMES * len(rare)

    @property
    def rare_count(self) -> int:
        """The highest count that is still rare; no lower than the lowest count that the profile keeps."""
        return max(RARE_NAME_COUNT, self.source.words.least_count)

    @cached_property
    def endings(self) -> WordEndings:
        return WordEndings(self.source.words)

    def find_names(self, text: str) -> list[Span]:
        """Returns the names and codes of a text, merging neighbours; the other spans of the text are covered."""
        if code := self.codes.find_lone_code(text):
            return [code]
        text = self.cover_forms(text)
        naming = None if text.islower() or self.capitals_are_names else find_rules(self.languages[0]).naming
        persons = list(find_persons(text, self.source, self.target, naming))
        persons += find_firms(cover_spans(text, persons), self.source, self.languages[0])
        if not persons and all(map(self.is_ordinary, text.split())):
            return []
        persons += find_places(cover_spans(text, persons), self.languages, self.source)
        text = cover_spans(text, persons)
        phrases = self.codes.find_phrases(text)
        words = [*persons, *self.find_words(cover_spans(text, phrases))]
        names: list[Span] = []
        for span in filter(self.is_sure, join_neighbours(sorted([*phrases, *words]), text)):
            names.append(include_initials(span, text, names[-1].end if names else 0))
        return names

    def judge_part(self, part: str) -> bool:
        """Whether a space-separated part of a text is ordinary, as most are: a known word, or one without a capital."""
        word = strip_marks(part)
        if not word.replace("'", "").isalpha() or may_be_phrase(part):
            return False
        if word.islower():
            return True
        is_place = may_be_place(re.sub(POSSESSIVE, "", word), self.languages, self.source)
        return not is_place and self.slips.is_known(word) and not self.is_rare_name(word)

    def find_words(self, text: str) -> Iterator[Span]:
        """Yields the words of a text that must be carried over."""
        is_shouted = text.isupper()
        for match in re.finditer(NAME_TOKEN, text):
            part = match[0]
            if self.is_ordinary(part) or part in self.nameless:
                continue
            bare = part.lstrip(BEFORE_WORD)
            bare = self.codes.find_signs(part[: -len(bare)], bare) + bare
            start = match.start() + len(part) - len(bare)
            written = re.sub(POSSESSIVE, "", bare.rstrip(BEHIND_WORD))
            word = self.spell(written)
            if self.codes.is_lone_sign(part):
                yield make_code(text, *match.span())
            elif self.codes.is_code(word) or self.codes.is_term(written):
                yield from self.codes.find_glued(written, start) or [widen_code(text, start, start + len(written))]
            elif re.compile(ABBREVIATION).match(text, start):
                continue
            elif names := list(self.find_in_word(written, start, is_shouted=is_shouted)):
                yield from names
            elif word == word.lower() or self.source.has_word(word):  # whatever stands around it
                self.nameless.learn([part])

    def find_in_word(self, written: str, start: int, *, is_shouted: bool) -> Iterator[Span]:
        """Yields the word that begins at `start` if it is a name, or the parts of it that are names: Tom/Kazimierz."""
        for part in re.finditer(PART, written):
            word, begin = self.spell(part[0]), start + part.start()
            if self.is_name(word, is_first=begin == 0, is_shouted=is_shouted):
                kind = SpanKind.RARE_NAME if self.source.has_word(word) else SpanKind.NAME
                yield Span(begin, begin + len(part[0]), part[0], kind)

    def is_name(self, word: str, *, is_first: bool, is_shouted: bool) -> bool:
        """Whether a word, without surrounding punctuation, may be a name that is new or rare in training."""
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
        # Hardly a name ends so: at the beginning of a sentence, a capital then shows none (Reviewers).
        share = self.endings.find_capital_share(word) if is_first and not is_shouted else None
        if share is not None and share <= FEW_NAMES:
            return False
        if not self.capitals_are_names and (is_shouted or self.may_be_understood(word)):
            return False
        return not self.slips.may_be_mistyped(word, is_first=is_first)

    def may_be_understood(self, word: str) -> bool:
        """Whether a network may understand an unknown capitalised word where capitals mark more than names.

        It may if the word is a compound of known words or their forms and neither a given name nor a word of the
        target, or if unknown words are too frequent to carry them all.
        """
        if self.source.unseen_share > NEW_WORDS_SELDOM:
            return True
        is_name = word in read_given_names() or self.target.has_word(word)  # Siegfried; Percent
        forms = make_forms(self.source.words, self.languages[0])
        return not is_name and any(map(forms.is_compound, split_compound(word.lower())))

    def is_rare_name(self, word: str) -> bool:
        """Whether a capitalised word is very rare and written identically in the target."""
        count, in_target = self.source.find_word(word), self.target.find_word(word)
        forms = [known.forms[0][0] for known in (count, in_target) if known.forms]
        most = RARE_ACRONYM_COUNT if word.isupper() else self.rare_count
        return count.total <= most and word[0].isupper() and forms == [word, word]

    def is_sure(self, span: Span) -> bool:
        """Whether a span is a code, a place, or a name with a part that is not a form of a known word."""
        words = map(self.spell, re.split("[ /]", span.text))
        return span.kind is SpanKind.PLACE or not is_name_span(span) or not all(map(self.is_form, words))

    def is_form(self, word: str) -> bool:
        """Whether a word may be an inflected form of a known word, since its stem occurs in training."""
        stems = (word[:-length] for length in range(1, MAXIMUM_ENDING + 1))
        return not self.source.has_word(word) and any(
            len(stem) >= STEM and stem.isalpha() and self.source.has_word(stem) for stem in stems
        )


def find_all_names(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields acronyms, then the names and codes found with the profiles of both sides."""
    if context.find_names is not None:
        acronyms = list(find_acronyms(text, context.languages[0]))
        yield from acronyms
        yield from context.find_names(cover_spans(text, acronyms))


NAMES = Kind(SpanKind.NAME, search=find_all_names)


def find_acronyms(text: str, language: str) -> Iterator[Span]:
    """Yields acronyms that are spelled like frequent words, unless an adjacent word is in capitals too."""
    acronyms = find_rules(language).acronyms
    for match in re.finditer(ACRONYM, text) if acronyms else ():
        if match[0] in acronyms:
            yield Span(*match.span(), match[0], SpanKind.NAME)


def join_neighbours(spans: Sequence[Span], text: str) -> list[Span]:
    """Joins names, or codes, separated by one of `BETWEEN_NAMES`; a joined name is new if one of its words is."""
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined and text[joined[-1].end : span.start] in BETWEEN_NAMES else None
        if last and SpanKind.SIGN not in (last.kind, span.kind) and is_name_span(last) == is_name_span(span):
            joined.pop()
            kind = SpanKind.NAME if SpanKind.NAME in (last.kind, span.kind) else span.kind
            span = Span(last.start, span.end, last.text + text[last.end : span.start] + span.text, kind)
        joined.append(span)
    return joined


def is_name_span(span: Span) -> bool:
    return span.kind in NAME_KINDS


def include_initials(name: Span, text: str, start: int) -> Span:
    """Extends a name by preceding initials that begin at `start` or later."""
    before = text[max(start, name.start - INITIALS_LENGTH) : name.start]
    initials = re.search(INITIALS, before) if is_name_span(name) else None
    if not initials or initials[0] == "I. ":
        return name
    return name._replace(start=name.start - len(initials[0]), text=initials[0] + name.text)


def find_foreign(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields the words without a single letter that the model knows."""
    if context.find_foreign_words is not None and not text.isascii():
        for start, end in context.find_foreign_words(text):
            yield kind.make_span(start, text[start:end])


FOREIGN_WORDS = Kind(SpanKind.FOREIGN, search=find_foreign)
