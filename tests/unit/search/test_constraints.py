from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.beam import search
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.constraints import CopyLimit, NgramBan, Rows
from nmt_cli.search.guide import Guide
from nmt_cli.search.length_limits import limit_lengths
from nmt_cli.search.ranking import LengthPenalty
from support.properties import examples
from support.tables import END, TableModel, every_ended_sequence, sources


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
    config = SearchConfig(beam_size=243, n_best=n_best, max_length=longest, no_repeat_ngram=size)
    hypotheses = search(model, sources(seed), config)[0]
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
    hypotheses = search(model, sources(seed), SearchConfig(beam_size=1, max_length=8, no_repeat_ngram=size))[0]
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
    config = SearchConfig(beam_size=243, n_best=3, max_length=longest)
    hypotheses = search(model, sources(seed), config, guide=Guide.from_config(config, prefix=prefix))[0]
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
    model, config = TableModel(vocabulary=4), SearchConfig(beam_size=3, max_length=9, no_repeat_ngram=1)
    hypotheses = search(model, sources(5), config, guide=Guide.from_config(config, prefix=[4, 4, 4]))[0]
    tokens = hypotheses[0].tokens
    assert tokens[:3] == (4, 4, 4)
    assert 4 not in tokens[3:] and not repeats(tokens[3:], 1)


def test_a_prefix_does_not_count_against_the_limit_of_a_short_source() -> None:
    config = SearchConfig(max_length=100)
    assert limit_lengths(sources(3), config, prefix_length=30).tolist() == [3 * 3 + 5 + 30]
    assert limit_lengths(sources(3), config, prefix_length=95).tolist() == [100]


def test_no_more_candidates_are_asked_for_than_there_are_tokens() -> None:
    counts: list[int] = []

    class CountingTable(TableModel):
        def step(self, tokens, state, candidates, *, scored=True):  # type: ignore[no-untyped-def]
            counts.append(candidates)
            return super().step(tokens, state, candidates)

    config = SearchConfig(beam_size=50, max_length=5)
    search(CountingTable(vocabulary=3), sources(3), config, guide=Guide.from_config(config, prefix=[4], vocabulary=4))
    assert set(counts) == {4}


@examples(30)
@given(seeds=st.lists(st.integers(0, 10_000), min_size=2, max_size=6, unique=True), size=st.integers(0, 2))
def test_constrained_results_do_not_depend_on_neighbours(seeds: list[int], size: int) -> None:
    model = TableModel(vocabulary=6)
    config = SearchConfig(beam_size=3, n_best=2, max_length=8, no_repeat_ngram=size)
    guide = Guide.from_config(config, prefix=[5, 5])
    together = search(model, sources(*seeds), config, guide=guide)
    for seed, hypotheses in zip(seeds, together, strict=True):
        alone = search(model, sources(seed), config, guide=guide)[0]
        assert [(hypothesis.tokens, hypothesis.score) for hypothesis in hypotheses] == [
            (hypothesis.tokens, hypothesis.score) for hypothesis in alone
        ]


def test_every_token_but_the_end_used_up_ends_the_sentence() -> None:
    hypotheses = search(
        TableModel(vocabulary=2), sources(1), SearchConfig(beam_size=1, max_length=9, no_repeat_ngram=1)
    )[0]
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
