from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.training.data.lexicon import (
    WordTable,
    estimate_probabilities,
    find_words,
    is_likeliest,
    learn_lexicon,
    link_all,
    truecase_words,
)


def learn(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return learn_lexicon(
        WordTable.from_texts([source for source, _ in pairs]), WordTable.from_texts([target for _, target in pairs])
    )


def test_words_that_stand_together_again_and_again_are_translations() -> None:
    """The example of Brown et al. and of every lecture since: the book is das Buch, a book is ein Buch."""
    pairs = [("the house", "das Haus"), ("the book", "das Buch"), ("a book", "ein Buch"), ("a house", "ein Haus")]
    assert learn(pairs * 2) == {"the": "das", "house": "Haus", "book": "Buch", "a": "ein"}


def test_what_only_one_side_agrees_on_is_no_translation() -> None:
    pairs = [("cats sleep", "Katzen schlafen"), ("cats run", "Katzen rennen"), ("dogs run", "Katzen rennen")] * 2
    assert "dogs" not in learn(pairs)
    assert learn(pairs)["run"] == "rennen"


def test_the_first_round_shares_a_word_evenly_among_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand, of (a b, x y) and (a, x): in the first, a third of x and of y is for each of a, b and nothing; in the
    second, half of x is for a. So a expects 1/3 + 1/2 of x and 1/3 of y, and b 1/3 of each.
    """
    monkeypatch.setattr("nmt_cli.training.data.lexicon.ROUNDS", 1)
    source, target = WordTable.from_texts(["a b", "a"]), WordTable.from_texts(["x y", "x"])
    source_positions, target_positions = link_all(source.lengths, target.lengths)
    assert (source_positions.tolist(), target_positions.tolist()) == ([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    conditions, outcomes = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])  # a x, a y, b x, b y
    links = np.array([0, 1, 2, 3, 0])
    probabilities = estimate_probabilities(conditions, outcomes, links, target.indices, target_positions)
    np.testing.assert_allclose(probabilities, [5 / 7, 2 / 7, 1 / 2, 1 / 2])


def test_the_likeliest_of_each_word_is_one() -> None:
    assert is_likeliest(np.array([4, 2, 4, 2]), np.array([0.5, 0.1, 0.4, 0.9])).tolist() == [True, False, False, True]


def test_links_join_every_word_of_a_pair_with_every_other() -> None:
    source_positions, target_positions = link_all(np.array([2, 0, 1]), np.array([2, 3, 1]))
    assert list(zip(source_positions.tolist(), target_positions.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (2, 5),
    ]


def test_a_first_word_is_as_within_sentences() -> None:
    words = WordTable.from_texts(["Dogs sleep", "the dogs", "Tom sleeps", "I saw Tom"])
    assert words.texts == [["dogs", "sleep"], ["the", "dogs"], ["Tom", "sleeps"], ["I", "saw", "Tom"]]
    assert truecase_words([], words.within_counts) == []


def test_words_are_found_with_their_marks_and_numbers_too() -> None:
    assert [word[0] for word in find_words("«हिन्दी» ⟦1⟧: don't take 19, e-mail!")] == [
        "हिन्दी",
        "don't",
        "take",
        "19",
        "e-mail",
    ]


def test_texts_without_words_have_no_translations() -> None:
    assert learn([("?", "!"), ("", "...")]) == {}
