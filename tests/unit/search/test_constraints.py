"""Tests of constraints: what a target begins with is given, and changes nothing but what follows it."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.beam import BeamSearch, LengthPenalty
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.search.constraints import (
    CopyLimit,
    Guide,
    NgramBan,
    Rows,
    TargetPrefix,
    TextId,
    draw_columns,
    limit_lengths,
)
from nmt_cli.search.step_model import SearchResult
from support.properties import examples
from support.tables import END, FedTable, TableModel, every_ended_sequence, outline, sources


def repeats(tokens: tuple[int, ...], size: int) -> bool:
    runs = [tokens[start : start + size] for start in range(len(tokens) - size + 1)]
    return len(set(runs)) < len(runs)


@examples(60)
@given(
    history=st.lists(st.lists(st.integers(4, 6), min_size=7, max_size=7), min_size=1, max_size=4),
    size=st.integers(1, 4),
)
def test_the_ban_bars_just_the_tokens_that_would_repeat_a_run(history: list[list[int]], size: int) -> None:
    rows = Rows(np.array(history), np.zeros(len(history), dtype=int), np.arange(len(history)))
    candidates = np.tile(np.array([END, 4, 5, 6]), (len(history), 1))
    allowed = NgramBan(size).find_allowed(candidates, np.zeros(candidates.shape), rows)
    for before, row in zip(history, allowed, strict=True):
        runs = {tuple(before[start : start + size]) for start in range(len(before) - size + 1)}
        tail = before[len(before) - size + 1 :]
        assert row.tolist() == [(*tail, token) not in runs for token in (END, 4, 5, 6)]


@examples(40)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 3), n_best=st.integers(1, 4))
def test_under_a_ban_a_wide_beam_finds_the_best_that_repeats_nothing(seed: int, size: int, n_best: int) -> None:
    model, longest = TableModel(vocabulary=3), 5
    config = SearchOptions(beam_size=243, n_best=n_best, max_length=longest, no_repeat_ngram=size)
    hypotheses = BeamSearch(model, sources(seed), config).run()[0]
    scored = [
        (model.log_probability(seed + 10, tokens) / float(LengthPenalty(1.0)(len(tokens))), tokens)
        for tokens in every_ended_sequence(model, longest)
        if not repeats(tokens, size)
    ]
    assert [hypothesis.tokens for hypothesis in hypotheses] == [
        tokens for _, tokens in sorted(scored, reverse=True)[:n_best]
    ]


@examples(40)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 3))
def test_greedy_search_under_a_ban_takes_the_likeliest_token_that_is_left(seed: int, size: int) -> None:
    model = TableModel(vocabulary=4)
    hypotheses = BeamSearch(model, sources(seed), SearchOptions(beam_size=1, max_length=8, no_repeat_ngram=size)).run()[
        0
    ]
    tokens: list[int] = []
    prefix, previous = 0, 2
    while previous != END and len(tokens) < 8:
        prefix = prefix * 100 + previous
        order = model.tokens[np.argsort(-model.distribution(seed + 10, prefix))].tolist()
        previous = next(token for token in order if not repeats((*tokens, token), size))
        tokens.append(previous)
    assert [hypothesis.tokens for hypothesis in hypotheses] == [tuple(tokens)]


@examples(40)
@given(seed=st.integers(0, 10_000), prefix=st.lists(st.integers(4, 6), min_size=1, max_size=3))
def test_under_a_prefix_search_finds_the_best_of_what_begins_with_it(seed: int, prefix: list[int]) -> None:
    model, longest = TableModel(vocabulary=3), 5
    config = SearchOptions(beam_size=243, n_best=3, max_length=longest)
    hypotheses = BeamSearch(model, sources(seed), config, guide=Guide.from_config(config, prefix=prefix)).run()[0]
    scored = [
        (model.log_probability(seed + 10, tokens) / float(LengthPenalty(1.0)(len(tokens))), tokens)
        for tokens in every_ended_sequence(model, longest)
        if tokens[: len(prefix)] == tuple(prefix)
    ]
    assert [hypothesis.tokens for hypothesis in hypotheses] == [
        tokens for _, tokens in sorted(scored, reverse=True)[:3]
    ]
    for hypothesis in hypotheses:
        assert hypothesis.log_probability == pytest.approx(model.log_probability(seed + 10, hypothesis.tokens))


def test_a_prefix_may_repeat_itself_and_what_follows_may_not() -> None:
    model, config = TableModel(vocabulary=4), SearchOptions(beam_size=3, max_length=9, no_repeat_ngram=1)
    hypotheses = BeamSearch(model, sources(5), config, guide=Guide.from_config(config, prefix=[4, 4, 4])).run()[0]
    tokens = hypotheses[0].tokens
    assert tokens[:3] == (4, 4, 4)
    assert 4 not in tokens[3:] and not repeats(tokens[3:], 1)


def test_a_prefix_does_not_count_against_the_limit_of_a_short_source() -> None:
    config = SearchOptions(max_length=100)
    assert limit_lengths(sources(3), config, prefix_length=30).tolist() == [3 * 3 + 5 + 30]
    assert limit_lengths(sources(3), config, prefix_length=95).tolist() == [100]


def test_no_more_candidates_are_asked_for_than_there_are_tokens() -> None:
    counts: list[int] = []

    class CountingTable(TableModel):
        def step(self, tokens, state, candidates, *, scored=True):  # type: ignore[no-untyped-def]
            counts.append(candidates)
            return super().step(tokens, state, candidates)

    config = SearchOptions(beam_size=50, max_length=5)
    BeamSearch(
        CountingTable(vocabulary=3), sources(3), config, guide=Guide.from_config(config, prefix=[4], vocabulary=4)
    ).run()
    assert set(counts) == {4}


@examples(30)
@given(seeds=st.lists(st.integers(0, 10_000), min_size=2, max_size=6, unique=True), size=st.integers(0, 2))
def test_constrained_results_do_not_depend_on_neighbours(seeds: list[int], size: int) -> None:
    model = TableModel(vocabulary=6)
    config = SearchOptions(beam_size=3, n_best=2, max_length=8, no_repeat_ngram=size)
    guide = Guide.from_config(config, prefix=[5, 5])
    together = BeamSearch(model, sources(*seeds), config, guide=guide).run()
    for seed, hypotheses in zip(seeds, together, strict=True):
        assert outline(hypotheses) == outline(BeamSearch(model, sources(seed), config, guide=guide).run()[0])


def test_every_token_but_the_end_used_up_ends_the_sentence() -> None:
    hypotheses = BeamSearch(
        TableModel(vocabulary=2), sources(1), SearchOptions(beam_size=1, max_length=9, no_repeat_ngram=1)
    ).run()[0]
    assert hypotheses[0].finished
    assert all(hypotheses[0].tokens.count(token) <= 1 for token in itertools.chain([END, 4, 5]))


@given(
    history=st.lists(st.lists(st.integers(3, 9), min_size=5, max_size=5), min_size=1, max_size=4),
    counts=st.lists(st.integers(0, 2), min_size=2, max_size=2),
)
def test_a_copy_limit_allows_a_token_as_often_as_its_source_has_it(history: list[list[int]], counts: list[int]) -> None:
    rows = Rows(np.array(history), np.zeros(len(history), dtype=int), np.arange(len(history)))
    candidates = np.tile(np.arange(3, 10), (len(history), 1))
    limit = CopyLimit(np.array([5, 8]), np.array([counts]))
    allowed = limit.find_allowed(candidates, np.zeros(candidates.shape), rows)
    for before, row in zip(history, allowed, strict=True):
        barred = {token for token, count in zip((5, 8), counts, strict=True) if before.count(token) >= count}
        assert row.tolist() == [token not in barred for token in range(3, 10)]


def test_each_sentence_of_a_batch_has_its_own_copy_limit() -> None:
    rows = Rows(np.zeros((3, 0), dtype=int), np.array([1, 0, 1]), np.array([0, 0, 1]))
    limit = CopyLimit(np.array([5]), np.array([[1], [0]]))
    assert limit.find_allowed(np.full((3, 1), 5), np.zeros((3, 1)), rows).ravel().tolist() == [False, True, False]
    assert limit.count_candidates(4, 0) == 5


LEADS = st.lists(st.lists(st.integers(4, 6), max_size=3), min_size=1, max_size=4)


def search_behind(
    model: TableModel, target_prefixes: list[list[int]], config: SearchOptions
) -> list[list[tuple[int, ...]]]:
    """The tokens of the hypotheses of each sentence behind its target prefix; the seed of a sentence is its number."""
    target_prefix = TargetPrefix.from_tokens(target_prefixes, [1] * len(target_prefixes))
    guide = Guide.from_config(config)._replace(target_prefix=target_prefix)
    found = BeamSearch(model, sources(*range(len(target_prefixes))), config, guide=guide).run()
    return [[hypothesis.tokens for hypothesis in group] for group in found]


@examples(50)
@given(target_prefixes=LEADS, beam=st.integers(1, 4), n_best=st.integers(1, 3), ban=st.integers(0, 2))
def test_leads_fed_before_the_search_and_in_it_give_the_same(
    target_prefixes: list[list[int]], beam: int, n_best: int, ban: int
) -> None:
    config = SearchOptions(beam_size=beam, n_best=min(beam, n_best), max_length=5, no_repeat_ngram=ban)
    guide = Guide.from_config(
        config, target_prefix=TargetPrefix.from_tokens(target_prefixes, [1] * len(target_prefixes)), barred=5
    )
    numbered = sources(*range(len(target_prefixes)))
    in_search, before = (
        BeamSearch(model(vocabulary=3), numbered, config, guide=guide).run() for model in (TableModel, FedTable)
    )
    for groups in zip(in_search, before, strict=True):
        for one, other in zip(*groups, strict=True):
            assert one.tokens == other.tokens and one.finished == other.finished
            assert one.score == pytest.approx(other.score)
            assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities)
            assert one.attention == pytest.approx(other.attention)


@examples(30)
@given(target_prefix=st.lists(st.integers(4, 6), min_size=1, max_size=2), n_best=st.integers(1, 4))
def test_the_best_ends_of_a_target_prefix_are_found_and_it_counts_for_nothing(
    target_prefix: list[int], n_best: int
) -> None:
    model, longest = TableModel(vocabulary=3), 3
    config = SearchOptions(beam_size=27, n_best=n_best, max_length=longest)
    (found,) = search_behind(model, [target_prefix], config)
    penalty, table = LengthPenalty(1.0), 10
    of_lead = model.log_probability(table, tuple(target_prefix))
    scored = [
        ((model.log_probability(table, (*target_prefix, *tokens)) - of_lead) / float(penalty(len(tokens))), tokens)
        for tokens in every_ended_sequence(model, longest)
    ]
    assert found == [tokens for _, tokens in sorted(scored, reverse=True)[:n_best]]


@examples(30)
@given(target_prefixes=LEADS, beam=st.integers(1, 4))
def test_a_result_does_not_depend_on_the_prefixes_beside_it(target_prefixes: list[list[int]], beam: int) -> None:
    model, config = TableModel(vocabulary=3), SearchOptions(beam_size=beam, max_length=5)
    together = search_behind(model, target_prefixes, config)
    for number, target_prefix in enumerate(target_prefixes):
        others: list[list[int]] = [[] for _ in target_prefixes]
        others[number] = target_prefix
        assert search_behind(model, others, config)[number] == together[number]


def test_probabilities_and_score_are_those_of_the_tokens_behind_the_lead() -> None:
    model, config = TableModel(vocabulary=3), SearchOptions(beam_size=2, max_length=5)
    guide = Guide.from_config(config)._replace(target_prefix=TargetPrefix.from_tokens([[4, 5]], [1]))
    ((own,),) = BeamSearch(model, sources(0), config, guide=guide).run()
    assert len(own.attention) == len(own.tokens)
    assert sum(own.token_log_probabilities) == pytest.approx(own.log_probability)
    assert own.score == pytest.approx(own.log_probability / float(LengthPenalty(1.0)(len(own.tokens))))


def test_limits_count_the_own_positions_of_a_source_and_add_its_lead() -> None:
    target_prefix = TargetPrefix.from_tokens([[4, 5], []], [2, 0])
    assert limit_lengths(np.full((2, 6), 9), SearchOptions(), target_prefix=target_prefix).tolist() == [
        3 * 4 + 5 + 2,
        3 * 6 + 5,
    ]
    assert TargetPrefix.from_tokens([[], []], [0, 0]) is None


def test_a_barred_token_is_never_written_but_stands_in_a_lead() -> None:
    model, config = TableModel(vocabulary=3), SearchOptions(beam_size=3, n_best=3, max_length=6)
    guide = Guide.from_config(config, barred=4, target_prefix=TargetPrefix.from_tokens([[4]], [1]))
    (hypotheses,) = BeamSearch(model, sources(5), config, guide=guide).run()
    free = Guide.from_config(config)._replace(target_prefix=TargetPrefix.from_tokens([[4]], [1]))
    assert any(4 in hypothesis.tokens for hypothesis in BeamSearch(model, sources(5), config, guide=free).run()[0])
    assert not any(4 in hypothesis.tokens for hypothesis in hypotheses)


def test_tokens_of_a_lead_are_no_repetition() -> None:
    model, config = TableModel(vocabulary=1), SearchOptions(beam_size=1, max_length=8, no_repeat_ngram=1)
    guide = Guide.from_config(config)._replace(target_prefix=TargetPrefix.from_tokens([[4, 4]], [1]))
    ((best,),) = BeamSearch(model, sources(3), config, guide=guide).run()
    assert best.tokens in ((4, 3), (3,))


PROBABILITIES = np.array([0.5, 0.3, 0.15, 0.05])
GRID = (np.arange(10_000) + 0.5) / 10_000  # draws spread evenly, so that shares are exact


def shares(config: SamplingOptions, probabilities: np.ndarray = PROBABILITIES) -> list[float]:
    """How often each column is drawn."""
    with np.errstate(divide="ignore"):
        rows = np.tile(np.log(probabilities), (len(GRID), 1))
    counts = Counter(draw_columns(rows, GRID, config).tolist())
    return [counts[column] / len(GRID) for column in range(len(probabilities))]


@pytest.mark.parametrize(
    ("options", "probabilities", "drawn"),
    [
        ({}, PROBABILITIES, PROBABILITIES),  # as often as they are likely
        ({"temperature": 0.5}, PROBABILITIES, PROBABILITIES**2 / (PROBABILITIES**2).sum()),  # divides log-probabilities
        ({"top_k": 2}, PROBABILITIES, [0.625, 0.375, 0, 0]),
        ({"top_k": 2}, np.array([0.0, 0.6, 0.3, 0.1]), [0, 2 / 3, 1 / 3, 0]),  # of what is allowed
    ],
)
def test_tokens_are_drawn_as_likely_as_the_options_make_them(
    options: dict[str, Any], probabilities: np.ndarray, drawn: np.ndarray
) -> None:
    assert shares(SamplingOptions(sample=True, **options), probabilities) == pytest.approx(drawn, abs=1e-4)


@pytest.mark.parametrize(("top_p", "kept"), [(0.4, 1), (0.5, 1), (0.51, 2), (0.79, 2), (0.94, 3), (1.0, 4)])
def test_top_p_draws_from_the_fewest_that_reach_it(top_p: float, kept: int) -> None:
    expected = np.where(np.arange(4) < kept, PROBABILITIES, 0)
    assert shares(SamplingOptions(sample=True, top_p=top_p)) == pytest.approx(expected / expected.sum(), abs=1e-4)


def sampled(seeds: list[int], lines: list[int], config: SearchOptions) -> list[list[SearchResult]]:
    guide = Guide.from_config(config, text_ids=[TextId(line, 0) for line in lines], steps=config.max_length)
    return BeamSearch(TableModel(vocabulary=6), sources(*seeds), config, guide=guide).run()


@examples(30)
@given(seeds=st.lists(st.integers(0, 10_000), min_size=2, max_size=6, unique=True), n_best=st.integers(1, 4))
def test_a_sample_depends_on_the_line_and_its_number_alone(seeds: list[int], n_best: int) -> None:
    config = SearchOptions(max_length=8, n_best=n_best, sampling=SamplingOptions(sample=True))
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
    config = SearchOptions(max_length=1, n_best=1, sampling=SamplingOptions(sample=True))
    guide = Guide.from_config(config, text_ids=[TextId(line, 0) for line in range(count)], steps=1)
    results = BeamSearch(model, sources(*[3] * count), config, guide=guide).run()
    shares = Counter(samples[0].tokens[0] for samples in results)
    for token, probability in zip(model.tokens.tolist(), np.exp(model.distribution(13, 2)), strict=True):
        deviation = math.sqrt(probability * (1 - probability) / count)
        assert abs(shares[token] / count - probability) < 4 * deviation


def test_another_seed_draws_others_and_the_score_is_the_models_own() -> None:
    first, second = (
        sampled([3], [0], SearchOptions(max_length=8, n_best=4, sampling=SamplingOptions(sample=True, seed=seed)))[0]
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
        config = SearchOptions(max_length=4, n_best=n_best, sampling=SamplingOptions(sample=True))
        lines = sampled([3] * 400, list(range(400)), config)
        assert {len(samples) for samples in lines} == {n_best}
        shares.append(np.mean([not sample.finished for samples in lines for sample in samples]))
    assert shares == pytest.approx([shares[0]] * 3, abs=0.08)  # three standard deviations of the first
    assert shares[0] > 0.1


def test_samples_are_not_drawn_without_the_places_of_the_sentences() -> None:
    with pytest.raises(ValueError, match="needs the ids of the texts"):
        BeamSearch(TableModel(vocabulary=6), sources(3), SearchOptions(sampling=SamplingOptions(sample=True))).run()
