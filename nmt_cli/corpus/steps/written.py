"""Writes the pairs of a split and of the rejected ones, and reads the pairs of a split again, one by one."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nmt_cli.arrays.scratch import ROW, iterate_blocks, place_in_partitions
from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.pairs import SELECTED, Pairs, Texts
from nmt_cli.corpus.steps.held_out import REASONS
from nmt_cli.text.line_parts import LinePart

MOVED = 200_000  # pairs whose lines are brought into another order at a time
MOVED_LINES, MOVED_ENDS = "moved.lines", "moved.ends"


def write_rejected(path: Path, pairs: Pairs) -> None:
    """Writes reason, source, target, line and file of each dropped pair, without a time in the gzip header."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        rows = pairs.scratch.find_rows(~pairs.is_kept)
        for block in iterate_blocks(len(rows), SELECTED):
            for line in list_rejected(pairs, rows[block]):
                packed.write(line.encode())


def list_rejected(pairs: Pairs, rows: IntArray) -> Iterator[str]:
    """Yields the lines of these rows."""
    texts = zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)
    numbers = (pairs.reasons, pairs.facts.line_numbers, pairs.facts.input_numbers)
    facts = zip(*(column[rows].tolist() for column in numbers), strict=True)
    for (reason, line, number), (source, target) in zip(facts, texts, strict=True):
        yield f"{REASONS[reason]}\t{source}\t{target}\t{line}\t{pairs.input_names[number]}\n"


def write_pairs(path: Path, pairs: Pairs, rows: IntArray) -> None:
    """Writes the pairs of these rows as a TSV file without a header."""
    with path.open("wb") as file:
        file.writelines(list_lines(pairs, rows) if len(rows) <= MOVED else sort_lines(pairs, rows))


def list_lines(pairs: Pairs, rows: IntArray) -> Iterator[bytes]:
    """Yields the lines of these rows, in UTF-8."""
    texts = zip(pairs.source.select_bytes(rows), pairs.target.select_bytes(rows), strict=True)
    return (b"".join((source, b"\t", target, b"\n")) for source, target in texts)


def sort_lines(pairs: Pairs, rows: IntArray) -> Iterator[bytes]:
    """Yields the lines of these rows without reading the texts in random order, which may be larger than memory.

    The lines are written in the order of the texts first, MOVED rows at a time, and then collected from there.
    """
    # 1. Sort the places of all lines by the part of the texts that each comes from.
    scratch, parts = pairs.scratch, len(pairs) // MOVED + 1
    sizes = np.zeros(parts, np.int64)
    for block in iterate_blocks(len(rows)):
        sizes += np.bincount(rows[block] // MOVED, minlength=parts)
    places, heads = scratch.make_array(len(rows), ROW), np.cumsum(sizes) - sizes
    starts = heads.copy()
    for block in iterate_blocks(len(rows)):
        order, sorted_places = place_in_partitions(rows[block] // MOVED, heads)
        places[sorted_places] = order + block.start
    # 2. Write the lines, part by part; within a part, they are in the order of their places.
    moved = Texts(scratch.make_column(MOVED_LINES, np.uint8), scratch.make_column(MOVED_ENDS, np.int64))
    for block in iterate_blocks(len(rows), SELECTED):
        lines = list(list_lines(pairs, rows[places[block]]))
        moved.extend(b"".join(lines), np.fromiter(map(len, lines), np.int64, count=len(lines)))
    # 3. Collect the next MOVED lines from all parts, again and again.
    for block in iterate_blocks(len(rows), MOVED):
        ends = [
            start + np.searchsorted(places[start:end], block.stop) for start, end in zip(starts, heads, strict=True)
        ]
        numbers = np.concatenate([np.arange(*bounds) for bounds in zip(starts, ends, strict=True)])
        for line in moved.select_bytes(numbers[np.argsort(places[numbers])]):
            yield bytes(line)
        starts = np.array(ends)
    scratch.drop_column(MOVED_LINES)
    scratch.drop_column(MOVED_ENDS)


def read_written(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a file that `write_pairs` wrote."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            source, target = line.rstrip("\n").split("\t")
            yield source, target


def parse_written(part: LinePart) -> list[tuple[str, str]]:
    """Returns the pairs of a part of such a file. Raises MissingPartError."""
    rows = (line.rstrip("\n").split("\t") for _, line in part.read_lines())
    return [(source, target) for source, target in rows]
