"""Where words begin and end."""

from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.words import FEW, choose_word_pattern, count_strings


def test_every_combining_mark_stays_with_its_letter() -> None:
    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"]
    assert [mark for mark in marks if not choose_word_pattern(f"a{mark}b").fullmatch(f"a{mark}b")] == []


@given(st.text(st.characters(max_codepoint=0x2FF)))
def test_words_are_the_same_whatever_stands_beside_them(text: str) -> None:
    alone, beside = choose_word_pattern(text).findall(text), f"{text} \u0301"
    assert choose_word_pattern(beside).findall(beside) == [*alone, "\u0301"]


@given(st.text("ab{", max_size=60), st.sets(st.text("ab{", min_size=1, max_size=4), max_size=3 * FEW))
def test_many_strings_are_counted_as_each_by_itself(text: str, strings: set[str]) -> None:
    assert count_strings(text, strings) == {string: text.count(string) for string in strings}
