"""Decides which placeholder of a translation represents which masked span. Knows attention, but no tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nmt_cli.carrying.masking import MaskedText
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.text.characters import OPENING
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.placement.units import Unit

FULL_STOP = "."
SHORTEST_APART = 3  # letters: what is shorter may be a prefix, such as the Hebrew one for "to"
TRUST = 0.3  # minimum attention to a span from which a wrong placeholder is taken for its own


def find_placeholder_positions(masked: MaskedText, labels: Sequence[str]) -> list[int]:
    """Returns the source position of each placeholder; the end for one lost to truncation."""
    positions = {piece: position for position, piece in enumerate(labels)}
    return [positions.get(name, len(labels) - 1) for name in masked.placeholders]


def choose_slots(units: Sequence[Unit], positions: Sequence[int]) -> dict[int, int]:
    """Returns the index of the unit that represents each masked span, by the number of the span.

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
    """Yields the units with the texts of the spans for the chosen placeholders, and without the other placeholders."""
    numbers = {index: number for number, index in chosen.items()}
    previous: Unit | None = None
    blank = False  # the next unit inherits the blank of a placeholder that is left out
    for index, unit in enumerate(units):
        blank = blank or unit.blank_before
        if PLACEHOLDER_PATTERN.fullmatch(unit.text) and index not in numbers:
            continue
        if unit.text == FULL_STOP and ends_with_stop(previous):
            continue
        if index in numbers:
            number = numbers[index]
            certain = np.zeros_like(unit.attention)
            certain[positions[number]] = 1
            has_blank = decide_blank(previous, blank, PLACEHOLDERS[number], masked.text)
            unit = Unit(masked.masked[number].text, has_blank, certain, number)
        yield unit._replace(blank_before=unit.blank_before if index in numbers else blank)
        blank, previous = False, unit


def ends_with_stop(unit: Unit | None) -> bool:
    """Whether a unit is a span with a full stop at its end, which then ends the sentence too: `am Mi.`"""
    return unit is not None and unit.masked_span is not None and unit.text.endswith(FULL_STOP)


def decide_blank(previous: Unit | None, blank: bool, placeholder: str, source: str) -> bool:
    """Whether a blank comes before a span: as the network has it, unless it opens or closes a gap of the source."""
    if previous is None:
        return blank
    if previous.text in OPENING and f"{previous.text}{placeholder}" in source:
        return False
    return blank or (previous.is_word and len(previous.text) >= SHORTEST_APART and f" {placeholder}" in source)


def drop_replaced(units: Sequence[Unit], masked: MaskedText) -> list[Unit]:
    """Returns the units without those that a span behind them replaces: a preposition before a date with its own."""
    kept: list[Unit] = []
    for unit in units:
        replaced = masked.masked[unit.masked_span].replaces if unit.masked_span is not None else frozenset[str]()
        while kept and kept[-1].text.lower() in replaced:
            unit = unit._replace(blank_before=kept.pop().blank_before)
        kept.append(unit)
    return kept
