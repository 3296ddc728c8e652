import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.translation.placement.alignment import find_links, find_word_ranges, link_words, split_ranges, trace_words
from nmt_cli.translation.placement.traced_text import find_heaviest_run
from nmt_cli.translation.result import Hypothesis, Translation, WordLinks

""""""


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
    assert link_words(SOURCE, TARGET, attention) == ((0, 0), (1, 1), (1, 2))


def test_pieces_that_are_words_are_joined_as_they_were_written() -> None:
    source, target = ("Tom", "￭,", "geh", "</s>"), ("go", "￭,", "Tom", "</s>")
    attention = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1.0]])
    assert link_words(source, target, attention) == ((0, 0), (0, 1))


@pytest.mark.parametrize(
    ("target", "links", "raised"),
    [
        ("der 10. Tag", [0, 1, 2], "."),  # 10<sup>th</sup>, 10<sup>.</sup>
        ("der 10 . Tag", [0, 1, None, 2], ""),
        ("le 10e jour", [0, 1, 2], "e"),
        ("der 11. Tag", [0, 1, 2], "11"),  # which is not the number of the source
    ],
)
def test_what_stands_behind_a_number_comes_from_what_stands_behind_that_of_the_source(
    target: str, links: list[int | None], raised: str
) -> None:
    source = "the 10th day"
    traced = trace_words(source, find_word_ranges(source), target, find_word_ranges(target), links)
    assert "".join(traced.text[index] for index in traced.list_targets(6, 8)) == raised


def test_a_translation_without_words_has_no_links() -> None:
    assert link_words(SOURCE, ("</s>",), np.ones((1, 5))) == ()


def test_a_line_of_many_sentences_is_linked_without_their_dense_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two sentences of two words each, whose words change places.
    block = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1.0]])
    source, target = ("▁a", "▁b", "</s>") * 2, ("▁x", "▁y", "</s>") * 2
    words = tuple(WordLinks(ranges, ranges) for ranges in split_ranges(["x y", " x y"]))
    hypothesis = Hypothesis("x y x y", (7,) * 6, target, -1, -1, (-1,) * 6, (block, block), True, words=words)
    dense = link_words(source, target, hypothesis.attention)
    monkeypatch.delattr(Hypothesis, "attention")
    assert find_links(Translation("a b a b", source, (hypothesis,), frozenset()), hypothesis) == dense
    assert dense == ((1, 0), (0, 1), (3, 2), (2, 3))


def test_words_that_no_blank_parts_are_one() -> None:
    assert list(split_ranges(["a b", " c", "d e", "", "一。", "二"])) == [
        range(2),
        range(2, 3),
        range(2, 4),
        range(4, 4),
        range(3, 4),
        range(3, 4),
    ]


def test_pieces_that_spell_nothing_are_no_words() -> None:
    assert link_words(("▁a", "</s>"), ("▁", "▁x", "▁", "</s>"), np.ones((4, 2))) == ((0, 0),)


# The heaviest run is the one that a search over all runs would return.


def test_a_stray_weight_does_not_stretch_a_run() -> None:
    assert find_heaviest_run([1, -1, -1, -1, 1, 1, -1, 1]) == (4, 6)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_no_run_is_heavier(weights: list[int]) -> None:
    start, end = find_heaviest_run(weights)
    sums = [sum(weights[i:j]) for i in range(len(weights)) for j in range(i + 1, len(weights) + 1)]
    assert start < end
    assert sum(weights[start:end]) == max(sums)


def test_of_no_weights_there_is_no_run() -> None:
    with pytest.raises(ValueError):
        find_heaviest_run([])
