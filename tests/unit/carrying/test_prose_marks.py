"""Tests of `carrying/prose_marks.py`.

Marks of emphasis are found in pairs around words, and nowhere else. References to notes are taken out of a text;
units and emphasis are none.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.prose_marks import EMPHASIS
from nmt_cli.carrying.spans import NO_CONTEXT, SpanKind, cover_spans
from nmt_cli.carrying.syntax import is_block_tag, parts_words


def list_marks(text: str) -> list[str]:
    covered = cover_spans(text, find_spans(text))
    return [text[: span.start] + "|" + text[span.start :] for span in EMPHASIS.find(covered, NO_CONTEXT)]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("I am *very* tired.", ["I am |*very* tired.", "I am *very|* tired."]),
        (
            "**No**, I am _not_.",
            ["|**No**, I am _not_.", "**No|**, I am _not_.", "**No**, I am |_not_.", "**No**, I am _not|_."],
        ),
        ("*Lehrer*innen* sind da", ["|*Lehrer*innen* sind da", "*Lehrer*innen|* sind da"]),
        ('("*no*")', ['("|*no*")', '("*no|*")']),
        ("~not~ ~~so~~", ["|~not~ ~~so~~", "~not|~ ~~so~~", "~not~ |~~so~~", "~not~ ~~so|~~"]),
        ("We go *5 p.m.* now", ["We go |*5 p.m.* now", "We go *5 p.m.|* now"]),
        ("He _is here_ now", ["He |_is here_ now", "He _is here|_ now"]),
    ],
)
def test_pairs_of_marks_around_words_are_found(text: str, marks: list[str]) -> None:
    assert list_marks(text) == marks


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4",
        "2*3*4",
        "*5*",  # no word
        "a * b * c",
        "*.txt and *.md",
        "snake_case_name",
        "__init__",
        "* an item",
        "a footnote* here*",
        "~5 of ~10",
        "f*ck",
        "***",
        r"\*not\*",
        "*one line\nanother*",
    ],
)
def test_other_signs_are_no_marks_of_emphasis(text: str) -> None:
    assert list_marks(text) == []


@given(st.text("ab *_~.\n", max_size=40))
def test_marks_come_in_pairs_that_do_not_overlap(text: str) -> None:
    spans = list(EMPHASIS.find(text, NO_CONTEXT))
    assert [span.pair.closes for span in spans] == [False, True] * (len(spans) // 2)
    for opening, closing in zip(spans[::2], spans[1::2], strict=True):
        assert opening.text == closing.text and opening.end < closing.start
    positions = [position for span in spans for position in range(span.start, span.end)]
    assert positions == sorted(set(positions))
    assert all(text[span.start : span.end] == span.text for span in spans)


def test_a_pair_is_a_pair_of_tags_and_nothing_else() -> None:
    opening, closing = EMPHASIS.find("_so_", NO_CONTEXT)
    assert opening.pair is not None and closing.pair is not None
    assert (opening.pair.name, opening.pair.closes, closing.pair.closes) == ("_", False, True)
    for span in (opening, closing):
        assert span.kind is SpanKind.EMPHASIS and not (parts_words(span) or is_block_tag(span, set()))


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
