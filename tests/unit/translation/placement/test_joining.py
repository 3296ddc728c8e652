"""Lines of several sentences, whose translations are made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.placement.joining import join_parts
from nmt_cli.translation.result import Hypothesis, Repair, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader

if TYPE_CHECKING:
    pass

LINE = "Go on. Stop it."


def sentence(*scored: tuple[str, float], **fields: object) -> Translation:
    """The translation of a sentence of three source pieces, of hypotheses with one word each."""
    hypotheses = (
        Hypothesis(text, (7, 3), (f"▁{text}", "</s>"), s, s, (s, 0.0), (np.eye(2, 3),), True) for text, s in scored
    )
    return Translation("", ("▁a", "▁b", "</s>"), tuple(hypotheses), frozenset(), **fields)  # type: ignore[arg-type]


def line(*sentences: Translation, sampled: bool = False) -> Translation:
    return join_parts(
        LINE, LineReader(LineOptions(), copies_placeholders=False).split_line(LINE), sentences, None, sampled=sampled
    )


def ranked(translation: Translation) -> list[tuple[str, float]]:
    return [(hypothesis.text, hypothesis.score) for hypothesis in translation.hypotheses]


@given(
    first=st.lists(st.integers(-30, 0), min_size=1, max_size=5),
    second=st.lists(st.integers(-30, 0), min_size=1, max_size=5),
)
def test_the_best_hypotheses_of_sentences_make_the_best_of_their_line(first: list[int], second: list[int]) -> None:
    joined = line(*(sentence(*(("A", score) for score in sorted(scores, reverse=True))) for scores in (first, second)))
    sums = sorted((a + b for a in first for b in second), reverse=True)
    assert [hypothesis.score for hypothesis in joined.hypotheses] == sums[: max(len(first), len(second))]


def test_samples_of_a_line_are_joined_as_they_were_drawn() -> None:
    sentences = sentence(("A", -1), ("B", -5)), sentence(("C", -2), ("D", -3))
    assert ranked(line(*sentences)) == [("A C", -3), ("A D", -4)]
    assert ranked(line(*sentences, sampled=True)) == [("A C", -3), ("B D", -8)]


def test_what_repair_preferred_stays_first_whatever_its_score() -> None:
    assert ranked(line(sentence(("A", -9), ("B", -1)), sentence(("C", -1), ("D", -2))))[0] == ("A C", -10)


def test_what_was_done_for_every_sentence_is_known_of_the_line() -> None:
    first, second = Repair("loop", "wider beam"), Repair("loop", None)
    assert line(sentence(("A", -1), repairs=(first,)), sentence(("B", -1), repairs=(second,))).repairs == (
        first,
        second,
    )


def test_what_was_changed_in_a_sentence_is_known_of_the_line() -> None:
    read, other = ReadAs("TOM", "Tom"), ReadAs("teh", "the")
    joined = line(sentence(("A", -1), readings=(read,), kept=("Price",)), sentence(("B", -1), readings=(other,)))
    assert (joined.readings, joined.kept) == ((read, other), ("Price",))


def test_what_was_read_of_a_sentence_is_no_sum_over_those_of_the_line() -> None:
    joined = line(sentence(("A", -1)), sentence(("B", -1), source_cut_from=17, source_read=2))
    assert (joined.source_cut_from, joined.source_read) == (17, 2)


def test_a_line_of_one_sentence_is_its_translation_under_its_own_name() -> None:
    translation = sentence(
        ("A", -9), ("B", -1), repairs=(Repair("loop", "wider beam"),), source_cut_from=17, source_read=2
    )
    pieces = LineReader(LineOptions(), copies_placeholders=False).split_line("Go  on. ")
    assert join_parts("Go  on. ", pieces, [translation], None) == translation._replace(source="Go  on. ")


def test_a_network_that_learned_no_placeholders_reads_numbers() -> None:
    for copies_placeholders, text in ((True, "In ⟦0⟧ I sang."), (False, "In 1984 I sang.")):
        (piece,) = LineReader(LineOptions(), copies_placeholders=copies_placeholders).split_line("In 1984 I sang.")
        assert piece.text == text
