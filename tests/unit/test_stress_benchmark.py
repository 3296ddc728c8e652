"""The benchmark of faithfulness counts what comes through: a number in digits or words of its own, spans as often."""

import random

import pytest
from stress_lost import HostileLine, list_losses, make_line
from stress_rows import exchange_name, keeps_numbers, keeps_wrapped, wrap_word


@pytest.mark.parametrize(
    ("source", "target", "kept"),
    [
        ("8 ducks in 1931", "1931 waren es 8 Enten", True),
        ("8 ducks in 1931", "1931 waren es acht Enten", True),
        ("the 8th duck", "die achte Ente", True),
        ("1,931 ducks", "1.931 Enten", True),
        ("8 ducks", "Achtung, Enten", False),
        ("8 ducks", "achtz Enten", False),
        ("8 ducks", "neun Enten", False),
        ("8 ducks", "8 Enten und 9 Gänse", False),
        ("8 ducks and 8 geese", "acht Enten und Gänse", False),
        ("8 ducks and 8 geese", "acht Enten und 8 Gänse", True),
        ("1 duck", "eine Ente", False),
        ("1 duck", "1 Ente", True),
        ("in 1931", "um 1913", False),
        ("100 ducks", "hundert Enten", True),
        ("at 5 p.m. and 10:30 a.m.", "um 17 Uhr und um 10:30 Uhr", True),
        ("at 5 p.m.", "um 17:00 Uhr", True),
        ("at 5 p.m.", "um 5:00 Uhr", False),
        ("at 12:15 am", "um 0:15 Uhr", True),
    ],
)
def test_numbers_are_kept_in_number_and_value(source: str, target: str, kept: bool) -> None:
    assert keeps_numbers(source, target, "deu") == kept


@pytest.mark.parametrize(
    ("text", "target", "kinds"),
    [
        ("<b>Duck</b>.<br>Goose 8.", "<b>Ente</b>.<br>Gans 8.", set()),
        ("<b>Duck</b>.<br>Goose 8.", "<b>Ente</b>.<br>Gans.", {"number"}),
        ("<b>Duck</b>.<br>Goose 8.", "<b>Ente.<br>Gans acht.", {"tag"}),
        ("<b>Duck</b>.<br>Goose %s.", "<b>Ente</b>.<br>Gans.", {"placeholder"}),
        ("<b>Duck</b>.<br>Goose 8.", "<b></b><br>8", {"line"}),
        ("<b>Duck</b>.<br>Goose 8.", "<b>E</b>.<br>8.", {"sentence"}),
    ],
)
def test_losses_are_found(text: str, target: str, kinds: set[str]) -> None:
    spans = ("<b>", "</b>", "<br>", *(("%s",) if "%s" in text else ()))
    line = HostileLine(text, ("Duck.", "Goose."), spans)
    assert set(list_losses(line, target, ["Ente.", "Gans."], "deu")) == kinds


def test_what_is_put_into_a_hostile_line_stands_in_it_as_often() -> None:
    generator = random.Random(1)
    for _ in range(500):
        line = make_line(["I see a duck.", "Where is the goose?"], generator)
        assert all(line.text.count(span) >= line.spans.count(span) for span in line.spans)
        assert not set(list_losses(line, line.text, line.sentences, "deu"))


def test_a_strange_name_takes_the_place_of_one_that_both_sides_have() -> None:
    assert exchange_name("I saw Tom and Anna.", "Ich sah Anna.", "Zeynep") == "I saw Tom and Zeynep."
    assert exchange_name("Tom is here.", "Tom ist da.", "C++") == "C++ is here."
    assert exchange_name("Mary is here.", "Maria ist da.", "C++") is None


def test_a_word_between_two_marks_must_stay_between_them() -> None:
    assert wrap_word("I don't see.", ("{0}", "{1}"), random.Random(1)) in ("{0}I{1} don't see.", "I don't {0}see{1}.")
    assert wrap_word("It's 5.", ("{0}", "{1}"), random.Random(1)) is None
    outputs = [
        "Ich {0}sehe{1} nicht.",
        "Ich {0}{1} sehe nicht.",
        "Ich {0} {1} sehe",
        "Ich sehe{1} {0}nicht.",
        "Ich {0}sehe",
    ]
    assert [keeps_wrapped(("{0}", "{1}"), output) for output in outputs] == [True, False, False, False, False]
