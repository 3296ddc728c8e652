"""Blanks around spans that are put into a translation, with units made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.spans import Pair, Span, SpanKind
from nmt_cli.translation.placement.marks import Mark, MarkNode, PlacedMark
from nmt_cli.translation.placement.spacing import PlacedItem, assemble_text, is_apart, join_items, join_units
from nmt_cli.translation.placement.traced_text import Position
from nmt_cli.translation.placement.units import Unit

POINT = Mark("point", 1, 1)


def unit(text: str, *, blank: bool) -> Unit:
    return Unit(text, blank, np.eye(3)[0])


def item(text: str, *, before: bool, after: bool, markup: bool = True) -> PlacedItem:
    (span,) = find_spans(text)
    assert span.is_markup is markup
    return PlacedItem(span, POINT, before, after)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [(True, True, " ☺ "), (True, False, " ☺"), (False, True, "☺ "), (False, False, "☺ ")],
)
def test_blanks_are_those_of_the_source_and_words_never_meet(before: bool, after: bool, text: str) -> None:
    joined = join_items(unit("geh", blank=False), [item("☺", before=before, after=after)], unit("jetzt", blank=True))
    assert joined == text


def test_without_items_the_blank_of_the_next_unit_stays() -> None:
    assert join_items(unit("geh", blank=False), [], unit("jetzt", blank=True)) == " "
    assert join_items(unit("geh", blank=False), [], unit(".", blank=False)) == ""


def test_no_blank_comes_behind_an_opening_bracket() -> None:
    assert join_items(unit("(", blank=True), [item("☺", before=True, after=False)], unit(")", blank=False)) == "☺"


def test_two_spans_that_stand_for_words_are_always_apart() -> None:
    words = [item(text, before=False, after=False, markup=False) for text in ("{x}", "{y}")]
    assert is_apart(*words)
    assert not is_apart(item("<b>", before=True, after=False), item("☺", before=False, after=True))


def test_a_text_is_assembled_from_units_and_items_and_knows_their_words() -> None:
    units = [Unit("geh", False, np.eye(3)[0]), Unit("jetzt", True, np.eye(3)[1])]
    text, ranges = join_units(units)
    assert text == "geh jetzt"
    items, node = [item("☺", before=True, after=True)], MarkNode(0, 0, 1, 1)
    for position, written in ((3, "geh ☺ jetzt"), (4, "geh ☺ jetzt"), (6, "geh je☺tzt"), (9, "geh jetzt ☺")):
        spaced = items if written != "geh je☺tzt" else [item("☺", before=False, after=False)]
        restored = assemble_text(units, ranges, spaced, [PlacedMark(node, Position(position, position))])
        assert restored.text == written
        assert next(written.split()[word] for word in restored.words) == "geh"


def test_a_span_that_stands_for_a_word_is_not_divided() -> None:
    units = [
        Unit("am", False, np.eye(3)[0]),
        Unit("3.", True, np.eye(3)[1], masked_span=0),
        Unit("?", False, np.eye(3)[2]),
    ]
    node, spaced = MarkNode(0, 0, 1, 1), [item("☺", before=True, after=True)]
    restored = assemble_text(units, join_units(units)[1], spaced, [PlacedMark(node, Position(4, 4))])
    assert restored.text == "am 3. ☺?"


def test_a_word_is_apart_from_the_bracket_that_closes_before_it() -> None:
    bracket = PlacedItem(Span(0, 1, ")", SpanKind.BRACKET, True, Pair(")", closes=True)), POINT, False, False)
    opening = bracket._replace(span=bracket.span._replace(text="(", pair=Pair(")", closes=False)), blank_before=True)
    assert join_items(unit("geh", blank=False), [opening, bracket], unit("jetzt", blank=True)) == " () "
    assert join_items(unit("geh", blank=False), [opening, bracket], unit(".", blank=False)) == " ()"
