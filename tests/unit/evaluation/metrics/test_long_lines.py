"""Metrics of usual lines equal those of the programs that define them, and no line takes more than seconds."""

import random
import time
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.evaluation.config import DEFAULT
from nmt_cli.evaluation.metrics.overlap import (
    LONGEST_COMPARED,
    LONGEST_SPLIT,
    UnicodeTokenizer,
    bound_edit_distance,
    compute_edit_distance,
)
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.sacrebleu_metrics import LONGEST_SHIFTED
from support.properties import examples

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "D", "e.", "f!"]), max_size=30).map(" ".join)
BY_WORDS = [name for name in METRICS if name not in ("perplexity", "accuracy")]
APPROXIMATED = {"ter": "without-shifts:1>", "rougeLsum": "not-split:1>", "cer": "parts:"}


@cache
def make_text(words: int, seed: int) -> str:
    generator = random.Random(seed)
    return " ".join(f"w{generator.randrange(3000)}" + "." * (word % 20 == 19) for word in range(words))


@examples(60)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_ter_of_usual_lines_is_that_of_sacrebleu(hypothesis: str, references: list[str]) -> None:
    from sacrebleu.metrics.ter import TER

    ours = METRICS["ter"]([hypothesis], [references])
    theirs = TER().corpus_score([hypothesis], [[reference] for reference in references])
    assert ours.value == theirs.score and "shifts" not in ours.signature


@examples(60)
@given(TEXTS, TEXTS)
@pytest.mark.parametrize("kind", ["rougeL", "rougeLsum"])
def test_rouge_is_that_of_rouge_score(kind: str, hypothesis: str, reference: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    from nmt_cli.evaluation.metrics.overlap import split_lines

    split = split_lines if kind == "rougeLsum" else str
    theirs = RougeScorer([kind], tokenizer=UnicodeTokenizer()).score(split(reference), split(hypothesis))[kind]
    ours = METRICS[kind]([hypothesis], [[reference]], DEFAULT)
    assert ours.value == pytest.approx(100 * theirs.fmeasure)
    assert ours.parts == pytest.approx({"precision": 100 * theirs.precision, "recall": 100 * theirs.recall})
    assert "not-split" not in ours.signature


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
def test_parts_are_no_nearer_than_the_whole(one: list[str], other: list[str]) -> None:
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as changed:
        changed.setattr("nmt_cli.evaluation.metrics.overlap.LONGEST_COMPARED", 7)
        bound = bound_edit_distance(one, other)
    assert compute_edit_distance(one, other) <= bound <= max(len(one), len(other))


@pytest.mark.parametrize("limit", [LONGEST_SHIFTED, LONGEST_SPLIT, LONGEST_COMPARED])
def test_no_limit_is_so_low_that_usual_lines_are_met(limit: int) -> None:
    assert limit >= 300


@pytest.mark.parametrize("name", BY_WORDS)
def test_a_long_line_takes_seconds_and_an_estimate_is_told(name: str) -> None:
    started = time.process_time()
    score = METRICS[name]([make_text(50_000, 1)], [[make_text(50_000, 2)]])
    assert time.process_time() - started < 20  # hours, or more memory than there is, without a bound
    usual = METRICS[name](["w1 w2."], [["w2. w1"]]).signature
    assert (score.signature != usual) == (name in APPROXIMATED)
    assert APPROXIMATED.get(name, "") in score.signature
    same = METRICS[name]([make_text(5_000, 1)], [[make_text(5_000, 1)]])
    assert same.value == pytest.approx(0 if score.lower_is_better else 100, abs=0.01)
