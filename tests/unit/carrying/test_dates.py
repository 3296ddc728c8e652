"""Tests of `carrying/dates.py`.

Dates with the name of a month are found, and written as another language writes them. Abbreviated days are found
where nothing else is meant, and written as the target language abbreviates them.
"""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.dates import Date, find_dates, find_relation, list_phrases, load_calendar


@pytest.mark.parametrize(
    ("language", "day", "full", "month"),
    [
        ("eng", "March 12", "March 12, 1990", "March 1990"),
        ("deu", "12. März", "12. März 1990", "März 1990"),
        ("fra", "12 mars", "12 mars 1990", "mars 1990"),
        ("ces", "12. března", "12. března 1990", "březen 1990"),
        ("jpn", "3月12日", "1990年3月12日", "1990年3月"),
    ],
)
def test_a_date_is_written_as_the_language_writes_it(language: str, day: str, full: str, month: str) -> None:
    calendar = load_calendar(language)
    assert calendar is not None
    assert calendar.write(Date(0, 0, 3, "12", None)) == day
    assert calendar.write(Date(0, 0, 3, "12", "1990")) == full
    assert calendar.write(Date(0, 0, 3, None, "1990")) == month


@given(st.integers(1, 12), st.integers(1, 31).map(str), st.one_of(st.none(), st.integers(1000, 2999).map(str)))
@pytest.mark.parametrize(
    "language", ["eng", "deu", "fra", "spa", "ita", "por", "nld", "swe", "rus", "pol", "cat", "tur"]
)
def test_a_date_that_was_written_is_found_again(language: str, month: int, day: str, year: str | None) -> None:
    calendar = load_calendar(language)
    assert calendar is not None
    (date,) = find_dates(f"x {calendar.write(Date(0, 0, month, day, year))} x", language)
    assert date[2:] == (month, day, year)
    assert calendar.has_month(calendar.write(date), month)
    assert calendar.writes_so(calendar.write(date))


@pytest.mark.parametrize(
    ("language", "text"),
    [("deu", "Juni 7"), ("deu", "7 Juni"), ("eng", "7. June"), ("fra", "juin 7"), ("eng", "1, 2 and 3. May")],
)
def test_a_date_in_the_order_of_another_language_is_told(language: str, text: str) -> None:
    calendar = load_calendar(language)
    assert calendar is not None and not calendar.writes_so(text)


@pytest.mark.parametrize("language", ["eng", "deu", "fra", "spa", "nld", "por", "swe", "dan"])
@pytest.mark.parametrize("has_day", [True, False])
def test_what_relates_to_a_date_is_found_again(language: str, has_day: bool) -> None:
    phrases = list_phrases(language, has_day=has_day)
    assert set(phrases) == {"on", "since", "before", "after", "until", "by", "from", "to", "of"}
    for relation, phrase in phrases.items():
        written = phrase.partition("|")[0]
        begins = f"{phrases['from'].partition('|')[0]} x " if relation == "to" else ""
        found, start = find_relation(f"x {begins}{written} ", language, has_day=has_day)
        assert phrases[found].partition("|")[0] == written and start == len(f"x {begins}")


@given(st.integers(1, 12), st.integers(1, 12), st.one_of(st.none(), st.integers(1, 31).map(str)))
@pytest.mark.parametrize("language", ["eng", "deu", "fra", "spa", "nld", "por", "swe", "dan"])
def test_a_range_of_months_or_days_is_found_again(language: str, first: int, last: int, day: str | None) -> None:
    calendar, phrases = load_calendar(language), list_phrases(language, has_day=day is not None)
    assert calendar is not None
    begin, until = (phrases[relation].partition("|")[0] for relation in ("from", "to"))
    start, end = (calendar.write(Date(0, 0, month, day, None)) for month in (first, last))
    assert [date[2:4] for date in find_dates(f"x {begin} {start} {until} {end} x", language)] == [
        (first, day),
        (last, day),
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [("deu", "1., 2. und 3. Mai"), ("eng", "May 1, 2 and 3"), ("fra", "1, 2 et 3 mai")],
)
def test_a_list_of_days_is_written_as_it_is_read(language: str, text: str) -> None:
    calendar = load_calendar(language)
    (date,) = find_dates(text, language)
    assert calendar is not None and (date.day, calendar.write(date)) == ("1, 2 & 3", text)


def test_days_begin_with_monday() -> None:
    calendar = load_calendar("en")
    assert calendar is not None
    names = [date(2024, 1, day).strftime("%A") for day in range(1, 8)]  # 2024-01-01 was a Monday
    assert [name for (name,) in calendar.days] == names
    assert list(calendar.short_days) == [name[:3] for name in names]
