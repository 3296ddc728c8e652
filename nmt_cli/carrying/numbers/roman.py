"""Roman numbers behind a label: `Chapter IV`."""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.languages.rules import find_rules

NUMERAL = r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"


class RomanKind(Kind):
    """Numbers behind a label of the language; one that is a word too only ends a clause: no `part I like`."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        rules = find_rules(context.languages[0])
        for match in self.pattern.finditer(text):
            is_number = match["is_last"] is not None or match["number"] not in rules.one_letter_words
            if is_number and match["label"].lower() in rules.labels:
                yield self.make_span(match.start("number"), match["number"])


ROMAN_NUMBERS = RomanKind(
    SpanKind.CODE,
    patterns=(
        rf"(?<![^\W_])(?P<label>[^\W\d_]+)\.?[ \u00a0](?P<number>{NUMERAL})(?![\w'’-])(?P<is_last>(?=[^\s\w,]|$))?",
    ),
    cues=r"[ \u00a0][IVXLCDM]",
)
