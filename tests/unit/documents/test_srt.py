import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents.cues import CUE_LINE_END, balance_lines, fit_lines
from nmt_cli.errors import DataError
from nmt_cli.translation.result import Translation
from support.translations import aligned, backwards, converted, louder, same

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
    FILE.replace("where is <i>the station</i>,\nmy friend?", "WHERE IS <i>THE STATION</i>,\nMY FRIEND?")
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


def test_lines_that_are_sentences_stay_so_where_wrapping_would_join_them() -> None:
    raw, written = "Where is Tom?\r\nI love you.", "Wo ist Tom? Ich liebe dich."
    assert fit_lines(raw, written, CUE_LINE_END) == "Wo ist Tom?\r\nIch liebe dich."
    assert fit_lines("Where is\nTom? Here.", written, CUE_LINE_END) == "Wo ist Tom? Ich\nliebe dich."
    assert fit_lines(raw, "Wo ist Tom, den ich liebe?", CUE_LINE_END) == "Wo ist Tom,\r\nden ich liebe?"


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=7), st.integers(1, 4))
def test_wrapping_breaks_between_words_with_the_shortest_longest_line(words: list[str], count: int) -> None:
    lines = balance_lines(" ".join(words), count)
    assert " ".join(lines).split(" ") == words
    assert len(lines) <= count
    if count == 2 and len(words) > 1:
        ways = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
        assert max(map(len, lines)) == min(max(map(len, way)) for way in ways)


def cues(*texts: str) -> str:
    """A file with these texts, one second after the other."""
    return "\n".join(
        f"{number}\n00:00:0{number},000 --> 00:00:0{number},900\n{text}\n" for number, text in enumerate(texts, start=1)
    )


@pytest.mark.parametrize(
    ("cue", "texts"),
    [
        ("- one two,\nthree\n- four", ["one two, three", "four"]),
        ("one?\n- two", ["one?", "two"]),
        ("ANN: one\nMR. LEE: two\nthree", ["one", "two three"]),
        ("- BOB: one", ["one"]),
        (">> one\n>> two", ["one", "two"]),
        ("[music]\none two\nthree", ["[music]", "one two three"]),
        ("-5 degrees\nand falling", ["-5 degrees and falling"]),
        ("note: b\nseven", ["note: b seven"]),
    ],
)
def test_speakers_stay_apart_and_what_names_them_stays(cue: str, texts: list[str]) -> None:
    seen: list[str] = []

    def noted(text: str) -> Translation:
        seen.append(text)
        return same(text)

    assert converted("srt", cues(cue), noted)[0] == cues(cue)
    assert seen == texts


def test_a_sentence_over_two_cues_is_one_text_and_divided_again() -> None:
    seen: list[str] = []

    def noted(text: str) -> Translation:
        seen.append(text)
        return louder(text)

    text = cues("- Hello.\n- I know that you", "are here. Go", "now, please", "Ann!")
    written = converted("srt", text, noted)[0]
    assert seen == ["Hello.", "I know that you are here. Go now, please", "Ann!"]
    assert written == cues("- HELLO.\n- I KNOW THAT YOU", "ARE HERE. GO", "NOW, PLEASE", "ANN!")


def test_the_division_follows_the_words_not_their_number() -> None:
    def longer(text: str) -> Translation:
        words = text.split()
        return aligned(text, ["X", "X", "X", *map(str.upper, words)], [0, 0, 0, *range(len(words))])

    assert converted("srt", cues("We saw", "the old red house."), longer)[0] == cues(
        "X X X WE SAW", "THE OLD RED HOUSE."
    )


@pytest.mark.parametrize(
    "texts",
    [
        ("It rains.", "and snows."),
        ("It rains", "And snows"),
        ("it rains", "and snows"),
        ("<i>It rains", "and</i> snows"),
        ("It rains", "- and snows"),
        ("It rains", "1984", "and snows"),
        ("[It rains]", "and snows"),
    ],
)
def test_cues_that_do_not_go_on_are_translated_apart(texts: tuple[str, ...]) -> None:
    seen: list[str] = []

    def noted(text: str) -> Translation:
        seen.append(text)
        return same(text)

    assert converted("srt", cues(*texts), noted)[0] == cues(*texts)
    assert len(seen) == 2


@given(
    st.lists(
        st.lists(st.sampled_from(["Go", "now", "and", "then.", "so,"]), min_size=1, max_size=5), min_size=1, max_size=6
    )
)
def test_a_translator_that_returns_its_input_changes_no_word(texts: list[list[str]]) -> None:
    text = cues(*map(" ".join, texts))
    assert converted("srt", text, same)[0] == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<i>- We are <b>here</b>.</i>\n- Yes.", "<i>- WE ARE <b>HERE</b>.</i>\n- YES."),
        ("- I am so tired of it.\nSilence now.", "- I AM SO TIRED OF IT.\nSILENCE NOW."),
        ("{\\an8}- Go <i>on</i>.", "{\\an8}- GO <i>ON</i>."),
    ],
)
def test_a_turn_with_a_dash_keeps_its_tags_and_its_lines(text: str, written: str) -> None:
    film = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    assert converted("srt", film.format(text), same)[0] == film.format(text)
    assert converted("srt", film.format(text))[0] == film.format(written)
