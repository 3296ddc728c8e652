"""Text of others is shown, and never obeyed by a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.escapes import escape_controls, escape_line


@given(st.text())
def test_nothing_that_is_printed_is_a_control_character(text: str) -> None:
    assert not any(
        unicodedata.category(character) == "Cc" for character in escape_controls(text) if character not in "\t\n"
    )
    assert "\n" not in escape_line(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_all_other_text_stays_as_it_is(text: str) -> None:
    assert escape_controls(text) == escape_line(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\x1b]0;title\x07", r"\x1b]0;title\x07"), ("\x9b2J", r"\x9b2J"), ("a\rb", r"a\x0db"), ("a\tb\nc", "a\tb\nc")],
)
def test_a_control_character_is_shown_by_its_number(text: str, shown: str) -> None:
    assert escape_controls(text) == shown
