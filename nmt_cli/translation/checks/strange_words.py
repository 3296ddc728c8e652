"""Checks of meaning: invented words, words left in the source language, and lost negations."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from functools import cache, lru_cache
from html import unescape
from typing import NamedTuple

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.names import make_forms
from nmt_cli.carrying.spans import cover_spans
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import (
    CLOSING_BRACKETS,
    COLONS,
    DASHES,
    END_MARKS,
    HYPHENS,
    INVERTED_MARKS,
    OPENING_BRACKETS,
    PAUSES,
)
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.words import WORDS_REMEMBERED, choose_word_pattern, remember_by_word
from nmt_cli.text.wrapping import join_first
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.repair.faults import strip_words
from nmt_cli.translation.result import FailedCheck, Hypothesis, Translation

# Looks for words of a translation that the target language does not have: invented ones, and copied ones.
#
# A network spells words from subwords: `Koffizient` for *coefficient*, and leaves some as they are: `Buy Milch`. Both
# are words that the training text never had, or nearly only on the other side. A person also writes words that training
# never had, so a word counts only where none of its subwords was unlikely for the network. Does not depend on networks.


# Chosen on references, of which at most 0.5 % should fail, and on translations (benchmarks/log/words.md).
LEAST_LIKELY = math.log(0.03)  # of the subwords of a word that the network means; a reference's are less likely
NEW_WORDS_STRANGE = 0.03  # largest share of new words of a language in which a new word is strange
FEWEST_STRANGE = 3  # letters of a strange word
LIKE_NAME = 0.7  # how much the spellings of a name have in common, at least
FEWEST_IN_SOURCE = 5  # occurrences of an ordinary word of the source language
HARDLY_EVER = 100  # times, that the target language has it
LEFT_MARKS, RIGHT_MARKS = map(re.escape, (OPENING_BRACKETS + INVERTED_MARKS, END_MARKS + PAUSES + CLOSING_BRACKETS))
WORD_ALONE = rf"[{LEFT_MARKS}]*([^\W\d_]+)[{RIGHT_MARKS}]*"
SENTENCE_STARTS = END_MARKS + COLONS + DASHES + HYPHENS  # what may stand before a capital
CAPITAL_INSIDE = r"[^\W\d_A-ZÀ-Þ][A-ZÀ-Þ]"  # of a name in code: ComplexNumber
IN_CODE = re.compile(rf"[\d_]|{CAPITAL_INSIDE}|^\W")  # of a number, or a name in code


def check_invented(translation: Translation, context: CheckContext) -> FailedCheck | None:
    """Finds words that never occurred in training, except names and the forms and compounds of known words."""
    if translation.is_recalled:
        return None
    words = find_invented(translation.source, cover_placed(translation.text, context), context)
    meant = [word for word in words if is_meant(word, translation.hypotheses[0])]
    return FailedCheck("invented words", f"perhaps invented: {join_first(meant)}") if meant else None


def check_copied_words(translation: Translation, context: CheckContext) -> FailedCheck | None:
    """Finds ordinary words of the source language in the translation."""
    if translation.is_recalled or not find_copied(translation.source, translation.text, context):
        return None
    spans = find_spans(translation.source)
    source, target = cover_spans(translation.source, spans), translation.text
    for text in {*(span.text for span in spans), *(span.text for span in translation.placed)}:
        source, target = (re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", " . ", side) for side in (source, target))
    words = find_copied(source, target, context)
    meant = [word for word in words if is_meant(word, translation.hypotheses[0])]
    return FailedCheck("copied words", f"not translated: {join_first(meant)}") if meant else None


def is_meant(word: str, hypothesis: Hypothesis) -> bool:
    """Whether the network wrote a word, and found none of its subwords unlikely."""
    from nmt_cli.translation.placement.alignment import group_by_blanks  # which few translations need

    values = hypothesis.token_log_probabilities
    for group in group_by_blanks(hypothesis.pieces):
        if word.lower() in "".join(hypothesis.pieces[index] for index in group).lower():
            return len(values) < len(hypothesis.pieces) or min(values[index] for index in group) > LEAST_LIKELY
    return False


def find_invented(source: str, target: str, context: CheckContext) -> list[str]:
    """Returns the words of a translation that its language lacks, judging by the training text."""
    profile = context.profile.target if context.profile is not None else None
    if profile is None or not profile.words.is_complete or profile.unseen_share > NEW_WORDS_STRANGE:
        return []
    if 0 not in profile.count_words(target) or find_unspaced(target):
        return []  # fast for nearly all translations
    forms = make_forms(profile.words, context.target_language)
    folded, words = source.lower(), choose_word_pattern(target).findall(target)
    invented = (word for word in dict.fromkeys(words) if not (IN_CODE.search(word) or forms.has_all(word, folded)))
    return [word for word in invented if not may_be_name(word, source, context)]


def may_be_name(word: str, source: str, context: CheckContext) -> bool:
    """Whether a capitalised word may be a name: it resembles an unknown name in the source, or the source has no case.

    In a text that is all in capitals, capitals do not show names.
    """
    profile = context.profile.source if context.profile is not None else None
    if word == word.lower() or profile is None:
        return False
    if source.lower() == source.upper():
        return True
    words = [] if source.isupper() else choose_word_pattern(source).findall(source)
    names = (name for name in words if name[:1].isupper())
    return any(
        SequenceMatcher(None, name.lower(), word.lower()).ratio() >= LIKE_NAME
        for name in names
        if not profile.words.has_occurred(name.lower())
    )


def find_copied(source: str, target: str, context: CheckContext) -> list[str]:
    """Returns the words of a translation that also occur in its source, but hardly ever in the target language."""
    profile = context.profile
    if profile is None or profile.source is None or context.same_language:
        return []
    shared = {*strip_words(source)} & {*strip_words(target)}
    shared = {word for word in shared if len(word) >= FEWEST_STRANGE and word.isalpha() and is_foreign(word, profile)}
    if not shared:
        return []  # fast for nearly all translations
    ordinary = dict.fromkeys(word for word in list_ordinary(source, profile.source, shared) if word.lower() in shared)
    written = {word for token in target.split() if (word := read_word(token)) and word.lower() in shared}
    occurs = profile.target.words.has_occurred  # a noun that the network gives a capital is left as it was, too
    return [word for word in ordinary if word in written or not occurs(word.lower())]


def is_foreign(word: str, profile: CorpusProfile) -> bool:
    """Whether a word occurs in the source language, but almost never in the target language."""
    here = profile.source.count_word(word) if profile.source is not None else 0
    return here >= FEWEST_IN_SOURCE and profile.target.count_word(word) * HARDLY_EVER <= here


def list_ordinary(source: str, profile: TextProfile, shared: Collection[str]) -> Iterator[str]:
    """Yields the words of a source that are not names, judging by their capitals, and neither quoted nor code."""
    tokens = source.split()
    words = list(map(read_word, tokens))
    for index, word in enumerate(words):
        is_first = not index or tokens[index - 1][-1] in SENTENCE_STARTS
        names_parameter = word.islower() and not index and tokens[0].endswith(":")
        if not word or names_parameter or is_code(word, source):
            continue
        if word.islower() or is_first or source.isupper():
            yield word
        elif profile.find_usual_case(word) == word:
            beside = (other for other in words[max(0, index - 1) : index + 2] if other != word)
            if not any(other[:1].isupper() and other.lower() in shared for other in beside):
                yield word


def is_code(word: str, source: str) -> bool:
    """Whether a word has a capital inside, or is in capitals while the text is not."""
    return bool(re.search(CAPITAL_INSIDE, word)) or (word[1:] != word[1:].lower() and not source.isupper())


@remember_by_word(WORDS_REMEMBERED)
def read_word(token: str) -> str:
    """Returns a token without brackets and punctuation; empty if it is quoted or has other signs."""
    match = re.fullmatch(WORD_ALONE, token)
    return match[1] if match else ""


# Looks for a negation that a translation loses or adds. Knows only text.
#
# Languages negate by words, by affixes, and by idioms that negate nothing: *not only*, *nicht wahr?* So presence is
# compared, not counts: a text that surely negates is a translation of one that at least may (`half_negations`).


CLAUSE_END = rf"[{re.escape(END_MARKS + COLONS)};]\s|\s[{re.escape(DASHES + HYPHENS)}]\s"
PART_END = rf"[{re.escape(PAUSES + END_MARKS + DASHES)}]"
FREE_LENGTH = 1.3  # times the usual length, from which a translation says more than its source
TEXTS_REMEMBERED = 1_024  # pairs
LONGEST_TEXTS = 500  # characters of a pair that is remembered


class Negations(NamedTuple):
    """The rules for negation in a language."""

    sure: re.Pattern[str]
    idle: re.Pattern[str]  # has such words, and negates nothing
    half: re.Pattern[str]  # what another language may say with a negation
    privation: re.Pattern[str]  # a negation that leaves room for another: *never* without

    def are_in(self, text: str) -> bool:
        """Whether a text surely negates something."""
        return self.sure.search(text) is not None and self.sure.search(self.idle.sub(" ", text)) is not None

    def are_twice_in(self, text: str) -> bool:
        """Whether the same negation occurs twice without a pause between: *nicht* jetzt *nicht*."""
        parts = re.split(PART_END, self.idle.sub(" ", text))
        return any(len(words) > len({*words}) for words in (self.sure.findall(part.lower()) for part in parts))

    def may_be_in(self, text: str) -> bool:
        """Whether a text may negate something."""
        return (self.sure.search(text) or self.half.search(text)) is not None


@cache
def read_negations(language: str) -> Negations | None:
    """Returns the negation rules of a language; None if it has none."""
    rules = find_rules(language)
    if not (rules.negations and rules.half_negations):
        return None
    verbose = re.IGNORECASE | re.VERBOSE
    return Negations(
        re.compile(rules.negations, re.IGNORECASE),
        re.compile(rules.idle_negations or "(?!)", verbose),
        re.compile(rules.half_negations, verbose),
        re.compile(rf"\b(?:{rules.privation or '(?!)'})\b", re.IGNORECASE),
    )


def check_negation(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds a negation on only one side, in languages that have rules for negation."""
    source, target = map(unescape, (source, target))  # don&#39;t
    here, there = map(read_negations, (context.source_language, context.target_language))
    if here is None or there is None:
        return None
    if here.privation.search(source) and there.privation.search(target):  # which hide the loss of another
        source, target = here.privation.sub(" ", source, count=1), there.privation.sub(" ", target, count=1)
    is_long = len(source) + len(target) > LONGEST_TEXTS
    differs = may_differ.__wrapped__ if is_long else may_differ
    if not differs(source, target, context.source_language, context.target_language):
        return None
    source, target = (cover_placed(text, context) for text in (source, target))
    if not target:
        return None
    if any(here.are_in(part) and not there.may_be_in(other) for part, other in pair_clauses(source, target)):
        return FailedCheck("negation", "a negation from the source is missing")
    if here.are_in(source):
        negates_once = len(here.sure.findall(source)) == 1 and here.half.search(source) is None
        is_twice = negates_once and there.are_twice_in(target)
        return FailedCheck("negation", "the translation repeats a negation from the source") if is_twice else None
    profile = context.profile.source if context.profile is not None else None
    has_new_word = profile is not None and 0 in profile.count_words(source)  # a mistyped one may negate
    ratio = context.find_ratio(len(source))  # of a long text, the negation may be in what was added
    is_free = ratio is not None and len(target) > FREE_LENGTH * ratio.mean * len(source)
    is_added = there.are_in(target) and not (here.may_be_in(source) or has_new_word or is_free)
    return FailedCheck("negation", "the source has no negation") if is_added else None


