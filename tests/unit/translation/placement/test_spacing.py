"""Blanks around spans that are put into a translation, with units made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.spans import Pair, Span, SpanKind
from nmt_cli.translation.placement.spacing import assemble_text, is_apart, join_items
from nmt_cli.translation.placement.tag_tree import PlacedItem, build_tree
from nmt_cli.translation.placement.units import Unit


def unit(text: str, *, blank: bool) -> Unit:
    return Unit(text, blank, np.eye(3)[0])


def item(text: str, *, before: bool, after: bool, markup: bool = True, order: int = 0) -> PlacedItem:
    (span,) = find_spans(text)
    assert span.is_markup is markup
    return PlacedItem(span, 1, 1, before, after, order)


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
    text, words = assemble_text(units, build_tree([item("☺", before=True, after=True)]), 2, flat=False)
    assert text == "geh ☺ jetzt"
    assert words == (0, 2)


def test_a_word_is_apart_from_the_bracket_that_closes_before_it() -> None:
    bracket = PlacedItem(Span(0, 1, ")", SpanKind.BRACKET, True, Pair(")", closes=True)), 1, 1, False, False, 0)
    opening = bracket._replace(span=bracket.span._replace(text="(", pair=Pair(")", closes=False)), blank_before=True)
    assert join_items(unit("geh", blank=False), [opening, bracket], unit("jetzt", blank=True)) == " () "
    assert join_items(unit("geh", blank=False), [opening, bracket], unit(".", blank=False)) == " ()"
