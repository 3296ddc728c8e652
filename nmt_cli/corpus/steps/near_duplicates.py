"""Finds near-duplicate sentences, such as "Tom likes tea." and "Tom likes tea!", by MinHash.

Vectorised over all sentences, which is several times as fast as a library that takes them one by one. Letters: N
sentences, G shingles (groups of bytes) of all sentences, H hash functions, E edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.equal_rows import (
    MIXER,
    EqualRows,
    Keys,
    connect_rows,
    find_equal_rows,
    mark_repeated,
    store_edges,
    store_equal_rows,
)
from nmt_cli.arrays.scratch import Scratch, iterate_blocks
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.pairs import Texts
from nmt_cli.text.normalise import make_sentence_key

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
    """Returns (N,) labels, equal where chosen texts have equal `keys` or are near-duplicates: their smallest row.

    The relation is transitive: indirectly connected texts have equal labels, too.
    """
    parts = store_equal_rows(keys, is_chosen, scratch)
    rows = scratch.find_rows(is_chosen & ~mark_repeated([keys], is_chosen, scratch))
    for edges in find_near_edges(texts, rows, scratch) if len(rows) else ():
        parts.append(store_edges(rows[edges], scratch))
    return connect_rows(len(keys), parts, scratch)


def key_near_equal(texts: Texts, keys: Keys, is_chosen: BoolArray, scratch: Scratch) -> Keys:
    """Returns (N,) keys, equal for chosen texts that have equal labels."""
    labels = label_near_equal(texts, keys, is_chosen, scratch)
    blocks = iterate_blocks(len(labels))
    near_keys: Keys = scratch.collect(
        len(labels), np.uint64, ((labels[block].astype(np.uint64) + np.uint64(1)) * MIXER for block in blocks)
    )
    return near_keys


def find_near_held_out(texts: Texts, rows: IntArray, held_out: Texts, held_out_rows: IntArray) -> NDArray[np.bool_]:
    """Returns (N,) whether each text of `rows` is a near-duplicate of one of the H held-out texts.

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
            text, other = join_equal(*(hash_band(side, band * width, width) for side in (ours, theirs)))
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
        yield find_band_edges(signatures, band * width, width, scratch)


def compute_signatures(texts: Texts, rows: IntArray) -> UIntArray:
    """Returns (N, H) the least value of each hash function over the shingles of each sentence."""
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


def hash_band(signatures: UIntArray, first: int, width: int) -> NDArray[np.uint64]:
    """Returns (N,) a key of the hashes in a band, equal where all of them are equal."""
    keys = np.zeros(len(signatures), np.uint64)
    for column in range(first, first + width):
        keys = (keys ^ signatures[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys


def find_band_edges(signatures: UIntArray, first: int, width: int, scratch: Scratch) -> NDArray[np.int32]:
    """Returns (E, 2) sentences whose hashes in the band are equal and whose signatures are alike."""
    blocks = iterate_blocks(len(signatures), BATCH)
    keys = scratch.collect(len(signatures), np.uint64, (hash_band(signatures[block], first, width) for block in blocks))
    edges = [np.zeros((0, 2), np.int32)]
    for part in find_equal_rows([keys], np.ones(len(keys), np.bool_), scratch):
        edges += compare_neighbours(signatures, part)
    return np.concatenate(edges)


def compare_neighbours(signatures: UIntArray, part: EqualRows) -> Iterator[NDArray[np.int32]]:
    """Yields (E, 2) sentences of equal hashes whose signatures are alike; each is compared with the REACH before it."""
    numbers = np.cumsum(part.is_first)  # equal for sentences of equal hashes
    for distance in range(1, REACH + 1):
        same = np.flatnonzero(numbers[distance:] == numbers[:-distance])
        if not len(same):
            return
        for batch in iterate_blocks(len(same), BATCH):
            pairs = np.stack([part.rows[same[batch]], part.rows[same[batch] + distance]], axis=1)
            is_alike = (signatures[pairs[:, 0]] == signatures[pairs[:, 1]]).mean(axis=1) >= LEAST_SIMILARITY
            yield pairs[is_alike]
