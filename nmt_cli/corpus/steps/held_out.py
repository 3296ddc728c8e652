"""Decides which of the checked pairs are held out as dev and test data, and which train, how often.

`split.py` draws the pairs; here they come from files if given, and inputs have roles and weights. Letters: N pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.checks import CHECKS, SAMPLED_OUT
from nmt_cli.corpus.checks.repeats import HeldOut
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.manifest import Finding, LeakReport
from nmt_cli.corpus.pairs import Pairs, Role
from nmt_cli.corpus.steps.near_duplicates import number_near_equal
from nmt_cli.corpus.steps.reading import PrepareProgress
from nmt_cli.corpus.steps.run_checks import describe_rows
from nmt_cli.corpus.steps.split import Splits, find_connected_groups, measure_leak, number_keys, split_by_groups
from nmt_cli.corpus.steps.split_sizes import Sizes, choose_sizes
from nmt_cli.errors import DataError

REASONS = ("", *(check.name for check in CHECKS), SAMPLED_OUT)  # by the numbers in `Pairs.reasons`


@dataclass(frozen=True)
class Division:
    """The rows of each split, the leak of a random split, and the number of rows repeated by weight."""

    splits: Splits
    leak: LeakReport
    repeated: int


def split_pairs(pairs: Pairs, config: PrepareConfig, report_progress: PrepareProgress) -> Division:
    """Splits the pairs by connected groups; dev and test pairs from files keep their role.

    Pairs are first left out, and finally repeated, by the weights of their inputs. Raises DataError if there are too
    few pairs.
    """
    report_progress("splitting", 0, 3)
    leave_out_by_weight(pairs, config.seed)
    in_training = pairs.is_kept & pairs.has_role("train")
    rows = np.flatnonzero(in_training & pairs.may_be_held_out)
    where = " + ".join(dict.fromkeys(pairs.input_names))
    sizes = choose_sizes(
        len(rows),
        config.dev,
        config.test,
        where=where,
        from_files=frozenset(pairs.input_roles) - {"train"},
        losses=list_losses(pairs),
        training_only=int(in_training.sum()) - len(rows),
    )
    # 1. Number the sentences, then group the pairs that share a sentence, or nearly share it where that is asked for.
    sources, targets = number_keys(pairs.facts.source_keys[rows]), number_keys(pairs.facts.target_keys[rows])
    report_progress("splitting", 1, 3)
    near_numbers = number_near_duplicates(pairs, rows) if config.near_duplicates else []
    numbers = [*(number_keys(keys[rows]) for keys in pairs.connecting_keys), *near_numbers]
    groups = find_groups(numbers, pairs.facts.group_keys[rows])
    report_progress("splitting", 2, 3)
    # 2. Draw whole groups for test and dev, and measure what a random split would have leaked.
    lengths = np.maximum(pairs.facts.source_lengths, pairs.facts.target_lengths)[rows]
    shared = " or ".join(["sentences", *(f"values of {column}" for column in config.group_column)])
    tags = pairs.facts.tags[rows]
    drawn = split_by_groups(groups, lengths, sizes, seed=config.seed, where=where, shared=shared, tags=tags)
    drawn_rows = drop_shared(pairs, rows, drawn, numbers)
    leak = measure_leak(sources, targets, Sizes(sizes.dev, sizes.test or len(rows) // 10), seed=config.seed)
    # 3. Repeat training pairs by weight; use dev and test pairs from files instead of drawn ones.
    dev, test = choose_held_out(pairs, "dev", drawn_rows.dev), choose_held_out(pairs, "test", drawn_rows.test)
    once = np.concatenate([drawn_rows.train, select_training_only(pairs, np.concatenate([dev, test]))])
    train = repeat_by_weight(pairs, once, config.seed)
    refuse_empty(splits := Splits(train, dev, test))
    return Division(splits, report_leak(groups, leak), len(train) - len(once))


def find_groups(numbers: Sequence[IntArray], group_keys: NDArray[np.uint64]) -> IntArray:
    """Returns (N,) the number of each row's group: all rows of a value of the group column, or connected rows.

    A few sentences that occur everywhere would connect most values, so they connect only rows without a value.
    `numbers` are several kinds of numbers, (N,) each, that are equal for rows to be connected.
    """
    groups = len(group_keys) + number_keys(group_keys)
    is_free = group_keys == 0
    groups[is_free] = find_connected_groups(*(kind[is_free] for kind in numbers))
    return groups


def drop_shared(pairs: Pairs, rows: IntArray, drawn: Splits, numbers: Sequence[IntArray]) -> Splits:
    """Returns the rows of each split, dropping those of train and dev that share a number with one held out.

    Only rows with a value of the group column can share one. `drawn` are indices into `rows` and `numbers`.
    """
    held_out, splits = drawn.test, {"test": rows[drawn.test]}
    for name in ("dev", "train"):
        split = drawn.by_name[name]
        is_shared = np.any([np.isin(kind[split], kind[held_out]) for kind in numbers], axis=0)
        pairs.reasons[rows[split[is_shared]]] = REASONS.index(HeldOut.name)
        splits[name] = rows[split[~is_shared]]
        held_out = np.concatenate([held_out, split[~is_shared]])
    return Splits(**splits)


def report_leak(groups: IntArray, leak: tuple[float, float]) -> LeakReport:
    """Returns the manifest's entry about the groups (N,) and the leak of a random split."""
    counts = np.bincount(groups)
    return LeakReport(
        groups=int(np.count_nonzero(counts)),
        largest_group=int(counts.max(initial=0)),
        test_sources_by_rows=round(leak[0], 4),
        test_targets_by_rows=round(leak[1], 4),
    )


