"""Answers about words are remembered, but neither too many nor long ones."""

from __future__ import annotations

from nmt_cli.text.word_memory import LONGEST_REMEMBERED, KnownWords, remember_by_word

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
