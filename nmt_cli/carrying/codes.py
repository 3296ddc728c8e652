"""Codes with small figures: `1½`, `CO₂`. `names` finds all other codes, since it knows the training text."""

from __future__ import annotations

from nmt_cli.carrying.kind import Kind
from nmt_cli.carrying.numbers.patterns import LETTER
from nmt_cli.carrying.spans import SpanKind

CODES = Kind(
    SpanKind.CODE,
    patterns=(
        r"(?:(?<![\d.,/])\d{1,9} ?)?[¼-¾⅐-⅞]",
        rf"(?<![{LETTER}])(?=[A-Za-z]{{1,6}}[₀-₉])(?:[A-Z][a-z]?[₀-₉]{{0,3}}){{1,10}}(?![{LETTER}])",
    ),
    signs="¼-¾⅐-⅞₀-₉",
)
