"""Splits a corpus into train, dev and test so that no sentence of either side appears in two of them.

Two rows are connected if their sources or their targets have equal normal forms. Rows connected directly or indirectly
form a group, and each group goes into one split as a whole. Dev and test are drawn so that short and long sentences are
as frequent in them as in the corpus. Does not depend on files or subwords. Letters: N rows, G groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NoReturn

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import Scratch, count_values, iterate_blocks
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.checks import CHECKS
from nmt_cli.corpus.config import COUNT, SHARE, is_size
from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.wrapping import format_count

# The sizes of dev and test: those of `--dev` and `--test`, or a default that suits the corpus.


NOTHING_LOST: Mapping[str, int] = MappingProxyType({})
DEFAULT_SIZE = 1_000  # pairs for dev and for test each ...
DEFAULT_SHARE = 10  # ... but at most one in this many


@dataclass(frozen=True)
class Sizes:
    """The requested numbers of dev and test pairs."""

    dev: int
    test: int


def parse_size(value: str, pairs: int, flag: str) -> int:
    """Returns the number of pairs meant by "1000", "0.05" or "5%". Raises OptionError for zero and for all pairs."""
    if COUNT.fullmatch(value):
        size = int(value.replace(",", ""))
    else:
        number, percent = SHARE.fullmatch(value).groups()  # type: ignore[union-attr]
        share = float(number) / (100 if percent else 1)
        if not 0 < share < 1:
            raise OptionError(
                f"{flag} is {value}, but a share must be between 0 and 1", hint="write 0.05 or 5% for one twentieth"
            )
        size = max(round(share * pairs), 1)
    if size < 1:
        raise OptionError(
            f"{flag} is {value}, but must be at least 1 pair", hint=f"give a number, a share or a file: {flag} 5%"
        )
    return size


def check_sizes(dev: str | None, test: str | None) -> None:
    """Raises OptionError for sizes that no corpus can have, before the corpus is read."""
    sizes = {"--dev": dev, "--test": test}
    shares = [
        parse_size(value, 1_000_000, flag) / 1_000_000
        for flag, value in sizes.items()
        if value is not None and is_size(value) and (parse_size(value, 1, flag) and not COUNT.fullmatch(value))
    ]
    if sum(shares) >= 1:
        raise OptionError(f"--dev {dev} and --test {test} leave nothing to train on", hint="choose smaller splits")


def choose_sizes(
    pairs: int,
    dev: str | None,
    test: str | None,
    *,
    where: str,
    from_files: frozenset[str] = frozenset(),
    losses: Mapping[str, int] = NOTHING_LOST,
    training_only: int = 0,
) -> Sizes:
    """Returns the sizes of dev and test: the options, or 1,000 each but at most a tenth; 0 for those `from_files`.

    They are drawn from `pairs`; `training_only` counts the others. Raises DataError, about the corpus `where` and its
    `losses` by check, if more pairs would be held out than remain for training.
    """
    default = min(DEFAULT_SIZE, pairs // DEFAULT_SHARE)
    options = {"dev": dev, "test": test}
    sizes = {name: default if value is None else 0 for name, value in options.items()}
    for name, value in options.items():
        if value is not None and name not in from_files:
            sizes[name] = parse_size(value, pairs, f"--{name}")
    held_out = sum(max(size, 1) for name, size in sizes.items() if name not in from_files)
    in_training = max(2 * held_out, 1) - training_only
    needed = max(in_training, held_out, DEFAULT_SHARE if None in (dev, test) else 0)
    if pairs < needed and training_only:
        raise DataError(
            f"{where}: {format_count(pairs, 'pair')} can be drawn for dev and test, "
            f"but the splits need at least {needed:,}; "
            f"{format_count(training_only, 'pair is', 'pairs are')} for training only",
            hint="leave out =train, or name files with --dev and --test",
        )
    if pairs < needed:
        counts = [
            value is not None and COUNT.fullmatch(value) for name, value in options.items() if name not in from_files
        ]
        problem = f"and {held_out:,} of them would be held out, more than half"
        if all(counts) or needed == DEFAULT_SHARE:
            problem = f"too few to split: the splits need at least {needed:,}"
        hint = "choose smaller splits with --dev and --test, or add pairs" if dev or test else "add pairs"
        refuse_too_few(pairs, where, problem, losses, hint)
    return Sizes(**sizes)


def refuse_too_few(pairs: int, where: str, problem: str, losses: Mapping[str, int], hint: str) -> NoReturn:
    """Raises DataError for a corpus that is too small, naming the checks' losses if they explain it."""
    dropped = ", ".join(f"{count:,} {name}" for name, count in losses.items())
    raise DataError(
        f"{where}: {format_count(pairs, 'pair')} can be used, {problem}{dropped and f' (dropped: {dropped})'}",
        hint=describe_loss(losses, hint) if sum(losses.values()) > pairs else hint,
    )


REMEDIES = {  # of what would only teach a model faults if it were kept
    "shifted": "one side lost or gained lines: correct the file so that each text is next to its translation",
    "damaged": "save the original again as .xlsx or CSV UTF-8; this file has lost its letters",
    "placeholders": "write the missing translations, or add pairs",
}


