"""Tests of `carrying/numbers.py`.

How numbers are written, and how the target writes them. Times with a word behind them are written as the target
writes them. Numbers with `No.` or an abbreviated unit of time are one span, with what the target writes. Roman
numbers are carried behind what they number; the pronoun I is not. Streets are one span, in the forms of both
languages, where a number or an abbreviation shows them.
"""

from __future__ import annotations

import pytest

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.numbers import FULL_TIMES, NumberNotation, is_label, make_number_key
from nmt_cli.carrying.spans import Context, SpanKind


class EnglishToGerman:
    """The marks of a corpus that writes 1,000.5 as 1.000,5."""

    def find_target_decimal(self, mark: str) -> str | None:
        return {".": ","}.get(mark)

    def find_target_thousands(self, mark: str) -> str | None:
        return {",": "."}.get(mark)


GERMAN = NumberNotation(decimal=".", thousands=",", marks=EnglishToGerman())


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("2.71", "2,71"),
        ("12,500", "12.500"),
        ("1,234,567.89", "1.234.567,89"),
        ("$12,500.50", "$12.500,50"),
        ("-1.5 °C", "-1,5 °C"),
        ("1.5-2.5 kg", "1,5-2,5 kg"),
        ("1.5 g/cm³", "1,5 g/cm³"),
        ("2.5×10⁸ m/s", "2,5×10⁸ m/s"),
        ("1.250", "1,250"),  # a point is that of the decimals here
    ],
)
def test_marks_change_as_the_corpus_shows(source: str, target: str) -> None:
    assert GERMAN.convert(source) == target


@pytest.mark.parametrize(
    "text", ["1984", "10.0.0.1", "2024-01-05", "11:45", "v1.2", "B7-1.5", "1.2.3", "24.12.1990", "3/4", "1,5", "12 500"]
)
def test_what_is_no_number_of_the_source_stays(text: str) -> None:
    assert GERMAN.convert(text) == text


@pytest.mark.parametrize(
    ("label", "language"),
    [
        ("version", ""),
        ("Version", "eng"),
        ("Chapter", "eng"),
        ("See fig.", "fra"),
        ("Kapitel", "deu"),
        ("Versión", "spa"),
    ],
)
def test_the_number_of_a_version_or_a_chapter_is_a_label(label: str, language: str) -> None:
    assert is_label(f"{label} 3.1", len(label) + 1, language)
    assert not is_label(f"{label} of 3.1", len(label) + 4, language)


def test_a_label_is_one_in_its_language() -> None:
    assert not is_label("Kapitel 3.1", 8, "eng")


def test_a_word_that_ends_like_a_label_is_none() -> None:
    assert not is_label("Conversion 3.1", 11, "eng")


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
    ("time", "written"),
    [
        ("5 p.m.", "17:00"),
        ("5 p.m", "17:00"),
        ("10:30 a.m.", "10:30"),
        ("12 a.m.", "0:00"),
        ("12:15 PM", "12:15"),
        ("6pm", "18:00"),
        ("(5 p.m.)", "(17:00)"),
        ("5-6 p.m.", "17:00-18:00"),
        ("9am-5pm", "9:00-17:00"),
        ("9:30 p.m. – 1 a.m.", "21:30 – 1:00"),
        ("9:30 – 5 pm", "9:30 – 17:00"),
        ("11-12 p.m.", "11:00-12:00"),
        ("17 p.m.", "17 p.m."),
        ("13-2 p.m.", "13-2 p.m."),
        ("0 am", "0 am"),
        ("5 pages", "5 pages"),
    ],
)
def test_a_time_of_day_is_written_as_the_target_counts_its_hours(time: str, written: str) -> None:
    assert GERMAN._replace(target_language="deu").convert(time) == written
    assert GERMAN.convert(time) == time


def test_a_range_begins_in_the_half_of_the_day_of_its_end_or_before() -> None:
    german = GERMAN._replace(target_language="deu")
    assert [german.convert("5", following) for following in (" to 6 p.m. ", " and 4:30 PM", " to 6", "")] == [
        "17:00",
        "5:00",
        "5",
        "5",
    ]


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


