"""Systems side by side, made of sentences with known scores."""

from dataclasses import replace
from functools import cache

import pytest

from nmt_cli.evaluation.comparison import (
    MARK,
    SystemComparison,
    compare_systems,
    describe_difference,
    describe_pairs,
    format_notes,
    format_table,
    list_disputed,
)
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.evaluation.report import score_material, tabulate_sentences
from nmt_cli.text.wrapping import count_columns

REFERENCE = "the cat sat on the mat"
METRICS = ["bleu", "chrf", "ter", "rougeL"]


@cache
def make_comparison(**rights: int) -> SystemComparison:
    """Systems that translate as many of 40 sentences rightly as they are named with; few resamples decide as 1,000."""
    reports = []
    for right in rights.values():
        hypotheses = [REFERENCE if row < right else "a dog stood by the door" for row in range(40)]
        reports.append(score_material(METRICS, Material(hypotheses, [[REFERENCE]] * 40)))
    return compare_systems(list(rights), reports, ScoreOptions(resamples=200))


def test_systems_that_differ_by_little_share_a_letter() -> None:
    comparison = make_comparison(good=30, alike=29, bad=3)
    assert comparison.letters["chrf"] == ("a", "a", "b")
    assert comparison.find_best("chrf") == comparison.find_best("ter") == 0  # TER: lower is better
    assert comparison.letters["ter"] == ("a", "a", "b")


@pytest.mark.parametrize("width", [40, 60, 80, 120, None])
def test_the_table_has_every_score_once_at_every_width(width: int | None) -> None:
    comparison = make_comparison(good=30, alike=29, bad=3)
    lines = format_table(comparison, width)
    shown = [line.replace(MARK, "") for line in lines]
    assert width is None or max(map(count_columns, shown)) <= width
    assert [" ".join(shown).split().count(name) for name in ("BLEU", "chrF2", "TER", "ROUGE-L")] == [1] * 4
    assert "\n".join(lines).count(MARK) == 2 * len(METRICS)  # one best of each
    whole = [line for line in format_table(comparison) if line.startswith("bad")]
    parts = [line for line in lines if line.startswith("bad")]
    assert " ".join(" ".join(parts).replace("bad", "").split()) == " ".join(whole[0].replace("bad", "").split())


def test_numbers_are_right_aligned() -> None:
    table = format_table(make_comparison(all=40, some=30, none=0))
    places = {line.replace(MARK, "").index("±") for line in table[1:]}
    assert len(places) == 1 and "100.0 ±  0.0" in table[1].replace(MARK, "")


def test_which_is_better_is_said_in_words_whatever_the_sign() -> None:
    comparison = make_comparison(b=30, a=3)
    (bleu,), (ter,) = describe_pairs(comparison, "bleu"), describe_pairs(comparison, "ter")
    assert bleu.startswith("b is ") and "BLEU better than a, p = 0.00" in bleu
    assert ter.startswith("b is ") and "TER better than a" in ter
    assert bleu in format_notes(comparison)
    score = comparison.reports[0].scores["bleu"]
    assert describe_difference(score, -0.9, "a", "b") == "b is 0.90 BLEU better than a"
    assert describe_difference(score, 0.001, "a", "b") == "a and b have the same BLEU"


def test_the_most_disputed_sentences_come_first() -> None:
    disputed = list_disputed(make_comparison(good=30, alike=29, bad=28), count=5)
    assert [sentence.number for sentence in disputed] == [29, 30]  # the others are the same in all
    assert disputed[0].hypotheses[0] == REFERENCE != disputed[0].hypotheses[2]


def test_without_resamples_there_are_no_letters() -> None:
    comparison = make_comparison(good=30, bad=3)
    plain = compare_systems(comparison.names, comparison.reports, ScoreOptions(resamples=0))
    assert plain.letters == {} and not any("letter" in line for line in format_notes(plain))


def test_scores_of_unlike_signatures_are_not_compared() -> None:
    comparison = make_comparison(one=30, two=3)
    other = comparison.reports[1]
    scores = {**other.scores, "chrf": replace(other.scores["chrf"], signature="nc:3")}
    reports = [comparison.reports[0], replace(other, scores=scores)]
    result = compare_systems(comparison.names, reports, ScoreOptions(resamples=9))
    assert "chrf" not in result.tests and "chrF2 cannot be compared" in result.warnings[0]


def test_the_sentences_have_a_column_for_each_system_and_score() -> None:
    comparison = make_comparison(one=30, two=3)
    reports = dict(zip(comparison.names, comparison.reports, strict=True))
    header, first, *_ = tabulate_sentences(reports, comparison.metrics)
    assert header[:3] == ["number", "reference", "hypothesis:one"] and "chrf:two" in header
    assert len(first) == len(header)