def describe_loss(losses: Mapping[str, int], hint: str) -> str:
    """Explains how to keep the pairs dropped by the checks, if possible."""
    checks = {check.name: check for check in CHECKS}
    worst = next(iter(losses))
    if worst not in checks or not checks[worst].can_be_kept or worst.startswith("duplicate"):
        return hint
    if worst in REMEDIES:
        return REMEDIES[worst]
    longer = " or raise --max-length" if worst == "too-long" else ""
    return f"keep them with --keep {worst}{longer}, or add pairs"


STRATA = 10  # of sentence length
DRAWN = 10_000  # groups that are looked at together


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


@dataclass(frozen=True)
class PairGroups:
    """The G groups of N rows, numbered from 0."""

    numbers: IntArray  # (N,) the group of each row
    first_rows: IntArray  # (G,) the smallest row of each group
    sizes: IntArray  # (G,) rows

    def __len__(self) -> int:
        return len(self.sizes)


def number_groups(labels: IntArray, values: NDArray[np.uint64], scratch: Scratch) -> PairGroups:
    """Returns the groups of rows with equal `labels` (N,); each label is the smallest row of its group.

    Groups are numbered in the order of these rows; those with a value in `values` (N,) follow, in the order of the
    values; 0 means none.
    """
    is_first = np.zeros(len(labels), np.bool_)
    for block in iterate_blocks(len(labels)):
        is_first[block] = labels[block] == np.arange(block.start, block.stop)
    first_rows = scratch.find_rows(is_first)
    if values.any():
        first_rows = first_rows[np.argsort(values[first_rows], kind="stable")]
    numbers, sizes = scratch.make_array(len(labels), np.int32), scratch.make_array(len(first_rows), np.int32)
    for block in iterate_blocks(len(first_rows)):
        numbers[first_rows[block]] = np.arange(block.start, block.stop)
    for block in iterate_blocks(len(labels)):
        numbers[block] = numbers[labels[block]]  # of the first rows, which remain
        np.add.at(sizes, numbers[block], 1)
    return PairGroups(numbers, first_rows, sizes)


def split_by_groups(
    groups: PairGroups,
    lengths: IntArray,
    sizes: Sizes,
    *,
    seed: int,
    where: str,
    shared: str = "sentences",
    tags: IntArray | None = None,
    scratch: Scratch | None = None,
) -> Splits:
    """Splits the rows by whole groups, drawn at random from each stratum of length and number of `tags` (N,).

    Skips groups larger than a split's remaining room, so that dev and test have exactly the requested sizes whenever
    the groups allow it. Raises DataError if a requested split would be empty; `shared` says what connects the pairs.
    """
    generator, scratch = default_rng([seed, 0]), scratch or Scratch()
    # 1. Put the groups into random order, and each into the stratum of its mean length, and of its first row's tags.
    order = scratch.draw_order(len(groups), generator)
    strata = assign_strata(measure_groups(groups, lengths, scratch), groups.sizes, scratch)
    if tags is not None and tags.any():
        for block in iterate_blocks(len(groups)):
            strata[block] += STRATA * tags[groups.first_rows[block]].astype(np.int32)
    # 2. Draw groups for test (2), then for dev (1); the others are train (0).
    split_of_group = scratch.make_array(len(groups), np.int8)
    for split, size in ((2, sizes.test), (1, sizes.dev)):
        drawn = Draw(order, strata, groups.sizes, split_of_group == 0).draw_groups(size)
        if not drawn and size:
            refuse_connected(where, len(groups.numbers), len(groups), shared)
        split_of_group[drawn] = split
    # 3. Shuffle the rows of each split.
    rows = scratch.draw_order(len(groups.numbers), generator)

    def take(split: int) -> IntArray:
        is_in_split = split_of_group == split
        count = int(sum(groups.sizes[block][is_in_split[block]].sum() for block in iterate_blocks(len(groups))))
        blocks = (rows[block] for block in iterate_blocks(len(rows)))
        return scratch.collect(count, rows.dtype, (part[is_in_split[groups.numbers[part]]] for part in blocks))

    return Splits(train=take(0), dev=take(1), test=take(2))


def measure_groups(groups: PairGroups, lengths: IntArray, scratch: Scratch) -> NDArray[np.float64]:
    """Returns the mean (G,) of the `lengths` (N,) of the rows in each group."""
    means = scratch.make_array(len(groups), np.float64)
    for block in iterate_blocks(len(groups.numbers)):
        np.add.at(means, groups.numbers[block], lengths[block])
    for block in iterate_blocks(len(groups)):
        means[block] /= groups.sizes[block]
    return means


