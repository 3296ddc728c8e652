"""A model of the other direction ranks hypotheses: a wider search, one more term in the score, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from nmt_cli.search.config import SearchConfig
from nmt_cli.search.sampling import TextId
from nmt_cli.translation import forced
from nmt_cli.translation.reranking import CANDIDATES, Judge
from nmt_cli.translation.result import Hypothesis, Translation

SCORES = {"one": -1.0, "two": -1.5, "three": -2.0}  # of the hypotheses, as search found them


def make_hypothesis(text: str, score: float) -> Hypothesis:
    return Hypothesis(text, (), (), 2 * score, score, (), (), True)


def make_translation(source: str) -> Translation:
    hypotheses = tuple(make_hypothesis(text, score) for text, score in SCORES.items())
    return Translation(source, (), hypotheses, frozenset())


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Reads source "a" back best from "three", and "b" from "one"."""
    rewards = {("three", "a"): -1.0, ("one", "b"): -1.0}

    def force(judged: list[tuple[str, str]], sources: Sequence[str], targets: Sequence[str]) -> list[Any]:
        pairs = list(zip(sources, targets, strict=True))
        judged += pairs
        return [SimpleNamespace(log_probability=rewards.get(pair, -20.0)) for pair in pairs]

    monkeypatch.setattr(forced, "force_lines", force)
    return Judge([])  # type: ignore[arg-type]


def rank(judge: Judge, **settings: Any) -> Mapping[str, list[str]]:
    texts = {TextId(0, 0): make_translation("a"), TextId(1, 0): make_translation("b")}
    ranked = judge.rank(texts, SearchConfig(**{"n_best": 3, "rerank_weight": 0.1, **settings}))
    assert list(ranked) == list(texts)
    return {each.source: [hypothesis.text for hypothesis in each.hypotheses] for each in ranked.values()}


def test_the_hypothesis_that_tells_its_source_best_comes_first(judge: Judge) -> None:
    assert rank(judge) == {"a": ["three", "one", "two"], "b": ["one", "two", "three"]}


def test_without_weight_the_order_of_the_search_stays(judge: Judge) -> None:
    assert set(map(tuple, rank(judge, rerank_weight=0.0).values())) == {tuple(SCORES)}


def test_what_cannot_become_the_best_is_not_judged(judge: Judge) -> None:
    rank(judge, n_best=1)
    judged: Any = judge.translator
    assert judged == [("one", "a"), ("one", "b"), ("two", "a"), ("three", "a")]


def test_as_many_hypotheses_are_left_as_were_asked_for(judge: Judge) -> None:
    assert rank(judge, n_best=1) == {"a": ["three"], "b": ["one"]}


def test_the_score_is_of_the_ranking_the_probability_of_the_model(judge: Judge) -> None:
    (ranked,) = judge.rank({TextId(0, 0): make_translation("a")}, SearchConfig(rerank_weight=0.5)).values()
    (best,) = ranked.hypotheses
    assert (best.text, best.score, best.log_probability) == ("three", -2.0 - 0.5, -4.0)


def test_a_blank_text_has_nothing_to_rank(judge: Judge) -> None:
    blank = Translation("", (), (), frozenset())
    assert judge.rank({TextId(0, 0): blank}, SearchConfig()) == {TextId(0, 0): blank}


@pytest.mark.parametrize(("beam_size", "expected"), [(1, CANDIDATES), (5, CANDIDATES), (20, 20)])
def test_the_search_is_wide_enough(judge: Judge, beam_size: int, expected: int) -> None:
    wide = judge.widen_search(SearchConfig(beam_size=beam_size, length_penalty=0.7))
    assert (wide.beam_size, wide.n_best, wide.length_penalty) == (expected, expected, 0.7)
