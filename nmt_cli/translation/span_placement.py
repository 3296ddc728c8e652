"""Puts protected spans back into a translation: where the network carried them, else where attention points.

Letters: T produced tokens, S source positions (the end among them), U units of the translation (words, marks, and
placeholders), G = U + 1 gaps before, between and behind them. Knows no network: it reads tokens and attention.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.text.masking import PLACEHOLDER, ExtractedSpan, MaskedText
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.words import word_pattern
from nmt_cli.translation.result import How, Placed
from nmt_cli.translation.tag_tree import Node, PlacedItem, build_tree

REACH = 1.5  # source positions over which a neighbour's say in where a span belongs falls by e
TRUST = 0.3  # attention from which a wrong placeholder is taken for the one that is missing
INSIDE = 0.5  # attention to the inside of a pair of tags from which a word belongs inside
FLAT = 1e-3  # attention that varies less says nothing, as that of a network without any
OPENING = "([{¿¡„“«\"'"


class Restored(NamedTuple):
    text: str
    placed: tuple[Placed, ...]  # in the order of the source, carried before lifted
    units: tuple[Unit, ...] = ()  # that the network said, with the carried spans
    words: tuple[int, ...] = ()  # of the text, from 0: the one that each unit stands in, or begins in


class Unit(NamedTuple):
    """A word, a mark or a placeholder of a translation."""

    text: str
    blank_before: bool
    attention: FloatArray  # (S,)
    carried: int | None = None  # the number of the span that it is

    @property
    def has_letters(self) -> bool:
        return any(map(str.isalnum, self.text))

    @property
    def is_word(self) -> bool:
        """Whether a blank must part it from another word."""
        return self.has_letters and not find_unspaced(self.text)


class Sides(NamedTuple):
    """The subwords of both languages."""

    source: Tokenizer
    target: Tokenizer


class Spelling(NamedTuple):
    """What a network said: a text, and the T tokens that spell it."""

    text: str
    tokens: Sequence[int]
    target: Tokenizer
    unknown: Sequence[str] = ()  # what stands in `text` for unknown tokens, in their order, if not their own mark

    @property
    def ends(self) -> list[int]:
        """Where in the text each token ends; the place before for one that spells nothing whole, as half a letter."""
        prefixes = (self.tokens[:count] for count in range(1, len(self.tokens) + 1))
        if self.unknown:
            texts = [self.target.decode_replaced(prefix, self.unknown) for prefix in prefixes]
        else:
            texts = self.target.decode_all(prefixes)
        ends, position = [], 0
        for prefix in texts:
            if self.text.startswith(prefix):
                position = max(position, len(prefix))
            ends.append(position)
        return ends

    @property
    def is_trusted(self) -> bool:
        """Whether all that reads like a placeholder is one: other pieces can spell the same."""
        pieces = self.target.spell_pieces(self.tokens)
        return [piece for piece in pieces if piece in PLACEHOLDERS] == PLACEHOLDER.findall(self.text)


def restore(
    masked: MaskedText, said: Spelling, labels: Sequence[str], attention: FloatArray, source: Tokenizer
) -> Restored:
    """What was `said`, with every span of `masked` in it; `attention` (T, S) is over source `labels`."""
    units = measure_units(said, attention)
    positions = find_placeholder_positions(masked, labels)
    chosen = choose_slots(units, positions) if said.is_trusted else {}
    units = list(name_units(units, chosen, masked, positions))
    missing = [number for number in range(len(masked.masked)) if number not in chosen]
    items = list_items(masked, missing, positions, len(labels), source)
    flat = float(np.ptp(attention, axis=0).max()) < FLAT
    text, words = assemble_text(units, build_tree(items), len(labels) - 1, flat=flat)
    how: How = "position" if flat else "attention"
    lost = set(missing)
    placed = [Placed(s.text, how if n in lost else "network", n in lost) for n, s in enumerate(masked.masked)]
    placed += [Placed(extracted.span.text, how, dropped=False) for extracted in masked.extracted]
    return verify_spans(text, placed)._replace(units=tuple(units), words=words)


def verify_spans(text: str, placed: Sequence[Placed]) -> Restored:
    """Counts every span in `text`, and appends one that is not there as often as it must be."""
    texts = [span.text for span in placed]
    result = []
    for span in placed:
        if text.count(span.text) < sum(other.count(span.text) for other in texts):
            text, span = f"{text} {span.text}".lstrip(), span._replace(how="position", dropped=True)
        result.append(span)
    return Restored(text, tuple(result))


def measure_units(said: Spelling, attention: FloatArray) -> list[Unit]:
    """The units of a translation, each with the mean attention of the tokens that spell it."""
    text, ends = said.text, said.ends
    starts = [0, *ends[:-1]]
    units = []
    for start, end in find_units(text):
        rows = [t for t, (first, last) in enumerate(zip(starts, ends, strict=True)) if first < end and start < last]
        mean = attention[rows].mean(axis=0) if rows else np.full(attention.shape[1], 1 / attention.shape[1])
        units.append(Unit(text[start:end], start > 0 and text[start - 1] == " ", mean))
    return units


def find_units(text: str) -> Iterable[tuple[int, int]]:
    """Words and marks; each character of a script without blanks on its own, with its accents."""
    for match in word_pattern(text).finditer(text):
        if not find_unspaced(match[0]):
            yield match.span()
            continue
        start = match.start()
        for position in range(match.start() + 1, match.end()):
            if unicodedata.category(text[position])[0] != "M":
                yield start, position
                start = position
        yield start, match.end()


def find_placeholder_positions(masked: MaskedText, labels: Sequence[str]) -> list[int]:
    """The source position of each placeholder; the end's for one behind what is read of a long source."""
    places = {piece: position for position, piece in enumerate(labels)}
    return [places.get(name, len(labels) - 1) for name in masked.names]


