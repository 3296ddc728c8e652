"""Puts protected spans back into a translation: where the network put a placeholder, else where attention points.

The entry to `placement/`. Knows no network: it reads tokens and attention. Letters: T target tokens, S source
positions, the end among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.carrying.masking import ExtractedSpan, MaskedText
from nmt_cli.carrying.spans import RESTORED
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.placement.slots import choose_slots, find_placeholder_positions, name_units
from nmt_cli.translation.placement.spacing import assemble_text
from nmt_cli.translation.placement.tag_tree import PlacedItem, build_tree
from nmt_cli.translation.placement.units import Spelling, Unit, measure_units
from nmt_cli.translation.result import How, Placed

FLAT = 1e-3  # attention that varies less says nothing, as in a network without attention


class RestoredText(NamedTuple):
    """A translation with its protected spans."""

    text: str
    placed: tuple[Placed, ...]  # in the order of the source, masked before extracted
    units: tuple[Unit, ...] = ()  # of the hypothesis, with masked spans in place of their placeholders
    words: tuple[int, ...] = ()  # the index of the word in which each unit begins


def restore_spans(
    masked: MaskedText, spelling: Spelling, labels: Sequence[str], attention: FloatArray, source: Tokenizer
) -> RestoredText:
    """Returns a translation with every span of its source, `masked`; `attention` is (T, S), and `labels` name S."""
    # 1. Units: the words, marks and placeholders of the translation.
    units = measure_units(spelling, attention)
    # 2. Slots: the placeholder that stands for each masked span.
    positions = find_placeholder_positions(masked, labels)
    chosen = choose_slots(units, positions) if spelling.is_trusted else {}
    units = list(name_units(units, chosen, masked, positions))
    missing = [number for number in range(len(masked.masked)) if number not in chosen]
    # 3. Gaps: attention places the extracted spans, and masked ones that the network lost (`assemble_text`).
    items = list_items(masked, missing, positions, len(labels), source)
    flat = float(np.ptp(attention, axis=0).max()) < FLAT
    # 4. Spacing: the text, with blanks as in the source.
    text, words = assemble_text(units, build_tree(items), len(labels) - 1, flat=flat)
    # 5. Record what put each span in its place; append any that is still missing.
    how: How = "position" if flat else "attention"
    lost = set(missing)
    placed = [Placed(s.text, how if n in lost else "network", n in lost) for n, s in enumerate(masked.masked)]
    placed += [Placed(extracted.span.text, how, extracted.span.kind in RESTORED) for extracted in masked.extracted]
    return verify_spans(text, placed)._replace(units=tuple(units), words=words)


def verify_spans(text: str, placed: Sequence[Placed]) -> RestoredText:
    """Counts every span in `text`, and appends each that does not occur as often as it must."""
    texts = [span.text for span in placed]
    result = []
    for span in placed:
        if text.count(span.text) < sum(other.count(span.text) for other in texts):
            text, span = f"{text} {span.text}".lstrip(), span._replace(how="position", dropped=True)
        result.append(span)
    return RestoredText(text, tuple(result))


def list_items(
    masked: MaskedText, missing: Sequence[int], positions: Sequence[int], length: int, source: Tokenizer
) -> list[PlacedItem]:
    """Returns the spans that attention must place, in the order of the source."""
    items = []
    for number in missing:
        position = positions[number]
        items.append(PlacedItem(masked.masked[number], position, position + 1, True, True, 0))
    for order, extracted in enumerate(masked.extracted):
        position = find_source_position(extracted, masked.text, length, source)
        before = masked.text[: extracted.offset].rstrip()
        after_mark = not (before[-1:].isalnum() or before.endswith(PLACEHOLDERS))
        items.append(
            PlacedItem(
                extracted.span, position, position, extracted.blank_before, extracted.blank_after, order, after_mark
            )
        )
    return sorted(items, key=lambda item: (item.start, item.end, item.order))


def find_source_position(extracted: ExtractedSpan, text: str, length: int, source: Tokenizer) -> int:
    """Returns the number of source positions before an extracted span; there are `length`, the end among them."""
    if extracted.offset >= len(text):
        return length - 1
    return min(len(source.encode(text[: extracted.offset].rstrip())), length - 1) if extracted.offset else 0
