"""Millions of pairs in memory: the texts of each side in one buffer, and the facts about each pair in arrays.

Letters: N pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.tag_rows import number_languages
from nmt_cli.text.tags import TagSet

BoolArray = NDArray[np.bool_]
Side = Literal["source", "target"]
Role = Literal["train", "dev", "test"]


class Texts(Sequence[str]):
    """N texts in one UTF-8 buffer, which takes a quarter of the memory of a list and can be viewed as an array."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._sizes: list[NDArray[np.int64]] = []
        self._offsets = np.zeros(1, np.int64)

    @classmethod
    def from_strings(cls, texts: Sequence[str]) -> Self:
        """Returns the texts of a list."""
        encoded = [text.encode() for text in texts]
        result = cls()
        result.extend(b"".join(encoded), np.fromiter(map(len, encoded), np.int64, count=len(encoded)))
        return result

    def extend(self, data: bytes, sizes: NDArray[np.int64]) -> None:
        """Appends texts: their concatenated bytes, and the number of bytes of each."""
        self.data += data
        self._sizes.append(sizes)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(N + 1,) the offset in `data` at which each text begins, and the end of the last."""
        if self._sizes:
            ends = np.cumsum(np.concatenate(self._sizes)) + self._offsets[-1]
            self._offsets, self._sizes = np.concatenate([self._offsets, ends]), []
        return self._offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        offsets = self.offsets
        return self.data[offsets[row] : offsets[row + 1]].decode()

    def select(self, rows: NDArray[np.integer]) -> Iterator[str]:
        """Yields the texts of the rows, in their order; faster than indexing one by one."""
        offsets, data = self.offsets, self.data
        for start, end in zip(offsets[rows].tolist(), offsets[rows + 1].tolist(), strict=True):
            yield data[start:end].decode()


@dataclass(frozen=True)
class PairFacts:
    """The facts about each of N pairs that do not depend on the others."""

    flags: NDArray[np.uint32]  # (N,) one bit per check that found something in the pair
    source_keys: NDArray[np.uint64]  # (N,) equal for sentences with equal `make_sentence_key`
    target_keys: NDArray[np.uint64]
    checksums: NDArray[np.uint32]  # (N,) of the exact text of the pair
    source_lengths: NDArray[np.int32]  # (N,) characters
    target_lengths: NDArray[np.int32]
    source_words: NDArray[np.int32]
    target_words: NDArray[np.int32]
    source_scripts: NDArray[np.uint8]  # (N,) the script of most of the letters, 0 for none
    target_scripts: NDArray[np.uint8]
    line_numbers: NDArray[np.int64]  # (N,) the line of its file on which the pair begins
    input_numbers: NDArray[np.uint16]  # (N,) the number of the input
    group_keys: NDArray[np.uint64]  # (N,) equal for equal values of the group column; 0 for none
    tags: NDArray[np.uint16]  # (N,) the number of the pair's tags in `Pairs.tag_sets`

    @classmethod
    def join(cls, parts: Sequence[PairFacts]) -> Self:
        """Concatenates the facts of several chunks of pairs."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))


@dataclass
class Pairs:
    """All pairs read, normalised and mended, in input order; `reasons` says which are kept."""

    input_names: list[str]  # (inputs,) as messages name them
    input_roles: list[Role]
    input_weights: list[float]
    input_training_only: list[bool] = field(default_factory=list)  # empty: none is for training only
    input_tags: list[TagSet] = field(default_factory=list)  # empty: none has tags
    tag_sets: list[TagSet] = field(default_factory=lambda: [()])  # distinct ones, the empty one first
    source: Texts = field(default_factory=Texts)
    target: Texts = field(default_factory=Texts)
    more_columns: int = 0
    originals: dict[int, tuple[str, str]] = field(default_factory=dict)  # by row: some texts before mending
    # Pairs that share a sentence of these sides stay in one split.
    connecting_sides: tuple[Side, ...] = ("source", "target")
    parts: list[PairFacts] = field(default_factory=list)
    shared_results: dict[str, Any] = field(default_factory=dict)  # by name: what one check computes and others need

    def close(self) -> None:
        """Joins the chunks into one table, once all pairs are read. Raises ValueError if there are none."""
        if not self.parts:
            raise ValueError("no pairs were read")
        self.facts = PairFacts.join(self.parts)
        self.parts = []
        self.reasons = np.zeros(len(self), np.uint8)  # (N,) 0: kept; otherwise 1 + the number of the check

    def __len__(self) -> int:
        return len(self.source)

    def number_tags(self, tags: TagSet) -> int:
        """Returns the number of these tags in `tag_sets`, to which new ones are added."""
        if tags not in self.tag_sets:
            self.tag_sets.append(tags)
        return self.tag_sets.index(tags)

    @property
    def language_numbers(self) -> IntArray:
        """(N,) numbers that are equal for pairs whose tags name the same languages."""
        numbers: IntArray = number_languages(self.tag_sets)[self.facts.tags]
        return numbers

    @property
    def is_kept(self) -> BoolArray:
        """(N,) whether each pair is still kept."""
        return np.asarray(self.reasons == 0)

    def has_role(self, role: Role) -> BoolArray:
        """Returns (N,) whether each pair comes from an input for this split; the corpus itself has the role "train"."""
        input_has_role: BoolArray = np.array([input_role == role for input_role in self.input_roles], dtype=np.bool_)
        return input_has_role[self.facts.input_numbers]

    @property
    def may_be_held_out(self) -> BoolArray:
        """(N,) whether each pair comes from an input from which dev and test pairs may be drawn."""
        training_only = self.input_training_only or [False] * len(self.input_names)
        is_open: BoolArray = ~np.array(training_only, dtype=np.bool_)
        return is_open[self.facts.input_numbers]

    @property
    def connecting_keys(self) -> list[NDArray[np.uint64]]:
        """For each connecting side (N,) keys, and those of the groups, if any.

        Pairs with equal keys of a kind must not appear in two splits.
        """
        facts = self.facts
        keys = [facts.source_keys if side == "source" else facts.target_keys for side in self.connecting_sides]
        if facts.group_keys.any():
            keys.append(np.where(facts.group_keys, facts.group_keys, np.arange(len(self), dtype=np.uint64)))
        return keys

    def get_texts(self, side: Side) -> Texts:
        return self.source if side == "source" else self.target
