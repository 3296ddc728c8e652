"""Ordinals and decades in digits are written as the target writes them."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.numbers.ordinals import find_ending, write_ordinal_mark
from nmt_cli.languages.rules import find_rules


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("7th", ("eng", "deu"), (3, ".")),
        ("7th", ("en-GB", "fra"), (3, "e")),
        ("7th", ("eng", "jpn"), (3, "")),
        ("7e", ("fra", "eng"), (2, "th")),
        ("7th", ("deu", "eng"), (1, "")),
        ("7thx", ("eng", "deu"), (1, "")),
        ("7 th", ("eng", "deu"), (1, "")),
        ("7s", ("eng", "deu"), (2, "er")),
        ("7er", ("deu", "eng"), (3, "s")),
        ("7", ("xx", "yy"), (1, "")),
    ],
)
def test_letters_behind_a_number_say_what_it_is(
    text: str, languages: tuple[str, str], expected: tuple[int, str]
) -> None:
    assert find_ending(text, 1, "7", languages) == expected


def test_english_ordinals_follow_their_number() -> None:
    numbers = ("1", "2", "3", "4", "11", "12", "13", "21", "102", "111", "113")
    marks = "st nd rd th th th th st nd th th".split()
    assert [write_ordinal_mark(number, find_rules("en")) for number in numbers] == marks
