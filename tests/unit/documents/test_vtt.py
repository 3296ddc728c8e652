import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import DataError
from nmt_cli.translation.result import Translation
from support.documents import convert_bytes, echo_document, list_texts
from support.translations import Rule, aligned, backwards, converted, louder

FILM = """WEBVTT - made by hand
Kind: captions

STYLE
::cue(.shout) { color: red }

NOTE
This is for the translator --> only

intro
00:01.000 --> 00:02.500 align:start position:10%
<v Mary>Hello <c.shout>there</c> &amp; welcome,
my friends.

00:00:03.000 --> 00:00:04.000
- Who is there?
- It is <i>me</i>. Open!

00:00:05.000 --> 00:00:06.000\r
One <00:00:05.500>word at\r
a time\r
\r
12
00:00:07.000 --> 00:00:08.000
♪ 1 2 3 ♪

00:00:09.000 --> 00:00:10.000

00:00:11.000 --> 00:00:12.000
The last line"""


def test_a_film_stays_byte_for_byte_where_the_translation_equals_the_text() -> None:
    for film in (FILM, FILM + "\n", "\ufeff" + FILM, "WEBVTT", "WEBVTT\n\n00:01.000 --> 00:02.000\nword"):
        assert echo_document("vtt", film.encode()) == film.encode()


def test_only_cues_are_translated() -> None:
    assert list_texts("vtt", FILM.encode()) == [
        "Hello there & welcome, my friends.",
        "Who is there?",
        "It is me. Open!",
        "One word at a time",
        "The last line",
    ]
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


def test_what_is_no_subtitle_is_refused() -> None:
    with pytest.raises(DataError, match="it is not WebVTT"):
        convert_bytes("vtt", b"1\n00:00:01,000 --> 00:00:02,000\nx\n", louder)


@given(
    st.lists(
        st.sampled_from(
            [
                "\n",
                "\r\n",
                "00:01.000 --> 00:02.000\n",
                "NOTE x\n",
                "a b\n",
                "- c.\n",
                "<i>d</i> e\n",
                "<v F>f &lt; g\n",
                "STYLE\n",
                "<b>h\n",
                "i</b> j",
                "1\n",
                "Bob: k\r\n",
                "é &nbsp;l\n",
                "a  >  b\n",
                "word " * 12 + "\n",
            ]
        )
    )
)
def test_any_film_stays_byte_for_byte(lines: list[str]) -> None:
    film = "WEBVTT\n\n" + "".join(lines)
    assert echo_document("vtt", film.encode()) == film.encode()
    for rule in (louder, backwards):
        assert convert_bytes("vtt", film.encode(), rule).count(b" --> ") == film.count(" --> ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nOne two. Three <i>four.\nFive</i>.\n"),
        ("html", "<p>One two. Three <i>four.\nFive</i>.</p>"),
    ],
)
def test_a_paragraph_of_sentences_is_one_text_that_the_translator_splits(name: str, text: str) -> None:
    assert list_texts(name, text.encode()) == ["One two. Three four. Five."]


def test_subtitles_keep_their_breaks_where_the_words_are_as_many() -> None:
    film = "1\n00:00:01,000 --> 00:00:02,000\nWe were here\nfor a long time, you know. And\n{}\n\n"
    film = film.format("<i>then</i> we left") + film.replace("1", "2", 1).format("we <b>stayed</b> on")
    assert echo_document("srt", film.encode()) == film.encode()


def test_subtitles_keep_the_line_end_of_each_line() -> None:
    film = "1\r\n00:00:01,000 --> 00:00:02,000\r\nOne two.\r\n\r\n2\n00:00:03,000 --> 00:00:04,000\nThree\nfour.\n\n"
    written, _ = converted("srt", film)
    assert written == film.replace("One two", "ONE TWO").replace("Three\nfour", "THREE\nFOUR")
