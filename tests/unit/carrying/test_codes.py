"""Placeholders that wrap words are taken out as tags are, so that no word between them gets lost."""

import pytest
from unit.carrying.test_dialects import CONTEXT

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.spans import SpanKind


def find_wraps(text: str) -> list[str]:
    return [span.text for span in find_spans(text, CONTEXT, KINDS) if span.kind is SpanKind.WRAP]


@pytest.mark.parametrize(
    ("text", "wraps"),
    [
        ("I saw {0}the house{1}.", ["{0}", "{1}"]),
        ("I [X5X]saw[X12X] it", ["[X5X]", "[X12X]"]),
        ("%sdon't%s see {a}it{b}!", ["%s", "%s", "{a}", "{b}"]),
        ("{y:i}The house. [00:17.20]He is here", ["{y:i}", "[00:17.20]"]),
    ],
)
def test_placeholders_that_touch_words_are_taken_out(text: str, wraps: list[str]) -> None:
    assert find_wraps(text) == wraps


def test_the_two_of_a_pair_open_and_close() -> None:
    opening, closing = find_spans("I saw {0}the house{1}.", CONTEXT, KINDS)
    assert opening.pair is not None and closing.pair is not None
    assert opening.pair.name == closing.pair.name
    assert (opening.pair.closes, closing.pair.closes) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "{a} or {b}",
        "{width}x{height}",
        "{a}or {b}",
        "pre{a}the{b}",
        "{a}the{b}s",
        "{n}th",
        "{name}s house",
        "%dmb%s",
        "the {a}House",
    ],
)
def test_placeholders_that_stand_for_words_are_not(text: str) -> None:
    assert find_wraps(text) == []
