"""Tests of `translation/forced.py`.

A model of the other direction ranks hypotheses: a wider search, one more term in the score, nothing else.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.translation import forced
from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.forced import CANDIDATES, Judge, force_translations
from nmt_cli.translation.placement.alignment import find_links
from nmt_cli.translation.result import Hypothesis, Translation
from support.adversary import adversarial_translator


def test_a_forced_pair_is_masked_and_cut_as_a_translated_line_is() -> None:
    pair = (["bade a@b.com lu ma."], ["edab a@b.com ul am."])

    def forced(protect: bool, limit: int | None = None) -> tuple[str, str, int | None]:
        translator = adversarial_translator(lines=LineOptions(protect=protect))
        (translation,) = force_translations(translator, *pair, limit=limit)
        return (
            "".join(translation.source_pieces),
            "".join(translation.hypotheses[0].pieces),
            translation.source_cut_from,
        )

    assert all("▁a@b.com" in side for side in forced(True)[:2])
    assert not any("⟦" in side for side in forced(False)[:2])
    shortened, target, length = forced(True, limit=1)
    assert length is not None and forced(True)[0].startswith(shortened.removesuffix("</s>")) and "ma" not in shortened
    assert target == forced(True)[1]


def test_words_of_a_given_translation_are_those_of_the_texts() -> None:
    """An amount is two words and one placeholder; the network reads no emoji and no tags."""
    translator = adversarial_translator()
    sources = ["bade 5 km lu 7 km ma.", "😀 bade lu.", "<b>bade</b> lu."]
    targets = ["7 km ul am 5 km.", "edab ul 😀", "<b>edab</b> ul."]
    first, second, third = force_translations(translator, sources, targets)
    assert [translation.text for translation in (first, second, third)] == targets
    links = {target: source for source, target in find_links(first, first.hypotheses[0])}
    assert (links[0], links[1], links[4], links[5]) == (4, 5, 1, 2) and set(links) == set(range(6))
    assert [target for _, target in find_links(second, second.hypotheses[0])] == [0, 1]
    assert [target for _, target in find_links(third, third.hypotheses[0])] == [0, 1]
    assert [placed.text for placed in first.placed] == ["7 km", "5 km"] and not third.unseen
    assert "7 km" in first.hypotheses[0].pieces and "5 km" in first.source_pieces


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
    ranked = judge.rank(texts, SearchOptions(**{"n_best": 3, "rerank_weight": 0.1, **settings}))
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
    (ranked,) = judge.rank({TextId(0, 0): make_translation("a")}, SearchOptions(rerank_weight=0.5)).values()
    (best,) = ranked.hypotheses
    assert (best.text, best.score, best.log_probability) == ("three", -2.0 - 0.5, -4.0)


def test_a_blank_text_has_nothing_to_rank(judge: Judge) -> None:
    blank = Translation("", (), (), frozenset())
    assert judge.rank({TextId(0, 0): blank}, SearchOptions()) == {TextId(0, 0): blank}


@pytest.mark.parametrize(("beam_size", "expected"), [(1, CANDIDATES), (5, CANDIDATES), (20, 20)])
def test_the_search_is_wide_enough(judge: Judge, beam_size: int, expected: int) -> None:
    wide = judge.widen_search(SearchOptions(beam_size=beam_size, length_penalty=0.7))
    assert (wide.beam_size, wide.n_best, wide.length_penalty) == (expected, expected, 0.7)
