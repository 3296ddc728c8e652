"""Abbreviated days are found where nothing else is meant, and written as the target language abbreviates them."""

from __future__ import annotations

from datetime import date

import pytest

from nmt_cli.carrying.kind import Context
from nmt_cli.carrying.numbers.calendars import load_calendar
from nmt_cli.carrying.numbers.weekdays import WEEKDAYS


def list_days(text: str, source: str = "eng", target: str = "deu") -> list[tuple[str, str]]:
    context = Context((source, target))
    found = list(WEEKDAYS.find(text, context))
    assert not found or WEEKDAYS.may_be_in(text, context)
    return [(text[span.start : span.end], span.text) for span in found]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Open Mon-Fri 8:00-18:00, Sat 9-13", [("Mon-Fri", "Mo-Fr"), ("Sat", "Sa")]),
        ("See you on Fri. at 7!", [("on Fri.", "am Fr.")]),
        ("See you on Fri.", [("on Fri", "am Fr")]),
        ("On Tue. we sleep.", [("On Tue.", "Am Di.")]),
        ("Every Mon. and Wed. we play.", [("Mon.", "Mo."), ("Wed.", "Mi.")]),
        ("closed Sat & Sun", [("Sat & Sun", "Sa & So")]),
        ("It rains Sat and Sun", [("Sat", "Sa"), ("Sun", "So")]),
        ("MON/TUE closed", [("MON/TUE", "MO/DI")]),
        ("Tues-Thurs", [("Tues-Thurs", "Di-Do")]),
        ("Mon, Wed, Fri", [("Mon", "Mo"), ("Wed", "Mi"), ("Fri", "Fr")]),
    ],
)
def test_days_are_written_as_the_target_does(text: str, days: list[tuple[str, str]]) -> None:
    assert list_days(text) == days


@pytest.mark.parametrize(
    "text",
    ["The Sun is up.", "We sat, and sun was out", "Sat 3 hours", "I Wed Tom. Sun rose.", "Monday", "Frieda-Mona"],
)
def test_words_spelled_like_days_are_none(text: str) -> None:
    assert list_days(text) == []


@pytest.mark.parametrize("text", ["Fr. Müller kam.", "So 5 Leute", "Do it, Mi", "So, so ist das.", "Di und du"])
def test_german_words_are_no_days(text: str) -> None:
    assert list_days(text, "deu", "eng") == []


def test_german_days_are_written_in_english() -> None:
    text = "Mo.-Fr. 9.30 Uhr, Sa und So 10 Uhr, jeden Di. um vier"
    english = [("Mo.-Fr.", "Mon.-Fri."), ("Sa", "Sat"), ("So", "Sun"), ("Di.", "Tue.")]
    assert list_days(text, "deu", "eng") == english


@pytest.mark.parametrize("target", ["xxx", ""])
def test_unknown_targets_get_no_days(target: str) -> None:
    assert list_days("Mon-Fri", "eng", target) == []


def test_single_letters_are_no_days() -> None:
    assert list_days("月-金", "jpn", "eng") == []


def test_days_begin_with_monday() -> None:
    calendar = load_calendar("en")
    assert calendar is not None
    names = [date(2024, 1, day).strftime("%A") for day in range(1, 8)]  # 2024-01-01 was a Monday
    assert [name for (name,) in calendar.days] == names
    assert list(calendar.short_days) == [name[:3] for name in names]
