"""Puts protected spans back into a translation: where the network put a placeholder, else where attention points.

The entry to `placement/` for lines. Knows no network: it reads tokens and attention. Letters: T target tokens, S source
positions, including the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.carrying.masking import MaskedText
from nmt_cli.carrying.spans import SpanKind
from nmt_cli.text.words import count_strings
from nmt_cli.translation.placement.marks import Binding, Mark, MarkForm, place_marks
from nmt_cli.translation.placement.slots import choose_slots, drop_replaced, find_placeholder_positions, name_units
from nmt_cli.translation.placement.source_units import SourceUnits, link_units
from nmt_cli.translation.placement.spacing import PlacedItem, RestoredText, assemble_text, join_units
from nmt_cli.translation.placement.tracing import link_equal_words, trace_words
from nmt_cli.translation.placement.units import Spelling, measure_units
from nmt_cli.translation.result import How, Placed

FLAT = 1e-3  # attention that varies less says nothing, as in a network without attention
BINDINGS: dict[SpanKind, Binding] = {SpanKind.ACCELERATOR: "right", SpanKind.SLASH: "both"}


def restore_spans(
    masked: MaskedText, spelling: Spelling, labels: Sequence[str], attention: FloatArray, source: SourceUnits
) -> RestoredText:
    """Returns a translation with every span of its source, `masked`, which has the units `source`.

    `attention` is (T, S), and `labels` name S.
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
    placed = [
        Placed(span.text, how if n in lost else "network", n in lost, span.kind is SpanKind.TERM)
        for n, span in enumerate(masked.masked)
    ]
    # In 500 sentences, brackets enclose the right words in 94 %, but a slash is between them in 66 %.
    placed += [
        Placed(extracted.span.text, how, extracted.span.kind is SpanKind.SLASH) for extracted in masked.extracted
    ]
    text, placed = verify_spans(restored.text, placed)
    return restored._replace(text=text, placed=tuple(placed))


def verify_spans(text: str, placed: Sequence[Placed]) -> tuple[str, list[Placed]]:
    """Appends to `text` each span that occurs too rarely, and reports the appended ones."""
    spans = [span.text for span in placed]
    minima = count_strings("\0".join(spans), spans)
    inner = [span for span, count in Counter(spans).items() if count < minima[span]]  # that others contain
    counts = Counter(count_strings(text, spans))
    result = []
    for span in placed:
        if counts[span.text] < minima[span.text]:
            counts.update(count_strings(span.text, {span.text, *inner}))
            text, span = f"{text} {span.text}".lstrip(), span._replace(how="position", dropped=True)
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
        mark = Mark(form, offset, offset, span.pair.name if span.pair else "", binding=BINDINGS.get(span.kind))
        items.append(PlacedItem(span, mark, blank_before, blank_after))
    return sorted(items, key=lambda item: (item.mark.start, item.mark.end))
