"""Remembers answers about words, which recur; knows nothing of the questions.

No text fills the memory of a process: answers are bounded in number, and so is the length of what they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

WORDS_REMEMBERED = 1 << 13  # by each memory; twice as many would know 2 % more of the words of 50,000 pairs
LONGEST_REMEMBERED = 100  # characters: longer words seldom recur

Value = TypeVar("Value")


class WordMemory(dict[str, Value]):
    """Values by word; forgets all of them once there are `most`."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def learn(self, word: str, value: Value) -> Value:
        """Remembers and returns the value of a word."""
        if len(word) <= LONGEST_REMEMBERED:
            if len(self) >= self.most:
                self.clear()
            self[word] = value
        return value


class AnswersByWord(WordMemory[Value]):
    """The answers of a function about words."""

    def __init__(self, function: Callable[[str], Value], most: int) -> None:
        super().__init__(most)
        self.function = function

    def __missing__(self, word: str) -> Value:
        return self.learn(word, self.function(word))


def remember_by_word(most: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Returns a decorator for functions of a word whose last answers, at most `most`, are remembered."""
    return lambda function: AnswersByWord(function, most).__getitem__


class KnownWords(set[str]):
    """Words for which something holds; forgets all of them once there are `most`."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def learn(self, words: Iterable[str]) -> None:
        if len(self) >= self.most:
            self.clear()
        self.update(word for word in words if len(word) <= LONGEST_REMEMBERED)
