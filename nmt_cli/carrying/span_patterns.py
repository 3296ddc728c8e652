"""Patterns of protected spans: markup, emoji, addresses, placeholders, numbers.

Only what a span looks like; `spans` finds them, `masking` masks them.
"""

from __future__ import annotations

import re
from functools import cache

from nmt_cli.carrying.number_patterns import AMOUNTS, CODES, LETTER, NUMBERS, UNSPACED_LETTERS
from nmt_cli.carrying.placeholders import BREAKS, CHOICE, PLACEHOLDER_SYNTAXES
from nmt_cli.text.characters import END_MARKS, PAUSES

ADDRESS = (
    rf"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%{{}}-]|(?![{UNSPACED_LETTERS}])[^\W_]|(?<=[/=?&#_-])[{UNSPACED_LETTERS}]+)"
)
DOMAINS = "com|org|net|edu|gov|io|dev|app|info|eu|de|fr|es|ch|uk|jp|cn"
# Elements whose content is not translated: what is typed, printed or run; in Markdown, between backticks.
VERBATIM = "kbd|code|samp|var|pre"
ELEMENT = rf"<(?:{VERBATIM})(?:\s[^<>{BREAKS}]{{0,200}})?>[^<>{BREAKS}]{{0,500}}</(?:{VERBATIM})>"
# By how a span is treated; an address is masked too, but its last characters may be punctuation of the sentence.
PATTERNS = {
    "choice": CHOICE,
    "element": rf"{ELEMENT}(?: ?[+/-]? ?{ELEMENT}){{0,9}}|(?<![\w`])`[^`{BREAKS}]{{1,100}}`(?![\w`])",
    "extracted": "|".join(
        (
            # Markup: a comment, a declaration, an instruction, or a tag, which may have a `>` within quotes.
            rf"<!--[^{BREAKS}]{{0,2000}}?-->|<[!?][A-Za-z\[][^<>{BREAKS}]{{0,2000}}>",
            rf"</?[A-Za-z][\w:.-]*+(?:\s(?:[^<>\"'{BREAKS}]|\"[^\"{BREAKS}]{{0,2000}}\"|'[^'{BREAKS}]{{0,2000}}')*+)?/?>",
            # Emoji: flags, keycaps, and pictographs with modifiers, variations, tags and joiners (UTS 51, ED-16).
            r"[\U0001f1e6-\U0001f1ff]{1,2}|[0-9#*]\ufe0f?\u20e3",
            # Faces that are typed: :-) ;D <3 xD ^^
            rf"(?<!\S)(?:[:;=]['-]?[DPpOo3|/\\*()\[\]]{{1,5}}|[xX]D{{1,5}}|<3{{1,5}}|\^_?\^)(?=[\s{END_MARKS}{PAUSES}]|$)",
            # Marks of trade, which stand behind a name.
            r"[®™℠](?!\ufe0f)",
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
            *PLACEHOLDER_SYNTAXES,
            r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});",
            # Fractions and formulas that are written in figures of their own: 1½, CO₂.
            r"(?:(?<![\d.,/])\d{1,9} ?)?[¼-¾⅐-⅞]",
            rf"(?<![{LETTER}])(?=[A-Za-z]{{1,6}}[₀-₉])(?:[A-Z][a-z]?[₀-₉]{{0,3}}){{1,10}}(?![{LETTER}])",
        )
    ),
}


@cache
def compile_span_pattern() -> re.Pattern[str]:
    """Returns all of PATTERNS as one, compiled on first use: compiling takes longer than translating a sentence."""
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in PATTERNS.items()))


@cache
def compile_number_pattern() -> re.Pattern[str]:
    """Returns the pattern of amounts, codes and numbers."""
    return re.compile("|".join((*AMOUNTS, *CODES, *NUMBERS)))
