"""Puts protected spans back into a translation: into their slots, else by attention, with the spaces around them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.carrying.masking import MaskedText
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN, Span, SpanKind
from nmt_cli.text.characters import HYPHENS, OPENING, OPENING_BRACKETS
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.text.words import Link, count_strings
from nmt_cli.translation.placement.alignment import link_equal_words, trace_words
from nmt_cli.translation.placement.marks import Binding, Mark, MarkForm, PlacedMark, place_marks
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.placement.units import (
    SourceUnits,
    Spelling,
    Unit,
    find_line_words,
    link_units,
    link_words_of_units,
    measure_units,
)
from nmt_cli.translation.result import How, Hypothesis, Placed, Translation, WordLinks
from nmt_cli.translation.segmentation.pieces import Piece

# Sets the blanks around spans put into a translation: as in the source, where the target allows them.


class RestoredText(NamedTuple):
    """A translation with its protected spans."""

    text: str
    placed: tuple[Placed, ...] = ()  # in the order of the source, masked before extracted
    units: tuple[Unit, ...] = ()  # of the hypothesis, with masked spans in place of their placeholders
    words: tuple[int, ...] = ()  # the index of the word in which each unit begins


class PlacedItem(NamedTuple):
    """A span to put into a translation, and whether spaces surround it in the source."""

    span: Span
    mark: Mark
    blank_before: bool
    blank_after: bool


def join_units(units: Sequence[Unit]) -> tuple[str, list[TextRange]]:
    """Returns the text of `units`, and the range of each in it."""
    text = ""
    ranges = []
    for index, unit in enumerate(units):
        text += " " if unit.blank_before and index else ""
        ranges.append(TextRange(len(text), len(text) + len(unit.text)))
        text += unit.text
    return text, ranges


def assemble_text(
    units: Sequence[Unit], ranges: Sequence[TextRange], items: Sequence[PlacedItem], placed: Sequence[PlacedMark]
) -> RestoredText:
    """Returns the text of `units` with the items at the `placed` positions of their marks."""
    waiting = deque(list_positions(placed))
    parts = cut_units(units, ranges, [position for position, _ in waiting])
    text, words = "", []
    for left, (start, right) in zip((None, *(part for _, part in parts)), parts, strict=False):
        gap = []
        while waiting and waiting[0][0] <= start:
            gap.append(items[waiting.popleft()[1]])
        text += join_items(left, gap, right)
        is_doubled = right.text == FULL_STOP and not gap and ends_with_stop(left)
        text += "" if is_doubled else right.text  # one stop serves an ordinal and the sentence
        words.append(len(text.split()) - len(right.text.split()))
    text += join_items(parts[-1][1] if parts else None, [items[number] for _, number in waiting], None)
    return RestoredText(text, (), tuple(part for _, part in parts), tuple(words))


def cut_units(units: Sequence[Unit], ranges: Sequence[TextRange], positions: Sequence[int]) -> list[tuple[int, Unit]]:
    """Returns the units with their positions, splitting those with a mark inside."""
    parts = []
    for unit, (start, end) in zip(units, ranges, strict=True):
        inner = {position for position in positions if start < position < end and unit.masked_span is None}
        bounds = [start, *sorted(inner), end]
        for first, last in pairwise(bounds):
            text, blank = unit.text[first - start : last - start], unit.blank_before and first == start
            parts.append((first, unit._replace(text=text, blank_before=blank)))
    return parts


def list_positions(placed: Sequence[PlacedMark]) -> Iterator[tuple[int, int]]:
    """Yields the position and number of each mark, in order."""
    for node, (start, end, _), inside in placed:
        yield start, node.first
        yield from list_positions(inside)
        if node.last > node.first:
            yield end, node.last


def join_items(left: Unit | None, items: Sequence[PlacedItem], right: Unit | None) -> str:
    """Returns the text between two units: the items of the gap, with spaces."""
    blank = left is not None and right is not None and right.blank_before
    if not items:
        return " " if blank else ""
    inner = [is_apart(item, other) for item, other in pairwise(items)]
    before = left is not None and needs_left_blank(left, items[0])
    after = right is not None and needs_right_blank(items[-1], right, blank)
    separators = [before, *inner, after]
    replaces_blank = any(item.span.is_blank or item.span.kind is SpanKind.SLASH for item in items)
    if blank and not any(separators) and not replaces_blank:
        # The blank between the units must stay: before the first opening tag, else after all items.
        opening = next((i for i, item in enumerate(items) if item.span.pair and not item.span.pair.closes), len(items))
        separators[opening] = True
    text = "".join((" " if space else "") + item.span.text for space, item in zip(separators, items, strict=False))
    return text + (" " if separators[-1] else "")


def is_apart(item: PlacedItem, other: PlacedItem) -> bool:
    """Whether a space separates two items."""
    are_words = not item.span.is_markup and not other.span.is_markup
    return are_words or (item.blank_after and other.blank_before)


def needs_left_blank(left: Unit, item: PlacedItem) -> bool:
    """Whether a space separates a unit from the item after it."""
    if not item.span.is_markup and left.is_word:
        return True
    return item.blank_before and left.text not in OPENING and not find_unspaced(left.text)


def needs_right_blank(item: PlacedItem, right: Unit, blank: bool) -> bool:
    """Whether a space separates an item from the unit after it; `blank` says whether one preceded that unit."""
    is_closing = item.span.pair is not None and item.span.pair.closes  # such as the second mark of *very* or (so)
    is_closing = is_closing and item.span.kind in (SpanKind.EMPHASIS, SpanKind.BRACKET, SpanKind.QUOTE)
    if right.is_word and (not item.span.is_markup or (is_closing and blank)):
        return True
    return item.blank_after and (blank or right.is_word)


# Decides which placeholder of a translation represents which masked span. Knows attention, but no tokenizer.


FULL_STOP = "."
LONGEST_SUFFIX = 3  # letters that a language may attach to a placeholder
SHORTEST_APART = 3  # letters: what is shorter may be a prefix, such as the Hebrew one for "to"
TRUST = 0.3  # minimum attention to a span from which a wrong placeholder is taken for its own


def find_placeholder_positions(masked: MaskedText, labels: Sequence[str]) -> list[int]:
    """Returns the source position of each placeholder; the end for one lost to truncation."""
    positions = {piece: position for position, piece in enumerate(labels)}
    return [positions.get(name, len(labels) - 1) for name in masked.placeholders]


def choose_slots(units: Sequence[Unit], positions: Sequence[int]) -> dict[int, int]:
    """Returns the index of the unit that represents each masked span, keyed by the number of the span.

    `positions` are the source positions of the spans. A span without such a unit is left out.
    """
    # 1. Slots: the units that are placeholders, with the number that each has.
    slots = {index: PLACEHOLDERS.index(unit.text) for index, unit in enumerate(units) if unit.text in PLACEHOLDERS}

    def attend(index: int, number: int) -> float:
        return float(units[index].attention[positions[number]])

    # 2. Of several slots with the number of a span, choose the one that attends to it most.
    chosen: dict[int, int] = {}
    for number in range(len(positions)):
        candidates = [index for index, slot in slots.items() if slot == number]
        if candidates:
            chosen[number] = max(candidates, key=lambda index: attend(index, number))
    # 3. For a span without a slot, choose a spare one that attends to it.
    for number in range(len(positions)):
        spare = [index for index in slots if index not in chosen.values()]
        if number not in chosen and spare:
            best = max(spare, key=lambda index: attend(index, number))
            if attend(best, number) >= TRUST:
                chosen[number] = best
    return chosen


def name_units(
    units: Sequence[Unit], chosen: dict[int, int], masked: MaskedText, positions: Sequence[int]
) -> Iterator[Unit]:
    """Yields the units, with span texts in place of the chosen placeholders and without the other placeholders."""
    numbers = {index: number for number, index in chosen.items()}
    previous: Unit | None = None
    blank = False  # the next unit inherits the blank of a placeholder that is left out
    for index, unit in enumerate(units):
        blank = (blank or unit.blank_before) and not closes_gap(previous, masked.text)
        if PLACEHOLDER_PATTERN.fullmatch(unit.text) and index not in numbers:
            continue
        if unit.text == FULL_STOP and ends_with_stop(previous):
            continue
        if not blank and stands_apart(previous, unit, masked):
            blank = True
            if unit.text in HYPHENS:
                continue
        if index in numbers:
            number = numbers[index]
            certain = np.zeros_like(unit.attention)
            certain[positions[number]] = 1
            has_blank = decide_blank(previous, blank, PLACEHOLDERS[number], masked.text)
            unit = Unit(masked.masked[number].text, has_blank, certain, number)
        yield unit._replace(blank_before=unit.blank_before if index in numbers else blank)
        blank, previous = False, unit


def closes_gap(previous: Unit | None, source: str) -> bool:
    """Whether the unit after a bracket must touch it, since no space follows such a bracket in the source."""
    return previous is not None and previous.text in OPENING_BRACKETS and f"{previous.text} " not in source


def ends_with_stop(unit: Unit | None) -> bool:
    """Whether a unit is a span that ends with a full stop, which then ends the sentence too: `am Mi.`"""
    return unit is not None and unit.masked_span is not None and unit.text.endswith(FULL_STOP)


def stands_apart(code: Unit | None, unit: Unit, masked: MaskedText) -> bool:
    """Whether a space in the source separates a program's placeholder, code or a number from the unit after it.

    No hyphen may replace the space after a placeholder, which may show a number; only a suffix may touch the span.
    """
    if code is None or code.masked_span is None:
        return False
    kind, is_hyphen = masked.masked[code.masked_span].kind, unit.text in HYPHENS
    is_apart = is_hyphen or (unit.is_word and len(unit.text) > LONGEST_SUFFIX)
    if kind not in STAND_APART or not is_apart or (is_hyphen and kind is not SpanKind.PLACEHOLDER):
        return False
    return f"{masked.placeholders[code.masked_span]} " in masked.text


def decide_blank(previous: Unit | None, blank: bool, placeholder: str, source: str) -> bool:
    """Whether a space precedes a span: as the network wrote it, unless the source shows otherwise."""
    if previous is None:
        return blank
    if previous.text in OPENING and f"{previous.text}{placeholder}" in source:
        return False
    return blank or (previous.is_word and len(previous.text) >= SHORTEST_APART and f" {placeholder}" in source)


def drop_replaced(units: Sequence[Unit], masked: MaskedText) -> list[Unit]:
    """Returns the units without those that an adjacent span replaces: a preposition before a date that has its own."""
    kept: list[Unit] = []
    for unit in units:
        replaced = masked.masked[unit.masked_span].replaces if unit.masked_span is not None else frozenset[str]()
        before = kept[-1].masked_span if kept else None
        if before is not None and unit.text.lower() == masked.masked[before].covers.lower() != "":
            continue
        while kept and kept[-1].text.lower() in replaced:
            unit = unit._replace(blank_before=kept.pop().blank_before)
        kept.append(unit)
    return kept


# Puts protected spans back into a translation: where the network put a placeholder, else where attention points.
#
# The entry to `placement/` for lines. Does not depend on networks: it reads tokens and attention.
# Letters: T target tokens, S source positions, including the end.


FLAT = 1e-3  # attention that varies less says nothing, as in a network without attention
STAND_APART = (SpanKind.PLACEHOLDER, SpanKind.CODE, SpanKind.NUMBER)
BINDINGS: dict[SpanKind, Binding] = {SpanKind.ACCELERATOR: "right", SpanKind.SLASH: "both"}


def restore_spans(
    masked: MaskedText, spelling: Spelling, labels: Sequence[str], attention: FloatArray, source: SourceUnits
) -> RestoredText:
    """Returns a translation with every span of its source text `masked`, whose units are `source`.

    `attention` is (T, S), and `labels` name the S positions.
    """
    # 1. Units: the words, marks and placeholders of the translation.
    units = measure_units(spelling, attention)
    # 2. Slots: the placeholder that stands for each masked span.
    positions = find_placeholder_positions(masked, labels)
    chosen = choose_slots(units, positions) if spelling.is_trusted else {}
    units = drop_replaced(list(name_units(units, chosen, masked, positions)), masked)
    missing = [number for number in range(len(masked.masked)) if number not in chosen]
    # 3. Marks: attention places the extracted spans, and masked ones that the network lost.
    flat = float(np.ptp(attention, axis=0).max()) < FLAT
    units, attracted = link_units(units, masked, source, flat=flat)
    text, ranges = join_units(units)
    links = [unit.source if unit.weight else None for unit in units]
    weights = [unit.weight for unit in units]
    links = link_equal_words(masked.text, source.ranges, text, ranges, links)
    traced = trace_words(masked.text, source.ranges, text, ranges, links, weights, attracted)
    items = list_items(masked, missing)
    marks = place_marks([item.mark for item in items], traced)
    # 4. Spacing: the text, with blanks as in the source.
    restored = assemble_text(units, ranges, items, marks)
    # 5. Record what put each span in its place; append any that is still missing.
    how: How = "position" if flat else "attention"
    lost = set(missing)
    sure = [] if flat else [items[number].span for number in find_sure(items, marks, source, ranges, links, attracted)]
    placed = [
        Placed(span.text, how if n in lost else "network", n in lost, span.kind is SpanKind.TERM, span in sure)
        for n, span in enumerate(masked.masked)
    ]
    # In 500 sentences, brackets enclose the right words in 94 %, but a slash is between them in 66 %.
    placed += [
        Placed(extracted.span.text, how, extracted.span.kind is SpanKind.SLASH, is_sure=extracted.span in sure)
        for extracted in masked.extracted
    ]
    text, placed = verify_spans(restored.text, placed)
    return restored._replace(text=text, placed=tuple(placed))


def find_sure(
    items: Sequence[PlacedItem],
    placed: Sequence[PlacedMark],
    source: SourceUnits,
    ranges: Sequence[TextRange],
    links: Sequence[int | None],
    attracted: Sequence[int | None],
) -> Iterator[int]:
    """Yields the numbers of the items that stand beside the translation of a word that is beside them in the source.

    The word and its translation must attend most to each other, or else both neighbours must link to those in the
    source.
    """
    ends = (*links, None)  # behind the last unit, and before the first, is the edge of the text
    for position, number in list_positions(placed):
        mark = items[number].mark
        before = sum(end <= mark.start for _, end in source.ranges) - 1
        after = next((index for index, (start, _) in enumerate(source.ranges) if start >= mark.end), None)
        left = sum(end <= position for _, end in ranges) - 1
        right = next((index for index, (start, _) in enumerate(ranges) if start >= position), -1)
        if right != (left + 1 if left + 1 < len(ranges) else -1):
            continue  # within a word
        sides = ((left, before if before >= 0 else None), (right, after))
        agrees = [ends[unit] == word for unit, word in sides]
        is_mutual = any(word is not None and attracted[word] == unit == max(unit, 0) for unit, word in sides)
        if all(agrees) or (mark.form == "word" and is_mutual):
            yield number


def verify_spans(text: str, placed: Sequence[Placed]) -> tuple[str, list[Placed]]:
    """Appends each span that occurs too few times to `text`, and reports the appended ones."""
    spans = [span.text for span in placed]
    minima = count_strings("\0".join(spans), spans)
    inner = [span for span, count in Counter(spans).items() if count < minima[span]]  # that others contain
    counts = Counter(count_strings(text, spans))
    result = []
    for span in placed:
        if counts[span.text] < minima[span.text]:
            counts.update(count_strings(span.text, {span.text, *inner}))
            text, span = f"{text} {span.text}".lstrip(), span._replace(placed_by="position", lost=True)
        result.append(span)
    return text, result


def list_items(masked: MaskedText, missing: Sequence[int]) -> list[PlacedItem]:
    """Returns the spans to place by attention, in source order."""
    items = []
    for number in missing:
        name = masked.placeholders[number]
        start = max(0, masked.text.find(name))
        items.append(PlacedItem(masked.masked[number], Mark("word", start, start + len(name)), True, True))
    for span, offset, blank_before, blank_after in masked.extracted:
        form: MarkForm = "point" if span.pair is None else "close" if span.pair.closes else "open"
        binding = (
            "right" if span.kind is SpanKind.WRAP and blank_before and not blank_after else BINDINGS.get(span.kind)
        )
        mark = Mark(form, offset, offset, span.pair.name if span.pair else "", binding=binding)
        items.append(PlacedItem(span, mark, blank_before, blank_after))
    return sorted(items, key=lambda item: (item.mark.start, item.mark.end))


# Puts the protected spans of a piece back into its translation.
#
# Separate from `joining`, since few lines have spans.


def restore_translation(piece: Piece, translation: Translation, tokenizers: TokenizerPair) -> Translation:
    """Returns the translation of a piece with its spans restored in all hypotheses and in the source pieces."""
    labels = translation.source_pieces
    source = SourceUnits.from_text(piece.masked.text, tokenizers.source, len(labels))
    words = find_line_words(piece, source)

    def restore(hypothesis: Hypothesis) -> Hypothesis:
        spelling = Spelling(hypothesis.text, hypothesis.tokens, tokenizers.target, hypothesis.unknown)
        restored = restore_spans(piece.masked, spelling, labels, hypothesis.attention, source)
        links = link_words_of_units(restored.units, restored.words, words)
        return hypothesis._replace(
            text=restored.text,
            pieces=tuple(replace_placeholders(hypothesis.pieces, piece)),
            spans=restored.placed,
            words=(WordLinks.from_texts(piece.source_text, restored.text, links),),
        )

    return translation._replace(
        source_pieces=tuple(replace_placeholders(labels, piece)), hypotheses=tuple(map(restore, translation.hypotheses))
    )


def replace_placeholders(pieces: Sequence[str], piece: Piece) -> list[str]:
    """Replaces the placeholders in `pieces` by the text of the masked spans."""
    texts = {name: span.text for name, span in zip(piece.masked.placeholders, piece.masked.masked, strict=True)}
    return [texts.get(name, name) for name in pieces]


def link_sides(source: Piece, target: Piece, tokenizers: TokenizerPair, attention: FloatArray) -> tuple[Link, ...]:
    """Returns the links between the words of a source and a given target; `attention` is (T, S).

    The words of a masked span link to those of the same span on the other side.
    """
    length, width = attention.shape
    source_units = SourceUnits.from_text(source.masked.text, tokenizers.source, width)
    target_units = SourceUnits.from_text(target.masked.text, tokenizers.target, length)
    numbers = {name: number for number, name in enumerate(source.masked.placeholders)}
    spans = dict(zip(target.masked.placeholders, target.masked.masked, strict=True))
    units = [
        Unit(spans[text].text if text in spans else text, True, attention[list(rows)].mean(axis=0), numbers.get(text))
        for text, rows in zip(target_units.texts, target_units.positions, strict=True)
    ]
    linked = link_units(units, source.masked, source_units, flat=False).units
    firsts = [words[0] for words in find_line_words(target, target_units)]
    return link_words_of_units(linked, firsts, find_line_words(source, source_units))
