"""Ordinals and decades in digits are written as the target writes them."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.numbers.ordinals import find_ending, find_lost_decades, write_ordinal_mark
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


@pytest.mark.parametrize(
    ("source", "target", "languages", "lost"),
    [
        ("In the 1990s", "In der 1990", ("eng", "deu"), ["1990"]),
        ("music of the '80s", "Musik der '80", ("eng", "deu"), ["80"]),
        ("die 90er", "the 90", ("deu", "eng"), ["90"]),
        ("In the 1990s", "In den 1990ern", ("eng", "deu"), []),
        ("In the 1990s", "In den 90er Jahren", ("eng", "deu"), []),
        ("In the 1990s", "In den Neunzigern", ("eng", "deu"), []),
        ("In the 1990s", "1990", ("eng", "fra"), []),
        ("In 1990", "Im Jahr 1990", ("eng", "deu"), []),
    ],
)
def test_a_decade_that_became_a_number_is_lost(
    source: str, target: str, languages: tuple[str, str], lost: list[str]
) -> None:
    assert list(find_lost_decades(source, target, languages)) == lost
