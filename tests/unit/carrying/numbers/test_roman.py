"""Roman numbers are carried behind what they number; the pronoun I is not."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.kind import Context
from nmt_cli.carrying.kinds import KINDS, find_spans


@pytest.mark.parametrize(
    ("language", "text", "numbers"),
    [
        ("eng", "Part II", ["II"]),
        ("eng", "Chapter IV is longer than chapter XIV.", ["IV", "XIV"]),
        ("eng", "Part I", ["I"]),
        ("eng", "This is part I.", ["I"]),
        ("eng", "Part I like best.", []),
        ("eng", "The part I'd like, and the step I, too, took.", []),
        ("eng", "Give me a vitamin C.", []),
        ("eng", "Chapter IIII and part IVth", []),
        ("deu", "Kapitel IV und Teil I.", ["IV", "I"]),
        ("fra", "Chapitre V", ["V"]),
    ],
)
def test_roman_numbers_are_carried_behind_labels(language: str, text: str, numbers: list[str]) -> None:
    spans = find_spans(text, Context((language, "")), KINDS)
    assert [span.text for span in spans] == numbers
