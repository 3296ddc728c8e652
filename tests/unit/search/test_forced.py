import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.evaluation.metrics.registry import measure_all
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.search.beam import BeamSearch
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.forced import LIKELY, ForcedTarget, find_as_likely, force
from support.properties import examples
from support.tables import END, TableModel

TARGET = st.lists(st.integers(4, 6), max_size=5).map(lambda body: [*body, END])


def sources(seeds: list[int]) -> np.ndarray:
    return np.array([[seed + 10, 9, END] for seed in seeds])


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 10_000), TARGET), min_size=1, max_size=5))
def test_a_forced_target_has_the_probability_that_the_model_gives_it(rows: list[tuple[int, list[int]]]) -> None:
    model = TableModel(vocabulary=3)
    forced = force(model, sources([seed for seed, _ in rows]), [target for _, target in rows], size=4)
    for (seed, target), score in zip(rows, forced, strict=True):
        assert score.tokens == tuple(target)
        assert score.log_probability == pytest.approx(model.log_probability(seed + 10, tuple(target)))
        assert score.attention.shape == (len(target), 3)


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 10_000), TARGET, st.floats(0.5, 1.5)), min_size=1, max_size=5))
def test_a_target_is_as_likely_if_every_token_is(rows: list[tuple[int, list[int], float]]) -> None:
    model = TableModel(vocabulary=2 * LIKELY)  # half of the tokens are no candidates of a step
    inputs = sources([seed for seed, _, _ in rows])
    targets = [[token if token == END else 4 + (seed * token) % (2 * LIKELY) for token in t] for seed, t, _ in rows]
    scored = force(model, inputs, targets, size=2 * LIKELY + 1)
    parts = [part for _, _, part in rows]
    least = [[value - part + 1 for value in s.log_probabilities] for s, part in zip(scored, parts, strict=True)]
    assert find_as_likely(model, inputs, targets, least, size=2 * LIKELY + 1) == [part >= 1 for part in parts]


def test_forcing_what_greedy_search_found_finds_the_likeliest_tokens() -> None:
    model = TableModel(vocabulary=3)
    hypothesis = BeamSearch(model, sources([7]), SearchOptions(beam_size=1, max_length=30)).run()[0][0]
    (forced,) = force(model, sources([7]), [list(hypothesis.tokens)], size=4)
    assert all(forced.likeliest)
    assert forced.log_probabilities == pytest.approx(hypothesis.token_log_probabilities)
    np.testing.assert_allclose(forced.attention, hypothesis.attention)


def test_perplexity_is_per_token_and_accuracy_the_share_of_first_choices() -> None:
    attention = np.ones((1, 1))
    half = ForcedTarget((5, 6, 3), (math.log(0.5),) * 3, (True, False, True), attention)
    eighth = ForcedTarget((3,), (math.log(0.125),), (False,), attention)
    material = Material(["", ""], [["a"], ["b"]], ["", ""], [half, eighth])
    scores = measure_all(["perplexity", "accuracy"], material)
    assert scores["perplexity"].value == pytest.approx(2 ** (6 / 4))
    assert scores["perplexity"].sentence_values == pytest.approx((2, 8))
    assert scores["accuracy"].value == pytest.approx(50)
    assert scores["perplexity"].statistics.score_sentences([1]) == pytest.approx(8)  # type: ignore[union-attr]


class Tied(TableModel):
    """Two tokens are equally likely, whatever came before."""

    def distribution(self, table: int, prefix: int) -> np.ndarray:
        return np.log([0.1, 0.45, 0.45])  # END, 4, 5


def test_none_of_two_equally_likely_tokens_is_likelier_than_the_other() -> None:
    scores = [force(Tied(vocabulary=2), sources([1]), [[token, END]], size=3)[0] for token in (4, 5)]
    assert [score.likeliest for score in scores] == [(True, False), (True, False)]