def choose_slots(units: Sequence[Unit], positions: Sequence[int]) -> dict[int, int]:
    """By number of a carried span, the unit that stands for it.

    Of several alike it is the one that looks most at the span's position; where there is none, a spare one that does.
    """
    slots = {index: PLACEHOLDERS.index(unit.text) for index, unit in enumerate(units) if unit.text in PLACEHOLDERS}

    def look(index: int, number: int) -> float:
        return float(units[index].attention[positions[number]])

    chosen: dict[int, int] = {}
    for number in range(len(positions)):
        candidates = [index for index, slot in slots.items() if slot == number]
        if candidates:
            chosen[number] = max(candidates, key=lambda index: look(index, number))
    for number in range(len(positions)):
        spare = [index for index in slots if index not in chosen.values()]
        if number not in chosen and spare:
            best = max(spare, key=lambda index: look(index, number))
            if look(best, number) >= TRUST:
                chosen[number] = best
    return chosen


def name_units(
    units: Sequence[Unit], chosen: dict[int, int], masked: MaskedText, positions: Sequence[int]
) -> Iterator[Unit]:
    """The units, with spans for the chosen placeholders and without the others."""
    numbers = {index: number for number, index in chosen.items()}
    blank, before = False, ""  # of a placeholder that was left out, a blank may be needed by the next unit
    for index, unit in enumerate(units):
        blank = blank or unit.blank_before
        if PLACEHOLDER.fullmatch(unit.text) and index not in numbers:
            continue
        if index in numbers:
            number = numbers[index]
            sure = np.zeros_like(unit.attention)
            sure[positions[number]] = 1
            glued = before in OPENING and f"{before}{PLACEHOLDERS[number]}" in masked.text if before else False
            unit = Unit(masked.masked[number].text, blank and not glued, sure, number)
        yield unit._replace(blank_before=unit.blank_before if index in numbers else blank)
        blank, before = False, unit.text


def list_items(
    masked: MaskedText, missing: Sequence[int], positions: Sequence[int], length: int, source: Tokenizer
) -> list[PlacedItem]:
    """What is to be placed, in the order of the source."""
    items = []
    for number in missing:
        position = positions[number]
        items.append(PlacedItem(masked.masked[number], position, position + 1, True, True, 0))
    for order, extracted in enumerate(masked.extracted):
        position = find_source_position(extracted, masked.text, length, source)
        behind_mark = not masked.text[: extracted.offset].rstrip()[-1:].isalnum()
        items.append(
            PlacedItem(extracted.span, position, position, extracted.blank_before, extracted.blank_after, order, behind_mark)
        )
    return sorted(items, key=lambda item: (item.start, item.end, item.order))


def find_source_position(lifted: ExtractedSpan, text: str, length: int, source: Tokenizer) -> int:
    """How many source positions stand before a lifted span, of `length` with the end."""
    if lifted.offset >= len(text):
        return length - 1
    return min(len(source.encode(text[: lifted.offset].rstrip())), length - 1) if lifted.offset else 0


def assemble_text(
    units: Sequence[Unit], nodes: Sequence[Node], width: int, *, flat: bool
) -> tuple[str, tuple[int, ...]]:
    """The text of `units` with the items of `nodes` in their gaps, and the number of the first word of each unit.

    `width` is the source's without its end.
    """
    gaps: list[list[PlacedItem]] = [[] for _ in range(len(units) + 1)]
    fill(gaps, GapChooser(units, width, flat), nodes, 0, len(units), (0, width))
    text, words = "", []
    for left, items, right in zip((None, *units), gaps, (*units, None), strict=True):
        text += join_items(left, items, right)
        if right is not None:
            text += right.text
            words.append(len(text.split()) - len(right.text.split()))
    return text, tuple(words)


