"""The table of protected spans: all kinds of spans that a translation must keep, in order of precedence.

Adjacent kinds defined by patterns alone are searched for together, leftmost match first; each later kind sees the text
with the earlier spans covered. To add a kind, write a module with its row and name it here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

from nmt_cli.carrying.codes import CONTROL_CODES, join_tokens, take_wraps_out
from nmt_cli.carrying.dates import DATES, FULL_WEEKDAYS, WEEKDAYS
from nmt_cli.carrying.glossary import TERMS
from nmt_cli.carrying.names import FOREIGN_WORDS, NAMES
from nmt_cli.carrying.number_values import CHOICE_NUMBERS, NUMBERS, SMALL_NUMBERS, WORDED_NUMBERS
from nmt_cli.carrying.numbers import (
    AMOUNTS,
    ERAS,
    FULL_TIMES,
    HOUR_PARTS,
    IDENTIFIERS,
    MARKED_NUMBER,
    NUMBER_WORDS,
    ROMAN_NUMBERS,
    SCALED_AMOUNTS,
    SPELLED_NUMBERS,
    STREETS,
    TIMES,
    are_amounts,
)
from nmt_cli.carrying.people import COPIED_NAMES, PEOPLE
from nmt_cli.carrying.prose_marks import BRACKET_PAIRS, EMPHASIS, NOTES, QUOTED_WORDS, SIGNS, SLASHES
from nmt_cli.carrying.spans import (
    NO_CONTEXT,
    Context,
    DoubtfulKind,
    Kind,
    LostKind,
    Span,
    SpanKind,
    compile_guard,
    cover_spans,
    join_touching,
    widen_to_brackets,
)
from nmt_cli.carrying.syntax import (
    ACCELERATORS,
    ADDRESSES,
    CHOICES,
    CODES,
    COMMANDS,
    ELEMENTS,
    EMOJI,
    PROGRAM_PLACEHOLDERS,
    REFERENCES,
    TAGS,
    WORD_SIGNS,
    stand_for_words,
)
from nmt_cli.text.words import has_letters

BEFORE_SYNTAX = (COMMANDS,)  # around texts with marks of their own
BY_PATTERN = (
    *(CHOICES, ELEMENTS, TAGS, EMOJI, WORD_SIGNS),
    *(ADDRESSES, CONTROL_CODES, PROGRAM_PLACEHOLDERS, REFERENCES, CODES),
)
SYNTAX = (*BEFORE_SYNTAX, *BY_PATTERN)
DIGITS = (AMOUNTS, TIMES, IDENTIFIERS, NUMBERS)
IN_ANY_TEXT = (*SYNTAX, *DIGITS)  # also in the pairs that a network learns from, whatever its language
BEFORE_DIGITS = (
    STREETS,
    FULL_TIMES,
    HOUR_PARTS,
    ERAS,
    SPELLED_NUMBERS,
    SCALED_AMOUNTS,
)  # which have digits inside
BESIDE_NUMBERS = (NUMBER_WORDS, WEEKDAYS, ROMAN_NUMBERS)
WORDS = (CHOICE_NUMBERS, TERMS, *BESIDE_NUMBERS, PEOPLE, EMPHASIS, NOTES, ACCELERATORS, FOREIGN_WORDS, NAMES)
IF_LOST: tuple[LostKind, ...] = (
    DATES,
    FULL_WEEKDAYS,
    SMALL_NUMBERS,
    WORDED_NUMBERS,
    COPIED_NAMES,
    BRACKET_PAIRS,
    SLASHES,
    SIGNS,
)  # `translation.repair.asks.LOST_TEXT`
DOUBTFUL: tuple[DoubtfulKind, ...] = (BRACKET_PAIRS, QUOTED_WORDS)  # `translation.repair.asks.MISLED`
FAULTS_IF_LOST = frozenset(kind.words.fault for kind in IF_LOST)
KINDS: tuple[Kind, ...] = (*SYNTAX, *BEFORE_DIGITS, *DIGITS, *WORDS, *IF_LOST, QUOTED_WORDS)
KIND_OF_SPAN = {kind.name: kind for kind in reversed(KINDS)} | {
    SpanKind.SYMBOL: REFERENCES,
    SpanKind.RARE_NAME: NAMES,
    SpanKind.PLACE: NAMES,
}


class PatternGroup:
    """Kinds searched for together: the leftmost match wins; at the same place, the earlier kind."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.kinds = {kind.name.name: kind for kind in kinds}

    @cached_property
    def guard(self) -> re.Pattern[str]:
        return compile_guard(tuple(self.kinds.values()))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All patterns in one, compiled on first use, because compiling takes longer than translating a sentence."""
        return re.compile("|".join(f"(?P<{name}>{'|'.join(kind.patterns)})" for name, kind in self.kinds.items()))

    def may_be_in(self, text: str, context: Context) -> bool:
        return self.guard.search(text) is not None

    def find(self, text: str, context: Context) -> Iterator[Span]:
        for match in self.pattern.finditer(text):
            yield self.kinds[match.lastgroup or ""].read_match(match)


@cache
def group_patterns(kinds: tuple[Kind, ...]) -> tuple[PatternGroup | Kind, ...]:
    """Groups the kinds defined by patterns alone, syntax and digits, each after the kinds that may contain them."""
    groups: list[PatternGroup | Kind] = []
    for before, row in ((BEFORE_SYNTAX, BY_PATTERN), (BEFORE_DIGITS, DIGITS)):
        groups += [kind for kind in kinds if kind in before]
        if by_pattern := [kind for kind in kinds if kind in row]:
            groups.append(PatternGroup(by_pattern))
    return tuple(groups)


@cache
def select_word_kinds(kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Returns the kinds that are searched for one by one, with a context."""
    return tuple(kind for kind in kinds if kind in WORDS)


def find_spans(text: str, context: Context = NO_CONTEXT, kinds: tuple[Kind, ...] = IN_ANY_TEXT) -> list[Span]:
    """Returns the protected spans of a line, in order, without overlaps; no two masked spans touch."""
    spans: list[Span] = []
    for group in group_patterns(kinds):
        if group.may_be_in(text, context):
            spans = sorted([*spans, *group.find(cover_spans(text, spans), context)])
    if spans and ("(" in text or "[" in text):
        covered = cover_spans(text, spans)
        spans = [widen_to_brackets(span, text, covered) for span in spans]
    for kind in select_word_kinds(kinds):
        if kind.may_be_in(text, context):
            spans = sorted([*spans, *kind.find(cover_spans(text, spans), context)])
    spans = join_touching(spans) if len(spans) > 1 else spans
    if not spans or context.is_word is None:
        return spans
    spans = take_wraps_out(stand_for_words(spans, text), text, context.is_word)
    return join_tokens(spans, text, context.is_word)


def is_amount(text: str) -> bool:
    """Whether a text is only an amount, without letters, whose separators depend on the language: `12,500`."""
    is_marked = re.search(MARKED_NUMBER, text) is not None  # fast, for there may be a million texts
    return is_marked and not has_letters(text) and are_amounts(text, find_spans(text))


def write_spans(spans: Sequence[Span], text: str, context: Context) -> list[Span]:
    """Returns the spans of a source text, each with the text that stands for it in the translation."""
    return [span._replace(text=KIND_OF_SPAN[span.kind].write(span, text, context)) for span in spans]
