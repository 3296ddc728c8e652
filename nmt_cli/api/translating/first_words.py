"""Words for a message: the first few of them, and how many there are, in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

WORDS_SHOWN = 5


@dataclass
class FirstWords:
    """A number of words, and as many of the distinct ones as are shown, and one more."""

    total: int = 0
    first: dict[str, None] = field(default_factory=dict)

    def add(self, words: Iterable[str]) -> None:
        for word in words:
            self.total += 1
            if len(self.first) <= WORDS_SHOWN:
                self.first[word] = None

    @property
    def shown(self) -> str:
        """The first words, joined by commas."""
        return ", ".join(list(self.first)[:WORDS_SHOWN]) + (" ..." if len(self.first) > WORDS_SHOWN else "")