def list_written(text: str, source: str = "eng", target: str = "deu") -> list[str]:
    return [span.text for span in find_spans(text, Context((source, target)), KINDS)]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Stop at No. 17.", ["Nr. 17"]),
        ("Invoice No. 2024-0815 is due.", ["Nr. 2024-0815"]),
        ("We drove 3 hrs. without a break.", ["3 Std."]),
        ("It takes 3 hrs.", ["3 Std"]),
        ("It takes 3 hrs in all", ["3 Std."]),
        ("Boil 10-12 mins, then stir", ["10-12 Min."]),
        ("wait 30 secs", ["30 Sek."]),
    ],
)
def test_words_beside_numbers_are_those_of_the_target(text: str, written: list[str]) -> None:
    assert list_written(text) == written


@pytest.mark.parametrize(
    "text", ["No. I do not know.", "No, 17 of them", "hrs. of work", "I said no. 5 came.", "3 mind"]
)
def test_other_words_are_left_to_the_network(text: str) -> None:
    assert list_written(text) == []


def test_german_words_are_written_in_english() -> None:
    assert list_written("Er ruft in 5 Min.", "deu", "eng") == ["5 min"]
    assert [span.end for span in find_spans("Er ruft in 5 Min.", Context(("deu", "eng")), KINDS)] == [
        len("Er ruft in 5 Min")
    ]
    assert list_written("Nr. 17 kocht 20 Min. lang, dann 2 Std.", "deu", "eng") == ["No. 17", "20 min", "2 hrs"]


def test_languages_without_such_words_leave_them() -> None:
    assert list_written("Stop at No. 17 for 3 hrs.", "eng", "jpn") == []


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


CONTEXT = Context(("eng", "deu"))


def list_streets(text: str) -> list[str]:
    return [span.text for span in find_spans(text, CONTEXT, KINDS) if span.kind is SpanKind.STREET]


@pytest.mark.parametrize(
    ("text", "street"),
    [
        ("He moved to 12 Baker St. last March.", "12 Baker St."),
        ("We live at 221B Baker Street, London.", "221B Baker Street"),
        ("350 N. Fifth Avenue is open.", "350 N. Fifth Avenue"),
        ("It is at 1600 Oak Hill Blvd.", "1600 Oak Hill Blvd"),
        ("Take Oak Ave. and stop.", "Oak Ave."),
        ("Meet me on 5th Ave. at noon.", "5th Ave."),
        ("Er wohnt in der Hauptstr. 5.", "Hauptstr. 5"),
        ("Er wohnt Lindenstraße 14, 10969 Berlin.", "Lindenstraße 14, 10969 Berlin"),
        ("Berliner Straße 120 b ist zu.", "Berliner Straße 120 b"),
        ("Am Marktplatz 3 regnet es.", "Marktplatz 3"),
        ("Write to Altstadtring 12, please.", "Altstadtring 12"),
        ("Er wohnt im Westring 4 a.", "Westring 4 a"),
        ("We met at Kaiserring 7.", "Kaiserring 7"),
    ],
)
def test_streets_are_found_whole(text: str, street: str) -> None:
    assert list_streets(text) == [street]


@pytest.mark.parametrize(
    "text",
    [
        "We saw 3 big streets.",
        "He visited St. Louis in May.",
        "Walk down the street 5 times.",
        "Der Weg 3 ist kurz.",
        "Auf der Straße 5 Leute",
        "In 1990 he came.",
        "12 Saint Bernard dogs",
        "Numbering 3 End",
        "String 1 and Substring 2 are equal.",
        "In Spring 2019 we met.",
        "Engineering 101",
        "Das Monitoring 24 Stunden am Tag",
    ],
)
def test_what_may_be_no_street_is_none(text: str) -> None:
    assert list_streets(text) == []


def test_languages_without_streets_find_none() -> None:
    assert not any(span.kind is SpanKind.STREET for span in find_spans("12 Baker St. ok", Context(("hi", "ja")), KINDS))
