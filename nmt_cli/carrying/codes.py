"""Signs and words no prose has: `1½`, `CO₂`, `:name`, `[NAME]`, base64.

`names` finds codes by what training had.
"""

from __future__ import annotations

import re

from nmt_cli.carrying.kind import Kind
from nmt_cli.carrying.numbers.patterns import LETTER, UNSPACED_LETTERS
from nmt_cli.carrying.spans import SpanKind
from nmt_cli.text.characters import ANY_OPENING

WORD_START = rf"(?<![^\s{re.escape(ANY_OPENING)}])"
TYPE = r"[A-Z]\w{0,40}(?:<[A-Z]\w{0,40})?|int|str|string|float|double|char|bool|long"
DATA = r"[\w+/=-]"  # base64, hexadecimal digits, sequences of genes
SHORTEST_DATA = 200  # characters, three times as many as the longest word of German law
CODES = Kind(
    SpanKind.CODE,
    patterns=(
        # Types of programs: std::vector<int>, Map<String, Integer>
        rf"(?<![\w:])(?:(?:\w{{1,40}}::){{1,6}}\w{{1,40}}|[A-Z]\w{{0,40}})<(?:{TYPE})(?:, ?(?:{TYPE})){{0,4}}>+",
        r"(?:(?<![\d.,/])\d{1,9} ?)?[¼-¾⅐-⅞]",
        rf"(?<![{LETTER}])(?=[A-Za-z]{{1,6}}[₀-₉])(?:[A-Z][a-z]?[₀-₉]{{0,3}}){{1,10}}(?![{LETTER}])",
        # Laravel, Rails, chats; Drupal: a mark that stands behind words, before one.
        rf"{WORD_START}::?[A-Za-z_]\w{{1,40}}:{{0,2}}(?!\w)|{WORD_START}![a-z_]\w{{1,40}}(?!\w)",
        # Data, in a script with blanks.
        rf"(?<!{DATA})(?={DATA}{{{SHORTEST_DATA}}})(?:(?![{UNSPACED_LETTERS}]){DATA}){{{SHORTEST_DATA},}}",
        # Forms: a word in capitals within brackets, where it is not all there is.
        r"(?:(?<!^)(?<!\[)|^(?=.*[a-z]))\[[A-Z][A-Z_]{1,40}(?:_\d{1,3})?\](?!\])",
    ),
    signs=r"¼-¾⅐-⅞₀-₉:!\[<",
    cues=rf"{DATA}{{{SHORTEST_DATA}}}",
)
