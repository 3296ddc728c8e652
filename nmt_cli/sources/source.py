"""What stands on the source side: lines to rows, and rows to the padded array that an encoder takes.

A line is a sentence, or names something else that is read (`grids.py`: pictures as grids of features). Training,
search and evaluation see rows and arrays, whichever it is. Letters: B rows of a batch, S positions of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nmt_cli.arrays.ragged import IntArray
from nmt_cli.arrays.special_ids import END, PAD
from nmt_cli.arrays.types import SourceArray
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tokenizer import Tokenizer

LEAST_LENGTH_FACTOR = 1.5  # target tokens for a source token, where the training data have no more
ADDED = 5  # target tokens beside those; beam search goes on until nothing as long as allowed can win


@dataclass(frozen=True)
class Row:
    """One line as the network sees it."""

    values: SourceArray  # (S,) ids that end with END, or (S, D) features
    is_blank: bool = False  # there is nothing to translate
    cut_from: int | None = None  # positions that the line has, where only the first of them are seen

    def __len__(self) -> int:
        return len(self.values)


class Source(Protocol):
    """The source side of a corpus or of a model."""

    @property
    def length_factor(self) -> float | None:
        """Target tokens for a position at most, beside ADDED; None where the number of positions says nothing."""
        ...

    def to_mapping(self) -> dict[str, Any]:
        """What a model's card says of it."""
        ...

    def rows(self, lines: Sequence[str], limit: int | None = None) -> list[Row]:
        """A row for each line; with `limit`, or else the side's own, of so many positions at most (END aside)."""
        ...

    def batch(self, rows: Sequence[Row]) -> SourceArray:
        """(B, S, ...): what the encoder takes; rows that are shorter than the longest are padded."""
        ...

    def labels(self, row: Row) -> tuple[str, ...]:
        """What to call each of the S positions."""
        ...

    def unseen(self, line: str) -> frozenset[str]:
        """The characters of a line that training has never seen."""
        ...


@dataclass(frozen=True)
class TextSource:
    """Sentences, in subwords."""

    tokenizer: Tokenizer
    limit: int | None = None  # subwords of a sentence at most; None for no limit
    length_factor: float = LEAST_LENGTH_FACTOR

    def to_mapping(self) -> dict[str, Any]:
        return {"type": "text", "limit": self.limit, "length_factor": self.length_factor}

    def rows(self, lines: Sequence[str], limit: int | None = None) -> list[Row]:
        texts = [normalise(line) for line in lines]
        encoded = self.tokenizer.encode_all(texts)
        return [self.row(text, ids, limit or self.limit) for text, ids in zip(texts, encoded, strict=True)]

    def row(self, text: str, ids: list[int], limit: int | None) -> Row:
        kept = ids if limit is None else ids[:limit]
        values = np.array([*kept, END], dtype=np.int32)
        return Row(values, is_blank=not text, cut_from=len(ids) if len(kept) < len(ids) else None)

    def batch(self, rows: Sequence[Row]) -> SourceArray:
        width = max(map(len, rows), default=0)
        padded = np.full((len(rows), width), PAD, dtype=np.int32)  # (B, S)
        for line, row in zip(padded, rows, strict=True):
            line[: len(row)] = row.values
        return padded

    def labels(self, row: Row) -> tuple[str, ...]:
        return tuple(self.tokenizer.pieces(row.values.tolist()))

    def unseen(self, line: str) -> frozenset[str]:
        return frozenset(self.tokenizer.unseen(normalise(line)))


def length_factor_of(source_lengths: IntArray, target_lengths: IntArray) -> float:
    """How many target tokens a source token becomes, less the ADDED ones, at most in all but one in 1,000 pairs.

    Spelling out numbers by characters has 12: a limit that suits translation would cut its output.
    """
    if not len(source_lengths):
        return LEAST_LENGTH_FACTOR
    factors = (target_lengths + 1 - ADDED) / (source_lengths + 1)  # with their ends
    return max(LEAST_LENGTH_FACTOR, round(float(np.quantile(factors, 0.999, method="higher")), 2) + 0.01)
