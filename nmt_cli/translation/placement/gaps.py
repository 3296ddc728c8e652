"""Chooses the gap between the units of a translation for each span, by attention. Knows no tokenizer.

Letters: U units, G = U + 1 gaps before, between and after them, S source positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.runs import find_heaviest_run
from nmt_cli.arrays.types import FloatArray
from nmt_cli.carrying.spans import SpanKind
from nmt_cli.text.characters import ANY_CLOSING, END_MARKS
from nmt_cli.translation.placement.tag_tree import Node, PlacedItem
from nmt_cli.translation.placement.units import Unit

REACH = 1.5  # source positions over which the influence of a neighbour decreases by the factor e
INSIDE = 0.5  # minimum attention to the inside of a pair of tags that draws a word inside


def fill_gaps(
    gaps: list[list[PlacedItem]],
    chooser: GapChooser,
    nodes: Sequence[Node],
    low: int,
    high: int,
    around: tuple[int, int],
) -> None:
    """Appends the items of `nodes` to the gaps from `low` to `high`, properly nested.

    `around` are the source positions of the tags that enclose the nodes.
    """
    ranges = [(chooser.choose_range(node, low, high, around), node) for node in nodes]
    for (start, end), node in sorted(ranges, key=lambda pair: pair[0]):
        start = max(start, low)
        end = max(end, start)
        gaps[start].append(node.first)
        if node.last is not None:
            fill_gaps(gaps, chooser, node.inside, start, end, (node.first.start, node.last.start))
            gaps[end].append(node.last)
        low = end


class GapChooser(NamedTuple):
    """Chooses gaps of a translation by the attention of its units."""

    units: Sequence[Unit]
    width: int  # number of source positions, without the end
    flat: bool  # whether attention says nothing, so that the relative position decides

    def choose_range(self, node: Node, low: int, high: int, around: tuple[int, int]) -> tuple[int, int]:
        """Returns the gaps of the first and the last item of a node, from `low` to `high`."""
        if node.last is None or node.last.start <= node.first.end:
            kind = node.first.span.kind
            between = self.choose_gap_of_words(node.first, low, high) if kind is SpanKind.SLASH else None
            gap = (
                self.choose_gap(node.first, low, self.limit_gap(node.first, low, high)) if between is None else between
            )
            gap = self.find_word(gap, low, high) if kind is SpanKind.ACCELERATOR else gap
            return gap, gap
        inside = node.first.start, node.last.start
        if inside == around or low == high:
            return low, high
        if self.flat:
            return self.find_relative_gap(inside[0], low, high), self.find_relative_gap(inside[1], low, high)
        excess = self.measure_excess(*inside, low, high, has_marks=node.last.after_mark)
        if node.inside and max(excess) < -INSIDE / 2:  # a lost span is all there is inside: (4 $)
            item = node.inside[0].first
            gap = self.choose_gap(item, low, self.limit_gap(item, low, high))
            return gap, gap
        first, last = (low + end for end in find_heaviest_run(excess))
        while last - 1 > first and not node.last.after_mark and not self.units[last - 1].has_letters:
            last -= 1  # the mark that ends a sentence attends where its last word attends
        return first, last

    def limit_gap(self, item: PlacedItem, low: int, high: int) -> int:
        """Returns the last gap for an item: one that stands for a word never follows the final mark."""
        if item.span.is_extracted:
            return high
        end = self.skip_back(high, low, ANY_CLOSING)
        before_marks = self.skip_back(end, low, END_MARKS)
        return before_marks if before_marks < end else high

    def skip_back(self, gap: int, low: int, marks: str) -> int:
        """Returns the gap before those of the `marks` that stand right before a gap."""
        while gap > low and self.units[gap - 1].masked_span is None and self.units[gap - 1].text in marks:
            gap -= 1
        return gap

    def find_word(self, gap: int, low: int, high: int) -> int:
        """Returns the gap before the next word, else before the last one; the same gap if there is no word."""
        words = [index for index in range(low, high) if self.units[index].has_letters]
        return next((index for index in words if index >= gap), words[-1] if words else gap)

    def choose_gap_of_words(self, item: PlacedItem, low: int, high: int) -> int | None:
        """Returns the gap between the two words that attend most to those beside the item; None without two words.

        The nearest to the relative position is chosen among equal ones.
        """
        relative = self.find_relative_gap(item.start, low, high)
        left, right = self.weigh_neighbours(item)
        scores = {
            gap: float(before.attention @ left + after.attention @ right) - 1e-3 * abs(gap - relative)
            for gap, (before, after) in enumerate(pairwise(self.units), start=1)
            if low <= gap <= high and before.has_letters and after.has_letters
        }
        return max(scores, key=lambda gap: scores[gap], default=None)

    def weigh_neighbours(self, item: PlacedItem) -> tuple[FloatArray, FloatArray]:
        """Returns the weights (S,) of the source positions on the left of an item and on its right; near ones count."""
        positions = np.arange(len(self.units[0].attention))
        left = np.where(positions < item.start, np.exp((positions - item.start + 1) / REACH), 0.0)
        right = np.where(positions >= item.end, np.exp((item.end - positions) / REACH), 0.0)
        return left, right

    def is_within_word(self, gap: int) -> bool:
        """Whether an ending follows a carried name without a blank: Kazimierz|s."""
        before, after = self.units[gap - 1], self.units[gap]
        return before.masked_span is not None and after.masked_span is None and after.is_word and not after.blank_before

    def find_relative_gap(self, position: int, low: int, high: int) -> int:
        """Returns the gap at the same fraction of the text as a source position."""
        return min(high, max(low, round(position / max(1, self.width) * len(self.units))))

    def measure_excess(self, start: int, end: int, low: int, high: int, *, has_marks: bool) -> list[float]:
        """Returns by how much each unit from `low` to `high` attends more than `INSIDE` to positions `start` to `end`.

        A pair of tags encloses the run with the largest sum. Marks do not draw one that has none (`has_marks`): they
        attend to whatever is emphasised.
        """
        units = self.units[low:high]
        excess = [float(unit.attention[start:end].sum()) - INSIDE for unit in units]
        if has_marks or not any(unit.has_letters for unit in units):
            return excess
        return [more if unit.has_letters else min(more, -INSIDE) for more, unit in zip(excess, units, strict=True)]

    def choose_gap(self, item: PlacedItem, low: int, high: int) -> int:
        """Returns the gap with the most attention to what stood before the item on its left, and after it on its right.

        Near source positions count more. Units that attend to the item itself draw it near. The relative position
        breaks ties.
        """
        is_extracted = item.start == item.end
        if is_extracted and item.start == 0:
            return low
        if is_extracted and item.start >= self.width:
            return high
        relative = self.find_relative_gap(item.start, low, high)
        if self.flat or low == high:
            return relative
        left, right = self.weigh_neighbours(item)
        rows = np.stack([unit.attention for unit in self.units])  # (U, S)
        side = np.concatenate([[0.0], np.cumsum(rows @ (left - right))])  # (G,)
        attention = rows[:, item.start : item.end].sum(axis=1)  # (U,)
        near = np.maximum(np.append(attention, 0.0), np.concatenate([[0.0], attention]))  # (G,)
        scores = side + near - 1e-3 * np.abs(np.arange(len(side)) - relative)
        scores[[gap for gap in range(low + 1, high) if self.is_within_word(gap)]] = -np.inf
        return low + int(scores[low : high + 1].argmax())
