"""Tests of `carrying/numbers.py`.

How numbers are written, and how the target writes them. What is found in the texts of a language stands in
`tests/cases`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.number_values import (
    NUMBERS,
    WORDED_NUMBERS,
    compare_numbers,
    list_lost_words,
    list_worded,
    write_ordinal_mark,
)
from nmt_cli.carrying.numbers import FULL_TIMES, NumberNotation, make_number_key
from nmt_cli.carrying.spans import Attempt, Context, Difference, SpanKind
from nmt_cli.languages.cldr import spell_cardinal, spell_number
from nmt_cli.languages.rules import find_rules


class EnglishToGerman:
    """The marks of a corpus that writes 1,000.5 as 1.000,5."""

    def find_target_decimal(self, mark: str) -> str | None:
        return {".": ","}.get(mark)

    def find_target_thousands(self, mark: str) -> str | None:
        return {",": "."}.get(mark)


GERMAN = NumberNotation(decimal=".", thousands=",", marks=EnglishToGerman())


def test_nothing_changes_where_the_corpus_does_not_show_how() -> None:
    class Silent:
        def find_target_decimal(self, mark: str) -> str | None:
            return "," if mark == "." else None

        def find_target_thousands(self, mark: str) -> str | None:
            return None

    silent = NumberNotation(decimal=".", thousands=",", marks=Silent())
    assert [silent.convert(text) for text in ("2.5", "1,000", "1,000.5")] == ["2,5", "1,000", "1,000.5"]
    assert NumberNotation(None, None, EnglishToGerman()).convert("2.5 or 1,000") == "2.5 or 1,000"


def test_a_key_ignores_marks_and_blanks_but_not_digits_and_units() -> None:
    assert make_number_key("1,000.5 kg") == make_number_key("1 000,5kg") == make_number_key("1’000.5 kg")
    assert make_number_key("10–15") == make_number_key("10-15") != make_number_key("1015")
    assert make_number_key("5 kg") != make_number_key("5 km")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It needs Python 3.12 or later.", "3.12"),
        ("It needs AnkiDroid 2.17+.", "2.17+"),
        ("a new USB 3.0 port", "3.0"),
        ("a StarOffice 3.0 - 5.0 file", "5.0"),
        ("Python 3.12 is new", "3.12"),
        ("For PHP 7.4 users", "7.4"),
        ("THE OLD WINDOWS 8.1 PC", "8.1"),
        ("We paid Anna 2.50 euros.", "2,50"),
        ("From Berlin 3.5 million people came.", "3,5"),
        ("THE PRICE 2.50 IS HIGH.", "2,50"),
        ("A 2.5 mile walk", "2,5"),
        ("In the US 2.5 million came.", "2,5"),
        ("Price 2.50", "2,50"),
        ("It costs 2.50.", "2,50"),
    ],
)
def test_the_point_of_a_version_behind_a_name_stays(text: str, written: str) -> None:
    usual = {"Price": "price", "costs": "costs", "PHP": "php", "PRICE": "price", "WINDOWS": "Windows", "A": "a"}
    context = Context(("eng", "deu"), write_number=GERMAN.convert, find_usual_case=usual.get)
    *_, span = (span for span in find_spans(text) if span.kind is SpanKind.NUMBER)
    assert NUMBERS.write(span, text, context) == written


def test_hours_stay_where_no_language_counts_them_otherwise() -> None:
    assert [GERMAN.convert(time) for time in ("5 p.m.", "9am-5pm")] == ["5 p.m.", "9am-5pm"]


def test_a_range_begins_in_the_half_of_the_day_of_its_end_or_before() -> None:
    german = GERMAN._replace(languages=("eng", "deu"))
    assert [german.convert("5", following) for following in (" to 6 p.m. ", " and 4:30 PM", " to 6", "")] == [
        "17:00",
        "5:00",
        "5",
        "5",
    ]


@pytest.mark.parametrize(("languages", "written"), [(("deu", "nld"), ["14 uur"]), (("eng", "deu"), []), (("", ""), [])])
def test_the_word_is_that_of_the_target(languages: tuple[str, str], written: list[str]) -> None:
    assert [span.text for span in FULL_TIMES.find("um 14 Uhr", Context(languages))] == written


def test_the_full_stop_of_an_abbreviation_may_end_the_sentence() -> None:
    (span,) = find_spans("Er ruft in 5 Min.", Context(("deu", "eng")), KINDS)
    assert span.end == len("Er ruft in 5 Min")


def test_languages_without_streets_find_none() -> None:
    assert not any(span.kind is SpanKind.STREET for span in find_spans("12 Baker St. ok", Context(("hi", "ja")), KINDS))


@given(number=st.integers(0, 10**6), language=st.sampled_from(["en", "de", "fr", "ja", "pl", "tr", "sw"]))
def test_every_number_is_found_in_words(number: int, language: str) -> None:
    for spelling in spell_number(number, language):
        assert not compare_numbers(f"x {number} y", f"x {spelling} y", "en", language).missing


@given(
    number=st.integers(13, 10**6 - 1),
    other=st.integers(13, 99),
    languages=st.permutations(["en", "de", "fr", "es", "sv", "da", "id"]),
)
def test_a_number_in_words_is_lost_unless_the_translation_has_it(number: int, other: int, languages: list[str]) -> None:
    source, target = languages[:2]
    words, others = (spell_cardinal(value, language) for value, language in ((number, source), (other, target)))
    if number not in (100, 1_000):  # which are said of many
        (found,) = list_worded(words, source)
        assert (found.text, found.value) == (words, number)
    for written in (str(number), spell_cardinal(number, target)):
        assert not list_lost_words(Attempt.from_texts(f"Z: {words}.", f"Z: {written}."), (source, target))
    is_near = number == other or number <= 24 or str(other) in str(number) or number in (100, 1_000)  # 17 is 5 p.m.
    lost = list_lost_words(Attempt.from_texts(f"Z: {words}.", f"Z: {others}."), (source, target))
    assert is_near or [each.value for each in lost] == [number]


@given(number=st.integers(200, 10**9), other=st.integers(200, 10**9))
def test_two_numbers_are_equal_or_differ(number: int, other: int) -> None:
    difference = compare_numbers(f"x {number}", f"x {other}", "en", "de")
    if number == other:
        assert difference == Difference()
    elif max(number, other) / min(number, other) not in (1_000, 10_000, 1_000_000):
        assert difference.missing == (str(number),) and difference.added == (str(other),)


@pytest.mark.parametrize("digits", [19, 310, 4_301])
def test_numbers_of_any_length_are_compared(digits: int) -> None:
    number = "1" * digits
    assert compare_numbers(f"We have {number} dogs and 5 cats.", f"Wir haben {number} Hunde und 5 Katzen.") == ((), ())
    assert compare_numbers(f"We have {number} dogs.", f"Wir haben {number}2 Hunde.").missing == (number,)
    assert compare_numbers(f"{number}.5", f"{number},5") == ((), ())


@pytest.mark.parametrize(
    ("language", "keeps_digits", "missing"),
    [("yyy", None, ["45"]), ("", None, []), ("yyy", True, ["7", "45", "300"]), ("yyy", False, [])],
)
def test_training_tells_whether_a_language_spells_numbers(
    language: str, keeps_digits: bool | None, missing: list[str]
) -> None:
    difference = compare_numbers("7 goats, 45 hens, 300 sheep", "xx 8 yy 46", "spa", language, keeps_digits)
    assert list(difference.missing) == missing


def test_english_ordinals_follow_their_number() -> None:
    numbers = ("1", "2", "3", "4", "11", "12", "13", "21", "102", "111", "113")
    marks = "st nd rd th th th th st nd th th".split()
    assert [write_ordinal_mark(number, find_rules("en")) for number in numbers] == marks


def test_millions_of_what_is_counted_are_no_metres() -> None:
    german = GERMAN._replace(languages=("eng", "deu"))
    assert [german.convert("2.5m", following) for following in (" people", " of it", "")] == [
        "2,5 Millionen",
        "2,5m",
        "2,5m",
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("thirty-five", "fünfunddreißig"),
        ("Thirty-five", "Fünfunddreißig"),
        ("THIRTY-FIVE", "FÜNFUNDDREISSIG"),
        ("nineteen eighty-four", "1984"),
        ("three and a half", "3.5"),
    ],
)
def test_a_lost_number_is_written_as_the_target_writes_it(text: str, written: str) -> None:
    attempt = Attempt.from_texts(f"It was {text}.", "Es war.")
    assert [span.text for span in WORDED_NUMBERS.list_carried(attempt, Context(("en", "de")))] == [written]
