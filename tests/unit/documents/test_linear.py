"""The work on a paragraph grows with its length, however many marks it has: counted in calls."""

import time
from collections.abc import Callable
from functools import partial

import pytest

from nmt_cli.documents.marks import InlineItem, ParagraphSegment, make_text
from nmt_cli.translation.result import Translation
from support.archives import make_ods
from support.calls import count_calls
from support.documents import convert_bytes
from support.translations import Rule, aligned, converted, louder, same

SHORT, LONG = 500, 2_000  # characters
SLACK = 1.25  # over the ratio of the lengths


def cut_short(text: str) -> Translation:
    """The first words in capitals, as of a network that stopped early: nothing comes from the other words."""
    words = text.upper().split()[:2]
    return aligned(text, words, range(len(words)))


@pytest.mark.parametrize("rule", [louder, cut_short])
@pytest.mark.parametrize(
    ("name", "atom"),
    [
        *(("md", atom) for atom in ("*a*", "*a* ", "**a** b ", "`a` ", "a<x>", "-<x>", "<b>a</b>", "[a](b) ")),
        *(("html", atom) for atom in ("<b>a</b>", "<b>a</b> ", "a<img>", "-<img>", "a <img> ", "<a>b</a>")),
    ],
)
def test_calls_grow_with_the_length_of_a_paragraph(name: str, atom: str, rule: Rule) -> None:
    require_linear(lambda length: converted(name, "We go: " + atom * (length // len(atom)), rule))


@pytest.mark.parametrize("atom", ['a="x" ', 'title="x" '])
def test_calls_grow_with_the_attributes_of_a_tag(atom: str) -> None:
    require_linear(lambda length: converted("html", f"<p {atom * (length // len(atom))}>We go</p>"))


def test_time_grows_with_the_pieces_of_code_of_a_paragraph() -> None:
    def name_all(number: int) -> float:
        code = InlineItem("code", ("<code>x</code>",))
        segment = ParagraphSegment([make_text("We go to the house. " * number, ()), *[code] * number])
        started = time.process_time()
        assert len(segment.code_names) == number
        return time.process_time() - started

    assert name_all(8_000) < 4 * 16 * max(name_all(500), 0.001)  # 256 times as long if each searched the text


def test_calls_grow_with_the_sheets_of_a_file() -> None:
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    row = f"<table:table-row>{cell}</table:table-row>"
    before = f"{row.format('1')}</table:table><table:table>"

    def convert(length: int) -> None:
        convert_bytes("ods", make_ods(before * (length // 20) + row.format("text")), same, column="text")

    require_linear(convert)


def require_linear(convert: Callable[[int], object]) -> None:
    """Fails if converting LONG characters takes more calls than those of SHORT ones suggest."""
    convert(SHORT // 8)  # compiles patterns, and loads modules
    short, long = (count_calls(partial(convert, length)) for length in (SHORT, LONG))
    assert long <= SLACK * LONG / SHORT * short
