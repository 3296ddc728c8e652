"""Text of others is shown, and never obeyed by a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.escapes import escape_controls, escape_line

# The line ends of Unicode, and what begins or ends an embedding, an override or an isolate (UAX 9).
BIDI = "LRE RLE PDF LRO RLO LRI RLI FSI PDI".split()
TURNS = {"\u2028", "\u2029"} | {
    character for character in map(chr, range(0x2028, 0x206A)) if unicodedata.bidirectional(character) in BIDI
}


@given(st.text())
def test_nothing_that_is_printed_is_a_control_character(text: str) -> None:
    assert not any(
        unicodedata.category(character) == "Cc" for character in escape_controls(text) if character not in "\t\n"
    )
    assert not TURNS.intersection(escape_line(text), "\n")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_all_other_text_stays_as_it_is(text: str) -> None:
    assert escape_controls(text) == text
    assert TURNS.intersection(text) or escape_line(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\x1b]0;title\x07", r"\x1b]0;title\x07"), ("\x9b2J", r"\x9b2J"), ("a\rb", r"a\x0db"), ("a\tb\nc", "a\tb\nc")],
)
def test_a_control_character_is_shown_by_its_number(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_a_mark_that_turns_the_direction_is_shown_in_messages_alone() -> None:
    name = "annual\u202efdp.exe"
    assert (escape_controls(name), escape_line(name)) == (name, r"annual\u202efdp.exe")
