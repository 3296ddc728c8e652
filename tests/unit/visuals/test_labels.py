"""Tests of labels: ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.wrapping import count_columns
from nmt_cli.translation.placement.alignment import group_by_blanks, merge_attention
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.visuals.labels import (
    group_words,
    isolate_text,
    label_attention,
    label_pieces,
    replace_controls,
    shorten,
    spell_word,
    split_graphemes,
)


@pytest.mark.parametrize(
    ("pieces", "labels"),
    [
        ("▁Wo ▁ist ▁der ▁Bahn hof ? </s>", "Wo ist der Bahn ·hof ? </s>"),
        ("▁don ' t", "don ' t"),  # punctuation is no continuation, nor what follows it
        ("▁ 车站 在 哪里", "␣ 车站 在 哪里"),  # no spaces between words: no dots
        ("▁ün ü ber", "ün ·ü ·ber"),
        ("▁3 5 <unk>", "3 5 <unk>"),
        ("le chat voit ￭, ￭ </s>", "le chat voit , ￭ </s>"),  # of a vocabulary of words
    ],
)
def test_word_starts_stand_as_they_are_and_continuations_have_a_dot(pieces: str, labels: str) -> None:
    assert label_pieces(pieces.split(" ")) == labels.split(" ")


def test_what_would_steer_the_terminal_is_replaced() -> None:
    assert replace_controls("a\x1b[31mb\tc\nd") == "a�[31mb�c�d"


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("车站", 4), ("e\u0301", 1), ("ｱ", 1), ("a\u200eb", 2), ("", 0)]
)
def test_width_is_counted_in_columns_of_a_terminal(text: str, width: int) -> None:
    assert count_columns(text) == width


def test_marks_stay_with_the_character_they_are_drawn_on() -> None:
    assert split_graphemes("e\u0301हिx") == ["e\u0301", "हि", "x"]


def test_long_labels_end_in_an_ellipsis_and_keep_to_the_width() -> None:
    assert shorten("Donaudampfschiff", 6) == "Donau…"
    assert shorten("车站在哪里", 6) == "车站…"
    assert shorten("kurz", 6) == "kurz"


def test_only_right_to_left_text_is_followed_by_a_mark() -> None:
    assert isolate_text("שלום") == "שלום\u200e"
    assert isolate_text("Friede") == "Friede"


@pytest.mark.parametrize(
    ("pieces", "labels"),
    [
        (["▁Bahn", "hof", "?", "</s>"], ["Bahnhof", "?", "</s>"]),
        (["▁(", "don", "'", "t", ")", "</s>"], ["(", "don't", ")", "</s>"]),
        (["▁", "„", "Ja", ".", "“"], ["„", "Ja", ".“"]),
        (["▁", "Ja"], ["Ja"]),
        (["▁Ye", "'", "▁tã", "’", "."], ["Ye'", "tã’", "."]),
        (["▁'", "Ja", "'"], ["'", "Ja", "'"]),
        (["▁火车", "站", "在"], ["火车", "站", "在"]),
        (["▁na", "<0xC3>", "<0xAF>", "ve"], ["naïve"]),
        (["▁", "字", "<0xE5>", "<0xAD>", "<0x97>"], ["字", "字"]),
        (["Don't", "go", "￭,", "Tom", "</s>"], ["Don't", "go", ",", "Tom", "</s>"]),  # of kind `word`
        (["▁.", "▁.", "</s>"], [".", ".", "</s>"]),
    ],
)
def test_pieces_become_the_words_that_a_reader_sees(pieces: list[str], labels: list[str]) -> None:
    assert [spell_word(pieces, group) for group in group_words(pieces)] == labels


@given(st.lists(st.sampled_from(["▁", "▁a", "b", ".", "字", "▁字", "<0xC3>", "</s>", "￭,"]), min_size=1, max_size=12))
def test_every_piece_belongs_to_one_word_in_order(pieces: list[str]) -> None:
    for grouping in (group_words, group_by_blanks):
        assert [index for group in grouping(pieces) for index in group] == list(range(len(pieces)))


def test_weights_of_source_pieces_add_up_and_of_target_pieces_are_averaged() -> None:
    attention = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])  # (T, S)
    np.testing.assert_allclose(merge_attention(attention, [[0, 1], [2]], [[0, 1]]), [[0.5, 0.5]])
    heads = np.stack([np.stack([attention] * 3)] * 2)  # (L, H, T, S)
    assert merge_attention(heads, [[0, 1], [2]], [[0, 1]]).shape == (2, 3, 1, 2)


@pytest.mark.parametrize("merge", [True, False])
def test_unknown_words_are_drawn_as_written_in_brackets(merge: bool) -> None:
    hypothesis = Hypothesis("chat", (9, 1, 3), ("chat", "<unk>", "</s>"), -1, -1, (0, 0, 0), (np.eye(3),), True)
    translation = Translation("cat asleep", ("cat", "<unk>", "</s>"), (hypothesis,), frozenset(), unknown=("asleep",))
    drawn = label_attention(translation, merge=merge)
    assert (drawn.source, drawn.target) == (("cat", "[asleep]", "</s>"), ("chat", "<unk>", "</s>"))


def test_a_word_is_as_likely_as_its_pieces_together() -> None:
    hypothesis = Hypothesis(
        "Bahnhof", (9, 8, 3), ("▁Bahn", "hof", "</s>"), -1, -1, (-0.5, -0.25, -0.25), (np.eye(3),), True
    )
    translation = Translation("abc", ("▁a", "bc", "</s>"), (hypothesis,), frozenset())
    by_words, by_pieces = label_attention(translation, merge=True), label_attention(translation, merge=False)
    assert by_words.target == ("Bahnhof", "</s>") and by_words.attention.shape == (2, 2)
    assert by_words.probabilities == pytest.approx((np.exp(-0.75), np.exp(-0.25)))
    assert by_pieces.target == ("Bahn", "·hof", "</s>") and by_pieces.attention.shape == (3, 3)