@lru_cache(TEXTS_REMEMBERED)
def may_differ(source: str, target: str, source_language: str, target_language: str) -> bool:
    """Whether only one side of a clause surely negates, spans included, or the target does twice. Cached for repair."""
    here, there = map(read_negations, (source_language, target_language))
    if here is None or there is None or not (here.sure.search(source) or there.sure.search(target)):
        return False
    pairs = pair_clauses(source, target)
    differences = ((here.sure.search(part) is None) is not (there.sure.search(other) is None) for part, other in pairs)
    return there.are_twice_in(target) or any(differences)


def pair_clauses(source: str, target: str) -> list[tuple[str, str]]:
    """Returns pairs of clauses, cut at colons, semicolons, dashes and sentence ends; whole texts if counts differ."""
    clauses, others = (re.split(CLAUSE_END, text.strip()) for text in (source, target))
    return [(source, target)] if len(clauses) != len(others) else list(zip(clauses, others, strict=True))


def cover_placed(text: str, context: CheckContext) -> str:
    """Returns a text without its protected spans, which stay in the source language, and without emphasis marks.

    A span that begins with a digit becomes 0: `no. 2023-118`.
    """
    for span in context.placed or ():
        text = text.replace(span.text, "0" if span.text[:1].isdigit() else " ")
    return text.replace("_", " ")
