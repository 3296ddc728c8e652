"""Protected spans: which parts of a text they are, and where each begins and ends."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.prose_marks import EMPHASIS
from nmt_cli.carrying.spans import NO_CONTEXT, SpanKind
from nmt_cli.carrying.syntax import (
    find_placeholders,
    is_block_tag,
    parts_words,
    trim_address,
)
from support.names import CONTEXT
from support.spans import SPANS, lines_with_spans

DATA = "gattaca+" * 25  # 200 characters


def span_texts(text: str) -> list[str]:
    return [span.text for span in find_spans(text)]


@pytest.mark.parametrize("span", SPANS)
def test_every_kind_of_span_is_found_alone_and_in_a_sentence(span: str) -> None:
    assert "".join(span_texts(span)) == span
    assert "".join(span_texts(f"We saw {span}, and left.")) == span
    assert "".join(span_texts(f"({span})")) == span


@pytest.mark.parametrize(
    ("syntax", "placeholders"),
    [
        ("c", ["%s", "%5.2f", "%*d", "%lu", "%-10s", "%%"]),
        ("python", ["%(size)d", "{0!r:>8}", "{}"]),
        ("qt", ["%1", "%n", "%L2", "%Ln", "%12"]),
        ("ruby", ["%<size>.1f", "%{user}"]),
        ("boost", ["%|1$8|", "%2%"]),
        ("pascal", ["%0:s"]),
        ("lisp", ["~a", "~3D"]),
        ("shell", ["$USER", "${USER}"]),
        ("mustache", ["{{user}}", "{{{user}}}", "{{#items}}"]),
        ("i18next", ["$t(common.file)", "{{count, number}}"]),
        ("icu", ["{n, plural, one {# day} other {{n} days}}", "{0, number, percent}"]),
        ("time", ["%Y", "%H"]),
    ],
)
def test_the_placeholders_of_every_catalogue_syntax_are_spans(syntax: str, placeholders: list[str]) -> None:
    text = " and ".join(placeholders) + "."
    assert span_texts(text) == find_placeholders(text) == placeholders
    assert not any(span.is_extracted for span in find_spans(text))


@pytest.mark.parametrize(("text", "spans"), [("Copyright © Tom", ["Copyright"]), ("The copyright is his.", [])])
def test_the_formula_of_an_imprint_keeps_its_word(text: str, spans: list[str]) -> None:
    assert span_texts(text) == spans


def test_an_address_ends_before_the_marks_of_its_sentence() -> None:
    assert trim_address("https://en.wikipedia.org/wiki/Hund_(dog)).") == "https://en.wikipedia.org/wiki/Hund_(dog)"
    assert trim_address("https://x.org/?!") == "https://x.org/"


@given(lines_with_spans())
def test_what_is_found_stands_in_the_line_in_order_without_overlap(line: str) -> None:
    end_of_last = 0
    for span in find_spans(line):
        assert end_of_last <= span.start < span.end <= len(line)
        assert line[span.start : span.end] == span.text
        end_of_last = span.end


@pytest.mark.parametrize(
    "text", ["1.1", "1,", "1 000 ", "<a ", "<!--", "<a '\"", "{", "a.", "a@", "%", "&a", "😀\u200d", "http://", "a-"]
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    find_spans(text * (20_000 // len(text)))
    assert time.process_time() - started < 5  # hours, if the time grew with the square of the length or worse


# Messages of ICU, entries of menus, and references of HTML.


# Placeholders that wrap words are taken out as tags are, so that no word between them gets lost.


def test_the_two_of_a_pair_open_and_close() -> None:
    opening, closing = find_spans("I saw {0}the house{1}.", CONTEXT, KINDS)
    assert opening.pair is not None and closing.pair is not None
    assert opening.pair.name == closing.pair.name
    assert (opening.pair.closes, closing.pair.closes) == (False, True)


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
