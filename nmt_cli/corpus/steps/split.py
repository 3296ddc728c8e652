"""Train, dev and test such that no sentence of either side stands in two of them.

Two rows belong together if their sources or their targets are equal in their normal form; what belongs together,
directly or over others, is a group, and a group goes into one split as a whole. Dev and test are drawn so that short
and long sentences have the shares in them that they have in the corpus. Knows nothing of files or subwords.
Letters: N rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng  # at once: while numpy first loads it, a Ctrl-C would be lost
from numpy.typing import NDArray

from nmt_cli.arrays.ragged import IntArray
from nmt_cli.errors import DataError, OptionError

STRATA = 10  # by length
COUNT = re.compile(r"\d{1,12}")
SHARE = re.compile(r"(\d{0,3}(?:\.\d{1,9})?)(%?)")
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


def numbered(keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """(N,): equal numbers, counted from 0, for equal keys."""
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)


def connected_groups(*numbers: IntArray) -> NDArray[np.int32]:
    """(N,): for each row the least row of its group; rows that share a number of any kind share a group."""
    groups = np.arange(len(numbers[0]), dtype=np.int32)
    # Most rows share nothing with any other: only the others are walked through, in plain Python.
    repeated = np.zeros(len(groups), dtype=np.bool_)
    for kind in numbers:
        repeated |= np.bincount(kind)[kind] > 1
    rows = np.flatnonzero(repeated)
    parent = list(range(len(rows)))
    for kind in numbers:
        first: dict[int, int] = {}
        for row, number in enumerate(kind[rows].tolist()):
            one, other = root(parent, first.setdefault(number, row)), root(parent, row)
            parent[max(one, other)] = min(one, other)
    tops = np.fromiter((root(parent, row) for row in range(len(parent))), dtype=np.int64, count=len(parent))
    groups[rows] = rows[tops]
    return groups


def joined(count: int, edges: NDArray[np.int64]) -> NDArray[np.int32]:
    """(count,): equal numbers for what the (E, 2) edges connect."""
    parent = list(range(count))
    for one, other in edges.tolist():
        top, below = root(parent, one), root(parent, other)
        parent[max(top, below)] = min(top, below)
    return np.fromiter((root(parent, row) for row in range(count)), dtype=np.int32, count=count)


def root(parent: list[int], row: int) -> int:
    """The row at the top of `row`'s tree; halves the path to it on the way."""
    while parent[row] != row:
        parent[row] = row = parent[parent[row]]
    return row


def is_size(wish: str) -> bool:
    """Whether a wish for a split is a count or a share, and not the name of a file."""
    return bool(wish.strip(".%")) and bool(COUNT.fullmatch(wish) or SHARE.fullmatch(wish))


def size_of(wish: str, pairs: int, flag: str) -> int:
    """The pairs that "1000", "0.05" or "5%" stand for. Raises OptionError for none, or for all of them."""
    if COUNT.fullmatch(wish):
        size = int(wish)
    else:
        number, percent = SHARE.fullmatch(wish).groups()  # type: ignore[union-attr]
        share = float(number) / (100 if percent else 1)
        if not 0 < share < 1:
            raise OptionError(
                f"{flag} is {wish}; a share is more than 0 and less than 1", hint="0.05 and 5% are the same"
            )
        size = max(round(share * pairs), 1)
    if size < 1:
        raise OptionError(f"{flag} is {wish}; at least 1 is needed")
    return size


