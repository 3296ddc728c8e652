"""Tests of `carrying/prose_marks.py`.

Marks of emphasis are found in pairs around words, and nowhere else. References to notes are taken out of a text;
units and emphasis are none.
"""

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.prose_marks import EMPHASIS
from nmt_cli.carrying.spans import NO_CONTEXT, SpanKind
from nmt_cli.carrying.syntax import is_block_tag, parts_words


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
