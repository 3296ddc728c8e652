"""Our numbers against those of the program `sacrebleu` itself."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from nmt_cli.evaluation.analysis import significance
from nmt_cli.evaluation.analysis.significance import (
    SEED,
    bootstrap_interval,
    compare_pairs,
    compute_bootstrap_p,
    compute_p_value,
    randomise_difference,
    resample_sums,
)
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import METRICS
from support.corpora import toy_pairs

REFERENCES = [target for _, target in toy_pairs(60)]
HYPOTHESES = [line.replace("Hund", "Katze") if n % 3 else line + " ja" for n, line in enumerate(REFERENCES)]
OTHERS = [line.replace("sieht den", "den") if n % 2 else line.replace("um", "an") for n, line in enumerate(REFERENCES)]
PAIRED = [[line] for line in REFERENCES]


@pytest.mark.parametrize(
    ("ours", "theirs"), [("floor:0.2", ["floor", "-sv", "0.2"]), ("add-k:1", ["add-k", "-sv", "1"])]
)
def test_smoothing_is_that_of_the_command(tmp_path: Path, ours: str, theirs: list[str]) -> None:
    for name, lines in (("h", HYPOTHESES), ("r", REFERENCES)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", str(tmp_path / "r"), "-i", str(tmp_path / "h"), "-w", "13"]
    done = subprocess.run([*command, "-s", *theirs], capture_output=True, check=True, text=True)
    value = METRICS["bleu"](HYPOTHESES, PAIRED, ScoreOptions(smooth=ours)).value
    assert value == pytest.approx(json.loads(done.stdout)["score"], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "metric"), [("bleu", BLEU()), ("chrf", CHRF()), ("chrf++", CHRF(word_order=2)), ("ter", TER())]
)
def test_intervals_resamples_and_randomisation_are_sacrebleu_s(name: str, metric: object) -> None:
    systems = [("other", OTHERS), ("ours", HYPOTHESES)]
    expected = {}
    for kind, number in (("bs", 200), ("ar", 300)):
        test = PairedTest(systems, {name: metric}, [REFERENCES], test_type=kind, n_samples=number)  # type: ignore[dict-item]
        expected[kind] = list(test()[1].values())[1][1]
    ours, other = METRICS[name](HYPOTHESES, PAIRED), METRICS[name](OTHERS, PAIRED)
    assert ours.statistics and other.statistics
    statistics = ours.statistics, other.statistics
    interval = bootstrap_interval(ours.statistics, 200)
    assert interval is not None and interval.half_width == pytest.approx(expected["bs"].ci, abs=1e-4)
    (test,) = compare_pairs([ours, other], resamples=200)
    differences = np.subtract(*(score.combine(resample_sums(score.counts, 200, SEED)) for score in statistics))
    one_sided = compute_p_value(abs(differences) - abs(differences).mean(), abs(test.difference))
    assert one_sided == pytest.approx(expected["bs"].p_value) and test.p is not None and test.p >= one_sided
    randomised = randomise_difference(ours.statistics, other.statistics, 300)
    if name == "ter":  # few whole edits make ties, which sacreBLEU does not count, and Riezler and Maxwell do
        assert randomised > expected["ar"].p_value
    else:
        assert randomised == pytest.approx(expected["ar"].p_value)


@pytest.mark.parametrize("name", ["rougeL", "cer"])
def test_equally_good_systems_differ_significantly_in_a_twentieth_of_cases(name: str) -> None:
    """By theory: with each sentence from either system at random, no difference is real."""
    references, hypotheses, others = (lines * 4 for lines in (PAIRED, HYPOTHESES, OTHERS))
    ours, other = (METRICS[name](lines, references).statistics for lines in (hypotheses, others))
    assert ours and other
    generator, cases, false_alarms = np.random.default_rng(1), 1000, 0
    weights = generator.multinomial(240, [1 / 240] * 240, size=500)  # how often each resample draws each sentence
    for _ in range(cases):
        is_swapped = generator.integers(2, size=(240, 1), dtype=bool)
        pair = [np.where(is_swapped == side, ours.counts, other.counts) for side in (False, True)]
        values, other_values = (ours.combine(weights @ counts) for counts in pair)
        observed = np.subtract(*(ours.combine(counts.sum(axis=0, keepdims=True)) for counts in pair))
        false_alarms += compute_bootstrap_p(values, other_values, float(observed[0])) < significance.SIGNIFICANT
    assert false_alarms / cases == pytest.approx(0.05, abs=0.02)


def test_a_system_equals_itself_and_a_great_difference_is_no_chance() -> None:
    score = METRICS["rougeL"](HYPOTHESES, PAIRED)
    (itself,) = compare_pairs([score, score], resamples=100)
    assert (itself.difference, itself.p, itself.randomisation_p) == (0, 1, 1)
    perfect = [METRICS["rougeL"](REFERENCES, PAIRED), METRICS["rougeL"](["x"] * 60, PAIRED)]
    (test,) = compare_pairs(perfect, resamples=100)
    assert test.randomisation_p < 0.001 and test.difference == pytest.approx(100)


def test_trials_are_sacrebleu_s_also_where_memory_makes_parts_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits are drawn 32 at a time, and what is left of 32 at the end of a part would be thrown away."""
    ours, other = METRICS["bleu"](HYPOTHESES, PAIRED), METRICS["bleu"](OTHERS, PAIRED)
    assert ours.statistics and other.statistics
    whole = randomise_difference(ours.statistics, other.statistics, 300)
    monkeypatch.setattr(significance, "CELLS", 45 * len(HYPOTHESES))
    assert randomise_difference(ours.statistics, other.statistics, 300) == whole


def test_a_single_sentence_has_no_interval_and_no_bootstrap() -> None:
    scores = [METRICS["bleu"](["a"], [["a"]]), METRICS["bleu"](["b"], [["a"]])]
    assert scores[0].statistics and bootstrap_interval(scores[0].statistics, 1000) is None
    (test,) = compare_pairs(scores, resamples=1000)
    assert (test.p, test.corrected_p, test.randomisation_p, test.is_significant) == (None, None, 1, False)


def test_systems_that_differ_in_one_sentence_are_not_told_apart() -> None:
    """However it is swapped, the difference is as great; of two swapped alike, half of the ways are."""
    references = [[f"sentence {number}"] for number in range(20)]
    right = [sentence for (sentence,) in references]
    metric = METRICS["exact"]
    for wrong, expected in ((1, 1.0), (2, 0.5), (3, 0.25)):
        other = ["something else"] * wrong + right[wrong:]
        (test,) = compare_pairs([metric(right, references), metric(other, references)], resamples=0)
        assert test.randomisation_p == pytest.approx(expected, abs=0.02)
