"""Pairs by the million: their texts in one buffer a side, and what is known of each as arrays.

Letters: N pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
Side = Literal["source", "target"]
Role = Literal["train", "dev", "test"]


class Texts(Sequence[str]):
    """N texts in one buffer of UTF-8: a quarter of the memory of a list, and arrays can be computed from it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._sizes: list[NDArray[np.int64]] = []
        self._offsets = np.zeros(1, np.int64)

    def extend(self, data: bytes, sizes: NDArray[np.int64]) -> None:
        """Adds texts: their bytes one after the other, and the number of bytes of each."""
        self.data += data
        self._sizes.append(sizes)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(N + 1,) where in `data` each text begins."""
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

    def of(self, rows: NDArray[np.integer]) -> Iterator[str]:
        """The texts of the rows; quicker than one by one."""
        offsets, data = self.offsets, self.data
        for start, end in zip(offsets[rows].tolist(), offsets[rows + 1].tolist(), strict=True):
            yield data[start:end].decode()


@dataclass(frozen=True)
class Facts:
    """What is known of N pairs without knowing the others."""

    flags: NDArray[np.uint32]  # (N,) a bit for each check of pairs that found something
    source_keys: NDArray[np.uint64]  # (N,) equal for sentences with an equal `sentence_key`
    target_keys: NDArray[np.uint64]
    exact: NDArray[np.uint32]  # (N,) checksum of the pair as it is
    source_lengths: NDArray[np.int32]  # (N,) characters
    target_lengths: NDArray[np.int32]
    source_words: NDArray[np.int32]
    target_words: NDArray[np.int32]
    source_scripts: NDArray[np.uint8]  # (N,) the script of most letters, 0 for none
    target_scripts: NDArray[np.uint8]
    lines: NDArray[np.int64]  # (N,) where in its file the pair begins
    inputs: NDArray[np.uint16]  # (N,) the number of the input

    @classmethod
    def joined(cls, parts: Sequence[Facts]) -> Self:
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))


@dataclass
class Pairs:
    """All pairs that were read, normalised and mended, in the order of the inputs; `reasons` says which are kept."""

    names: list[str]  # (inputs) what each input is called
    roles: list[Role]
    weights: list[float]
    source: Texts = field(default_factory=Texts)
    target: Texts = field(default_factory=Texts)
    more_columns: int = 0
    originals: dict[int, tuple[str, str]] = field(default_factory=dict)  # by row: a few texts before they were mended
    connecting: tuple[Side, ...] = ("source", "target")  # pairs that share one of these are kept in one split
    parts: list[Facts] = field(default_factory=list)
    learnt: dict[str, Any] = field(default_factory=dict)  # by name: what one check works out and others need

    def close(self) -> None:
        """To be called when all is read."""
        if not self.parts:
            raise ValueError("no pairs were read")
        self.facts = Facts.joined(self.parts)
        self.parts = []
        self.reasons = np.zeros(len(self), np.uint8)  # (N,) 0: kept; else 1 + the number of the check

    def __len__(self) -> int:
        return len(self.source)

    @property
    def alive(self) -> BoolArray:
        """(N,) the pairs that are still kept."""
        return np.asarray(self.reasons == 0)

    def in_role(self, role: Role) -> BoolArray:
        """(N,) the pairs that were given for a split, or as the corpus ("train")."""
        chosen: BoolArray = np.array([each == role for each in self.roles], dtype=np.bool_)
        return chosen[self.facts.inputs]

    @property
    def connecting_keys(self) -> list[NDArray[np.uint64]]:
        """(N,) of each connecting side, equal for what must not stand in two splits."""
        return [self.facts.source_keys if side == "source" else self.facts.target_keys for side in self.connecting]

    def side(self, side: Side) -> Texts:
        return self.source if side == "source" else self.target
