from __future__ import annotations

import pytest

from nmt_cli.text.wrapping import count_columns
from nmt_cli.visuals.labels import isolate_text, label_pieces, replace_controls, shorten, split_graphemes


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
