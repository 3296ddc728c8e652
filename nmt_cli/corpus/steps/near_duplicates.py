"""Finds near-duplicate sentences, such as "Tom likes tea." and "Tom likes tea!", by MinHash.

Vectorised over all sentences, which is several times as fast as a library that takes them one by one. Letters: N
sentences, G shingles (groups of bytes) of all sentences, H hash functions, E edges.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.pairs import Texts
from nmt_cli.corpus.steps.split import number_components
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


def number_near_equal(texts: Texts, rows: IntArray, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Returns (N,) numbers for these `rows`, equal where texts have equal `keys` or are near-duplicates.

    The relation is transitive: indirectly connected texts have equal numbers, too.
    """
    if not len(rows):
        return np.zeros(0, np.int32)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return number_components(len(first), find_near_edges(texts, rows[first]))[number]


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


def find_near_edges(texts: Texts, rows: IntArray) -> NDArray[np.int64]:
    """Returns (E, 2) pairs of indices into `rows` whose sentences are near-duplicates.

    The edges connect each group of near-duplicates, but not every two of its members.
    """
    signatures = np.concatenate(
        [compute_signatures(texts, rows[start : start + BATCH]) for start in range(0, len(rows), BATCH)]
    )
    width = HASHES // BANDS
    edges = [find_band_edges(signatures, band * width, width) for band in range(BANDS)]
    return np.unique(np.concatenate(edges), axis=0)


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


def find_band_edges(signatures: UIntArray, first: int, width: int) -> NDArray[np.int64]:
    """Returns (E, 2) sentences whose hashes in the band are equal and whose signatures are alike.

    Sentences with equal hashes in the band are adjacent once sorted; each is compared with the REACH before it.
    """
    keys = hash_band(signatures, first, width)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    edges = [np.zeros((0, 2), np.int64)]
    for distance in range(1, REACH + 1):
        same = np.flatnonzero(ordered[distance:] == ordered[:-distance])
        if not len(same):
            break
        candidates = np.stack([order[same], order[same + distance]], axis=1)  # (E, 2)
        for start in range(0, len(same), BATCH):
            batch = candidates[start : start + BATCH]
            is_alike = (signatures[batch[:, 0]] == signatures[batch[:, 1]]).mean(axis=1) >= LEAST_SIMILARITY
            edges.append(batch[is_alike])
    return np.concatenate(edges)
