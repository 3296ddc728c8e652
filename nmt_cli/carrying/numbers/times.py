"""Times: `10:30 a.m.`, `5-6 PM`; `14 Uhr` becomes `14:00`.

A 24-hour time without a word behind it is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.numbers.notation import CAPTURED_TIME, NumericKind
from nmt_cli.carrying.numbers.number_text import HALF_DAY
from nmt_cli.carrying.numbers.patterns import BEFORE, LETTER
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import OPENING_QUOTES, THIN_BLANKS

HOUR_AND_MINUTE = r"\d{1,2}(?:[:.]\d{2})?"
# `am` before a German noun or its adjective is no half of the day: 3 am Tisch, 3 am letzten Tag; but 5 am Monday.
AM_OF_GERMAN = (
    r"(?:(?<= am)\s+(?:[A-ZÄÖÜ][a-zäöüß]+(?<!day)|(?!when|then|often|even|ten)[a-zäöüß]+en)\b"
    r"|(?<= AM)\s+[A-ZÄÖÜ]{4,}(?<!DAY)\b)"
)
AM_OR_PM = rf"[ {THIN_BLANKS}]?(?:[ap]m|[AP]M|[ap]\.m|[AP]\.M)(?![{LETTER}])(?!{AM_OF_GERMAN})"
TIMES = NumericKind(
    SpanKind.TIME,
    patterns=(
        # Times of day, with the half of the day that they are in: 10:30 a.m., 5 PM; a full stop may end the sentence
        # too. Both ends of a range are in it: 5-6 p.m., 5 to 6 p.m.
        rf"{BEFORE}{HOUR_AND_MINUTE}(?= (?:to|and|or|until|till) {HOUR_AND_MINUTE}{AM_OR_PM})",
        # Both ends of a range may name their halves: 9am-5pm, 9:30 a.m. – 5 p.m.
        rf"{BEFORE}{HOUR_AND_MINUTE}[ {THIN_BLANKS}]?(?i:[ap]m|[ap]\.m\.) ?[-–] ?{HOUR_AND_MINUTE}{AM_OR_PM}"
        r"(?:(?<=\.[mM])\.(?!\s*$))?",
        # A time alone, such as a cell of a table, is no sentence.
        rf"(?i:^(?:{HOUR_AND_MINUTE} ?[-–] ?)?{HOUR_AND_MINUTE}[ {THIN_BLANKS}]?[ap]\.m\.$)",
        rf"{BEFORE}(?:{HOUR_AND_MINUTE} ?[-–] ?)?{HOUR_AND_MINUTE}{AM_OR_PM}"
        rf"(?:(?<=\.[mM])\.(?!\s*$|\s+[{OPENING_QUOTES}]?[A-ZÀ-Þ]))?",
    ),
    signs=r"\d",
)


class FullTimeKind(Kind):
    """Times in the 24-hour clock that a word shows to be times: `14 Uhr`, `9–17 Uhr`; but not `9 Uhr`, which may be in
    the evening, and which a network knows.
    """

    def find(self, text: str, context: Context) -> Iterator[Span]:
        word, target_word = (find_rules(language).clock_word for language in context.languages)
        pattern = rf"{BEFORE}(?:{CAPTURED_TIME}( ?[-–] ?))?{CAPTURED_TIME}\s(?i:{word})(?![{LETTER}])"
        for match in re.finditer(pattern, text) if word else ():
            first_hour, first_minute, dash, hour, minute = match.groups()
            if dash or minute or int(hour) > HALF_DAY:
                first = f"{first_hour}:{first_minute or '00'}{dash}" if dash else ""
                written = f"{first}{hour}:{minute or '00'}"
                number = match[0][: -len(word)]
                yield Span(*match.span(), f"{number}{target_word}" if target_word else written, SpanKind.FULL_TIME)


FULL_TIMES = FullTimeKind(SpanKind.FULL_TIME, cues=r"\d\s[^\W\d_]{3}")
