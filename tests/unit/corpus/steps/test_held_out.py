"""Near-duplicates: sentences that differ in little."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.scratch import Scratch
from nmt_cli.corpus.pairs import Texts
from nmt_cli.corpus.steps.held_out import find_band_edges, label_near_equal
from nmt_cli.text.normalise import hash_text, make_sentence_key, normalise

FEW_SENTENCES = st.text(alphabet="aAbßS’'", max_size=3)


ANY_SENTENCES = st.one_of(FEW_SENTENCES, st.text(max_size=5)).map(normalise)


def near(sentences: list[str]) -> list[int]:
    texts = Texts()
    for text in sentences:
        texts.extend(text.encode(), np.array([len(text.encode())]))
    keys = np.frombuffer(b"".join(hash_text(make_sentence_key(text)) for text in sentences), np.uint64)
    return label_near_equal(texts, keys, np.ones(len(keys), np.bool_), Scratch()).tolist()


def test_sentences_that_differ_in_little_are_near_and_others_are_not() -> None:
    sentences = [
        "Tom likes tea.",
        "Tom likes tea!",
        "“Tom likes tea”",
        "Mary has seen the film that I told you about yesterday.",
        "Mary has seen the film that I told you about yesterdays",
        "He went home early in the morning.",
        "No.",
        "Go.",
        "",
    ]
    numbers = near(sentences)
    assert numbers[0] == numbers[1] == numbers[2]
    assert numbers[3] == numbers[4]
    assert len({numbers[n] for n in (0, 3, 5, 6, 7, 8)}) == 6


def test_sentences_are_compared_across_unlike_ones_of_equal_hashes() -> None:
    """Five whose hashes are equal in the first band; in all the others only those of the first and the last."""
    signatures = np.arange(5 * 32, dtype=np.uint32).reshape(5, 32)
    signatures[:, :4] = 7
    signatures[4] = signatures[0]
    assert find_band_edges(signatures, 0, 4, Scratch()).tolist() == [[0, 4]]


@given(st.lists(ANY_SENTENCES, min_size=1, max_size=20))
def test_equal_sentences_are_always_near(sentences: list[str]) -> None:
    numbers = near(sentences + sentences)
    assert numbers[: len(sentences)] == numbers[len(sentences) :]
