"""Tests of number values: ordinals and decades in digits are written as the target writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.number_values import (
    NO_DIFFERENCE,
    compare_numbers,
    find_ending,
    list_uncertain,
    write_ordinal_mark,
)
from nmt_cli.languages.cldr import spell_number
from nmt_cli.languages.rules import find_rules


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("She left in 1976.", "Sie ging 1976."),
        ("It weighs 2.75 kg.", "Es wiegt 2,75 kg."),
        ("about 12,500 people", "etwa 12.500 Leute"),
        ("about 12,500 people", "etwa 12 500 Leute"),
        ("about 12,500 people", "etwa 12500 Leute"),
        ("They have 7 goats.", "Sie haben sieben Ziegen."),
        ("a 23-year-old nurse", "eine dreiundzwanzigjährige Pflegerin"),
        ("He owns 180 books.", "Er besitzt hundertachtzig Bücher."),
        ("We met sixteen years ago.", "Wir trafen uns vor 16 Jahren."),
        ("They own eight yachts.", "Sie besitzen 8 Yachten."),
        ("Come at 4:30.", "Komm um halb fünf."),
        ("Come at 4:45.", "Komm um Viertel vor fünf."),
        ("Come at 4:30 p.m.", "Komm um 16.30 Uhr."),
        ("Come at 6 p.m.", "Komm um 18 Uhr."),
        ("Come 9 a.m.–5:30 p.m.", "Komm 9:00–17:30 Uhr."),
        ("on 11/30/2003", "am 30. November 2003"),
        ("on 11/30/2003", "am 30.11.2003"),
        ("in the 1960s", "in den sechziger Jahren"),
        ("in the 1960s", "in den 60er-Jahren"),
        ("9 million trees", "9.000.000 Bäume"),
        ("CO₂ is a gas.", "CO2 ist ein Gas."),
        ("2½ pounds", "2 ½ Pfund"),
        ("2½ pounds", "2 1/2 Pfund"),
        ("version 3.11.2", "Version 3.11.2"),
        ("⟦0⟧ and ⟦1⟧ agree.", "⟦1⟧ und ⟦0⟧ stimmen überein."),
        ("", ""),
    ],
)
def test_a_number_may_be_written_in_another_way(source: str, target: str) -> None:
    assert compare_numbers(source, target, "eng", "deu") == NO_DIFFERENCE
    assert compare_numbers(target, source, "deu", "eng") == NO_DIFFERENCE


def test_rules_of_fractions_spell_no_whole_number() -> None:
    assert compare_numbers("150 books", "Są książki.", "eng", "pol").missing == ("150",)


def test_digits_of_any_script_are_digits() -> None:
    assert compare_numbers("٣٤ كتابا", "34 books", "ara", "eng") == NO_DIFFERENCE
    assert compare_numbers("５匹の犬", "5 dogs", "jpn", "eng") == NO_DIFFERENCE
    assert compare_numbers("三匹の犬", "3 dogs", "jpn", "eng") == NO_DIFFERENCE


def test_small_and_round_numbers_do_not_count_if_their_words_are_unknown() -> None:
    assert compare_numbers("7 goats, 300 sheep", "xx yy", "xxx", "yyy") == NO_DIFFERENCE
    assert compare_numbers("in 1976", "xx 1967", "xxx", "yyy").missing == ("1976",)


@given(number=st.integers(0, 10**6), language=st.sampled_from(["en", "de", "fr", "ja", "pl", "tr", "sw"]))
def test_every_number_is_found_in_words(number: int, language: str) -> None:
    for spelling in spell_number(number, language):
        assert not compare_numbers(f"x {number} y", f"x {spelling} y", "en", language).missing


@given(number=st.integers(200, 10**9), other=st.integers(200, 10**9))
def test_two_numbers_are_equal_or_differ(number: int, other: int) -> None:
    difference = compare_numbers(f"x {number}", f"x {other}", "en", "de")
    if number == other:
        assert difference == NO_DIFFERENCE
    elif max(number, other) / min(number, other) not in (1_000, 10_000, 1_000_000):
        assert difference.missing == (str(number),) and difference.invented == (str(other),)


def test_digits_of_a_reference_are_no_number() -> None:
    assert compare_numbers("I don&#39;t have 7 &#x20AC;.", "Ich habe keine 7 Euro.", "eng", "deu") == ((), ())


def test_where_number_words_are_unknown_no_number_is_uncertain() -> None:
    assert list_uncertain("7 goats", "xx", ("xxx", "yyy")) == ()


@pytest.mark.parametrize("digits", [19, 310, 4_301])
def test_numbers_of_any_length_are_compared(digits: int) -> None:
    number = "1" * digits
    assert compare_numbers(f"We have {number} dogs and 5 cats.", f"Wir haben {number} Hunde und 5 Katzen.") == ((), ())
    assert compare_numbers(f"We have {number} dogs.", f"Wir haben {number}2 Hunde.").missing == (number,)
    assert compare_numbers(f"{number}.5", f"{number},5") == ((), ())


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
