"""Quotes around words within a sentence, taken out where the network then finds a likelier translation."""

from __future__ import annotations

import re

from nmt_cli.carrying.kind import Attempt, DoubtfulKind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import DOUBLE_QUOTES, END_MARKS, PAUSES, SINGLE_QUOTES

IN_DOUBLE_QUOTES = rf"(?<!\w)[{DOUBLE_QUOTES}](?=\S)[^{DOUBLE_QUOTES}]+(?<=\S)[{DOUBLE_QUOTES}](?!\w)"
SINGLE_OPENING_QUOTE = rf"(?<![\w{SINGLE_QUOTES}])[{SINGLE_QUOTES.replace('’', '')}](?=\w)"  # no apostrophe: ’tis
IN_SINGLE_QUOTES = rf"{SINGLE_OPENING_QUOTE}[^{SINGLE_QUOTES}]+(?<=\S)[{SINGLE_QUOTES}](?!\w)"
SPEECH_ENDS = f"{END_MARKS}{PAUSES}"


class QuoteKind(DoubtfulKind):
    """Quotes around words: `the "new" car`."""

    def find_doubtful(self, attempt: Attempt) -> list[Span]:
        """Returns the quotes around words, as the network writes them if it writes as many as it reads.

        Without its quotes, speech would run on: `"Where?" "There."` Those around the sentence may already be off.
        """
        matches = [match for match in self.pattern.finditer(attempt.covered) if any(map(str.isalpha, match[0]))]
        if any(map(is_speech, matches)) or count_quotes(attempt.read) != count_quotes(attempt.covered):
            return []
        marks = sorted(mark for match in matches for mark in self.read_marks(match))
        doubles = [mark for mark in marks if mark.text in DOUBLE_QUOTES]
        written = [mark for mark in attempt.target if mark in DOUBLE_QUOTES]
        styles = dict(zip(doubles, written, strict=True)) if len(written) == len(doubles) else {}
        return [mark._replace(text=styles.get(mark, mark.text)) for mark in marks]

    def read_marks(self, match: re.Match[str]) -> tuple[Span, Span]:
        """Returns both quotes of a match."""
        return self.make_pair(match.start(), match[0][0], match.end() - 1, match[0][-1])


QUOTED_WORDS = QuoteKind(
    SpanKind.QUOTE,
    form="taken out",
    patterns=(IN_DOUBLE_QUOTES, IN_SINGLE_QUOTES),
    signs=DOUBLE_QUOTES,
    cues=SINGLE_OPENING_QUOTE,
)


def is_speech(match: re.Match[str]) -> bool:
    """Whether a sentence is quoted: it begins with a capital letter and has a mark at its end."""
    return match[0][1].isupper() and match[0][-2] in SPEECH_ENDS


def count_quotes(text: str) -> int:
    """Returns the number of double quotes; single ones may be apostrophes."""
    return sum(map(text.count, DOUBLE_QUOTES))
