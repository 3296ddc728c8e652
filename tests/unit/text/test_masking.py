from __future__ import annotations

import time

import pytest
from hypothesis import given

from nmt_cli.text.masking import MaskedText, limit_spans, mask, mask_pair
from nmt_cli.text.normalise import normalise
from nmt_cli.text.spans import find_spans, trim_address
from nmt_cli.text.symbols import PLACEHOLDERS
from support.spans import SPANS, lines_with_spans


def found(text: str) -> list[str]:
    return [span.text for span in find_spans(text)]


@pytest.mark.parametrize("span", SPANS)
def test_every_kind_of_span_is_found_alone_and_in_a_sentence(span: str) -> None:
    assert "".join(found(span)) == span
    assert "".join(found(f"We saw {span}, and left.")) == span
    assert "".join(found(f"({span})")) == span


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
    assert found(text) == []


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
    assert found(text) == spans


def test_an_address_ends_before_the_marks_of_its_sentence() -> None:
    assert trim_address("https://en.wikipedia.org/wiki/Hund_(dog)).") == "https://en.wikipedia.org/wiki/Hund_(dog)"
    assert trim_address("https://x.org/?!") == "https://x.org/"


@given(lines_with_spans())
def test_what_is_found_stands_in_the_line_in_order_without_overlap(line: str) -> None:
    place = 0
    for span in find_spans(line):
        assert place <= span.start < span.end <= len(line)
        assert line[span.start : span.end] == span.text
        place = span.end


def unmask(masked: MaskedText) -> str:
    """The text with every span in its place again, by offsets alone; without blanks, which masking may set."""
    text, shift = masked.text, 0
    for one in masked.extracted:
        text = text[: one.offset + shift] + one.span.text + text[one.offset + shift :]
        shift += len(one.span.text)
    for number, span in enumerate(masked.masked):
        assert masked.text.count(PLACEHOLDERS[number]) == 1
        text = text.replace(PLACEHOLDERS[number], span.text, 1)
    return "".join(text.split())


@given(lines_with_spans())
def test_masking_loses_nothing_but_blanks(line: str) -> None:
    line = normalise(line)
    spans = limit_spans(find_spans(line))
    if not any("⟦" in span.text or "\ufdd0" in line for span in spans):
        assert unmask(mask(line, spans)) == "".join(line.replace("\ufdd0", "").split())


def test_markup_is_taken_out_and_words_stay_apart_only_where_it_parted_them() -> None:
    def text(line: str) -> str:
        return mask(line, find_spans(line)).text

    assert text("the <b>red</b> house") == "the red house"
    assert text("H<sub>2</sub>O") == "H2O"
    assert text("one<br>two") == "one two"
    assert text("Hi 😀 you") == "Hi you"


def test_a_pair_is_masked_where_both_sides_agree() -> None:
    assert mask_pair("Pay 5 € at x.com, Tom.", "Zahl bei x.com 5 €, Tom.") == (
        "Pay ⟦0⟧ at ⟦1⟧, Tom.",
        "Zahl bei ⟦1⟧ ⟦0⟧, Tom.",
    )
    assert mask_pair("a <b>c</b>", "<b>d</b> e") == ("a c", "d e")
    assert mask_pair("5 kg and 6 kg", "7 kg") == ("5 kg and 6 kg", "7 kg")


def test_a_placeholder_in_the_text_of_one_side_is_not_taken_for_one_of_ours() -> None:
    assert mask_pair("what is ⟦3⟧?", "nichts") == ("what is [3]?", "nichts")
    assert mask_pair("⟦5⟧ is 10 km", "es sind 10 km") == ("[5] is ⟦0⟧", "es sind ⟦0⟧")


def test_a_pair_of_nothing_but_markup_stays() -> None:
    assert mask_pair("<b></b>", "<b></b>") == ("<b></b>", "<b></b>")


def test_more_spans_than_placeholders_leave_the_rest_in_the_text() -> None:
    text = " ".join(f"{{{name}}}" for name in "abcdefghijkl")
    source, target = mask_pair(text, text)
    assert source == target == " ".join([*PLACEHOLDERS, "{k}", "{l}"])


@pytest.mark.parametrize(
    "text", ["1.1", "1,", "1 000 ", "<a ", "<!--", "<a '\"", "{", "a.", "a@", "%", "&a", "😀\u200d", "http://", "a-"]
)
def test_no_text_takes_long(text: str) -> None:
    started = time.monotonic()
    find_spans(text * (20_000 // len(text)))
    assert time.monotonic() - started < 5  # hours, if the time grew with the square of the length or worse
