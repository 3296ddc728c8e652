"""Building blocks of the patterns for numbers, amounts and codes. Kept as text and compiled on first use."""

from __future__ import annotations

import re

from nmt_cli.text.characters import DASHES, HYPHENS, PAUSES, THIN_BLANKS
from nmt_cli.text.normalise import UNSPACED

LETTER = r"A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"  # in scripts with spaces: characters that continue a word
WORD_LETTER = r"A-Za-z_\u00c0-\u024f\u0370-\u052f"  # the same without digits
UNSPACED_LETTERS = UNSPACED[1:-1]
MINUS = r"+±−-"

# Bounded, so that a line of nothing but digits and points takes no longer to search than any other.
NUMBER_WITH_SIGNS = (
    rf"(?:\d{{1,3}}(?:[ {THIN_BLANKS}'’]\d{{3}}){{1,6}}(?!\d)(?:[.,]\d{{1,20}})?|\d{{1,20}}+(?:[.,]\d{{1,20}}+){{0,6}})"
)
# Between two numbers, a dash with blanks on both sides or on none; in "€30 -5 °C" it is a sign.
# A sign before a number, as in ">5" and "is >= 5"; a lone ">" that begins a line quotes a mail.
COMPARISON = r"(?:(?<![\w<>=-])(?:[<>]=?|[≤≥≈≠])|(?<=\S )(?:[<>]=?|[≤≥≈≠]) )"
BEFORE, AFTER = rf"(?<![{LETTER}])", rf"(?![{WORD_LETTER}])"
CONNECTING = re.escape("&" + HYPHENS + DASHES)
# Of an abbreviation, which ends no sentence.
INNER_STOP = rf"\.(?=\s+[\da-zß-ÿ({CONNECTING}]|[/){re.escape(PAUSES)}{CONNECTING}])"
OPTIONAL_MINUS = rf"(?:(?<![\d.,)])[{MINUS}])?"