def refuse_empty(splits: Splits) -> None:
    """Raises DataError for a split without pairs, which can happen when the checks drop dev or test data from files."""
    for name, rows in splits.by_name.items():
        if not len(rows):
            hint = "they are empty or share sentences with the test data; see --strict --report report.html"
            raise DataError(f"no pair of the {name} data can be used", hint=hint)


def select_training_only(pairs: Pairs, held_out: IntArray) -> IntArray:
    """Returns the rows of training-only inputs, dropping those that share a sentence with `held_out`."""
    rows = np.flatnonzero(pairs.is_kept & pairs.has_role("train") & ~pairs.may_be_held_out)
    is_leak = np.zeros(len(rows), dtype=np.bool_)
    for keys in pairs.connecting_keys:
        is_leak |= np.isin(keys[rows], keys[held_out])
    pairs.reasons[rows[is_leak]] = REASONS.index(HeldOut.name)
    return rows[~is_leak]


def list_losses(pairs: Pairs) -> dict[str, int]:
    """Returns the number of training pairs dropped by each check, largest first."""
    reasons = pairs.reasons[pairs.has_role("train")]
    counts = np.bincount(reasons, minlength=len(REASONS)).tolist()
    losses = {name: count for name, count in zip(REASONS[1:], counts[1:], strict=True) if count}
    return dict(sorted(losses.items(), key=lambda loss: -loss[1]))


def choose_held_out(pairs: Pairs, role: Role, drawn_rows: IntArray) -> IntArray:
    """Returns the rows of dev or test: those from files with this role if there are any, else the drawn ones."""
    return np.flatnonzero(pairs.is_kept & pairs.has_role(role)) if role in pairs.input_roles else drawn_rows


def number_near_duplicates(pairs: Pairs, rows: IntArray) -> list[IntArray]:
    """Returns (N,) numbers for each side; rows whose sentences are near-duplicates have equal numbers."""
    facts = pairs.facts
    return [
        number_near_equal(pairs.source, rows, facts.source_keys[rows]),
        number_near_equal(pairs.target, rows, facts.target_keys[rows]),
    ]


def drop_near_held_out(pairs: Pairs, config: PrepareConfig) -> tuple[Finding, ...]:
    """With `--near-duplicates`, drops training pairs with a near-duplicate in the dev or test data from files.

    Returns the finding about them. Not a regular check, because it is slow and must see only the pairs kept by those.
    """
    if not config.near_duplicates or len(set(pairs.input_roles)) == 1:
        return ()
    rows = np.flatnonzero(pairs.is_kept)
    in_training = pairs.has_role("train")[rows]
    is_near = np.any(
        [np.isin(numbers, numbers[~in_training]) for numbers in number_near_duplicates(pairs, rows)], axis=0
    )
    dropped_rows = rows[is_near & in_training]
    pairs.reasons[dropped_rows] = REASONS.index(HeldOut.name)
    problem = "a near-duplicate of a sentence in the dev or test data"
    return describe_rows(pairs, dropped_rows, check=HeldOut.name, problem=problem, action="dropped")


def leave_out_by_weight(pairs: Pairs, seed: int) -> None:
    """Keeps only a random share of the pairs of an input whose weight is less than 1; the weight is the share."""
    generator = np.random.default_rng([seed, 3])
    for number, weight in enumerate(pairs.input_weights):
        if weight < 1:
            rows = np.flatnonzero(pairs.is_kept & (pairs.facts.input_numbers == number))
            left_out = generator.permutation(rows)[round(weight * len(rows)) :]
            pairs.reasons[left_out] = REASONS.index(SAMPLED_OUT)


def repeat_by_weight(pairs: Pairs, train: IntArray, seed: int) -> IntArray:
    """Returns the rows of train in random order, repeating those of inputs with a weight above 1.

    The fraction of a weight repeats that share of the rows once more: with 1.5, every other row occurs twice.
    """
    weights = np.array(pairs.input_weights)[pairs.facts.input_numbers[train]]
    if (weights <= 1).all():
        return train
    generator = np.random.default_rng([seed, 4])
    times = np.maximum(weights, 1)
    whole_times = np.floor(times)
    repeats = (whole_times + (generator.random(len(train)) < times - whole_times)).astype(int)
    return generator.permutation(np.repeat(train, repeats))
