"""Which texts were longer than what is read of a sentence: counted, so that it can be told. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


def describe_limits(max_length: int) -> str:
    """What may have cut a translation before its end."""
    return f"--max-length {max_length}, or the most that a source of its length becomes"


@dataclass
class SourceCuts:
    """Counts the texts in which only the beginning of a sentence was read, so that it can be told."""

    thing: str = "line"  # what a text is called
    count: int = 0
    texts: int = 0  # that were looked at
    first: int = 0  # text, from 1
    positions: int = 0  # that its sentence has
    read: int = 0

    @classmethod
    def count_cuts(cls, translations: Iterable[Translation]) -> Self:
        cuts = cls()
        for translation in translations:
            cuts.add(translation)
        return cuts

    def add(self, translation: Translation) -> None:
        """The translation of the next text."""
        self.texts += 1
        if translation.source_cut_from is None:
            return
        if not self.count:
            self.first, self.positions, self.read = self.texts, translation.source_cut_from, translation.source_read
        self.count += 1

    @property
    def summary(self) -> str:
        """One sentence; empty where nothing was cut."""
        if not self.count:
            return ""
        texts = f"1 {self.thing} has" if self.count == 1 else f"{self.count:,} {self.thing}s have"
        return (
            f"{texts} a sentence longer than --max-source-length {self.read:,}, read to there; "
            f"the first is {self.thing} {self.first:,}, with one of {self.positions:,} source tokens"
        )
