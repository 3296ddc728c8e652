"""Protected spans: which parts of a text they are, and where each begins and ends."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from nmt_cli.text.spans import find_spans, trim_address
from support.spans import SPANS, lines_with_spans


def span_texts(text: str) -> list[str]:
    return [span.text for span in find_spans(text)]


@pytest.mark.parametrize("span", SPANS)
def test_every_kind_of_span_is_found_alone_and_in_a_sentence(span: str) -> None:
    assert "".join(span_texts(span)) == span
    assert "".join(span_texts(f"We saw {span}, and left.")) == span
    assert "".join(span_texts(f"({span})")) == span


@pytest.mark.parametrize(
    "text",
    [
        "I have 3 dogs.",
        "5 A students in the 90s",
        "3 < 4 and 5 > 2, I <3 you",
        "Wait... e.g. this, i.e. that. End.In a word.",
        "a <- b -> c",
        "Where is it? At home: now!",
        "100 Jahre, 2 in the morning",
        "Käse & Brot; @ home, #1",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert span_texts(text) == []


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("See https://a.org/b_(c)), or mail x@y.de!", ["https://a.org/b_(c)", "x@y.de"]),
        ("访问https://a.com谢谢。价格5kg的", ["https://a.com", "5kg"]),
        ("https://zh.wikipedia.org/wiki/中文。", ["https://zh.wikipedia.org/wiki/中文"]),
        ('<a title="x > y">z</a>', ['<a title="x > y">', "</a>"]),
        ("It costs $1.5M or 1.234,56 EUR, 50 % off", ["$1.5M", "1.234,56 EUR", "50 %"]),
        ("{a}{b} and %s%d", ["{a}{b}", "%s%d"]),
        ("50% discount, 100 %ige Lösung", ["50%"]),
        ("⟦3⟧ and ⟦12⟧", ["⟦3⟧"]),
    ],
)
def test_where_a_span_begins_and_ends(text: str, spans: list[str]) -> None:
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
    started = time.monotonic()
    find_spans(text * (20_000 // len(text)))
    assert time.monotonic() - started < 5  # hours, if the time grew with the square of the length or worse
