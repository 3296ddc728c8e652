"""What can be known of a pair without knowing the others: chunk by chunk, so that all cores can work at it.

Normalises and mends; nothing is decided here. Letters: N pairs of a chunk.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nmt_cli.corpus.checks import CHECKS, PAIR_CHECKS, TEXT_CHECKS
from nmt_cli.corpus.checks.scripts import main_scripts
from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.pairs import Facts, Pairs
from nmt_cli.text.normalise import count_words, digest, normalise, sentence_key

BIT = {check.name: 1 << number for number, check in enumerate(CHECKS)}
ORIGINALS = 3  # of each check that mends, in a chunk: the texts as they were, for the report


class Examined(NamedTuple):
    """A chunk of pairs, ready to be added to others."""

    source: bytes
    target: bytes
    source_sizes: list[int]
    target_sizes: list[int]
    facts: Facts
    originals: dict[int, tuple[str, str]]
    more_columns: int


@dataclass(frozen=True)
class Chunk:
    """Rows of the input of that number; `keep` are the checks that are not to mend."""

    number: int
    rows: list[Row]
    keep: frozenset[str]


def examine(chunk: Chunk) -> Examined:
    """Normalises, mends and measures each pair of a chunk."""
    menders = [(BIT[check.name], check.mend, check.name not in chunk.keep) for check in TEXT_CHECKS]
    judges = [(BIT[check.name], check.holds) for check in PAIR_CHECKS]
    texts: tuple[list[str], list[str]] = ([], [])
    flags: list[int] = []
    originals: dict[int, tuple[str, str]] = {}
    seen: dict[int, int] = {}
    for row in chunk.rows:
        mended = 0
        for side, text in zip(texts, (row.source, row.target), strict=True):
            if not text.isprintable() or "&" in text or "<" in text or not text.isascii():
                for bit, mend, is_wanted in menders:
                    result = mend(text)
                    mended |= bit if result != text else 0
                    text = result if is_wanted else text
            side.append(normalise(text))
        if mended and seen.setdefault(mended, 0) < ORIGINALS:
            seen[mended] += 1
            originals[len(flags)] = (row.source, row.target)
        flags.append(mended | judged(texts[0][-1], texts[1][-1], judges) | (row.is_unfinished * BIT["unfinished"]))
    return measured(chunk, texts, flags, originals)


def judged(source: str, target: str, judges: Sequence[tuple[int, Callable[[str, str], bool]]]) -> int:
    """The bits of the checks that hold for a pair."""
    found = 0
    for bit, holds in judges:
        if holds(source, target):
            found |= bit
    return found


def measured(
    chunk: Chunk, texts: tuple[list[str], list[str]], flags: list[int], originals: dict[int, tuple[str, str]]
) -> Examined:
    """Lengths, keys and scripts of the normalised texts."""
    number = len(flags)
    encoded = [[text.encode() for text in side] for side in texts]
    sizes = [[len(data) for data in side] for side in encoded]
    keys = [np.frombuffer(b"".join([digest(sentence_key(t)) for t in side]), np.uint64) for side in texts]
    facts = Facts(
        flags=np.array(flags, np.uint32),
        source_keys=keys[0],
        target_keys=keys[1],
        exact=np.array([zlib.crc32(b"%b\t%b" % both) for both in zip(*encoded, strict=True)], np.uint32),
        source_lengths=np.fromiter(map(len, texts[0]), np.int32, count=number),
        target_lengths=np.fromiter(map(len, texts[1]), np.int32, count=number),
        source_words=np.fromiter(map(count_words, texts[0]), np.int32, count=number),
        target_words=np.fromiter(map(count_words, texts[1]), np.int32, count=number),
        source_scripts=main_scripts(texts[0]),
        target_scripts=main_scripts(texts[1]),
        lines=np.array([row.line for row in chunk.rows], np.int64),
        inputs=np.full(number, chunk.number, np.uint16),
    )
    more_columns = sum(row.has_more_columns for row in chunk.rows)
    return Examined(b"".join(encoded[0]), b"".join(encoded[1]), sizes[0], sizes[1], facts, originals, more_columns)


def add(examined: Examined, pairs: Pairs) -> None:
    """Puts a chunk behind those that `pairs` has already."""
    first = sum(len(part.flags) for part in pairs.parts)
    pairs.source.extend(examined.source, np.array(examined.source_sizes, np.int64))
    pairs.target.extend(examined.target, np.array(examined.target_sizes, np.int64))
    pairs.parts.append(examined.facts)
    pairs.more_columns += examined.more_columns
    for row, texts in examined.originals.items():
        if len(pairs.originals) < 100 * ORIGINALS:
            pairs.originals[first + row] = texts
