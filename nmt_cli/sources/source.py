"""The source side: from lines to rows, and from rows to the padded array that an encoder takes.

A line is a sentence, or the name of something else to read (`images.py`: pictures as grids of features). Training,
search and evaluation see rows and arrays of either kind.

    Hello, Tom.     after the tag >deu is the row of ids [>deu, ▁Hello, ",", ▁Tom, ".", END], of which 1 is a tag
    two such rows   are the array (2, S) that the encoder takes; a split has N of them, as `Sentences`

Letters: N rows of a split, B of a batch, S positions of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import PoolShape, Ragged, pad_ragged, pad_rows
from nmt_cli.arrays.types import END, FloatArray, IntArray, SourceArray
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tags import SentenceContext, TagSet
from nmt_cli.text.tokenizer import Tokenizer

MIN_LENGTH_FACTOR = 1.5  # target tokens per source token that search always allows
LENGTH_MARGIN = 5  # target tokens besides; beam search continues until no hypothesis of the allowed length can win


@dataclass(frozen=True)
class SourceRow:
    """One line as the network sees it."""

    values: SourceArray  # (S,) ids that end with END, or (S, D) features
    is_blank: bool = False  # there is nothing to translate
    full_length: int | None = None  # positions of the whole line, if it was truncated
    tags: int = 0  # the first positions, which are no part of the line: tags, and a sentence that is its context
    target_prefix: tuple[int, ...] = ()  # ids with which its translation begins, and which are no part of it

    def __len__(self) -> int:
        return len(self.values)


class PictureReader(Protocol):
    """Turns files into grids."""

    def read_shape(self, path: Path) -> tuple[int, int]:
        """Returns the regions and the depth (R, D) of a file's grid, as cheaply as possible.

        Raises the errors of `read`.
        """

    def save(self, directory: Path) -> None:
        """Writes to `directory` everything needed to read other pictures in the same way."""

    def read(self, paths: Sequence[Path]) -> list[FloatArray]:
        """Returns the grids (R, D) of files. Raises NotFoundError, or DataError if a file is not a picture."""


class Source(Protocol):
    """The source side of a corpus or of a model."""

    @property
    def subwords(self) -> Tokenizer | None:
        """The tokenizer of the texts; None for pictures."""

    @property
    def vocabulary_size(self) -> int:
        """Number of ids; 0 for pictures, which have none."""

    @property
    def depth(self) -> int | None:
        """Number of features per position; None for text, whose positions are ids."""

    @property
    def length_factor(self) -> float | None:
        """Maximum number of target tokens per position, plus LENGTH_MARGIN; None if positions do not limit it."""

    def to_mapping(self) -> dict[str, Any]:
        """Returns the model card's entries about this side."""

    def make_rows(
        self,
        lines: Sequence[str],
        limit: int | None = None,
        tags: Sequence[TagSet] = (),
        contexts: Sequence[SentenceContext | None] = (),
    ) -> list[SourceRow]:
        """Returns a row for each line, after its tags and its context, if any; pictures have neither.

        `limit`, by default the side's own, is the maximum number of positions, not counting tags and END; longer lines
        are truncated.
        """

    def make_batch(self, rows: Sequence[SourceRow]) -> SourceArray:
        """Returns the encoder's input, (B, S, ...), padding shorter rows."""

    def label_positions(self, row: SourceRow) -> tuple[str, ...]:
        """Returns a name for each of the S positions, except those of tags."""

    def find_unseen(self, line: str) -> frozenset[str]:
        """Returns the characters of a line that do not occur in the training data."""

    def with_stored_pictures(self, stored: Mapping[str, FloatArray]) -> Self:
        """Returns a source that finds the grids of these pictures by name instead of reading files."""

    def with_picture_reader(self, reader: Callable[[], PictureReader]) -> Self:
        """Returns a source with a reader of pictures, which is loaded when the first picture is read."""


