"""Swapped sides and wrong languages, found by what the corpus itself teaches."""

from __future__ import annotations

import random

from nmt_cli.corpus.config import PrepareConfig
from support.corpora import check_rows, example_lines

ENGLISH = "the of and to in that was his he it with is for as had you not be her on at by which have or from".split()
GERMAN = "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden".split()


def language_pairs(number: int) -> list[tuple[str, str]]:
    generator = random.Random(1)
    return [
        (" ".join(generator.choices(ENGLISH, k=8)) + f" {i}.", " ".join(generator.choices(GERMAN, k=8)) + f" {i}.")
        for i in range(number)
    ]


def test_the_corpus_teaches_to_find_swapped_sides_and_wrong_languages() -> None:
    rows = language_pairs(2500)
    rows[100:110] = [(target, source) for source, target in rows[100:110]]
    rows[200:205] = [(source, f"{rows[i][0]} too") for i, (source, _) in enumerate(rows[200:205])]
    findings = check_rows(rows)
    assert (findings["swapped"].count, example_lines(findings, "swapped")) == (10, [101, 102, 103])
    assert (findings["language"].count, example_lines(findings, "language")) == (5, [201, 202, 203])


def test_swapped_sides_that_are_kept_are_not_dropped_for_their_languages() -> None:
    rows = language_pairs(2500)
    rows[100:110] = [(target, source) for source, target in rows[100:110]]
    findings = check_rows(rows, PrepareConfig(keep=("swapped",)))
    assert (findings["swapped"].count, findings["swapped"].action) == (10, "kept")
    assert "language" not in findings


def test_a_third_language_is_reported() -> None:
    rows = language_pairs(2500)
    rows[300] = ("les enfants jouaient dehors pendant que nous préparions", rows[300][1])
    finding = check_rows(rows)["unlike"]
    assert (finding.count, finding.action, finding.examples[0].line) == (1, "reported", 301)


def test_languages_that_are_alike_or_too_few_give_no_findings() -> None:
    same = [(source, " ".join(reversed(source.split()))) for source, _ in language_pairs(2500)]
    assert not {"swapped", "language"} & check_rows(same).keys()
    few = [*language_pairs(50), ("der die und in den von zu", "the of and to in that was")]
    assert not {"swapped", "language"} & check_rows(few).keys()
