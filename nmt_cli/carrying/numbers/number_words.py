"""Numbers with `No.` or units of time: `3 hrs.` becomes `3 Std.`"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.numbers.patterns import INNER_STOP
from nmt_cli.carrying.spans import COVERS, Span, SpanKind
from nmt_cli.languages.rules import find_rules

COUNT = r"\d{1,2}(?:\s?[-–]\s?\d{1,2})?(?!\d|[.,:/–-]\d|\s?%)"  # all other numbers are covered, as spans of their own


class NumberWordKind(Kind):
    """Numbers behind `No.`, and before abbreviated units of time; a longer number is a span already, and joined."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        written = list_number_words(context.languages)
        for match in compile_number_words(context.languages).finditer(text) if written else ():
            sign, unit = match["sign"], match["unit"]
            word = written[sign or unit]
            if unit and text[match.end() : match.end() + 1] == ".":
                word = word.rstrip(".")  # the full stop of the sentence
            number = match["number"] or match["count"] or ""
            yield Span(*match.span(), f"{word} {number}" if sign else f"{number} {word}", self.name)


NUMBER_WORDS = NumberWordKind(SpanKind.NUMBER_WORD, signs=r"\d")


@cache
def list_number_words(languages: tuple[str, str]) -> dict[str, str]:
    """Returns what the target writes for each abbreviation of the source beside a number."""
    source, target = map(find_rules, languages)
    written = {source.number_sign: target.number_sign} if source.number_sign and target.number_sign else {}
    for unit, forms in source.time_units.items():
        if unit in target.time_units:
            forms_without_stop = forms.replace(".", "").split("|")
            written |= dict.fromkeys(forms_without_stop, target.time_units[unit].partition("|")[0])
    return written


@cache
def compile_number_words(languages: tuple[str, str]) -> re.Pattern[str]:
    source, written = find_rules(languages[0]), list_number_words(languages)
    units = "|".join(re.escape(form) for form in sorted(written, key=len, reverse=True) if form != source.number_sign)
    sign = re.escape(source.number_sign) if source.number_sign in written else "(?!)"
    return re.compile(
        rf"(?<![^\W_])(?P<sign>{sign})\s?(?:(?P<number>{COUNT})(?![^\W_])|(?=[{COVERS}]))"
        rf"|(?:(?<![\w.,:/–-])(?P<count>{COUNT})|(?<=[{COVERS}]))\s?(?P<unit>{units or '(?!)'})(?![^\W_])"
        rf"(?:{INNER_STOP})?"
    )
