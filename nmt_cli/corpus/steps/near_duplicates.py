"""Sentences that are nearly equal, by MinHash: "Tom likes tea." and "Tom likes tea!".

Vectorised over all sentences at once; several times as fast as a library that takes them one by one.
Letters: N sentences, G groups of bytes of all of them, H hash functions.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.ragged import IntArray
from nmt_cli.corpus.pairs import Texts
from nmt_cli.corpus.steps.split import joined
from nmt_cli.text.normalise import sentence_key

HASHES = 32
BANDS = 8  # of 4 hashes each: of sentences that share 80 % of their groups of bytes, 98 % meet in a band
ALIKE = 0.8  # share of hashes that nearly equal sentences have in common
REACH = 32  # sentences of equal hashes that each is compared with: an unlike one may stand between two that are alike
SHINGLE = 4  # bytes
PIECE = 50_000  # sentences at a time
EIGHT = np.uint32(8)  # bits
NO_WORD = re.compile(r"\W+")

UIntArray = NDArray[np.uint32]


def near_numbers(texts: Texts, rows: IntArray, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """(N,): equal numbers for the `rows` whose texts have equal `keys`, or nearly equal texts, also over others."""
    if not len(rows):
        return np.zeros(0, np.int32)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return joined(len(first), near_edges(texts, rows[first]))[number]


def near_edges(texts: Texts, rows: IntArray) -> NDArray[np.int64]:
    """(E, 2): places in `rows` of sentences that are nearly equal; each such group is connected, not complete."""
    signatures = np.concatenate(
        [signatures_of(texts, rows[start : start + PIECE]) for start in range(0, len(rows), PIECE)]
    )
    width = HASHES // BANDS
    found = [edges_of_band(signatures, band * width, width) for band in range(BANDS)]
    return np.unique(np.concatenate(found), axis=0)


def signatures_of(texts: Texts, rows: IntArray) -> UIntArray:
    """(N, H) the least value of each hash function over the groups of bytes of each sentence."""
    parts = [b" %b " % NO_WORD.sub(" ", sentence_key(text)).strip().encode() for text in texts.of(rows)]
    parts = [part if len(part) >= SHINGLE else part.ljust(SHINGLE) for part in parts]
    data = np.frombuffer(b"".join(parts), np.uint8).astype(np.uint32)
    shingles: UIntArray = data[:-3] | data[1:-2] << EIGHT | data[2:-1] << 2 * EIGHT | data[3:] << 3 * EIGHT  # (G,)
    sizes = np.fromiter(map(len, parts), np.int64, count=len(parts))
    ends = np.cumsum(sizes)
    # Groups that reach over the end of a sentence are replaced by its first, which changes no least value.
    starts = np.repeat(ends - sizes, sizes)[: len(shingles)]
    reaches_over = np.arange(len(shingles)) > np.repeat(ends - SHINGLE, sizes)[: len(shingles)]
    shingles = np.where(reaches_over, shingles[starts], shingles).astype(np.uint32, copy=False)
    generator = np.random.default_rng(0)
    signatures = np.empty((len(parts), HASHES), np.uint32)
    for number, (factor, shift) in enumerate(generator.integers(1, 2**32, (HASHES, 2), dtype=np.uint64).tolist()):
        hashed = mixed(shingles, np.uint32(factor | 1), np.uint32(shift))
        signatures[:, number] = np.minimum.reduceat(hashed, ends - sizes)
    return signatures


def mixed(values: UIntArray, factor: np.uint32, shift: np.uint32) -> UIntArray:
    """A hash function of 32 bits: multiplied and folded twice, since products alone keep the order of low bits."""
    hashed = (values ^ shift) * factor
    hashed ^= hashed >> np.uint32(15)
    hashed *= np.uint32(0x2C1B3C6D)
    hashed ^= hashed >> np.uint32(12)
    return hashed


def edges_of_band(signatures: UIntArray, first: int, width: int) -> NDArray[np.int64]:
    """(E, 2): sentences whose hashes of the band are equal, each with the REACH before it, if they are alike in all."""
    keys = np.zeros(len(signatures), np.uint64)
    for column in range(first, first + width):
        keys = (keys ^ signatures[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    edges = [np.zeros((0, 2), np.int64)]
    for distance in range(1, REACH + 1):
        same = np.flatnonzero(ordered[distance:] == ordered[:-distance])
        if not len(same):
            break
        one, other = order[same], order[same + distance]
        for start in range(0, len(same), PIECE):
            pair = one[start : start + PIECE], other[start : start + PIECE]
            alike = (signatures[pair[0]] == signatures[pair[1]]).mean(axis=1) >= ALIKE
            edges.append(np.stack(pair, axis=1)[alike])
    return np.concatenate(edges)
