"""Tests of `text/words.py`.

Where words begin and end. Answers about words are remembered, but neither too many nor long ones.
"""

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.words import FEW, LONGEST_REMEMBERED, KnownWords, choose_word_pattern, count_strings, remember_by_word


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


LONG = "a" * (LONGEST_REMEMBERED + 1)


def test_an_answer_is_found_once_unless_the_word_is_long() -> None:
    asked: list[str] = []

    @remember_by_word(3)
    def count(word: str) -> int:
        asked.append(word)
        return len(word)

    assert [count(word) for word in ("a", LONG, LONG[1:], "a", LONG[1:], LONG)] == [1, 101, 100, 1, 100, 101]
    assert asked == ["a", LONG, LONG[1:], LONG]


def test_a_memory_holds_no_more_than_it_may() -> None:
    words = [str(number) for number in range(10)]
    count = remember_by_word(3)(len)
    known = KnownWords(3)
    for word in words:
        assert count(word) == 1
        known.learn([word, LONG])
        assert len(count.__self__) <= 3  # type: ignore[attr-defined]
        assert word in known
        assert len(known) <= 3
        assert LONG not in known
