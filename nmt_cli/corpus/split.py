"""Train, dev and test such that no sentence of either side stands in two of them.

Two rows belong together if their sources or their targets are equal but for case; what belongs together, directly or
over others, is a group, and a group goes into one split as a whole. Knows nothing of files or subwords.
Letters: N rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.errors import DataError

IntArray = NDArray[np.integer]

DEFAULT_SIZE = 1_000  # pairs for dev and for test ...
DEFAULT_SHARE = 10  # ... but at most one in so many


@dataclass(frozen=True)
class Leak:
    """What a split by rows would have let through: shares, 0 to 1, of test rows whose sentence is in train too."""

    sources: float
    targets: float


@dataclass(frozen=True)
class Sizes:
    """Pairs wanted for dev and test."""

    dev: int
    test: int


@dataclass(frozen=True)
class Splits:
    """Row numbers of each split, in shuffled order; together every row once."""

    train: IntArray
    dev: IntArray
    test: IntArray

    def items(self) -> tuple[tuple[str, IntArray], ...]:
        return ("train", self.train), ("dev", self.dev), ("test", self.test)


def sentence_numbers(sentences: Iterable[str]) -> NDArray[np.int32]:
    """(N,): equal numbers for sentences that are equal but for case, counted from 0 by first appearance.

    Keeps 16 bytes of each sentence instead of its text, for the sake of memory.
    """
    numbers: dict[bytes, int] = {}
    keys = (hashlib.blake2b(text.casefold().encode(), digest_size=16).digest() for text in sentences)
    return np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), dtype=np.int32)


def connected_groups(sources: IntArray, targets: IntArray) -> NDArray[np.int32]:
    """(N,): for each row the least row of its group; rows with an equal source or target number share a group."""
    parent = list(range(len(sources)))
    for numbers in (sources.tolist(), targets.tolist()):
        first: dict[int, int] = {}
        for row, number in enumerate(numbers):
            one, other = root(parent, first.setdefault(number, row)), root(parent, row)
            parent[max(one, other)] = min(one, other)
    return np.fromiter((root(parent, row) for row in range(len(parent))), dtype=np.int32, count=len(parent))


def root(parent: list[int], row: int) -> int:
    """The row at the top of `row`'s tree; halves the path to it on the way."""
    while parent[row] != row:
        parent[row] = row = parent[parent[row]]
    return row


def wanted_sizes(pairs: int, dev: int | None, test: int | None, *, where: str) -> Sizes:
    """Sizes of dev and test: as asked, or by rule (1,000 each, at most a tenth).

    Raises DataError when fewer pairs would be left for training than are held out, naming how many are needed;
    `where` names the corpus in it.
    """
    by_rule = min(DEFAULT_SIZE, pairs // DEFAULT_SHARE)
    sizes = Sizes(by_rule if dev is None else dev, by_rule if test is None else test)
    held_out = max(sizes.dev, 1) + max(sizes.test, 1)
    needed = max(2 * held_out, DEFAULT_SHARE if None in (dev, test) else 0)
    if pairs < needed:
        raise DataError(
            f"{where}: {count(pairs)} can be used, too few to split; at least {needed:,} are needed",
            hint="ask for less with --dev-size and --test-size, or add pairs" if dev or test else "add pairs",
        )
    return sizes


def split_by_groups(groups: IntArray, sizes: Sizes, *, seed: int, where: str) -> Splits:
    """Splits rows by whole groups drawn at random, filling test, then dev; the rest is train.

    A group that is larger than what is still missing is passed over, so that dev and test have the sizes asked for
    unless the groups cannot fill them. Raises DataError when one of them would be empty.
    """
    generator = np.random.default_rng([seed, 0])
    _, number, sizes_of_groups = np.unique(groups, return_inverse=True, return_counts=True)
    order = generator.permutation(len(sizes_of_groups))
    split_of_group = np.zeros(len(sizes_of_groups), dtype=np.int8)
    for split, size in ((2, sizes.test), (1, sizes.dev)):
        chosen = fill([group for group in order.tolist() if not split_of_group[group]], sizes_of_groups, size)
        if not chosen:
            raise too_connected(where, len(groups), len(sizes_of_groups))
        split_of_group[chosen] = split
    split_of_row = split_of_group[number]
    rows = generator.permutation(len(groups))
    train, dev, test = (rows[split_of_row[rows] == split] for split in range(3))
    return Splits(train=train, dev=dev, test=test)


def fill(candidates: Sequence[int], sizes_of_groups: IntArray, size: int) -> list[int]:
    """The groups, taken in the order given where they fit, that hold `size` rows together or as many as can be."""
    chosen, missing = [], size
    for group in candidates:
        if missing == 0:
            break
        if sizes_of_groups[group] <= missing:
            chosen.append(group)
            missing -= int(sizes_of_groups[group])
    return chosen


def too_connected(where: str, pairs: int, groups: int) -> DataError:
    groups_told = "one group" if groups == 1 else f"{groups:,} groups"
    return DataError(
        f"{where}: {count(pairs)} share so many sentences that they form {groups_told}, too few or too large to split",
        hint="add pairs with other sentences, or ask for larger splits with --dev-size and --test-size",
    )


def count(pairs: int) -> str:
    return "1 pair" if pairs == 1 else f"{pairs:,} pairs"


def leak_by_rows(sources: IntArray, targets: IntArray, sizes: Sizes, *, seed: int) -> Leak:
    """What a random split by rows of the same sizes would have leaked."""
    rows = np.random.default_rng([seed, 1]).permutation(len(sources))
    test, train = rows[: sizes.test], rows[sizes.test + sizes.dev :]
    return Leak(sources=share_known(sources, train, test), targets=share_known(targets, train, test))


def share_known(numbers: IntArray, train: IntArray, test: IntArray) -> float:
    """Share of `test` rows, 0 to 1, whose number a `train` row has too."""
    known = np.zeros(int(numbers.max()) + 1, dtype=bool)
    known[numbers[train]] = True
    return float(known[numbers[test]].mean())
