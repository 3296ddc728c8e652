from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents.srt import wrap_text
from nmt_cli.errors import DataError
from support.translations import backwards, converted

FILE = """1
00:00:01,000 --> 00:00:02,500 X1:10 Y1:20
where is <i>the station</i>,
my friend?

2
0:00:03.000 --> 00:00:04,000
- are you well?
- yes

7
00:00:05,000 --> 00:00:06,000
{\\an8}it is raining


8
00:00:07,000 --> 00:00:08,000

9
00:00:09,000 --> 00:00:10,000
1984"""
EXPECTED = (
    FILE.replace("where is <i>the station</i>,\nmy friend?", "WHERE IS <i>THE\nSTATION</i>, MY FRIEND?")
    .replace("are you well?", "ARE YOU WELL?")
    .replace("yes", "YES")
    .replace("it is raining", "IT IS RAINING")
)


def test_numbers_times_and_tags_stay_and_two_lines_stay_two() -> None:
    assert converted("srt", FILE) == (EXPECTED, {})


def test_windows_line_ends_and_a_byte_order_mark_stay() -> None:
    assert converted("srt", "\ufeff" + FILE.replace("\n", "\r\n"))[0] == "\ufeff" + EXPECTED.replace("\n", "\r\n")


def test_the_lines_of_a_cue_are_one_text() -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    assert converted("srt", cue.format("one two\nthree four"), backwards)[0] == cue.format("FOUR THREE\nTWO ONE")


@pytest.mark.parametrize("behind", ["", "\n", "\n\n", "\n\n8", "\n\n8\n"])
def test_a_number_at_the_end_of_the_last_cue_is_its_own(behind: str) -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\n{}" + behind
    assert converted("srt", cue.format("born in\n1984"), backwards)[0] == cue.format("1984 IN\nBORN")


@pytest.mark.parametrize("tag", ['<font color="#ff ff">', "{\\pos(192, 220)}"])
def test_no_line_ends_inside_a_tag(tag: str) -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    assert converted("srt", cue.format(f"{tag}go\nnow"))[0] == cue.format(f"{tag}GO\nNOW")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_line_of_blanks_between_cues_stays(line_end: str) -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\none two\nthree\n \t\n2\n00:00:03,000 --> 00:00:04,000\nfour\n"
    text = text.replace("\n", line_end)
    expected = text.replace("one two", "ONE TWO").replace("three", "THREE").replace("four", "FOUR")
    assert converted("srt", text)[0] == expected


def test_a_cue_that_is_not_found_again_is_told_and_does_not_touch_the_next() -> None:
    times = "00:00:01,000 --> 00:00:02,000\n"
    written, notes = converted("srt", f"1\n{times}one\\Ntwo\n\n2\n{times}one\ntwo\n")
    assert written == f"1\n{times}one\\Ntwo\n\n2\n{times}ONE\nTWO\n"
    assert list(notes.values()) == [1]


def test_what_holds_no_cue_is_refused() -> None:
    with pytest.raises(DataError, match="there is no cue"):
        converted("srt", "just text\n")
    assert converted("srt", "")[0] == ""


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=7), st.integers(1, 4))
def test_wrapping_breaks_between_words_with_the_shortest_longest_line(words: list[str], count: int) -> None:
    lines = wrap_text(" ".join(words), count)
    assert " ".join(lines).split(" ") == words
    assert len(lines) <= count
    if count == 2 and len(words) > 1:
        ways = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
        assert max(map(len, lines)) == min(max(map(len, way)) for way in ways)