def wanted_sizes(
    pairs: int, dev: str | None, test: str | None, *, where: str, given: frozenset[str] = frozenset()
) -> Sizes:
    """Sizes of dev and test: as asked, or by rule (1,000 each, at most a tenth); 0 for those `given` as files.

    Raises DataError when fewer pairs would be left for training than are held out, naming how many are needed where
    that does not grow with them; `where` names the corpus in it.
    """
    by_rule = min(DEFAULT_SIZE, pairs // DEFAULT_SHARE)
    wishes = {"dev": dev, "test": test}
    sizes = {name: by_rule if wish is None else 0 for name, wish in wishes.items()}
    for name, wish in wishes.items():
        if wish is not None and name not in given:
            sizes[name] = size_of(wish, pairs, f"--{name}")
    held_out = sum(max(size, 1) for name, size in sizes.items() if name not in given)
    needed = max(2 * held_out, DEFAULT_SHARE if None in (dev, test) else 0, 1)
    if pairs < needed:
        fixed = all(name in given or (wish is not None and COUNT.fullmatch(wish)) for name, wish in wishes.items())
        if fixed or needed == DEFAULT_SHARE:
            problem = f"too few to split; at least {needed:,} are needed"
        else:
            problem = f"and {held_out:,} of them would be held out, more than half"
        raise DataError(
            f"{where}: {count(pairs)} can be used, {problem}",
            hint="ask for less with --dev and --test, or add pairs" if dev or test else "add pairs",
        )
    return Sizes(**sizes)


def split_by_groups(groups: IntArray, lengths: IntArray, sizes: Sizes, *, seed: int, where: str) -> Splits:
    """Splits rows by whole groups drawn at random from each stratum of length, filling test, then dev; then train.

    A group that is larger than what is still missing is passed over, so that dev and test have the sizes asked for
    unless the groups cannot fill them. Raises DataError when one that is wanted would be empty.
    """
    generator = default_rng([seed, 0])
    _, number, sizes_of_groups = np.unique(groups, return_inverse=True, return_counts=True)
    order = generator.permutation(len(sizes_of_groups))
    strata = strata_of(np.bincount(number, weights=lengths) / sizes_of_groups, sizes_of_groups)
    split_of_group = np.zeros(len(sizes_of_groups), dtype=np.int8)
    for split, size in ((2, sizes.test), (1, sizes.dev)):
        chosen = draw(order[split_of_group[order] == 0], strata, sizes_of_groups, size)
        if not chosen and size:
            raise too_connected(where, len(groups), len(sizes_of_groups))
        split_of_group[chosen] = split
    split_of_row = split_of_group[number]
    rows = generator.permutation(len(groups))
    train, dev, test = (rows[split_of_row[rows] == split] for split in range(3))
    return Splits(train=train, dev=dev, test=test)


def strata_of(lengths: NDArray[np.float64], sizes_of_groups: IntArray) -> NDArray[np.int64]:
    """The stratum of each group: a tenth of all rows each, from short to long."""
    by_length = np.argsort(lengths, kind="stable")
    before = np.cumsum(sizes_of_groups[by_length]) - sizes_of_groups[by_length]
    strata = np.empty(len(lengths), np.int64)
    strata[by_length] = before * STRATA // int(sizes_of_groups.sum())
    return strata


def draw(candidates: IntArray, strata: NDArray[np.int64], sizes_of_groups: IntArray, size: int) -> list[int]:
    """Groups of `size` rows together or as many as can be: from each stratum its share, then what is still missing."""
    own = strata[candidates]
    shares = np.bincount(own, weights=sizes_of_groups[candidates], minlength=STRATA)
    quotas = np.diff(np.round(np.concatenate([[0], np.cumsum(shares)]) * size / max(shares.sum(), 1))).astype(int)
    chosen: list[int] = []
    for stratum, quota in enumerate(quotas.tolist()):
        chosen += fill(candidates[own == stratum], sizes_of_groups, quota)
    missing = size - int(sizes_of_groups[chosen].sum()) if chosen else size
    if missing:
        chosen += fill(candidates[~np.isin(candidates, chosen)], sizes_of_groups, missing)
    return chosen


def fill(candidates: IntArray, sizes_of_groups: IntArray, size: int) -> list[int]:
    """The groups, taken in the order given where they fit, that hold `size` rows together or as many as can be."""
    chosen, missing = [], size
    for group, rows in zip(candidates.tolist(), sizes_of_groups[candidates].tolist(), strict=True):
        if missing == 0:
            break
        if rows <= missing:
            chosen.append(group)
            missing -= rows
    return chosen


def too_connected(where: str, pairs: int, groups: int) -> DataError:
    groups_told = "one group" if groups == 1 else f"{groups:,} groups"
    return DataError(
        f"{where}: {count(pairs)} share so many sentences that they form {groups_told}, too few or too large to split",
        hint="add pairs with other sentences, or ask for larger splits with --dev and --test",
    )


def count(pairs: int) -> str:
    return "1 pair" if pairs == 1 else f"{pairs:,} pairs"


def leak_by_rows(sources: IntArray, targets: IntArray, sizes: Sizes, *, seed: int) -> Leak:
    """What a random split by rows of the same sizes would have leaked."""
    rows = default_rng([seed, 1]).permutation(len(sources))
    test, train = rows[: sizes.test], rows[sizes.test + sizes.dev :]
    return Leak(sources=share_known(sources, train, test), targets=share_known(targets, train, test))


def share_known(numbers: IntArray, train: IntArray, test: IntArray) -> float:
    """Share of `test` rows, 0 to 1, whose number a `train` row has too."""
    known = np.zeros(int(numbers.max()) + 1, dtype=bool)
    known[numbers[train]] = True
    return float(known[numbers[test]].mean()) if len(test) else 0.0
