"""Finds pairs that follow each other in a text, and draws those to be learned with the previous pair.

Letters: N pairs, R rows of a split.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.scratch import Keys, iterate_blocks
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.checks import CHECKS
from nmt_cli.corpus.checks.texts import Duplicate
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import TextOrder
from nmt_cli.corpus.pairs import Pairs, number_languages
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.text.tags import LONGEST_CONTEXT

DUPLICATE = 1 + [check.name for check in CHECKS].index(Duplicate.name)  # in `Pairs.reasons`
JOINED_SHARE = 1 / 3  # of the pairs behind another: they are learned as one line with it, as of texts that are not cut
SHORT_LINE = 5  # words of a line, on either side, that recurs in texts which have nothing to do with each other
STRETCH = 20  # successive pairs of a file without a column of groups, which count as one text
INPUT_BITS = 40  # of the key of a stretch, behind the number of its input
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64: Steele, Lea and Flood (2014), "Fast Splittable Pseudorandom
MIXERS = ((30, np.uint64(0xBF58476D1CE4E5B9)), (27, np.uint64(0x94D049BB133111EB)), (31, np.uint64(1)))  # Generators"


class PairBefore(NamedTuple):
    """The pair before another one: its context, or joined with it into one line."""

    source: str
    target: str
    is_joined: bool


def number_texts(pairs: Pairs, config: PrepareOptions) -> None:
    """If context is learned without a group column, makes each stretch of a file a group, which stays in one split.

    A short line then counts as a duplicate or leak only after the same previous line: see `key_short_lines`.
    """
    if not config.context:
        return
    if not config.group_column:
        number_stretches(pairs)
    key_short_lines(pairs)


def number_stretches(pairs: Pairs) -> None:
    """Makes each stretch of a file a group."""
    numbers, keys = pairs.facts.input_numbers, pairs.scratch.make_array(len(pairs), np.uint64)
    for block in iterate_blocks(len(pairs)):
        firsts = np.searchsorted(numbers, numbers[block])  # inputs are read one after the other
        stretches = (np.arange(block.start, block.start + len(firsts)) - firsts) // STRETCH
        keys[block] = ((numbers[block].astype(np.uint64) + 1) << np.uint64(INPUT_BITS)) + stretches.astype(np.uint64)
    pairs.facts = replace(pairs.facts, group_keys=keys)


def key_short_lines(pairs: Pairs) -> None:
    """Makes the keys of short pairs depend also on the sentence before them in their text.

    Dialogue repeats such lines in every text; dropped as duplicates or leaks, they would be lost where context matters
    most.
    """
    facts = pairs.facts
    keys = {name: pairs.scratch.make_array(len(pairs), np.uint64) for name in ("source_keys", "target_keys")}
    for block in iterate_blocks(len(pairs)):
        rows = np.arange(block.start, block.start + len(facts.flags[block]))
        follows = is_short(pairs, rows) & follows_previous(pairs, rows)
        for name, changed in keys.items():
            original = getattr(facts, name)
            changed[block] = original[block]
            changed[rows[follows]] = mix(original[rows[follows]] ^ mix(original[rows[follows] - 1]))
    pairs.facts = replace(facts, **keys)


def is_short(pairs: Pairs, rows: IntArray) -> BoolArray:
    """Returns a mask (R,) of the pairs with two short sides."""
    facts = pairs.facts
    return np.asarray(np.maximum(facts.source_words[rows], facts.target_words[rows]) <= SHORT_LINE)


def put_in_order(splits: Splits, config: PrepareOptions) -> Splits:
    """Returns splits with the dev and test pairs in the order of their texts, if context is learned."""
    return Splits(splits.train, np.sort(splits.dev), np.sort(splits.test)) if config.context else splits


def follows_previous(pairs: Pairs, rows: IntArray) -> BoolArray:
    """Returns a mask (R,) of the rows whose previous pair in the file is valid, with the same text and languages.

    A pair is valid if it is kept, or if it is short and duplicates a kept one: *Hello.* begins many texts.
    """
    facts, before = pairs.facts, np.maximum(rows - 1, 0)
    languages, reasons = number_languages(pairs.tag_sets), pairs.reasons[before]
    is_right = (reasons == 0) | (is_short(pairs, before) & (reasons == DUPLICATE))
    follows: BoolArray = (rows > 0) & is_right & (facts.group_keys[rows] != 0)
    for kind in (facts.group_keys, facts.input_numbers):
        follows &= kind[rows] == kind[before]
    follows &= languages[facts.tags[rows]] == languages[facts.tags[before]]
    return follows


def draw_rows(rows: IntArray, share: float, seed: int) -> BoolArray:
    """Returns a mask (R,) of a random share of the rows; each choice depends only on the row and the seed."""
    mixed = mix(rows.astype(np.uint64) + (np.uint64(seed) << np.uint64(32)))
    return np.asarray(mixed < np.uint64(min(share, 1 - 2**-53) * 2**64))


def mix(numbers: Keys) -> Keys:
    """Returns a random-looking number for each number; different numbers give different results."""
    with np.errstate(over="ignore"):
        mixed = (numbers + np.uint64(1)) * GOLDEN
        for shift, factor in MIXERS:
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    return mixed


def has_drawn_context(pairs: Pairs, rows: IntArray, config: PrepareOptions) -> BoolArray:
    """Returns a mask (R,) of the training rows that are learned with the previous pair as context.

    Rows are drawn by the share in the settings, except those without a previous pair, or with one that is too long.
    """
    if not config.context:
        return np.zeros(len(rows), np.bool_)
    facts, before = pairs.facts, np.maximum(rows - 1, 0)
    is_short = np.maximum(facts.source_words[before], facts.target_words[before]) <= LONGEST_CONTEXT
    is_drawn = draw_rows(rows, config.context_share, config.seed)
    return np.asarray(is_drawn & is_short & follows_previous(pairs, rows))


def find_contexts(pairs: Pairs, split: str, rows: IntArray, config: PrepareOptions) -> list[PairBefore | None]:
    """Returns, for each of these rows of a split, the pair that is its context, or None."""
    has_context = has_drawn_context(pairs, rows, config) if split == "train" else np.zeros(len(rows), np.bool_)
    before = rows[has_context] - 1
    is_joined = draw_rows(before, JOINED_SHARE, config.seed).tolist()  # by another row than `has_drawn_context`
    contexts = map(PairBefore, pairs.source.select(before), pairs.target.select(before), is_joined)
    return [next(contexts) if is_behind else None for is_behind in has_context.tolist()]


def describe_order(pairs: Pairs, splits: Splits, config: PrepareOptions) -> TextOrder:
    """Returns the manifest's entry about context."""
    if not config.context:
        return TextOrder()
    blocks = (splits.train[block] for block in iterate_blocks(len(splits.train)))
    count = sum(int(np.count_nonzero(has_drawn_context(pairs, rows, config))) for rows in blocks)
    texts = {split: measure_texts(pairs, splits.by_name[split]) for split in ("dev", "test")}
    return TextOrder(pairs=count, texts=texts, recurring=count_recurring(pairs, splits))


def count_recurring(pairs: Pairs, splits: Splits) -> dict[str, int]:
    """Returns how many dev and test pairs also occur in training, with another context or none."""
    short_pairs: dict[str, list[tuple[str, str]]] = {
        split: [*zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)]
        for split in ("dev", "test")
        for rows in [splits.by_name[split][is_short(pairs, splits.by_name[split])]]
    }
    sought, learned = {pair for of_split in short_pairs.values() for pair in of_split}, set[tuple[str, str]]()
    for block in iterate_blocks(len(splits.train)):
        rows = splits.train[block]
        rows = rows[is_short(pairs, rows)]
        learned.update(sought.intersection(zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)))
    return {split: sum(pair in learned for pair in of_split) for split, of_split in short_pairs.items()}


def measure_texts(pairs: Pairs, rows: IntArray) -> tuple[int, ...]:
    """Returns the sizes of the texts that successive pairs among these sorted `rows` form."""
    continues = follows_previous(pairs, rows) & (np.diff(rows, prepend=-1) == 1)
    starts = np.flatnonzero(~continues)
    return tuple(np.diff([*starts.tolist(), len(rows)]).tolist())
