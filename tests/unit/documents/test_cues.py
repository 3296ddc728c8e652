import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents.cues import CUE_LINE_END, balance_lines, fit_lines
from nmt_cli.errors import DataError
from nmt_cli.translation.result import Translation
from support.documents import convert_bytes, echo_document, list_texts, read_sample
from support.translations import Rule, aligned, backwards, converted, louder, same

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


def test_numbers_times_tags_and_line_ends_stay_and_two_lines_stay_two() -> None:
    assert converted("srt", FILE) == (EXPECTED, {})
    written, _ = converted("srt", "\ufeff" + FILE.replace("\n", "\r\n"))
    assert written == "\ufeff" + EXPECTED.replace("\n", "\r\n")


def test_a_line_may_end_as_in_other_subtitles_and_numbers_around_a_text_are_of_cues() -> None:
    times = "00:00:01,000 --> 00:00:02,000\n"
    text = f"1\n{times}one\\Ntwo\n\n2\n{times}one\ntwo\n\n3\n{times}\n4\n{times}7\ntwo\n\n5\n"
    assert converted("srt", text) == (text.replace("one", "ONE").replace("two", "TWO"), {})


def test_what_holds_no_cue_is_refused() -> None:
    with pytest.raises(DataError, match="there is no cue"):
        converted("srt", "just text\n")
    with pytest.raises(DataError, match="this is not WebVTT"):
        converted("vtt", "1\n00:00:01,000 --> 00:00:02,000\nx\n")
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


def test_the_division_follows_the_words_not_their_number() -> None:
    def longer(text: str) -> Translation:
        words = text.split()
        return aligned(text, ["X", "X", "X", *map(str.upper, words)], [0, 0, 0, *range(len(words))])

    assert converted("srt", cues("We saw", "the old red house."), longer)[0] == cues(
        "X X X WE SAW", "THE OLD RED HOUSE."
    )


@given(
    st.lists(
        st.lists(st.sampled_from(["Go", "now", "and", "then.", "so,"]), min_size=1, max_size=5), min_size=1, max_size=6
    )
)
def test_a_translator_that_returns_its_input_changes_no_word(texts: list[list[str]]) -> None:
    text = cues(*map(" ".join, texts))
    assert converted("srt", text, same)[0] == text


FILM = read_sample("vtt")


def test_a_film_stays_byte_for_byte_where_the_translation_equals_the_text() -> None:
    for film in (FILM, FILM + "\n", "\ufeff" + FILM, "WEBVTT", "WEBVTT\n\n00:01.000 --> 00:02.000\nword"):
        assert echo_document("vtt", film.encode()) == film.encode()


def test_only_cues_are_translated() -> None:
    written = convert_bytes("vtt", FILM.encode(), louder).decode()
    assert "<v Mary>HELLO <c.shout>THERE</c> &amp; WELCOME,\nMY FRIENDS.\n\n" in written
    assert "- WHO IS THERE?\n- IT IS <i>ME</i>. OPEN!\n" in written


def test_a_translation_has_as_many_lines_as_its_cue() -> None:
    film = "WEBVTT\n\n00:01.000 --> 00:02.000\nWe have been here\r\nfor a long time\n"
    words = "Wir sind schon seit einer sehr langen Zeit genau hier".split()
    rule: Rule = lambda text: aligned(text, words, [0, 2, 1, 4, 5, 5, 6, 7, 3, 3])  # noqa: E731
    written = convert_bytes("vtt", film.encode(), rule).decode()
    assert written.split("2.000\n")[1] == "Wir sind schon seit einer\r\nsehr langen Zeit genau hier\n"


LONG_SENTENCE = """WEBVTT

1
00:01.000 --> 00:02.000 align:start
<v Mary>We have been here

NOTE between two cues

00:02.000 --> 00:03.000 line:0
<v Mary>for a very long time &amp;
we would like to

00:03.000 --> 00:04.000
<v Mary>stay. Or not.

00:04.000 --> 00:05.000
<i>Where is</i>

00:05.000 --> 00:06.000
<b>he?</b>

00:06.000 --> 00:07.000
- So he said, and

00:07.000 --> 00:08.000
<v Tom>went away
"""


