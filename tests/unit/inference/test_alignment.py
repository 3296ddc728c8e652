from __future__ import annotations

import numpy as np

from nmt_cli.inference.alignment import word_links

SOURCE = ("▁Das", "▁Haus", "tür", ".", "</s>")
TARGET = ("▁the", "▁front", "▁do", "or", ".", "</s>")


def test_links_are_between_whitespace_words_and_none_to_the_ends() -> None:
    attention = np.zeros((6, 5))
    # "the" looks at "Das"; "front" mostly at the end of the sentence, of the words mostly at "Haustür."
    attention[0] = [0.9, 0.1, 0, 0, 0]
    attention[1] = [0.1, 0.1, 0.1, 0, 0.7]
    # The pieces of "Haustür." get 0.3 + 0.2 + 0.1 from each piece of "door.", more than "Das" with 0.35.
    attention[2:5] = [0.35, 0.3, 0.2, 0.1, 0.05]
    attention[5] = [0, 0, 0, 0, 1]
    assert word_links(SOURCE, TARGET, attention) == ((0, 0), (1, 1), (1, 2))


def test_pieces_that_are_words_are_joined_as_they_were_written() -> None:
    source, target = ("Tom", "￭,", "geh", "</s>"), ("go", "￭,", "Tom", "</s>")
    attention = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1.0]])
    assert word_links(source, target, attention) == ((0, 0), (0, 1))


def test_a_translation_without_words_has_no_links() -> None:
    assert word_links(SOURCE, ("</s>",), np.ones((1, 5))) == ()
