"""Brackets, and slashes between two words, carried if the network lost one of them.

A network that has rarely seen brackets drops them, or what they enclose. They are then taken out of the sentence and,
like tags, put around the words that attend to the words they enclosed. A slash needs the words on both sides to be
adjacent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from nmt_cli.carrying.kind import Attempt, Context, DoubtfulKind, LostKind
from nmt_cli.carrying.spans import Span, SpanKind

AROUND_WORD = r"[(\[{][^()\[\]{}]*[^\W\d_]"  # and not (!)
PARTNERS = {"(": ")", "[": "]", "{": "}"}


class BracketKind(LostKind, DoubtfulKind):
    """Paired brackets, except within words: `brother(s)`."""

    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        return self.find_pairs(attempt.covered) if has_other_marks(self.signs, attempt) else []

    def find_doubtful(self, attempt: Attempt) -> list[Span]:
        return self.find_pairs(attempt.covered) if re.search(AROUND_WORD, attempt.covered) else []

    def find_pairs(self, text: str) -> list[Span]:
        """Returns the opening and closing bracket of every pair."""
        pairs: list[Span] = []
        waiting: list[tuple[int, str]] = []
        for index, mark in enumerate(text):
            if mark in PARTNERS:
                waiting.append((index, mark))
            elif waiting and PARTNERS[waiting[-1][1]] == mark:
                start, opening = waiting.pop()
                if not (start and text[start - 1].isalnum()):
                    pairs += self.make_pair(start, opening, index, mark)
        return sorted(pairs)


class SlashKind(LostKind):
    """Slashes between two words: `and/or`."""

    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        taken_out = [span for span in attempt.spans if span.kind is self.name]
        if taken_out:
            return [span for span in taken_out if not attempt.finds_place(span)]
        if not has_other_marks(self.signs, attempt):
            return []
        return list(map(self.read_match, self.pattern.finditer(attempt.covered)))


BRACKET_PAIRS = BracketKind(
    SpanKind.BRACKET, form="taken out", signs=r"()\[\]{}", fault="brackets", remedy="protected brackets"
)
SLASHES = SlashKind(
    SpanKind.SLASH,
    form="taken out",
    patterns=(r"(?<=[^\W\d_])/(?=[^\W\d_])",),
    signs="/",
    fault="brackets",
    remedy="protected brackets",
)


def has_other_marks(marks: str, attempt: Attempt) -> bool:
    """Whether the network wrote any of these marks more or less often than it read them."""
    return count_marks(marks, attempt.read) != count_marks(marks, attempt.target)


def count_marks(marks: Sequence[str], text: str) -> Counter[str]:
    return Counter(mark for mark in text if mark in marks)
