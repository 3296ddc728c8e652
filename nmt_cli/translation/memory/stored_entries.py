"""Remembers what the network made of entries of a translation memory, so that it reads each but once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt_cli.runtime.vector_engine import open_vector_engine
from nmt_cli.search.neighbours import StoredTokens

if TYPE_CHECKING:
    from nmt_cli.runtime.onnx_engine import OnnxEngine
    from nmt_cli.text.tags import TagSet

MOST_STORED = 50_000  # that are remembered: 25 MB with vectors of 256 numbers

MemoryEntry = tuple[str, str, "TagSet"]  # a source, its translation, and the tags behind which the network reads them


class StoredEntries:
    """The stored tokens of the entries that were needed last, and the engine that reads them."""

    def __init__(self, engine: OnnxEngine) -> None:
        self.engine = open_vector_engine(engine)
        self.parts: dict[MemoryEntry, list[StoredTokens]] = {}  # the oldest first
        self.size = 0

    def find(self, entry: MemoryEntry) -> list[StoredTokens] | None:
        """Returns the stored tokens of an entry, which is then the last to go; None if it is not remembered."""
        parts = self.parts.pop(entry, None)
        if parts is not None:
            self.parts[entry] = parts
        return parts

    def add(self, entry: MemoryEntry, parts: list[StoredTokens]) -> None:
        """Remembers an entry, and forgets the oldest ones."""
        self.parts[entry] = parts
        self.size += count_tokens(parts)
        while self.size > MOST_STORED and self.parts:
            self.size -= count_tokens(self.parts.pop(next(iter(self.parts)), []))


def count_tokens(parts: Sequence[StoredTokens]) -> int:
    return sum(len(part.tokens) for part in parts)
