"""Which placeholder stands for which span, with attention made by hand."""

import numpy as np
import pytest

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.masking import mask
from nmt_cli.translation.placement.span_placement import choose_slots, find_placeholder_positions, name_units
from nmt_cli.translation.placement.units import Unit


def unit(text: str, position: int, weight: float = 1.0, *, blank: bool = True) -> Unit:
    """A unit that attends to one of four source positions with this weight, and evenly to the others."""
    attention = np.full(4, (1 - weight) / 3)
    attention[position] = weight
    return Unit(text, blank, attention)


def test_a_placeholder_stands_for_the_span_of_its_number() -> None:
    assert choose_slots([unit("geh", 0), unit("⟦0⟧", 2)], [2]) == {0: 1}


def test_of_two_placeholders_the_one_that_attends_to_the_span_is_chosen() -> None:
    assert choose_slots([unit("⟦0⟧", 0, 0.9), unit("⟦0⟧", 2, 0.9)], [2]) == {0: 1}


def test_a_wrong_placeholder_counts_only_if_it_attends_to_the_missing_span() -> None:
    assert choose_slots([unit("⟦5⟧", 2, 0.31)], [2]) == {0: 0}
    assert choose_slots([unit("⟦5⟧", 2, 0.29)], [2]) == {}


def test_one_placeholder_is_never_taken_for_two_spans() -> None:
    assert choose_slots([unit("⟦1⟧", 1)], [1, 1]) == {1: 0}


def test_a_placeholder_beyond_what_was_read_counts_as_at_the_end() -> None:
    masked = mask("a {x} b {y}", find_spans("a {x} b {y}"))
    assert find_placeholder_positions(masked, ["a", "⟦0⟧", "b", "</s>"]) == [1, 3]


def test_units_get_the_text_of_their_spans_and_lose_other_placeholders() -> None:
    masked = mask("go {x} now", find_spans("go {x} now"))
    units = [unit("geh", 0, blank=False), unit("⟦7⟧", 2), unit("⟦0⟧", 1), unit(".", 3, blank=False)]
    named = list(name_units(units, {0: 2}, masked, [1]))
    assert [named_unit.text for named_unit in named] == ["geh", "{x}", "."]
    assert [named_unit.masked_span for named_unit in named] == [None, 0, None]
    assert named[1].attention.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("source", "before", "blank"),
    [
        ("My {x} met.", "Mein", True),  # two words: one was glued to the other
        ("My{x} met.", "Mein", False),  # as in the source
        ("To {x} now.", "ל", False),  # a prefix
        ("Now l'{x}.", "'", False),
        ("我的 {x}", "我的", False),  # no blanks between words
    ],
)
def test_a_word_is_not_glued_to_a_span_that_stood_apart(source: str, before: str, blank: bool) -> None:
    masked = mask(source, find_spans(source))
    units = [unit(before, 0), unit("⟦0⟧", 1, blank=False)]
    assert [named.blank_before for named in name_units(units, {0: 1}, masked, [1])] == [True, blank]
