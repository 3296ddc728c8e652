"""Which lines were longer than what is read of a line: counted, so that it can be told. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from nmt_cli.inference.translator import Translation


@dataclass
class SourceCuts:
    """Counts the lines of which only the beginning was read, so that it can be told."""

    count: int = 0
    lines: int = 0  # that were looked at
    first: int = 0  # line, from 1
    positions: int = 0  # that it has
    read: int = 0

    @classmethod
    def of(cls, translations: Iterable[Translation]) -> Self:
        cuts = cls()
        for translation in translations:
            cuts.add(translation)
        return cuts

    def add(self, translation: Translation) -> None:
        """The translation of the next line."""
        self.lines += 1
        if translation.source_cut_from is None:
            return
        if not self.count:
            self.first, self.positions = self.lines, translation.source_cut_from
            self.read = len(translation.source_pieces) - 1  # END aside
        self.count += 1

    @property
    def told(self) -> str:
        """One sentence; empty where no line was cut."""
        if not self.count:
            return ""
        lines = "1 line was" if self.count == 1 else f"{self.count:,} lines were"
        return (
            f"{lines} longer than --max-source-length {self.read:,} and read to there; "
            f"the first is line {self.first:,}, of {self.positions:,} source tokens"
        )
