"""Times with a word behind them are written as the target writes them."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.kind import Context
from nmt_cli.carrying.numbers.times import FULL_TIMES


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("Um 14 Uhr beginnt der Kurs.", [("14 Uhr", "14:00")]),
        ("Um 9.10 Uhr und 18:30 Uhr", [("9.10 Uhr", "9:10"), ("18:30 Uhr", "18:30")]),
        ("Mo–Fr 8–12 Uhr, Sa 9.30 - 11 Uhr", [("8–12 Uhr", "8:00–12:00"), ("9.30 - 11 Uhr", "9:30 - 11:00")]),
        ("UM 14 UHR", [("14 UHR", "14:00")]),
        ("um 14\u202fUhr", [("14\u202fUhr", "14:00")]),
        ("Wir sehen uns um 9 Uhr.", []),  # in the morning or in the evening
        ("Die 14 Uhren gehen vor.", []),
        ("Um A14 Uhr", []),
    ],
)
def test_a_full_time_is_written_with_minutes(text: str, times: list[tuple[str, str]]) -> None:
    context = Context(("deu", "eng"))
    assert [(text[span.start : span.end], span.text) for span in FULL_TIMES.find(text, context)] == times
    assert FULL_TIMES.may_be_in(text, context) or not times


@pytest.mark.parametrize(("languages", "written"), [(("deu", "nld"), ["14 uur"]), (("eng", "deu"), []), (("", ""), [])])
def test_the_word_is_that_of_the_target(languages: tuple[str, str], written: list[str]) -> None:
    assert [span.text for span in FULL_TIMES.find("um 14 Uhr", Context(languages))] == written
