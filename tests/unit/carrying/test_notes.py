"""References to notes are taken out of a text; units and emphasis are none."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.kind import NO_CONTEXT
from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.spans import SpanKind


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("I like tea.¹ Tom is here.", ["¹"]),
        ("I like coffee,² but not tea.", ["²"]),
        ("The water¹² is cold.", ["¹²"]),
        ("I like tea.⁵ Tom is here.", ["⁵"]),
        ("I like tea¹ and coffee², says Tom³.", ["¹", "²", "³"]),
        ("The house has km² and m³.", []),
        ("I like tea*.", ["*"]),
        ("†Died young.", ["†"]),
        ("The house has 20 m² here.", []),
        ("I *really* like tea.", []),
        ("s*** happens", []),
        ("2 * 3", []),
    ],
)
def test_references_to_notes_are_taken_out(text: str, notes: list[str]) -> None:
    spans = find_spans(text, NO_CONTEXT, KINDS)
    assert [span.text for span in spans if span.kind is SpanKind.NOTE] == notes
    assert all(span.is_extracted for span in spans if span.kind is SpanKind.NOTE)
