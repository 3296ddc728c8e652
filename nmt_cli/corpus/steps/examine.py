"""Examines each pair by itself, chunk by chunk, so that all cores can share the work.

Normalises, mends and measures; decides nothing. Letters: N pairs of a chunk.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks import CHECKS, PAIR_CHECKS, TEXT_CHECKS
from nmt_cli.corpus.checks.scripts import find_main_scripts
from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.corpus.pairs import PairFacts, Pairs
from nmt_cli.text.line_parts import LinePart
from nmt_cli.text.normalise import count_words, hash_text, make_sentence_key, normalise
from nmt_cli.text.tags import TagSet, merge_tags, reverse_tags

CHECK_BITS = {check.name: 1 << number for number, check in enumerate(CHECKS)}
ORIGINALS = 3  # per chunk and check: pairs whose text before mending is remembered for the report


@dataclass(frozen=True)
class ExaminedChunk:
    """A chunk of N examined pairs, ready to be added to `Pairs`."""

    source: bytes  # the texts one after the other
    target: bytes
    source_sizes: NDArray[np.int64]  # (N,) bytes
    target_sizes: NDArray[np.int64]
    facts: PairFacts
    originals: dict[int, tuple[str, str]]  # by row: some texts before mending
    more_columns: int  # lines with a third column
    tag_sets: list[TagSet]  # distinct ones, to which the numbers in `facts.tags` refer


@dataclass(frozen=True)
class Chunk:
    """Rows of one input; `keep` names the checks that must not mend."""

    number: int  # of the input
    rows: list[Row]
    keep: frozenset[str]

    def __str__(self) -> str:
        return f"line {self.rows[0].line:,} of input {self.number + 1}, and those after it"


class ChunkOfFile(NamedTuple):
    """A chunk that whoever works on it reads from the files of its input."""

    number: int  # of the input
    parts: tuple[LinePart, ...]  # of each file
    keep: frozenset[str]
    parser: Reader
    is_reversed: bool

    def __str__(self) -> str:
        return f"line {self.parts[0].first:,} of input {self.number + 1}, and those after it"

    def read(self) -> Chunk:
        rows = self.parser.parse_lines(*(part.read_lines() for part in self.parts))
        return Chunk(self.number, [*(map(swap_sides, rows) if self.is_reversed else rows)], self.keep)

    def pack(self) -> ChunkOfFile:
        """Returns the chunk with the content of its files, for a machine that does not see them."""
        return self._replace(parts=tuple(part.pack() for part in self.parts))


def swap_sides(row: Row) -> Row:
    return row._replace(source=row.target, target=row.source, tags=reverse_tags(row.tags))


class Examination(NamedTuple):
    """The work of examining chunks. Implements `workers.work.Work`."""

    def start(self, *, threads: int | None = None) -> Callable[[Chunk | ChunkOfFile], ExaminedChunk]:
        return examine

    def pack(self) -> Examination:
        return self

    def hold(self) -> Examination:
        return self


def examine(chunk: Chunk | ChunkOfFile) -> ExaminedChunk:
    """Normalises, mends and measures each pair of a chunk."""
    chunk = chunk.read() if isinstance(chunk, ChunkOfFile) else chunk
    menders = [(CHECK_BITS[check.name], check.mend_text, check.name not in chunk.keep) for check in TEXT_CHECKS]
    pair_checks = [(CHECK_BITS[check.name], check.has_problem) for check in PAIR_CHECKS]
    texts: tuple[list[str], list[str]] = ([], [])
    flags: list[int] = []
    originals: dict[int, tuple[str, str]] = {}
    remembered: dict[int, int] = {}  # by the bits of the checks: how many originals there are
    for row in chunk.rows:
        # 1. Mend and normalise the texts. Plain ASCII without "&" and "<" never needs mending.
        mended_bits = 0
        for side, text in zip(texts, (row.source, row.target), strict=True):
            if not text.isprintable() or "&" in text or "<" in text or not text.isascii():
                for bit, mend, may_mend in menders:
                    mended = mend(text)
                    mended_bits |= bit if mended != text else 0
                    text = mended if may_mend else text
            side.append(normalise(text))
        # 2. Remember some texts as they were.
        if mended_bits and remembered.setdefault(mended_bits, 0) < ORIGINALS:
            remembered[mended_bits] += 1
            originals[len(flags)] = (row.source, row.target)
        # 3. Note which checks apply to the pair.
        check_bits = judge_pair(texts[0][-1], texts[1][-1], pair_checks)
        flags.append(mended_bits | check_bits | (row.is_unfinished * CHECK_BITS["unfinished"]))
    return measure_pairs(chunk, texts, flags, originals)


def judge_pair(source: str, target: str, checks: Sequence[tuple[int, Callable[[str, str], bool]]]) -> int:
    """Returns the bits of the checks that a pair fails."""
    bits = 0
    for bit, holds in checks:
        if holds(source, target):
            bits |= bit
    return bits


def measure_pairs(
    chunk: Chunk, texts: tuple[list[str], list[str]], flags: list[int], originals: dict[int, tuple[str, str]]
) -> ExaminedChunk:
    """Measures the lengths, keys and scripts of the normalised texts."""
    count = len(flags)
    tag_sets = list(dict.fromkeys(row.tags for row in chunk.rows))
    encoded = [[text.encode() for text in side] for side in texts]
    sizes = [np.fromiter(map(len, side), np.int64, count=count) for side in encoded]
    keys = [np.frombuffer(b"".join([hash_text(make_sentence_key(t)) for t in side]), np.uint64) for side in texts]
    facts = PairFacts(
        flags=np.array(flags, np.uint32),
        source_keys=keys[0],
        target_keys=keys[1],
        checksums=np.array([zlib.crc32(b"%b\t%b" % pair) for pair in zip(*encoded, strict=True)], np.uint32),
        source_lengths=np.fromiter(map(len, texts[0]), np.int32, count=count),
        target_lengths=np.fromiter(map(len, texts[1]), np.int32, count=count),
        source_words=np.fromiter(map(count_words, texts[0]), np.int32, count=count),
        target_words=np.fromiter(map(count_words, texts[1]), np.int32, count=count),
        source_scripts=find_main_scripts(texts[0]),
        target_scripts=find_main_scripts(texts[1]),
        line_numbers=np.array([row.line for row in chunk.rows], np.int64),
        input_numbers=np.full(count, chunk.number, np.uint16),
        group_keys=np.frombuffer(
            b"".join([hash_text(row.group) if row.group else bytes(8) for row in chunk.rows]), np.uint64
        ),
        tags=np.array([tag_sets.index(row.tags) for row in chunk.rows], np.uint16),
    )
    more_columns = sum(row.has_more_columns for row in chunk.rows)
    data = [b"".join(side) for side in encoded]
    return ExaminedChunk(data[0], data[1], sizes[0], sizes[1], facts, originals, more_columns, tag_sets)


def add_chunk(examined: ExaminedChunk, pairs: Pairs) -> None:
    """Appends an examined chunk to `pairs`."""
    first = len(pairs)
    pairs.source.extend(examined.source, examined.source_sizes)
    pairs.target.extend(examined.target, examined.target_sizes)
    of_input = pairs.input_tags[int(examined.facts.input_numbers[0])] if pairs.input_tags else ()
    numbers = [pairs.number_tags(merge_tags(of_input, tags)) for tags in examined.tag_sets]
    facts = replace(examined.facts, tags=np.array(numbers, np.uint16)[examined.facts.tags])
    for name, column in pairs.columns.items():
        column.append(getattr(facts, name))
    pairs.more_columns += examined.more_columns
    for row, texts in examined.originals.items():
        if len(pairs.originals) < 100 * ORIGINALS:
            pairs.originals[first + row] = texts
