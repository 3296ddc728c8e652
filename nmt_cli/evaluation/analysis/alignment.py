"""Measures attention as a word alignment: entropy, diagonal share, and error rate against gold links.

Takes arrays and links; must not know models. Letters: T target and S source words, each with the end of the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.errors import DataError
from nmt_cli.evaluation.texts import read_sentences
from nmt_cli.text.wrapping import format_count

WordLink = tuple[int, int]  # source word, target word, from 0


@dataclass(frozen=True)
class GoldAlignment:
    """The links that annotators drew for one sentence; each sure link is also a possible one."""

    sure: frozenset[WordLink]
    possible: frozenset[WordLink]


def compute_entropy(attention: FloatArray) -> float:
    """Computes the mean entropy of the rows of (T, S), in bits: 0 if each is on one word, log2 S if it is uniform."""
    weights = np.clip(attention, 1e-12, 1)
    return float(-(weights * np.log2(weights)).sum(axis=1).mean())


def compute_diagonal_share(attention: FloatArray) -> float:
    """Computes the share of (T, S), 0-1, that is near the diagonal: within a tenth of the sentence, or one word."""
    length, width = attention.shape
    expected = np.arange(length)[:, None] * (width - 1) / max(1, length - 1)
    near = np.abs(np.arange(width)[None] - expected) <= max(1.0, width / 10)
    return float((attention * near).sum() / attention.sum())


def compute_error_rate(alignments: Sequence[frozenset[WordLink]], gold: Sequence[GoldAlignment]) -> float:
    """Computes AER (Och and Ney 2003) over all sentences, 0-1; 0 is perfect: 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)."""
    hits = sum(
        len(links & reference.sure) + len(links & reference.possible)
        for links, reference in zip(alignments, gold, strict=True)
    )
    total = sum(len(links) + len(reference.sure) for links, reference in zip(alignments, gold, strict=True))
    return 1 - hits / total if total else 0.0


def read_links(path: Path, sentences: int) -> list[GoldAlignment]:
    """Reads links in Pharaoh format, a line per sentence: `0-0 1-2` are sure, `1p3` and `1?3` possible links.

    The source word comes first; words are counted from 0. Raises DataError for an invalid line, naming it, and if the
    numbers of lines and sentences differ.
    """
    lines = read_sentences(path)
    if len(lines) != sentences:
        raise DataError(
            f"{path} has {format_count(len(lines), 'line')} for {format_count(sentences, 'sentence')}",
            hint="each line holds the links of one sentence",
        )
    return [parse_line(line, f"{path}, line {number:,}") for number, line in enumerate(lines, start=1)]


def parse_line(line: str, where: str) -> GoldAlignment:
    """Parses the links of one sentence. Raises DataError, naming the line as `where`."""
    sure: set[WordLink] = set()
    possible: set[WordLink] = set()
    for word in line.split():
        mark = next((mark for mark in "-p?" if mark in word), "-")
        left, _, right = word.partition(mark)
        if not (left.isdecimal() and right.isdecimal()):
            raise DataError(f"{where}: {word!r} is not a link", hint="links look like 0-0 1-2, possible ones like 1p3")
        link = (int(left), int(right))
        possible.add(link)
        if mark == "-":
            sure.add(link)
    return GoldAlignment(frozenset(sure), frozenset(possible))


def check_links(gold: Sequence[GoldAlignment], sizes: Sequence[tuple[int, int]], path: Path) -> None:
    """Raises DataError for a link beyond the words of its sentence; `sizes` are (source words, target words)."""
    for number, (links, (source, target)) in enumerate(zip(gold, sizes, strict=True), start=1):
        beyond = next((link for link in links.possible if link[0] >= source or link[1] >= target), None)
        if beyond is not None:
            raise DataError(
                f"{path}, line {number:,}: {beyond[0]}-{beyond[1]} is beyond {source} source and {target} target words",
                hint="words are separated by blanks and counted from 0; the source word comes first",
            )
