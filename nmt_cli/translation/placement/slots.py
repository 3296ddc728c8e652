"""Which unit of a translation stands for which masked span. Knows attention, no tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nmt_cli.text.masking import PLACEHOLDER, MaskedText
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.placement.units import Unit

TRUST = 0.3  # attention from which a wrong placeholder is taken for the missing one
OPENING = "([{¿¡„“«\"'"


def find_placeholder_positions(masked: MaskedText, labels: Sequence[str]) -> list[int]:
    """Returns the source position of each placeholder; the end for one beyond the limit of a long source."""
    places = {piece: position for position, piece in enumerate(labels)}
    return [places.get(name, len(labels) - 1) for name in masked.names]


def choose_slots(units: Sequence[Unit], positions: Sequence[int]) -> dict[int, int]:
    """Returns, by the number of a masked span, the unit that stands for it.

    Among several it is the one that attends most to the span's position; without any, a spare one that does.
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
    """Yields the units with spans for the chosen placeholders, and without the other placeholders."""
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
