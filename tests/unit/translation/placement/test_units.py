"""Words, marks and placeholders of a translation."""

from __future__ import annotations

from nmt_cli.translation.placement.units import find_units


def units(text: str) -> list[str]:
    return [text[start:end] for start, end in find_units(text)]


def test_words_marks_and_placeholders_are_units() -> None:
    assert units("Geh jetzt, ⟦0⟧!") == ["Geh", "jetzt", ",", "⟦0⟧", "!"]


def test_characters_of_scripts_without_blanks_are_units_of_their_own() -> None:
    assert units("駅は") == ["駅", "は"]


def test_an_accent_belongs_to_its_letter() -> None:
    assert units("か\u3099") == ["か\u3099"]
