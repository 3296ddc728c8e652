from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.evaluation.material import Material
from nmt_cli.evaluation.metrics import measure_all
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.forced import Forced, force
from nmt_cli.inference.search import search
from support.tables import END, TableModel

TARGET = st.lists(st.integers(4, 6), max_size=5).map(lambda body: [*body, END])


def sources(seeds: list[int]) -> np.ndarray:
    return np.array([[seed + 10, 9, END] for seed in seeds])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10_000), TARGET), min_size=1, max_size=5))
def test_a_forced_target_has_the_probability_that_the_model_gives_it(rows: list[tuple[int, list[int]]]) -> None:
    model = TableModel(vocabulary=3)
    forced = force(model, sources([seed for seed, _ in rows]), [target for _, target in rows], size=4)
    for (seed, target), one in zip(rows, forced, strict=True):
        assert one.tokens == tuple(target)
        assert one.log_probability == pytest.approx(model.log_probability(seed + 10, tuple(target)))
        assert one.attention.shape == (len(target), 3)


def test_what_greedy_search_finds_is_likeliest_at_every_place_with_the_same_attention() -> None:
    model = TableModel(vocabulary=3)
    found = search(model, sources([7]), SearchConfig(beam_size=1, max_length=30))[0][0]
    (forced,) = force(model, sources([7]), [list(found.tokens)], size=4)
    assert all(forced.likeliest)
    assert forced.log_probabilities == pytest.approx(found.token_log_probabilities)
    np.testing.assert_allclose(forced.attention, found.attention)


def test_perplexity_is_per_token_of_all_sentences_and_accuracy_the_share_of_first_choices() -> None:
    looks = np.ones((1, 1))
    half = Forced((5, 6, 3), (math.log(0.5),) * 3, (True, False, True), looks)
    eighth = Forced((3,), (math.log(0.125),), (False,), looks)
    material = Material(["", ""], [["a"], ["b"]], ["", ""], [half, eighth])
    scores = measure_all(["perplexity", "accuracy"], material)
    assert scores["perplexity"].value == pytest.approx(2 ** (6 / 4))
    assert scores["perplexity"].sentence_values == pytest.approx((2, 8))
    assert scores["accuracy"].value == pytest.approx(50)
    assert scores["perplexity"].statistics.of([1]) == pytest.approx(8)  # type: ignore[union-attr]
