"""Decides which checked pairs are held out as dev and test data, which are for training, and how often.

`split.py` draws pairs; this module takes them from files if given, and applies roles and weights. Letters: N pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import (
    MIXER,
    EqualRows,
    Keys,
    Scratch,
    connect_rows,
    count_numbers,
    find_equal_rows,
    find_members,
    iterate_blocks,
    join_keys,
    mark_repeated,
    store_edges,
    store_equal_rows,
)
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.checks import CHECKS, SAMPLED_OUT
from nmt_cli.corpus.checks.texts import HeldOut
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import Finding, LeakReport
from nmt_cli.corpus.pairs import Pairs, Role, Texts
from nmt_cli.corpus.steps.context import put_in_order
from nmt_cli.corpus.steps.reading import PrepareProgress
from nmt_cli.corpus.steps.run_checks import describe_rows
from nmt_cli.corpus.steps.split import (
    PairGroups,
    Sizes,
    Splits,
    choose_sizes,
    measure_leak,
    number_groups,
    split_by_groups,
)
from nmt_cli.errors import DataError
from nmt_cli.text.normalise import make_sentence_key

# Finds near-duplicate sentences, such as "Tom likes tea." and "Tom likes tea!", by MinHash.
#
# Vectorised over all sentences, which is several times as fast as a library that takes them one by one. Letters: N
# sentences, G shingles (groups of bytes) of all sentences, H hash functions, E edges.


HASHES = 32
BANDS = 8  # of 4 hashes each: of the sentences that share 80 % of their shingles, 98 % meet in a band
LEAST_SIMILARITY = 0.8  # the share of hashes that near-duplicates have in common
REACH = 32  # how many sentences of equal hashes each is compared with: unlike ones may stand between two that are alike
SHINGLE = 4  # bytes
BATCH = 50_000  # sentences at a time
EIGHT = np.uint32(8)  # bits
NON_WORD = re.compile(r"\W+")

UIntArray = NDArray[np.uint32]


def label_near_equal(texts: Texts, keys: Keys, is_chosen: BoolArray, scratch: Scratch) -> IntArray:
    """Returns labels (N,), equal for chosen texts that have equal `keys` or are near-duplicates: their smallest row.

    The relation is transitive: indirectly connected texts have equal labels, too.
    """
    parts = store_equal_rows(keys, is_chosen, scratch)
    rows = scratch.find_rows(is_chosen & ~mark_repeated([keys], is_chosen, scratch))
    for edges in find_near_edges(texts, rows, scratch) if len(rows) else ():
        parts.append(store_edges(rows[edges], scratch))
    return connect_rows(len(keys), parts, scratch)


def key_near_equal(texts: Texts, keys: Keys, is_chosen: BoolArray, scratch: Scratch) -> Keys:
    """Returns keys (N,) that are equal for chosen texts with equal labels."""
    labels = label_near_equal(texts, keys, is_chosen, scratch)
    blocks = iterate_blocks(len(labels))
    near_keys: Keys = scratch.collect(
        len(labels), np.uint64, ((labels[block].astype(np.uint64) + np.uint64(1)) * MIXER for block in blocks)
    )
    return near_keys


def find_near_held_out(texts: Texts, rows: IntArray, held_out: Texts, held_out_rows: IntArray) -> NDArray[np.bool_]:
    """Returns a mask (N,) of the texts of `rows` that are near-duplicates of one of the H held-out texts.

    Each text is compared with all held-out texts that share a band with it, and with no others.
    """
    if not len(rows) or not len(held_out_rows):
        return np.zeros(len(rows), np.bool_)
    theirs = compute_signatures(held_out, held_out_rows)  # (H, hashes)
    width = HASHES // BANDS
    is_near = [np.zeros(0, np.bool_)]
    for start in range(0, len(rows), BATCH):
        ours = compute_signatures(texts, rows[start : start + BATCH])
        is_near.append(np.zeros(len(ours), np.bool_))
        for band in range(BANDS):
            columns = slice(band * width, (band + 1) * width)
            text, other = join_equal(*(join_keys([*side[:, columns].T]) for side in (ours, theirs)))
            for first in range(0, len(text), BATCH):
                pairs = text[first : first + BATCH], other[first : first + BATCH]
                is_alike = (ours[pairs[0]] == theirs[pairs[1]]).mean(axis=1) >= LEAST_SIMILARITY
                is_near[-1][pairs[0][is_alike]] = True
    return np.concatenate(is_near)


def join_equal(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> tuple[IntArray, IntArray]:
    """Returns the indices (E,) into `left` and into `right` of all pairs with equal keys."""
    order = np.argsort(right, kind="stable")
    first, last = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
    counts = last - first
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(np.arange(len(left)), counts), order[np.repeat(first, counts) + offsets]


def find_near_edges(texts: Texts, rows: IntArray, scratch: Scratch) -> Iterator[NDArray[np.int32]]:
    """Yields (E, 2) pairs of indices into `rows` whose sentences are near-duplicates, band by band.

    The edges connect each group of near-duplicates, but not every two of its members.
    """
    signatures = scratch.make_array(len(rows) * HASHES, np.uint32).reshape(len(rows), HASHES)
    for block in iterate_blocks(len(rows), BATCH):
        signatures[block] = compute_signatures(texts, rows[block])
    width = HASHES // BANDS
    for band in range(BANDS):
        yield find_band_edges(signatures, slice(band * width, (band + 1) * width), scratch)


def compute_signatures(texts: Texts, rows: IntArray) -> UIntArray:
    """Returns signatures (N, H): the least value of each hash function over the shingles of each sentence."""
    # 1. Join the normal forms of all sentences, and take every 4 successive bytes as a number.
    parts = [b" %b " % NON_WORD.sub(" ", make_sentence_key(text)).strip().encode() for text in texts.select(rows)]
    parts = [part if len(part) >= SHINGLE else part.ljust(SHINGLE) for part in parts]
    data = np.frombuffer(b"".join(parts), np.uint8).astype(np.uint32)
    shingles: UIntArray = data[:-3] | data[1:-2] << EIGHT | data[2:-1] << 2 * EIGHT | data[3:] << 3 * EIGHT  # (G,)
    sizes = np.fromiter(map(len, parts), np.int64, count=len(parts))
    ends = np.cumsum(sizes)
    # 2. Shingles that reach over the end of a sentence are replaced by its first one, which changes no least value.
    starts = np.repeat(ends - sizes, sizes)[: len(shingles)]
    reaches_over = np.arange(len(shingles)) > np.repeat(ends - SHINGLE, sizes)[: len(shingles)]
    shingles = np.where(reaches_over, shingles[starts], shingles).astype(np.uint32, copy=False)
    # 3. Hash all shingles with each function, and take the least value within each sentence.
    generator = np.random.default_rng(0)
    signatures = np.empty((len(parts), HASHES), np.uint32)
    for number, (factor, shift) in enumerate(generator.integers(1, 2**32, (HASHES, 2), dtype=np.uint64).tolist()):
        hashed = hash_values(shingles, np.uint32(factor | 1), np.uint32(shift))
        signatures[:, number] = np.minimum.reduceat(hashed, ends - sizes)
    return signatures


def hash_values(values: UIntArray, factor: np.uint32, shift: np.uint32) -> UIntArray:
    """Hashes to 32 bits. Multiplies and xors twice, since products would preserve the order of the low bits."""
    hashed = (values ^ shift) * factor
    hashed ^= hashed >> np.uint32(15)
    hashed *= np.uint32(0x2C1B3C6D)
    hashed ^= hashed >> np.uint32(12)
    return hashed


def find_band_edges(signatures: UIntArray, columns: slice, scratch: Scratch) -> NDArray[np.int32]:
    """Returns pairs (E, 2) of sentences with equal hashes in the `columns` of a band and similar signatures."""
    blocks = iterate_blocks(len(signatures), BATCH)
    hashes = (join_keys([*signatures[block, columns].T]) for block in blocks)
    keys = scratch.collect(len(signatures), np.uint64, hashes)
    edges = [np.zeros((0, 2), np.int32)]
    for part in find_equal_rows([keys], np.ones(len(keys), np.bool_), scratch):
        edges += compare_neighbours(signatures, part)
    return np.concatenate(edges)


def compare_neighbours(signatures: UIntArray, part: EqualRows) -> Iterator[NDArray[np.int32]]:
    """Yields pairs (E, 2) of sentences with equal hashes and similar signatures, at most REACH places apart."""
    numbers = np.cumsum(part.is_first)  # equal for sentences of equal hashes
    for distance in range(1, REACH + 1):
        same = np.flatnonzero(numbers[distance:] == numbers[:-distance])
        if not len(same):
            return
        for batch in iterate_blocks(len(same), BATCH):
            pairs = np.stack([part.rows[same[batch]], part.rows[same[batch] + distance]], axis=1)
            is_alike = (signatures[pairs[:, 0]] == signatures[pairs[:, 1]]).mean(axis=1) >= LEAST_SIMILARITY
            yield pairs[is_alike]


REASONS = ("", *(check.name for check in CHECKS), SAMPLED_OUT)  # by the numbers in `Pairs.reasons`


@dataclass(frozen=True)
class Division:
    """The rows of each split, the leak of a random split, and the number of rows repeated by weight."""

    splits: Splits
    leak: LeakReport
    repeated: int


def split_pairs(pairs: Pairs, config: PrepareOptions, report_progress: PrepareProgress) -> Division:
    """Splits the pairs by connected groups; dev and test pairs from files keep their role.

    Pairs are first left out, and finally repeated, by the weights of their inputs. Raises DataError if there are too
    few pairs.
    """
    report_progress("splitting", 0, 3)
    leave_out_by_weight(pairs, config.seed)
    scratch, facts = pairs.scratch, pairs.facts
    in_training = pairs.is_kept & pairs.has_role("train")
    may_be_drawn = in_training & pairs.may_be_held_out
    rows = scratch.find_rows(may_be_drawn)
    sizes = choose_sizes(
        len(rows),
        config.dev,
        config.test,
        where=name_corpus(pairs),
        from_files=frozenset(pairs.input_roles) - {"train"},
        losses=list_losses(pairs),
        training_only=int(np.count_nonzero(in_training)) - len(rows),
    )
    # 1. Group the pairs that share a sentence, or nearly share it where that is asked for.
    near_keys = key_near_duplicates(pairs, may_be_drawn) if config.near_duplicates else []
    report_progress("splitting", 1, 3)
    keys = [*pairs.connecting_keys, *near_keys]
    groups = find_groups(keys, pairs, rows, may_be_drawn)
    report_progress("splitting", 2, 3)
    # 2. Draw whole groups for test and dev, and measure what a random split would have leaked.
    drawn_rows = drop_shared(pairs, rows, draw_splits(groups, pairs, rows, sizes, config), keys)
    leak_sizes = Sizes(sizes.dev, sizes.test or len(rows) // 10)
    leak = measure_leak((facts.source_keys, facts.target_keys), rows, leak_sizes, scratch, seed=config.seed)
    # 3. Repeat training pairs by weight; use dev and test pairs from files instead of drawn ones.
    dev, test = choose_held_out(pairs, "dev", drawn_rows.dev), choose_held_out(pairs, "test", drawn_rows.test)
    more = select_training_only(pairs, np.concatenate([dev, test]))
    once = scratch.collect(len(drawn_rows.train) + len(more), rows.dtype, iter([drawn_rows.train, more]))
    train = repeat_by_weight(pairs, once, config.seed)
    refuse_empty(splits := put_in_order(Splits(train, dev, test), config))
    return Division(splits, report_leak(groups, leak), len(train) - len(once))


def draw_splits(groups: PairGroups, pairs: Pairs, rows: IntArray, sizes: Sizes, config: PrepareOptions) -> Splits:
    """Draws dev and test as whole groups of these `rows`; the splits hold positions in `rows`."""
    facts, blocks = pairs.facts, iterate_blocks(len(rows))
    chosen = (rows[block] for block in blocks)
    longest = (np.maximum(facts.source_lengths[part], facts.target_lengths[part]) for part in chosen)
    return split_by_groups(
        groups,
        pairs.scratch.collect(len(rows), np.int32, longest),
        sizes,
        seed=config.seed,
        where=name_corpus(pairs),
        shared=" or ".join(["sentences", *(f"values of {column}" for column in config.group_column)]),
        tags=pairs.scratch.take(facts.tags, rows),
        scratch=pairs.scratch,
    )


def name_corpus(pairs: Pairs) -> str:
    """Returns the names of all inputs for messages."""
    return " + ".join(dict.fromkeys(pairs.input_names))


def find_groups(keys: Sequence[Keys], pairs: Pairs, rows: IntArray, may_be_drawn: BoolArray) -> PairGroups:
    """Returns the groups of these `rows`: rows with the same value in the group column, or connected rows.

    A few sentences that occur everywhere would connect most values, so sentences connect only rows without a value.
    `may_be_drawn` (N,) selects the rows; `keys` holds several kinds of keys, which are equal for rows to be connected.
    """
    group_keys, scratch = pairs.facts.group_keys, pairs.scratch
    parts = store_equal_rows(group_keys, may_be_drawn, scratch)
    is_free = may_be_drawn & (group_keys == 0)
    for kind in keys:
        parts += store_equal_rows(kind, is_free, scratch)
    labels = connect_rows(len(pairs), parts, scratch)
    places = scratch.make_array(len(pairs), rows.dtype)  # of the rows among those that may be drawn
    for block in iterate_blocks(len(rows)):
        places[rows[block]] = np.arange(block.start, block.stop)
    return number_groups(scratch.take(places, scratch.take(labels, rows)), scratch.take(group_keys, rows), scratch)


def drop_shared(pairs: Pairs, rows: IntArray, drawn: Splits, keys: Sequence[Keys]) -> Splits:
    """Returns the rows of each split, dropping those of train and dev that share a key with a held-out row.

    Only rows with a value in the group column can share a key. `drawn` holds positions in `rows`.
    """
    splits = {name: pairs.scratch.take(rows, places) for name, places in drawn.by_name.items()}
    held_out = splits["test"]
    for name in ("dev", "train") if pairs.facts.group_keys.any() else ():
        split = splits[name]
        is_shared = np.zeros(len(split), np.bool_)
        for kind in keys:
            is_shared |= find_members(pairs.scratch.take(kind, split), kind[held_out])
        pairs.reasons[split[is_shared]] = REASONS.index(HeldOut.name)
        splits[name] = split[~is_shared]
        held_out = np.concatenate([held_out, splits[name]]) if name == "dev" else held_out
    return Splits(**splits)


def report_leak(groups: PairGroups, leak: tuple[float, float]) -> LeakReport:
    """Returns the manifest's entry about the groups and the leak of a random split."""
    return LeakReport(
        groups=len(groups),
        largest_group=int(groups.sizes.max(initial=0)),
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
    is_chosen = pairs.is_kept & pairs.has_role("train") & ~pairs.may_be_held_out
    is_leak = np.zeros(len(pairs), dtype=np.bool_)
    for keys in pairs.connecting_keys if is_chosen.any() else ():
        is_leak |= find_members(keys, keys[held_out])
    pairs.reasons[is_chosen & is_leak] = REASONS.index(HeldOut.name)
    return pairs.scratch.find_rows(is_chosen & ~is_leak)


def list_losses(pairs: Pairs) -> dict[str, int]:
    """Returns the number of training pairs dropped by each check, largest first."""
    counts = count_numbers(pairs.reasons, len(REASONS), pairs.has_role("train")).tolist()
    losses = {name: count for name, count in zip(REASONS[1:], counts[1:], strict=True) if count}
    return dict(sorted(losses.items(), key=lambda loss: -loss[1]))


def choose_held_out(pairs: Pairs, role: Role, drawn_rows: IntArray) -> IntArray:
    """Returns the rows of dev or test: those from files with this role if there are any, else the drawn ones."""
    if role not in pairs.input_roles:
        return drawn_rows
    return pairs.scratch.find_rows(pairs.is_kept & pairs.has_role(role))


def key_near_duplicates(pairs: Pairs, is_chosen: BoolArray) -> list[Keys]:
    """Returns keys (N,) for each side; chosen rows whose sentences are near-duplicates have equal keys."""
    facts = pairs.facts
    return [
        key_near_equal(texts, keys, is_chosen, pairs.scratch)
        for texts, keys in ((pairs.source, facts.source_keys), (pairs.target, facts.target_keys))
    ]


def drop_near_held_out(pairs: Pairs, config: PrepareOptions) -> tuple[Finding, ...]:
    """With `--near-duplicates`, drops training pairs with a near-duplicate in the dev or test data from files.

    Returns the finding about them. It is not a regular check, because it is slow and must see only the pairs that
    regular checks keep.
    """
    if not config.near_duplicates or len(set(pairs.input_roles)) == 1:
        return ()
    is_kept, in_training = pairs.is_kept, pairs.has_role("train")
    is_near = np.zeros(len(pairs), np.bool_)
    for keys in key_near_duplicates(pairs, is_kept):
        is_near |= find_members(keys, keys[is_kept & ~in_training])
    dropped_rows = pairs.scratch.find_rows(is_near & is_kept & in_training)
    pairs.reasons[dropped_rows] = REASONS.index(HeldOut.name)
    problem = "a near-duplicate of a sentence in the dev or test data"
    return describe_rows(pairs, dropped_rows, check=HeldOut.name, problem=problem, action="dropped")


def leave_out_by_weight(pairs: Pairs, seed: int) -> None:
    """Keeps only a random share of the pairs of an input whose weight is less than 1; the weight is the share."""
    generator = np.random.default_rng([seed, 3])
    for number, weight in enumerate(pairs.input_weights):
        if weight < 1:
            rows = pairs.scratch.find_rows(pairs.is_kept & (pairs.facts.input_numbers == number))
            generator.shuffle(rows)
            pairs.reasons[rows[round(weight * len(rows)) :]] = REASONS.index(SAMPLED_OUT)


def repeat_by_weight(pairs: Pairs, train: IntArray, seed: int) -> IntArray:
    """Returns the rows of train in random order, repeating those of inputs with a weight above 1.

    The fraction of a weight repeats that share of the rows once more: with 1.5, every other row occurs twice.
    """
    inputs = pairs.scratch.take(pairs.facts.input_numbers, train)
    times = np.maximum(pairs.input_weights, 1)
    if (times[count_numbers(inputs, len(times)) > 0] == 1).all():
        return train
    generator = np.random.default_rng([seed, 4])
    whole_times = np.floor(times)
    repeats = pairs.scratch.make_array(len(train), np.int32)
    for block in iterate_blocks(len(train)):
        share = (times - whole_times)[inputs[block]]
        repeats[block] = whole_times[inputs[block]] + (generator.random(len(share)) < share)
    blocks = iterate_blocks(len(train))
    rows = pairs.scratch.collect(
        int(repeats.sum()), train.dtype, (np.repeat(train[block], repeats[block]) for block in blocks)
    )
    generator.shuffle(rows)
    return rows