def assign_strata(lengths: NDArray[np.float64], group_sizes: IntArray, scratch: Scratch) -> IntArray:
    """Returns the stratum (G,) of each group; from short to long, each stratum has a tenth of all rows."""
    values = count_values(lengths[block] for block in iterate_blocks(len(lengths))).values
    # 1. Count the rows of groups of each length, and so those of all shorter groups.
    rows = np.zeros(len(values), np.int64)
    for block in iterate_blocks(len(lengths)):
        np.add.at(rows, np.searchsorted(values, lengths[block]), group_sizes[block])
    before, total = np.cumsum(rows) - rows, int(rows.sum())
    # 2. Of groups of one length, those with smaller numbers come first.
    strata = scratch.make_array(len(lengths), np.int32)
    for block in iterate_blocks(len(lengths)):
        places = np.searchsorted(values, lengths[block])
        order = np.argsort(places, kind="stable")
        ordered, sizes = places[order], group_sizes[block][order].astype(np.int64)
        of_length = np.bincount(places, weights=group_sizes[block], minlength=len(values)).astype(np.int64)
        preceding = np.cumsum(sizes) - sizes - (np.cumsum(of_length) - of_length)[ordered]
        strata[block.start + order] = (before[ordered] + preceding) * STRATA // total
        before += of_length
    return strata


@dataclass(frozen=True)
class Draw:
    """A draw from the free groups (G,), in random order, with equal shares of all strata."""

    order: IntArray  # (G,)
    strata: IntArray  # (G,)
    group_sizes: IntArray  # (G,)
    is_free: BoolArray  # (G,)

    def draw_groups(self, size: int) -> list[int]:
        """Draws groups that total `size` rows, or as many as possible.

        Each stratum gives its share first; other groups then fill the remainder.
        """
        shares = np.zeros(int(self.strata.max(initial=0)) + 1, np.int64)
        for block in iterate_blocks(len(self.strata)):
            np.add.at(shares, self.strata[block], self.group_sizes[block] * self.is_free[block])
        shares = np.append(shares, np.zeros(max(STRATA - len(shares), 0), np.int64))
        quotas = np.diff(np.round(np.concatenate([[0], np.cumsum(shares)]) * size / max(shares.sum(), 1))).astype(int)
        groups: list[int] = []
        for stratum, quota in enumerate(quotas.tolist()):
            groups += self.fill_quota(partial(self.is_in_stratum, stratum), quota)
        missing = size - int(self.group_sizes[groups].sum()) if groups else size
        if missing:
            is_drawn = np.zeros(len(self.strata), np.bool_)
            is_drawn[groups] = True
            groups += self.fill_quota(lambda numbers: ~is_drawn[numbers], missing)
        return groups

    def is_in_stratum(self, stratum: int, numbers: IntArray) -> BoolArray:
        """Returns whether each of these groups is in a stratum."""
        return np.asarray(self.strata[numbers] == stratum)

    def fill_quota(self, may_take: Callable[[IntArray], BoolArray], size: int) -> list[int]:
        """Returns groups that total `size` rows, or as many as possible: in order, each candidate that still fits."""
        groups: list[int] = []
        missing = size
        for group, rows in self.read_candidates(may_take) if size else ():
            if rows <= missing:
                groups.append(group)
                missing -= rows
            if missing == 0:
                break
        return groups

    def read_candidates(self, may_take: Callable[[IntArray], BoolArray]) -> Iterator[tuple[int, int]]:
        """Yields the free groups that may be taken, in order, with their sizes."""
        for block in iterate_blocks(len(self.order), DRAWN):
            numbers = self.order[block]
            numbers = numbers[self.is_free[numbers] & may_take(numbers)]
            yield from zip(numbers.tolist(), self.group_sizes[numbers].tolist(), strict=True)


def refuse_connected(where: str, pairs: int, groups: int, shared: str) -> NoReturn:
    """Raises DataError for pairs that share too many sentences, or values of a column, to be split."""
    number = "one group" if groups == 1 else format_count(groups, "group")
    raise DataError(
        f"{where}: {format_count(pairs, 'pair')} share so many {shared} that they form {number}, "
        "too few or too large to split",
        hint="add pairs with different sentences, or choose larger splits with --dev and --test",
    )


def measure_leak(
    keys: tuple[NDArray[np.uint64], NDArray[np.uint64]], rows: IntArray, sizes: Sizes, scratch: Scratch, *, seed: int
) -> tuple[float, float]:
    """Returns the shares, 0 to 1, of test rows whose source or target is also in train if rows are split at random.

    `keys` are those of the sources and of the targets.
    """
    order = scratch.draw_order(len(rows), default_rng([seed, 1]))
    test, train = order[: sizes.test], order[sizes.test + sizes.dev :]
    sources, targets = (measure_known_share(key, rows, train, test) for key in keys)
    return sources, targets


def measure_known_share(keys: NDArray[np.uint64], rows: IntArray, train: IntArray, test: IntArray) -> float:
    """Returns the share, 0 to 1, of test rows that share a key with a train row; both are positions in `rows`."""
    if not len(test):
        return 0.0
    distinct, places = np.unique(keys[rows[test]], return_inverse=True)
    is_known = np.zeros(len(distinct), np.bool_)
    for block in iterate_blocks(len(train)):
        is_known |= np.isin(distinct, keys[rows[train[block]]])
    return float(is_known[places].mean())