@dataclass(frozen=True)
class TextSource:
    """Sentences, as subwords."""

    tokenizer: Tokenizer
    limit: int | None = None  # maximum number of subwords of a sentence; None for no limit
    length_factor: float = MIN_LENGTH_FACTOR

    depth = None

    @property
    def subwords(self) -> Tokenizer:
        return self.tokenizer

    @property
    def vocabulary_size(self) -> int:
        return self.tokenizer.vocabulary_size

    def to_mapping(self) -> dict[str, Any]:
        return {"type": "text", "limit": self.limit, "length_factor": self.length_factor}

    def make_rows(
        self,
        lines: Sequence[str],
        limit: int | None = None,
        tags: Sequence[TagSet] = (),
        contexts: Sequence[SentenceContext | None] = (),
    ) -> list[SourceRow]:
        texts = [normalise(line) for line in lines]
        encoded = zip(texts, self.tokenizer.encode_all(texts), tags or repeat((), len(texts)), strict=True)
        rows = [self.make_row(text, ids, limit or self.limit, own_tags) for text, ids, own_tags in encoded]
        return list(map(self.put_behind, rows, contexts)) if any(contexts) else rows

    def put_behind(self, row: SourceRow, context: SentenceContext | None) -> SourceRow:
        """Returns a row preceded by its context, if there is one."""
        if context is None:
            return row
        before = [*self.tokenizer.encode(context.source), self.tokenizer.separator_id]
        values = np.array([*row.values[: row.tags], *before, *row.values[row.tags :]], dtype=np.int32)
        return replace(row, values=values, tags=row.tags + len(before), target_prefix=context.target)

    def make_row(self, text: str, ids: list[int], limit: int | None, tags: TagSet) -> SourceRow:
        """Returns the row of a normalised text: its tags, at most `limit` of these ids, and END."""
        tag_ids = self.tokenizer.list_tag_ids(tags)
        truncated = ids if limit is None else ids[:limit]
        values = np.array([*tag_ids, *truncated, END], dtype=np.int32)
        full_length = len(ids) if len(truncated) < len(ids) else None
        return SourceRow(values, is_blank=not text, full_length=full_length, tags=len(tag_ids))

    def make_batch(self, rows: Sequence[SourceRow]) -> SourceArray:
        return pad_rows([row.values for row in rows])

    def label_positions(self, row: SourceRow) -> tuple[str, ...]:
        return tuple(self.tokenizer.spell_pieces(row.values[row.tags :].tolist()))

    def find_unseen(self, line: str) -> frozenset[str]:
        return frozenset(self.tokenizer.find_unseen(normalise(line)))

    def with_stored_pictures(self, stored: Mapping[str, FloatArray]) -> Self:
        return self

    def with_picture_reader(self, reader: Callable[[], PictureReader]) -> Self:
        return self


def measure_length_factor(source_lengths: IntArray, target_lengths: IntArray) -> float:
    """Returns the target tokens per source token, beyond LENGTH_MARGIN, that suffice for 999 of 1,000 pairs.

    The factor is at least MIN_LENGTH_FACTOR. A corpus that spells out numbers with one token per character needs 12: a
    limit that suits translation would truncate its output.
    """
    if not len(source_lengths):
        return MIN_LENGTH_FACTOR
    factors = (target_lengths + 1 - LENGTH_MARGIN) / (source_lengths + 1)  # + 1 for END
    return max(MIN_LENGTH_FACTOR, round(float(np.quantile(factors, 0.999, method="higher")), 2) + 0.01)


AnyRewrite = TypeVar("AnyRewrite")


class SourceRows(Protocol):
    """The N sources of a split as they are stored: `Sentences`, or `images.Grids`."""

    @classmethod
    def load(cls, stem: Path) -> Self:
        """Memory-maps the rows. Raises ValueError or OSError if the files do not match."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of positions (N,) of each source: subwords, or regions of a picture."""

    def __len__(self) -> int: ...

    def measure_rows(self, rows: IntArray, target_lengths: IntArray) -> IntArray:
        """Returns (B,): the lengths by which these rows are batched, along with those of their targets."""

    def pad_rows(self, rows: IntArray) -> SourceArray:
        """Returns (B, S, ...): the encoder input of these B rows, padded to the longest of them."""

    def limit_pools(self, shape: PoolShape) -> PoolShape:
        """Returns how much data is augmented together; `shape` is the amount that suits text."""

    def select_rewrites(self, rewrites: tuple[AnyRewrite, ...]) -> tuple[AnyRewrite, ...]:
        """Returns those of the given rewrites that apply to these sources."""

    def name_grids(self, read_names: Callable[[], Sequence[str]]) -> Mapping[str, FloatArray]:
        """Returns the grid (R, D) of each picture by the name of its row; empty for text, whose names are not read."""

    def require_sentences(self, problem: str, hint: str = "") -> Sentences:
        """Returns the rows as sentences. Raises OptionError, whose message begins with `problem`, for pictures."""


class Sentences(Ragged):
    """The ids of N sources that are text."""

    def measure_rows(self, rows: IntArray, target_lengths: IntArray) -> IntArray:
        lengths: IntArray = self.lengths[rows]
        return lengths

    def pad_rows(self, rows: IntArray) -> SourceArray:
        return pad_ragged(self, rows, end=END)

    def limit_pools(self, shape: PoolShape) -> PoolShape:
        return shape

    def select_rewrites(self, rewrites: tuple[AnyRewrite, ...]) -> tuple[AnyRewrite, ...]:
        return rewrites

    def name_grids(self, read_names: Callable[[], Sequence[str]]) -> Mapping[str, FloatArray]:
        return {}

    def require_sentences(self, problem: str, hint: str = "") -> Sentences:
        return self