def test_a_sentence_over_cues_is_translated_as_one_and_divided_again() -> None:
    assert list_texts("vtt", LONG_SENTENCE.encode()) == [
        "We have been here for a very long time & we would like to stay. Or not.",
        *("Where is", "he?", "So he said, and", "went away"),  # in other tags, by another speaker
    ]
    for film in (LONG_SENTENCE, LONG_SENTENCE.replace("\n", "\r\n")):
        assert echo_document("vtt", film.encode()) == film.encode()
    written = convert_bytes("vtt", LONG_SENTENCE.encode(), louder).decode()
    assert "<v Mary>FOR A VERY LONG TIME &amp;\nWE WOULD LIKE TO\n\n" in written
    assert "align:start\n<v Mary>WE HAVE BEEN HERE\n\nNOTE between two cues\n" in written
    words = "Wir würden gern bleiben, denn wir sind sehr lange hier gewesen. Oder nicht.".split()

    def reorder(text: str) -> Translation:
        return aligned(text, words, [9, 10, 11, 12, 1, 0, 1, 5, 6, 3, 2, 15, 16]) if "&" in text else louder(text)

    written = convert_bytes("vtt", LONG_SENTENCE.encode(), reorder).decode()
    assert " ".join(re.sub(r"(?m)^(?!<v Mary>|[a-zA-Zü ,.]+$).*$", "", written).split()).count("<v Mary>") == 3
    assert "hier gewesen.\n\n" in written and "<v Mary>Oder nicht.\n" in written


LINES = [
    *("\n", "\r\n", "00:01.000 --> 00:02.000\n", "NOTE x\n", "a b\n", "- c.\n", "<i>d</i> e\n", "<v F>f &lt; g\n"),
    *("STYLE\n", "<b>h\n", "i</b> j", "1\n", "Bob: k\r\n", "é &nbsp;l\n", "a  >  b\n", "word " * 12 + "\n"),
]


@given(st.lists(st.sampled_from(LINES)))
def test_any_film_stays_byte_for_byte(lines: list[str]) -> None:
    film = "WEBVTT\n\n" + "".join(lines)
    assert echo_document("vtt", film.encode()) == film.encode()
    for rule in (louder, backwards):
        assert convert_bytes("vtt", film.encode(), rule).count(b" --> ") == film.count(" --> ")


def test_subtitles_keep_their_breaks_where_the_words_are_as_many_and_the_line_end_of_each_line() -> None:
    film = "1\n00:00:01,000 --> 00:00:02,000\nWe were here\nfor a long time, you know. And\n{}\n\n"
    film = film.format("<i>then</i> we left") + film.replace("1", "2", 1).format("we <b>stayed</b> on")
    assert echo_document("srt", film.encode()) == film.encode()
    film = "1\r\n00:00:01,000 --> 00:00:02,000\r\nOne two.\r\n\r\n2\n00:00:03,000 --> 00:00:04,000\nThree\nfour.\n\n"
    written, _ = converted("srt", film)
    assert written == film.replace("One two", "ONE TWO").replace("Three\nfour", "THREE\nFOUR")


@pytest.mark.parametrize(("name", "line_end"), [("ass", "\\N"), ("microdvd", "|")])
def test_a_cue_keeps_the_number_of_its_lines(name: str, line_end: str) -> None:
    start = {"ass": "Dialogue: 0,a,b,c,,0,0,0,,", "microdvd": "{1}{2}"}[name]
    text = f"{start}It{line_end}rains".encode()
    written = convert_bytes(name, text, lambda source: aligned(source, ["x"] * 9, [1] * 9)).decode()
    assert written == f"{start}x x x x x{line_end}x x x x"
    assert convert_bytes(name, text, louder).decode() == f"{start}IT{line_end}RAINS"
