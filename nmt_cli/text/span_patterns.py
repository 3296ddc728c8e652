"""Patterns of protected spans: markup, emoji, addresses, placeholders, amounts.

Only what a span looks like; `spans` finds them, `masking` masks them.
"""

from __future__ import annotations

import re
from functools import cache

from nmt_cli.text.normalise import UNSPACED

BREAKS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # no span contains these: control characters and line ends
LETTER = r"A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"  # in scripts with spaces: characters that continue a word
UNSPACED_LETTERS = UNSPACED[1:-1]
ADDRESS = (
    rf"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%{{}}-]|(?![{UNSPACED_LETTERS}])[^\W_]|(?<=[/=?&#_-])[{UNSPACED_LETTERS}]+)"
)
DOMAINS = "com|org|net|edu|gov|io|dev|app|info|eu|de|fr|es|ch|uk|jp|cn"
# Bounded, so that a line of nothing but digits and points takes no longer to search than any other.
NUMBER = r"(?:\d{1,3}(?:[ \u00a0\u202f'’]\d{3}){1,6}(?!\d)(?:[.,]\d{1,20})?|\d{1,20}+(?:[.,]\d{1,20}+){0,6})"
AMOUNT = rf"[+±~≈−-]?{NUMBER}(?: ?[-–] ?{NUMBER})?"
SIGNS = "$€£¥₹₽₩₪₫₴₺₦฿¢₿"
CURRENCIES = "EUR|USD|GBP|JPY|CHF|CNY|INR|RUB|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|KRW|MXN|SGD|HKD|BTC"
# A single letter after a space may be a word of its own ("5 A students"), so only letters that are common units count.
UNITS = (
    "km/h|m/s|mph|kWh|MWh|kW|MW|GW|kV|mV|mA|mAh|kHz|MHz|GHz|Hz|kPa|hPa|bar|kcal|kJ|dB|[kMGT]i?[Bb](?:/s|it/s)?|[kMG]bps"
    "|[kcmµμn]m[²³23]?|m[²³]|ha|[kmµμ]g|[mcd]l|mL|lbs?|oz|ft|yd|min|[mµμn]s|px|pt|rpm|dpi|fps|ppm"
)
# By how a span is treated; an address is masked too, but its last characters may be punctuation of the sentence.
PATTERNS = {
    "extracted": "|".join(
        (
            # Markup: a comment, a declaration, an instruction, or a tag, which may have a `>` within quotes.
            rf"<!--[^{BREAKS}]{{0,2000}}?-->|<[!?][A-Za-z\[][^<>{BREAKS}]{{0,2000}}>",
            rf"</?[A-Za-z][\w:.-]*+(?:\s(?:[^<>\"'{BREAKS}]|\"[^\"{BREAKS}]{{0,2000}}\"|'[^'{BREAKS}]{{0,2000}}')*+)?/?>",
            # Emoji: flags, keycaps, and pictographs with modifiers, variations, tags and joiners (UTS 51, ED-16).
            r"[\U0001f1e6-\U0001f1ff]{1,2}|[0-9#*]\ufe0f?\u20e3",
            r"(?:{0}(?:\u200d{0})*)".format(
                "(?:[\U0001f000-\U0001f1e5\U0001f200-\U0001faff\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
                "\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u25fd\u25fe\u2934\u2935]"
                "|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u25ff\u3030\u303d\u3297\u3299](?=\ufe0f))"
                "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
            ),
        )
    ),
    "address": "|".join(
        (
            rf"(?<![{LETTER}])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://|www\.|mailto:){ADDRESS}+",
            rf"(?<![{LETTER}.+-])(?:(?![{UNSPACED_LETTERS}])[\w.+%-]){{1,64}}@(?:[^\W_]|-){{1,63}}(?:\.[A-Za-z0-9-]{{2,63}})+",
            rf"(?<![{LETTER}.-])(?:[A-Za-z0-9-]{{1,63}}\.){{1,5}}(?:{DOMAINS})(?![{LETTER}-])(?:[/?#]{ADDRESS}*)?",
        )
    ),
    "masked": "|".join(
        (
            r"⟦\d⟧",  # text that looks like one of our own placeholders
            rf"\{{\{{[^{{}}{BREAKS}]{{0,80}}\}}\}}|[$#%]?\{{[^{{}}{BREAKS}]{{0,60}}\}}",
            rf"%(?:\d+\$)?\(\w{{1,40}}\)[#0+-]*\d*(?:\.\d+)?[a-zA-Z]|%(?:\d+\$)?[#0+-]*\d*(?:\.\d+)?"
            rf"(?:[sd]|(?:hh|h|ll|l|z)?[iuoxXeEfFgGc@](?![{LETTER}]))|%%",
            r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});",
            rf"(?<![{LETTER}])(?:US|AU|CA|HK|NZ|R)?[{SIGNS}] ?{AMOUNT}(?:(?:k|K|M|B|bn|m)(?![{LETTER}]))?",
            rf"(?<![{LETTER}])(?:{CURRENCIES})[ \u00a0\u202f]?{AMOUNT}",
            rf"(?<![{LETTER}]){AMOUNT}(?:[ \u00a0\u202f]?(?:[{SIGNS}]|[%‰](?![{LETTER}])|°(?:[CFK](?![{LETTER}]))?"
            rf"|(?:{CURRENCIES}|{UNITS}|[mglhVW])(?![{LETTER}]))|[AKJNT](?![{LETTER}]))",
        )
    ),
}
# Every span contains one of these; most sentences contain none, and a search for these alone is fast.
TRIGGER = re.compile(
    r"[0-9@%{<&⟦$€£¥\u20a0-\u20bf฿¢©®\u203c\u2049\u20e3\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]|://|mailto:|www\.|\w\.[a-z]|\d"
)


@cache
def compile_span_pattern() -> re.Pattern[str]:
    """Returns all of PATTERNS as one, compiled on first use: compiling takes longer than translating a sentence."""
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in PATTERNS.items()))
