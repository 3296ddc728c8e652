"""Looks for a negation that a translation loses or adds. Knows only text.

Languages negate by words, by affixes, and by idioms that negate nothing: *not only*, *nicht wahr?* So presence is
compared, not counts: a text that surely negates is a translation of one that at least may (`half_negations`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from nmt_cli.languages.rules import find_rules
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.result import FailedCheck

TEXTS_REMEMBERED = 1_024  # pairs
LONGEST_TEXTS = 500  # characters of a pair that is remembered


class Negations(NamedTuple):
    """How a language negates."""

    sure: re.Pattern[str]
    idle: re.Pattern[str]  # has such words, and negates nothing
    half: re.Pattern[str]  # what another language may say with a negation

    def are_in(self, text: str) -> bool:
        """Whether a text surely negates something."""
        return self.sure.search(text) is not None and self.sure.search(self.idle.sub(" ", text)) is not None

    def may_be_in(self, text: str) -> bool:
        """Whether a text may negate something."""
        return (self.sure.search(text) or self.half.search(text)) is not None


@cache
def read_negations(language: str) -> Negations | None:
    """Returns how a language negates; None if that is not described."""
    rules = find_rules(language)
    if not (rules.negations and rules.half_negations):
        return None
    verbose = re.IGNORECASE | re.VERBOSE
    return Negations(
        re.compile(rules.negations, re.IGNORECASE),
        re.compile(rules.idle_negations or "(?!)", verbose),
        re.compile(rules.half_negations, verbose),
    )


def check_negation(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for a negation on one side alone, in languages whose negations are described."""
    is_long = len(source) + len(target) > LONGEST_TEXTS
    differs = may_differ.__wrapped__ if is_long else may_differ
    if not differs(source, target, context.source_language, context.target_language):
        return None
    here, there = map(read_negations, (context.source_language, context.target_language))
    source, target = (cover_placed(text, context) for text in (source, target))
    if here is None or there is None or not target:
        return None
    if here.are_in(source):
        return None if there.may_be_in(target) else FailedCheck("negation", "a negation of the source is missing")
    is_added = there.are_in(target) and not here.may_be_in(source) and not has_new_word(source, context)
    return FailedCheck("negation", "the source has no negation") if is_added else None


@lru_cache(TEXTS_REMEMBERED)
def may_differ(source: str, target: str, source_language: str, target_language: str) -> bool:
    """Whether one side alone surely negates, or negates in a protected span; cached, for repair asks first."""
    here, there = map(read_negations, (source_language, target_language))
    if here is None or there is None:
        return False
    is_negated = here.sure.search(source) is not None
    return is_negated is not (there.sure.search(target) is not None)


def cover_placed(text: str, context: CheckContext) -> str:
    """Returns a text without its protected spans, which keep the language of the source, nor marks of emphasis."""
    for span in context.placed or ():
        text = text.replace(span.text, " ")
    return text.replace("_", " ")


def has_new_word(source: str, context: CheckContext) -> bool:
    """Whether a source has words that training never had, such as mistyped ones: one of them may negate."""
    profile = context.profile.source if context.profile is not None else None
    return profile is not None and 0 in profile.count_words(source)
