"""Counts the texts with a truncated sentence, for reports. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


def describe_limits(max_length: int) -> str:
    """Returns the limits that may have cut a translation short."""
    return f"--max-length {max_length} or the lower limit for a short source"


@dataclass
class SourceCuts:
    """Counts the texts in which only the beginning of a sentence was read."""

    thing: str = "line"  # what a text is called
    count: int = 0  # texts with a truncated sentence
    texts: int = 0  # texts so far
    first: int = 0  # the number of the first truncated one, from 1
    positions: int = 0  # the length of its sentence
    read: int = 0  # the number of positions of it that were read

    @classmethod
    def count_cuts(cls, translations: Iterable[Translation]) -> Self:
        """Counts all these translations."""
        cuts = cls()
        for translation in translations:
            cuts.add(translation)
        return cuts

    def add(self, translation: Translation) -> None:
        """Counts the next translation."""
        self.texts += 1
        if translation.source_cut_from is None:
            return
        if not self.count:
            self.first, self.positions, self.read = self.texts, translation.source_cut_from, translation.source_read
        self.count += 1

    @property
    def summary(self) -> str:
        """The warning, without a full stop; empty if nothing was truncated."""
        if not self.count:
            return ""
        texts = format_count(self.count, f"{self.thing} has", f"{self.thing}s have")
        return (
            f"{texts} a sentence longer than max-source-length {self.read:,}, which was truncated; "
            f"the first is {self.thing} {self.first:,}, with one of {format_count(self.positions, 'source token')}"
        )
