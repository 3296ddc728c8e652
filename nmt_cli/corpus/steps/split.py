"""Splits a corpus into train, dev and test so that no sentence of either side appears in two of them.

Two rows are connected if their sources or their targets have equal normal forms. Rows connected directly or indirectly
form a group, and each group goes into one split as a whole. Dev and test are drawn so that short and long sentences are
as frequent in them as in the corpus. Knows nothing of files or subwords. Letters: N rows, E edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.random import default_rng  # imported at once, since numpy loses a Ctrl-C while it first loads it
from numpy.typing import NDArray

from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.steps.split_sizes import Sizes
from nmt_cli.errors import DataError
from nmt_cli.text.wrapping import format_count

STRATA = 10  # of sentence length


@dataclass(frozen=True)
class Splits:
    """The row numbers of each split, in random order; together the splits contain every row once."""

    train: IntArray
    dev: IntArray
    test: IntArray

    @property
    def by_name(self) -> dict[str, IntArray]:
        """The rows of "train", "dev" and "test", in this order."""
        return {"train": self.train, "dev": self.dev, "test": self.test}


def number_keys(keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Returns (N,) numbers, counted from 0, that are equal for equal keys."""
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)


def find_connected_groups(*numbers: IntArray) -> NDArray[np.int32]:
    """Returns (N,) the smallest row of each row's group; rows that share a number of any kind share a group.

    `numbers` are several kinds of numbers, (N,) each: those of the sources, those of the targets, ...
    """
    groups = np.arange(len(numbers[0]), dtype=np.int32)
    # 1. Most rows share no number with another row, and are groups by themselves.
    is_shared = np.zeros(len(groups), dtype=np.bool_)
    for kind in numbers:
        is_shared |= np.bincount(kind)[kind] > 1
    rows = np.flatnonzero(is_shared)
    # 2. Only the others need union-find, in plain Python.
    parents = list(range(len(rows)))
    for kind in numbers:
        first_rows: dict[int, int] = {}
        for row, number in enumerate(kind[rows].tolist()):
            merge_trees(parents, first_rows.setdefault(number, row), row)
    groups[rows] = rows[find_roots(parents)]
    return groups


def number_components(count: int, edges: NDArray[np.int64]) -> NDArray[np.int32]:
    """Returns (count,) numbers that are equal for nodes connected by the edges (E, 2), directly or indirectly."""
    parents = list(range(count))
    for row, other in edges.tolist():
        merge_trees(parents, row, other)
    return find_roots(parents)


def merge_trees(parents: list[int], row: int, other: int) -> None:
    """Joins the trees of two rows; the smaller of the two roots becomes the root of both."""
    root, other_root = find_root(parents, row), find_root(parents, other)
    parents[max(root, other_root)] = min(root, other_root)


def find_roots(parents: list[int]) -> NDArray[np.int32]:
    """Returns the root of the tree of each row."""
    return np.fromiter((find_root(parents, row) for row in range(len(parents))), dtype=np.int32, count=len(parents))


def find_root(parents: list[int], row: int) -> int:
    """Returns the root of the tree of `row`, halving the path to it on the way."""
    while parents[row] != row:
        parents[row] = row = parents[parents[row]]
    return row


