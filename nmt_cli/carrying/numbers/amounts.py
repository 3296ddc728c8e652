"""Numbers with currency or unit: `$5`, `1,000 kg`, `20 °C`, `3×10⁸ m/s`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt_cli.carrying.numbers.notation import NumericKind
from nmt_cli.carrying.numbers.patterns import COMPARISON, LETTER, MINUS, NUMBER_WITH_SIGNS
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import DASHES, RAISED_DIGITS, THIN_BLANKS

POWER = rf"[⁺⁻]?[{RAISED_DIGITS}]{{1,4}}"
QUANTITY = rf"{NUMBER_WITH_SIGNS}(?: ?[x×·⋅] ?10{POWER})?"
AMOUNT = rf"{COMPARISON}?[~≈{MINUS}]?{QUANTITY}(?:(?:[-–]| [-–] ){QUANTITY})?"
CURRENCY_SIGNS = "$€£¥₹₽₩₪₫₴₺₦฿¢₿"
CURRENCIES = "EUR|USD|GBP|JPY|CHF|CNY|INR|RUB|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|KRW|MXN|SGD|HKD|BTC"
# A single letter after a space may be a word of its own ("5 A students"), so only letters that are common units count.
UNITS = (
    "km/h|m/s|mph|kWh|MWh|kW|MW|GW|kV|mV|mA|mAh|kHz|MHz|GHz|Hz|kPa|hPa|bar|kcal|kJ|dB|[kMGT]i?[Bb](?:/s|it/s)?|[kMG]bps"
    "|[kcmµμn]m[²³23]?|m[²³]|ha|[kmµμ]g|[mcd]l|mL|lbs?|oz|ft|yd|min|[mµμn]s|px|pt|rpm|dpi|fps|ppm"
)
# Units joined to one: 5 kg/m², 8 l/100 km, 250 N·m, 3 €/h. The first one is known, the others may be any short word.
FACTOR = (
    rf"(?:[{CURRENCY_SIGNS}]|{UNITS}|k?N|[kM]?J|[mkM]?W|[MG]?Pa|[mk]?mol|cal|Wh|[kM]?Ω|[µμ]l|[mglLhsVtKU]|rad|lm)"
    rf"(?:{POWER})?"
)
JOINED = rf"[/·⋅](?:\d{{1,3}} ?)?°?[A-Za-zµμΩ]{{1,6}}(?:{POWER}[A-Z]?)?"
AMOUNTS = NumericKind(
    SpanKind.AMOUNT,
    patterns=(
        rf"(?<![{LETTER}.,'])\d{{1,2}}['′] ?\d{{1,2}}(?:[\"″]|'')",  # feet and inches: 6'2"
        # A price without cents: 5,- or 5,– €.
        rf"(?<![{LETTER}.,])\d{{1,9}}(?:\.\d{{3}}){{0,3}},[-{DASHES}]{{1,2}}(?: ?[{CURRENCY_SIGNS}])?(?![\w-])",
        rf"(?<![{LETTER}]){AMOUNT}[ {THIN_BLANKS}]?{FACTOR}(?:{JOINED}){{1,3}}(?![{LETTER}/])",
        rf"(?<![{LETTER}])(?:US|AU|CA|HK|NZ|R)?[{CURRENCY_SIGNS}] ?{AMOUNT}(?:(?:k|K|M|B|bn|m)(?![{LETTER}]))?"
        rf"(?:/[A-Za-z]{{1,6}}(?![{LETTER}/]))?",
        rf"(?<![{LETTER}.,])(?:\d{{1,20}}(?:[.,]\d{{1,20}})? ?[x×·⋅] ?)?\d{{1,20}}{POWER}",
        rf"(?<![{LETTER}])(?:{CURRENCIES})[ {THIN_BLANKS}]?{AMOUNT}",
        rf"(?<![{LETTER}]){AMOUNT}(?:[ {THIN_BLANKS}]?(?:[{CURRENCY_SIGNS}]|[%‰](?![{LETTER}])"
        rf"|°(?:[CFK](?![{LETTER}]))?"
        rf"|(?:{CURRENCIES}|{UNITS}|[mglhVW])(?![{LETTER}]))|[AKJNT](?![{LETTER}])|[ {THIN_BLANKS}]s(?![{LETTER}'’]))",
    ),
    signs=r"\d",
)

# What a number alone must be to count as an amount, whose marks may change: 12,500, -3.5, 1,000–1,500.
WHOLE = rf"(?:[1-9]\d{{0,2}}(?:[.,'’{THIN_BLANKS}]\d{{3}}){{1,6}}|[1-9]\d{{0,19}}|0)"
ALONE = rf"[~≈{MINUS}]?{WHOLE}(?:[.,]\d{{1,20}})?"
ALONE_RANGE = rf"{ALONE}[-–](?:\d{{1,20}}[.,]\d{{1,20}}|[1-9]\d{{0,2}}(?:[.,]\d{{3}}){{1,6}})"
BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
# And what it then still may not be: the address of a machine, a month of a year.
NO_AMOUNT = rf"{BYTE}(?:\.{BYTE}){{3}}|(?:19|20)\d\d[.](?:0?[1-9]|1[0-2])"
MARKED_NUMBER = rf"\d[.,'’{THIN_BLANKS} ]\d"


def may_change(text: str) -> bool:
    """Whether a text has a number with a mark inside: fast, for there may be a million."""
    return re.search(MARKED_NUMBER, text) is not None


def are_amounts(text: str, spans: Sequence[Span]) -> bool:
    """Whether a text without letters is amounts with a currency, a unit or `%`, or one number that counts something.

    Versions, dates, times, addresses, telephone numbers, and lists of numbers without units are something else.
    """
    masked = [span for span in spans if not span.is_extracted]
    if not masked or any(span.kind is not SpanKind.AMOUNT for span in masked[1:]):
        return False
    first = masked[0]
    if first.kind is SpanKind.AMOUNT or len(masked) > 1:
        return first.kind is SpanKind.AMOUNT
    number = text[first.start : first.end].strip("()[]")
    rest = text[: first.start] + text[first.end :]
    if first.kind is not SpanKind.NUMBER or any(map(str.isdigit, rest)) or re.fullmatch(NO_AMOUNT, number):
        return False
    return re.fullmatch(f"{ALONE_RANGE}|{ALONE}", number) is not None
