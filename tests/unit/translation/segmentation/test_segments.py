"""Tests of `translation/segmentation/segments.py`.

Where sentences end, in a table of twelve languages that was labelled by hand; `|` parts the sentences.
"""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.text.characters import FULL_STOPS
from nmt_cli.translation.segmentation.segments import Segment, cut, ends_with_mark, find_sentence_starts, join_segments
from support.final_marks import ENDED
from support.spans import lines_with_spans


def texts(line: str, most_words: int) -> list[str]:
    return [segment.text.strip() for segment in cut(line, find_spans(line), most_words, "eng")]


def test_a_line_that_fits_stays_whole() -> None:
    line = "One two. Three four."
    assert [part.text for part in cut(line, [], 4, by_sentence=False)] == [line]
    assert [part.text.strip() for part in cut(line, [], 3, by_sentence=False)] == ["One two.", "Three four."]


def test_touching_spans_are_cut_apart_where_they_are_too_many() -> None:
    line = "".join(f"<b>{{{number}}}</b>" for number in range(25))
    assert [sum(not span.is_extracted for span in part.spans) for part in cut(line, find_spans(line), 1000)] == [
        10,
        10,
        5,
    ]


def test_a_long_sentence_is_cut_behind_clauses_then_words_then_characters() -> None:
    assert texts("one two three, four five six, seven.", 6) == ["one two three, four five six,", "seven."]
    assert texts("one two three four five", 2) == ["one two", "three four", "five"]
    assert all(len(part) <= 30 for part in texts("ab" * 90, 2))


@pytest.mark.parametrize("part", ["?!", ".", '".', "see http://a.de/x and ", "a. ", "5 km "])
def test_a_line_of_ten_thousand_equal_things_takes_as_long_as_any_other(part: str) -> None:
    """Work that grew with the square of its length would take minutes."""
    line = (part * 10_000).rstrip()
    assert "".join(segment.text for segment in cut(line, find_spans(line), 50)) == line


def test_nothing_is_cut_inside_a_span() -> None:
    line = "x {a b c d} y <a title='one two. Three'>z</a>"
    assert texts(line, 1) == ["x", "{a b c d}", "y", "<a title='one two. Three'>", "z</a>"] or all(
        "{a b c d}" in part or "{" not in part for part in texts(line, 1)
    )


def test_no_segment_has_more_carried_spans_than_there_are_placeholders() -> None:
    line = " ".join(f"{{{number}}}" for number in range(35))
    segments = cut(line, find_spans(line), 1000)
    assert [len(segment.spans) for segment in segments] == [10, 10, 10, 5]


@given(line=lines_with_spans(), most_words=st.integers(1, 6))
def test_segments_hold_all_of_a_line_and_all_its_spans(line: str, most_words: int) -> None:
    spans = find_spans(line)
    segments = cut(line, spans, most_words)
    assert "".join("".join(segment.text for segment in segments).split()) == "".join(line.split())
    assert [span.text for segment in segments for span in segment.spans] == [span.text for span in spans]
    for segment in segments:
        assert all(segment.text[span.start : span.end] == span.text for span in segment.spans)


def test_ten_thousand_words_are_cut_in_short_segments() -> None:
    segments = cut("word " * 9_999 + "end.", [], 50)
    assert len(segments) == 200 and all(len(segment.text.split()) == 50 for segment in segments)


def joined(line: str, translations: list[str], most_words: int) -> str:
    return "".join(join_segments(cut(line, [], most_words), translations))


def test_translations_are_joined_as_their_script_wants() -> None:
    assert joined("One two. Three four.", ["Eins zwei.", "Drei vier."], 2) == "Eins zwei. Drei vier."
    assert joined("一二三四。五六七八。", ["One.", "Two."], 3) == "One. Two."
    assert joined("One two. Three four.", ["一二。", "三四。"], 2) == "一二。三四。"
    assert joined("One two. Three four.", ["", "Drei."], 2) == "Drei."
    assert joined("一二三四。五六七八。", ["वह।", "घर।"], 3) == "वह। घर।"
    assert joined("One two. Three four.", ["一二。", "「三四。」"], 2) == "一二。「三四。」"


def test_a_part_of_a_sentence_gets_no_full_stop_of_its_own() -> None:
    assert joined("one two, three four", ["Eins zwei.", "drei vier."], 2) == "Eins zwei, drei vier."
    assert joined("one two three four", ["Eins zwei.", "drei vier"], 2) == "Eins zwei drei vier"


@pytest.mark.parametrize(("words", "mark"), [(words, mark) for words, mark in ENDED if mark in FULL_STOPS])
def test_a_part_gets_no_full_stop_in_any_language(words: str, mark: str) -> None:
    end = f"{words}{mark}"
    assert next(iter(join_segments(cut("one two, three four", [], 2), [end, end]))) == f"{words},"


def test_segments_know_what_stood_between_them() -> None:
    parts = cut("One two. Three four, five", [], 2)
    assert [(part.blank_before, part.ends_sentence) for part in parts] == [(False, True), (True, False), (True, False)]
    assert isinstance(parts[0], Segment)


TABLE = Path(__file__).parents[3] / "support" / "sentences.tsv"
LABELLED = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]


def split(text: str, language: str = "") -> str:
    starts = find_sentence_starts(text, find_spans(text), language)
    return "|".join(text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True))


@pytest.mark.parametrize(("language", "sentences"), LABELLED)
def test_labelled_sentences_are_found(language: str, sentences: str) -> None:
    assert split(sentences.replace("|", ""), language) == sentences.replace("| ", "|")


def test_a_text_without_capitals_is_split_at_its_marks() -> None:
    assert split("one two. three four! five") == "one two.|three four!|five"


@pytest.mark.parametrize("text", ["Go.", "Go!)", "Go?”", "行け。」", "መጣ።", "यह।", "« Va ! »", "Go.\ufffa\ufffa"])
def test_a_mark_at_the_end_is_seen_before_what_closes(text: str) -> None:
    assert ends_with_mark(text)
    assert not ends_with_mark(text[:1] if text[0] != "«" else "« Va »")


@pytest.mark.parametrize(("words", "mark"), [(words, mark) for words, mark in ENDED if mark != "…"])
def test_a_sentence_ends_at_its_mark_in_any_language(words: str, mark: str) -> None:
    sentence = f"{words}{mark}"
    assert ends_with_mark(sentence) and ends_with_mark(f"“{sentence}”") and not ends_with_mark(words)
    assert split(f"{sentence} {sentence}") == f"{sentence}|{sentence}"


@pytest.mark.parametrize("part", ["a. ", "A.B", "。」", "😀 ", "1. ", "« ! » ", "... ", "x.Yz"])
def test_a_long_line_takes_no_longer_than_its_length(part: str) -> None:
    started = time.monotonic()
    split(part * (20_000 // len(part)))
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("language", ["", "source", "xxx", "haw"])
def test_a_language_that_nobody_described_has_what_many_share(language: str) -> None:
    kept = "Dr. Lund met Mr. Hill at St. Olaf's, No. 5."
    assert split(kept, language) == kept
    assert split("I changed my mind. Je sais où il est. Nous partons.", language).count("|") == 2
