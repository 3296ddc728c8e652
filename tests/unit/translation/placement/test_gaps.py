"""In which gap a span goes, with attention made by hand: position t of the target attends to one source position."""

from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.spans import Pair, Span, SpanKind
from nmt_cli.translation.placement.gaps import GapChooser, fill_gaps
from nmt_cli.translation.placement.tag_tree import Node, PlacedItem, build_tree
from nmt_cli.translation.placement.units import Unit
from support.final_marks import ENDED

EMOJI = Span(0, 1, "☺", SpanKind.EMOJI, is_extracted=True)


def chooser(attended: list[int], *, flat: bool = False) -> GapChooser:
    """Units w0, w1, ... of which each attends to one of four source words; the end is a fifth position."""
    units = [Unit(f"w{index}", index > 0, np.eye(5)[position]) for index, position in enumerate(attended)]
    return GapChooser(units, 4, flat)


def item(position: int, text: str = "☺", order: int = 0) -> PlacedItem:
    return PlacedItem(EMOJI._replace(text=text), position, position, True, True, order)


@pytest.mark.parametrize(("position", "gap"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)])
def test_where_the_target_follows_the_source_so_do_the_gaps(position: int, gap: int) -> None:
    assert chooser([0, 1, 2, 3]).choose_gap(item(position), 0, 4) == gap


def test_a_span_goes_behind_the_words_that_stood_before_it() -> None:
    # Source words 0 1 2 3 come as 0 3 1 2 (a verb moved): what stood behind word 2 goes behind it.
    assert chooser([0, 3, 1, 2]).choose_gap(item(3), 0, 4) == 4


def test_a_gap_stays_within_its_bounds() -> None:
    assert chooser([0, 1, 2, 3]).choose_gap(item(3), 0, 2) == 2


def test_without_attention_the_relative_position_decides() -> None:
    assert chooser([0, 0, 0, 0], flat=True).choose_gap(item(2), 0, 4) == 2


def choose_among(texts: str, span: Span, source: int) -> int:
    """Returns the gap of a span that stood at a source position, among units that attend to what stood before it."""
    attention = np.eye(5)[max(0, source - 1)]
    units = [Unit(text, index > 0, attention) for index, text in enumerate(texts.split())]
    end = source if span.is_extracted else source + 1
    (node,) = build_tree([PlacedItem(span, source, end, True, True, 0)])
    return GapChooser(units, 4, flat=False).choose_range(node, 0, len(units), (0, 4))[0]


@pytest.mark.parametrize(
    ("target", "gap"),
    [("siehe bild .", 2), ("wo ist das ? !", 3), ("er sah “ bild . ”", 4), ("siehe ( bild ) .", 4), ("siehe bild", 2)],
)
def test_a_lost_number_never_follows_the_final_mark(target: str, gap: int) -> None:
    assert choose_among(target, Span(0, 3, "103", SpanKind.NUMBER), 3) == gap


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_a_lost_number_precedes_the_final_mark_of_any_language(words: str, mark: str) -> None:
    target = " ".join(["wo", "ist", "es", mark])
    assert choose_among(target, Span(0, 3, "103", SpanKind.NUMBER), 4) == 3


def test_an_emoji_may_follow_the_final_mark() -> None:
    assert choose_among("siehe bild .", EMOJI, 4) == 3


@pytest.mark.parametrize(("target", "gap"), [("speichern unter …", 1), ("ja .", 0), ("!", 1)])
def test_an_accelerator_stands_before_a_word(target: str, gap: int) -> None:
    assert choose_among(target, EMOJI._replace(text="&", kind=SpanKind.ACCELERATOR), 4) == gap


def tags(start: int, end: int) -> list[Node]:
    opening, closing = find_spans("<b>x</b>")
    return build_tree(
        [PlacedItem(opening, start, start, True, False, 0), PlacedItem(closing, end, end, False, True, 1)]
    )


def test_a_pair_of_tags_encloses_the_words_that_attend_inside() -> None:
    # <b>1 2</b>, of which the translation has the words 2 and 1 at its end.
    (node,) = tags(1, 3)
    assert chooser([0, 3, 2, 1]).choose_range(node, 0, 4, (0, 4)) == (2, 4)


def test_a_pair_around_everything_stays_around_everything() -> None:
    (node,) = tags(0, 4)
    assert chooser([3, 2, 1, 0]).choose_range(node, 0, 4, (0, 4)) == (0, 4)


def test_gaps_are_filled_in_order() -> None:
    gaps: list[list[PlacedItem]] = [[] for _ in range(5)]
    fill_gaps(gaps, chooser([0, 1, 2, 3]), build_tree([item(1, "☺"), item(3, "☹", 1)]), 0, 4, (0, 4))
    assert [[placed.span.text for placed in gap] for gap in gaps] == [[], ["☺"], [], ["☹"], []]


STROKE = Span(0, 1, "/", SpanKind.SLASH, is_extracted=True)


@pytest.mark.parametrize(
    ("target", "source", "gap"),
    [("wir sehen hunde", 0, 1), ("wir sehen .", 4, 1), ("wir , sehen hunde", 1, 3), (". !", 2, 2), ("wir", 0, 0)],
)
def test_a_slash_stands_between_two_words_if_there_are_any(target: str, source: int, gap: int) -> None:
    assert choose_among(target, STROKE, source) == gap


def test_a_slash_stands_between_the_words_that_attend_to_those_beside_it() -> None:
    (node,) = build_tree([PlacedItem(STROKE, 2, 2, False, False, 0)])
    assert chooser([3, 1, 2, 0]).choose_range(node, 0, 4, (0, 4)) == (2, 2)


def test_a_final_mark_does_not_draw_a_pair() -> None:
    opening, closing = (Span(0, 1, "_", SpanKind.EMPHASIS, True, Pair("_", closes)) for closes in (False, True))
    (node,) = build_tree([PlacedItem(opening, 2, 2, True, False, 0), PlacedItem(closing, 3, 3, False, True, 1)])
    rows = np.array([[1, 0, 0, 0, 0], [0, 0.6, 0.4, 0, 0], [0, 0, 0.9, 0.1, 0]])
    units = [Unit(text, True, row) for text, row in zip(("er", "nicht", "."), rows, strict=True)]
    assert GapChooser(units, 4, flat=False).choose_range(node, 0, 3, (0, 4)) == (1, 2)


def test_a_span_never_parts_a_name_and_its_ending() -> None:
    rows = np.eye(5)
    units = [Unit("Tom", True, rows[1], 0), Unit("s", False, rows[2]), Unit("haus", True, rows[3])]
    assert GapChooser(units, 4, flat=False).choose_gap(item(2), 0, 3) != 1
