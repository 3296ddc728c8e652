from __future__ import annotations

import numpy as np

from nmt_cli.training.lexicon import (
    Words,
    lexicon,
    likeliest,
    links,
    translation_probabilities,
    without_capital,
    words_in,
)


def learned(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return lexicon(Words.of([source for source, _ in pairs]), Words.of([target for _, target in pairs]))


def test_words_that_stand_together_again_and_again_are_translations() -> None:
    """The example of Brown et al. and of every lecture since: the book is das Buch, a book is ein Buch."""
    pairs = [("the house", "das Haus"), ("the book", "das Buch"), ("a book", "ein Buch"), ("a house", "ein Haus")]
    assert learned(pairs * 2) == {"the": "das", "house": "Haus", "book": "Buch", "a": "ein"}


def test_what_only_one_side_agrees_on_is_no_translation() -> None:
    pairs = [("cats sleep", "Katzen schlafen"), ("cats run", "Katzen rennen"), ("dogs run", "Katzen rennen")] * 2
    assert "dogs" not in learned(pairs)
    assert learned(pairs)["run"] == "rennen"


def test_the_first_round_shares_a_word_evenly_among_all_that_may_explain_it() -> None:
    """By hand: "x" of (a b, x) has three explanations, a, b and nothing: a third each. "x" of (a, x) has two, 1/2."""
    source, target = Words.of(["a b", "a"]), Words.of(["x", "x"])
    of_source, of_target = links(source.lengths, target.lengths)
    assert (of_source.tolist(), of_target.tolist()) == ([0, 1, 2], [0, 0, 1])
    together, link = np.unique(source.numbers[of_source], return_inverse=True)
    made = target.numbers[np.zeros_like(together)]
    found = translation_probabilities(together, made, link, target.numbers, of_target)
    np.testing.assert_allclose(found, [1, 1])  # neither a nor b was seen with anything else


def test_the_likeliest_of_each_word_is_one() -> None:
    assert likeliest(np.array([4, 2, 4, 2]), np.array([0.5, 0.1, 0.4, 0.9])).tolist() == [True, False, False, True]


def test_links_join_every_word_of_a_pair_with_every_other() -> None:
    of_source, of_target = links(np.array([2, 0, 1]), np.array([2, 3, 1]))
    assert list(zip(of_source.tolist(), of_target.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 5)]


def test_a_first_word_is_as_within_sentences() -> None:
    words = Words.of(["Dogs sleep", "the dogs", "Tom sleeps", "I saw Tom"])
    assert words.texts == [["dogs", "sleep"], ["the", "dogs"], ["Tom", "sleeps"], ["I", "saw", "Tom"]]
    assert without_capital([], words.within) == []


def test_words_are_found_with_their_marks_and_numbers_too() -> None:
    assert [word[0] for word in words_in("«हिन्दी» ⟦1⟧: don't take 19, e-mail!")] == [
        "हिन्दी",
        "don't",
        "take",
        "19",
        "e-mail",
    ]


def test_texts_without_words_have_no_translations() -> None:
    assert learned([("?", "!"), ("", "...")]) == {}