def fill(
    gaps: list[list[PlacedItem]], places: GapChooser, nodes: Sequence[Node], low: int, high: int, around: tuple[int, int]
) -> None:
    """Appends the items of `nodes` to `gaps` from `low` to `high`, properly nested; they stood in `around`."""
    ranges = [(places.choose_range(node, low, high, around), node) for node in nodes]
    for (start, end), node in sorted(ranges, key=lambda pair: pair[0]):
        start = max(start, low)
        end = max(end, start)
        gaps[start].append(node.first)
        if node.last is not None:
            fill(gaps, places, node.inside, start, end, (node.first.start, node.last.start))
            gaps[end].append(node.last)
        low = end


class GapChooser(NamedTuple):
    """Where in a translation things belong, by the attention of its units."""

    units: Sequence[Unit]
    width: int
    flat: bool  # attention says nothing, so that the relative position has to do

    def choose_range(self, node: Node, low: int, high: int, around: tuple[int, int]) -> tuple[int, int]:
        """The gaps of the first and the last item of a node, from `low` to `high`."""
        if node.last is None or node.last.start <= node.first.end:
            gap = self.choose_gap(node.first, low, high)
            return gap, gap
        inside = node.first.start, node.last.start
        if inside == around or low == high:
            return low, high
        if self.flat:
            return self.offset_rows(inside[0], low, high), self.offset_rows(inside[1], low, high)
        first, last = self.run(*inside, low, high)
        while last - 1 > first and not node.last.behind_mark and not self.units[last - 1].has_letters:
            last -= 1  # the mark that ends the sentence looks where the last word looks
        return first, last

    def offset_rows(self, position: int, low: int, high: int) -> int:
        return min(high, max(low, round(position / max(1, self.width) * len(self.units))))

    def run(self, start: int, end: int, low: int, high: int) -> tuple[int, int]:
        """The run of units from `low` to `high` that looks most at source positions `start` to `end`.

        That is the run with the largest sum of what each unit looks there beyond `INSIDE` (Kadane's algorithm).
        """
        best, result, total, first = -np.inf, (low, low), 0.0, low
        for index in range(low, high):
            if total < 0:
                total, first = 0.0, index
            total += float(self.units[index].attention[start:end].sum()) - INSIDE
            if total > best:
                best, result = total, (first, index + 1)
        return result

    def choose_gap(self, item: PlacedItem, low: int, high: int) -> int:
        """The gap with the most attention to what stood before the item on its left, and to what followed on its right.

        Near source positions count for more; what looks at the item itself draws it near; ties go to the
        relative place.
        """
        lifted = item.start == item.end
        if lifted and item.start == 0:
            return low
        if lifted and item.start >= self.width:
            return high
        relative = self.offset_rows(item.start, low, high)
        if self.flat or low == high:
            return relative
        positions = np.arange(len(self.units[0].attention))
        left = np.where(positions < item.start, np.exp((positions - item.start + 1) / REACH), 0.0)
        right = np.where(positions >= item.end, np.exp((item.end - positions) / REACH), 0.0)
        rows = np.stack([unit.attention for unit in self.units])  # (U, S)
        side = np.concatenate([[0.0], np.cumsum(rows @ (left - right))])  # (G,)
        attention = rows[:, item.start : item.end].sum(axis=1)  # (U,)
        near = np.maximum(np.append(attention, 0.0), np.concatenate([[0.0], attention]))  # (G,)
        scores = side + near - 1e-3 * np.abs(np.arange(len(side)) - relative)
        return low + int(scores[low : high + 1].argmax())


def join_items(left: Unit | None, items: Sequence[PlacedItem], right: Unit | None) -> str:
    """What stands between two units: the items of the gap, with blanks as in the source where the target allows."""
    blank = left is not None and right is not None and right.blank_before
    if not items:
        return " " if blank else ""
    inner = [is_apart(item, other) for item, other in pairwise(items)]
    before = left is not None and wants_left(left, items[0])
    after = right is not None and wants_right(items[-1], right, blank)
    separators = [before, *inner, after]
    if blank and not any(separators):
        opening = next((i for i, item in enumerate(items) if item.span.tag and not item.span.tag.closes), len(items))
        separators[opening] = True
    text = "".join((" " if space else "") + item.span.text for space, item in zip(separators, items, strict=False))
    return text + (" " if separators[-1] else "")


def is_apart(item: PlacedItem, other: PlacedItem) -> bool:
    both_words = not item.span.markup and not other.span.markup
    return both_words or (item.blank_after and other.blank_before)


def wants_left(left: Unit, item: PlacedItem) -> bool:
    if not item.span.markup and left.is_word:
        return True
    return item.blank_before and left.text not in OPENING and not find_unspaced(left.text)


def wants_right(item: PlacedItem, right: Unit, blank: bool) -> bool:
    if not item.span.markup and right.is_word:
        return True
    return item.blank_after and (blank or right.is_word)
