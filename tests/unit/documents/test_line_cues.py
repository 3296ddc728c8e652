"""Subtitles and lyrics with a cue on each line: Advanced SubStation, MicroDVD and LRC."""

import pytest

from support.documents import convert_bytes, echo_document, list_texts
from support.translations import aligned, louder

ASS = r"""[Script Info]
Title: not this
[V4+ Styles]
Style: Default,Arial,20
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,Not This,0,0,0,,{\i1}One thing{\i0}, and\Nanother.
Comment: 0,0:00:02.00,0:00:03.00,Default,,0,0,0,,not this
Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\an8\p1}m 0 0 l 100 0{\p0}
Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,- Who?\N- Me.
"""
MICRODVD = """{100}{150}One thing,|and another.
{160}{200}{y:i}Loud words{y:b} here
{210}{250}- Who?|- Me.
"""
LYRICS = """[ar:Not This]
[00:12.00]One line here.
[00:17.20][01:17.20]Another <00:18.00>one.
[00:20.00]
"""
CUE_FILES = {"ass": ASS, "microdvd": MICRODVD, "lrc": LYRICS}


@pytest.mark.parametrize("name", CUE_FILES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_stays_byte_for_byte_where_the_translation_equals_the_text(name: str, line_end: str, mark: str) -> None:
    data = (mark + CUE_FILES[name].replace("\n", line_end)).encode()
    assert echo_document(name, data) == data


def test_only_what_is_said_or_sung_is_translated() -> None:
    assert list_texts("ass", ASS.encode()) == ["One thing, and another.", "Who?", "Me."]
    assert list_texts("microdvd", MICRODVD.encode()) == ["One thing, and another.", "Loud words here", "Who?", "Me."]
    assert list_texts("lrc", LYRICS.encode()) == ["One line here.", "Another one."]


@pytest.mark.parametrize(("name", "line_end"), [("ass", "\\N"), ("microdvd", "|")])
def test_a_cue_keeps_the_number_of_its_lines(name: str, line_end: str) -> None:
    start = {"ass": "Dialogue: 0,a,b,c,,0,0,0,,", "microdvd": "{1}{2}"}[name]
    text = f"{start}It{line_end}rains".encode()
    written = convert_bytes(name, text, lambda source: aligned(source, ["x"] * 9, [1] * 9)).decode()
    assert written == f"{start}x x x x x{line_end}x x x x"
    assert convert_bytes(name, text, louder).decode() == f"{start}IT{line_end}RAINS"
