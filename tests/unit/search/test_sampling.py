from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.beam import search
from nmt_cli.search.config import SamplingConfig, SearchConfig
from nmt_cli.search.guide import Guide
from nmt_cli.search.result import SearchResult
from nmt_cli.search.sampling import TextId, draw_columns
from support.properties import examples
from support.tables import END, TableModel, sources

PROBABILITIES = np.array([0.5, 0.3, 0.15, 0.05])
GRID = (np.arange(10_000) + 0.5) / 10_000  # draws spread evenly, so that shares are exact


def shares(config: SamplingConfig, probabilities: np.ndarray = PROBABILITIES) -> list[float]:
    """How often each column is drawn."""
    with np.errstate(divide="ignore"):
        rows = np.tile(np.log(probabilities), (len(GRID), 1))
    counts = Counter(draw_columns(rows, GRID, config).tolist())
    return [counts[column] / len(GRID) for column in range(len(probabilities))]


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    assert shares(SamplingConfig(sample=True)) == pytest.approx(PROBABILITIES, abs=1e-4)


def test_temperature_is_the_divisor_of_log_probabilities() -> None:
    squared = PROBABILITIES**2 / (PROBABILITIES**2).sum()  # temperature 1/2
    assert shares(SamplingConfig(sample=True, temperature=0.5)) == pytest.approx(squared, abs=1e-4)


def test_top_k_draws_from_the_likeliest() -> None:
    assert shares(SamplingConfig(sample=True, top_k=2)) == pytest.approx([0.625, 0.375, 0, 0], abs=1e-4)


def test_top_k_counts_what_is_allowed() -> None:
    barred = np.array([0.0, 0.6, 0.3, 0.1])
    assert shares(SamplingConfig(sample=True, top_k=2), barred) == pytest.approx([0, 2 / 3, 1 / 3, 0], abs=1e-4)


@pytest.mark.parametrize(("top_p", "kept"), [(0.4, 1), (0.5, 1), (0.51, 2), (0.79, 2), (0.94, 3), (1.0, 4)])
def test_top_p_draws_from_the_fewest_that_reach_it(top_p: float, kept: int) -> None:
    expected = np.where(np.arange(4) < kept, PROBABILITIES, 0)
    assert shares(SamplingConfig(sample=True, top_p=top_p)) == pytest.approx(expected / expected.sum(), abs=1e-4)


def sampled(seeds: list[int], lines: list[int], config: SearchConfig) -> list[list[SearchResult]]:
    guide = Guide.from_config(config, text_ids=[TextId(line, 0) for line in lines], steps=config.max_length)
    return search(TableModel(vocabulary=6), sources(*seeds), config, guide=guide)


@examples(30)
@given(seeds=st.lists(st.integers(0, 10_000), min_size=2, max_size=6, unique=True), n_best=st.integers(1, 4))
def test_a_sample_depends_on_the_line_and_its_number_alone(seeds: list[int], n_best: int) -> None:
    config = SearchConfig(max_length=8, n_best=n_best, sampling=SamplingConfig(sample=True))
    numbers = [7 * index for index in range(len(seeds))]
    together = sampled(seeds, numbers, config)
    backwards = sampled(seeds[::-1], numbers[::-1], config)[::-1]
    for seed, number, samples, other in zip(seeds, numbers, together, backwards, strict=True):
        alone = sampled([seed], [number], config)[0]
        assert (
            [sample.tokens for sample in samples]
            == [sample.tokens for sample in alone]
            == [sample.tokens for sample in other]
        )


def test_samples_are_as_likely_as_the_model_says() -> None:
    # 4,000 samples of one sentence: the share of every first token within four standard deviations.
    model, count = TableModel(vocabulary=4), 4_000
    config = SearchConfig(max_length=1, n_best=1, sampling=SamplingConfig(sample=True))
    guide = Guide.from_config(config, text_ids=[TextId(line, 0) for line in range(count)], steps=1)
    results = search(model, sources(*[3] * count), config, guide=guide)
    shares = Counter(samples[0].tokens[0] for samples in results)
    for token, probability in zip(model.tokens.tolist(), np.exp(model.distribution(13, 2)), strict=True):
        deviation = math.sqrt(probability * (1 - probability) / count)
        assert abs(shares[token] / count - probability) < 4 * deviation


def test_another_seed_draws_others_and_the_score_is_the_models_own() -> None:
    first, second = (
        sampled([3], [0], SearchConfig(max_length=8, n_best=4, sampling=SamplingConfig(sample=True, seed=seed)))[0]
        for seed in (1, 2)
    )
    assert [sample.tokens for sample in first] != [sample.tokens for sample in second]
    for sample in (*first, *second):
        assert sample.tokens[-1] == END or not sample.finished
        assert sample.log_probability == pytest.approx(TableModel(vocabulary=6).log_probability(13, sample.tokens))
    assert [sample.score for sample in first] == sorted((sample.score for sample in first), reverse=True)


def test_every_sample_is_given_whether_it_ended_or_not() -> None:
    """One in three finds no end in four tokens, by itself and beside others of its line that do."""
    shares = []
    for n_best in (1, 2, 5):
        config = SearchConfig(max_length=4, n_best=n_best, sampling=SamplingConfig(sample=True))
        lines = sampled([3] * 400, list(range(400)), config)
        assert {len(samples) for samples in lines} == {n_best}
        shares.append(np.mean([not sample.finished for samples in lines for sample in samples]))
    assert shares == pytest.approx([shares[0]] * 3, abs=0.08)  # three standard deviations of the first
    assert shares[0] > 0.1


def test_samples_are_not_drawn_without_the_places_of_the_sentences() -> None:
    with pytest.raises(ValueError, match="needs the ids of the texts"):
        search(TableModel(vocabulary=6), sources(3), SearchConfig(sampling=SamplingConfig(sample=True)))