def split_by_groups(
    groups: IntArray,
    lengths: IntArray,
    sizes: Sizes,
    *,
    seed: int,
    where: str,
    shared: str = "sentences",
    tags: IntArray | None = None,
) -> Splits:
    """Splits the rows by whole groups, drawn at random from each stratum of length and number of `tags` (N,).

    Skips groups larger than a split's remaining room, so that dev and test have exactly the requested sizes whenever
    the groups allow it. Raises DataError if a requested split would be empty; `shared` says what connects the pairs.
    """
    generator = default_rng([seed, 0])
    # 1. Put the groups into random order, and each into the stratum of its mean length, and of its first row's tags.
    _, first, group_numbers, group_sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    order = generator.permutation(len(group_sizes))
    strata = assign_strata(np.bincount(group_numbers, weights=lengths) / group_sizes, group_sizes)
    if tags is not None:
        strata += STRATA * tags[first].astype(np.int64)
    # 2. Draw groups for test (2), then for dev (1); the others are train (0).
    split_of_group = np.zeros(len(group_sizes), dtype=np.int8)
    for split, size in ((2, sizes.test), (1, sizes.dev)):
        drawn = draw_groups(order[split_of_group[order] == 0], strata, group_sizes, size)
        if not drawn and size:
            refuse_connected(where, len(groups), len(group_sizes), shared)
        split_of_group[drawn] = split
    # 3. Shuffle the rows of each split.
    split_of_row = split_of_group[group_numbers]
    rows = generator.permutation(len(groups))
    train, dev, test = (rows[split_of_row[rows] == split] for split in range(3))
    return Splits(train=train, dev=dev, test=test)


def assign_strata(lengths: NDArray[np.float64], group_sizes: IntArray) -> NDArray[np.int64]:
    """Returns the stratum of each group; from short to long, each stratum has a tenth of all rows."""
    by_length = np.argsort(lengths, kind="stable")
    before = np.cumsum(group_sizes[by_length]) - group_sizes[by_length]
    strata = np.empty(len(lengths), np.int64)
    strata[by_length] = before * STRATA // int(group_sizes.sum())
    return strata


def draw_groups(candidates: IntArray, strata: NDArray[np.int64], group_sizes: IntArray, size: int) -> list[int]:
    """Draws groups that total `size` rows, or as many as possible, in the order of the candidates.

    Each stratum gives its share first; other groups then fill the remainder.
    """
    candidate_strata = strata[candidates]
    shares = np.bincount(candidate_strata, weights=group_sizes[candidates], minlength=STRATA)
    quotas = np.diff(np.round(np.concatenate([[0], np.cumsum(shares)]) * size / max(shares.sum(), 1))).astype(int)
    groups: list[int] = []
    for stratum, quota in enumerate(quotas.tolist()):
        groups += fill_quota(candidates[candidate_strata == stratum], group_sizes, quota)
    missing = size - int(group_sizes[groups].sum()) if groups else size
    if missing:
        groups += fill_quota(candidates[~np.isin(candidates, groups)], group_sizes, missing)
    return groups


def fill_quota(candidates: IntArray, group_sizes: IntArray, size: int) -> list[int]:
    """Returns groups that total `size` rows, or as many as possible: in order, each candidate that still fits."""
    groups, missing = [], size
    for group, rows in zip(candidates.tolist(), group_sizes[candidates].tolist(), strict=True):
        if missing == 0:
            break
        if rows <= missing:
            groups.append(group)
            missing -= rows
    return groups


def refuse_connected(where: str, pairs: int, groups: int, shared: str) -> NoReturn:
    """Raises DataError for pairs that share too many sentences, or values of a column, to be split."""
    number = "one group" if groups == 1 else format_count(groups, "group")
    raise DataError(
        f"{where}: {format_count(pairs, 'pair')} share so many {shared} that they form {number}, "
        "too few or too large to split",
        hint="add pairs with other sentences, or choose larger splits with --dev and --test",
    )


def measure_leak(sources: IntArray, targets: IntArray, sizes: Sizes, *, seed: int) -> tuple[float, float]:
    """Returns the shares, 0 to 1, of test rows whose source or target is in train, too, in a random split."""
    rows = default_rng([seed, 1]).permutation(len(sources))
    test, train = rows[: sizes.test], rows[sizes.test + sizes.dev :]
    return measure_known_share(sources, train, test), measure_known_share(targets, train, test)


def measure_known_share(numbers: IntArray, train: IntArray, test: IntArray) -> float:
    """Returns the share, 0 to 1, of `test` rows that share a number with a `train` row."""
    if not len(test):
        return 0.0
    is_known = np.zeros(int(numbers.max()) + 1, dtype=bool)
    is_known[numbers[train]] = True
    return float(is_known[numbers[test]].mean())
