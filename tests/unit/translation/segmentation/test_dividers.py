"""What frames the words on both sides comes back where it was, and the words are read as if they stood alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.segmentation.dividers import DIVIDERS, LABEL_AND_COLON, DividedLine, find_frames
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.segments import join_segments

READER = LineReader(LineOptions(), copies_placeholders=True)
BETWEEN = [
    "<br>",
    "\n",
    "\t",
    r" \n ",
    " | ",
    " |||| ",
    " ☐ ",
    " ____ ",
    " ..... ",
    " [x] ",
    " // ",
    " /* ",
    " */ ",
    "</p><p>",
    "     ",
    " » ",
]
TEXTS = [
    "It rains.",
    "it snows",
    "Does {name} sing?",
    "Tom sings <b>well</b>",
    "I am here",
    "<i>No.</i>",
    "3.5 km are left.",
]


def read(line: str) -> list[str]:
    """The pieces of a line; those that are translated in capitals."""
    return [piece.text.upper() if piece.is_translated else piece.unchanged for piece in READER.split_line(line)]


def copy(line: str) -> str:
    """The line that a network which returns its input would make."""
    pieces = READER.split_line(line)
    return "".join(join_segments([piece.segment for piece in pieces], [piece.unchanged for piece in pieces]))


@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(BETWEEN)), min_size=1, max_size=4),
    st.sampled_from(TEXTS),
)
def test_texts_between_frames_are_read_as_if_they_stood_alone(parts: list[tuple[str, str]], last: str) -> None:
    line = "".join(text + frame for text, frame in parts) + last
    texts = [*(text for text, _ in parts), last]
    assert [piece for piece in read(line) if piece.isupper()] == [
        piece for text in texts for piece in read(text) if piece.isupper()
    ]
    position = 0
    for _, frame in parts:
        position = line.index(frame.strip(), position) + len(frame.strip())
    assert "".join(copy(line).split()) == "".join(line.split())


@given(
    st.lists(
        st.sampled_from(
            [*TEXTS, *BETWEEN, "Note: ", "(SIGHS) ", "【NEW】", "--", " — ", "2. ", "b) ", "|", "a=", r"\t", "}", "{"]
        )
    ).map("".join)
)
def test_a_divider_finds_nothing_that_its_guard_refuses(text: str) -> None:
    for divider in DIVIDERS:
        assert re.search(divider.guard, text) or not list(divider.find(DividedLine(text, (), ("eng", "eng")))), (
            divider.name
        )


@pytest.mark.parametrize("mark", ["", "\u200b", "\u00ad", "\ufeff"], ids=ascii)
def test_a_colon_before_an_invisible_mark_is_that_of_a_label(mark: str) -> None:
    match = re.match(LABEL_AND_COLON, f"Total price:{mark} €3.50")
    assert match is not None and match["label"] == "Total price" and match["frame"] == f":{mark} "


def test_a_dash_between_words_that_training_lacks_is_part_of_a_code() -> None:
    texts = ("It rains--it snows", "Use xqz--vtr here")
    lines = [DividedLine(text, (), ("eng", "eng"), None, {"rains", "it"}.__contains__) for text in texts]
    assert [len(find_frames(line)) for line in lines] == [1, 0]


def test_many_unknown_tags_take_time_in_proportion() -> None:
    line = " ".join(f"tea <x{number}>" for number in range(8_000))  # took a minute
    assert len(read(line)) == 16_000


def test_the_hours_of_days_are_read_one_by_one() -> None:
    reader = LineReader(LineOptions(), copies_placeholders=True, languages=("eng", "deu"))
    texts = [piece.unchanged for piece in reader.split("Mon-Thu 8-16, Sat 9-12; Sun closed.")]
    assert texts == ["Mo-Do 8-16", ", ", "Sa 9-12", "; ", "So closed", "."]


def test_small_letters_behind_a_tag_begin_no_sentence() -> None:
    pieces = READER.split("See <h1>the rain</h1> now.<br>It rains.<br>it snows")
    assert [piece.segment.goes_on for piece in pieces if not piece.segment.is_frame] == [False, True, True, False, True]
