"""Duplicates, and sentences that training shares with dev or test data."""

from __future__ import annotations

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.steps.run_checks import run_checks
from support.corpora import check_rows, examine_rows, example_lines


def test_duplicates_are_exact_or_equal_in_form_and_the_first_stays() -> None:
    findings = check_rows(
        [("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y"), ("A b", "other"), ("A b", "X y")]
    )
    assert (findings["duplicate"].count, example_lines(findings, "duplicate")) == (2, [3, 6])
    assert (findings["duplicate-form"].count, example_lines(findings, "duplicate-form")) == (1, [4])
    assert findings["many-targets"].action == "reported"
    assert example_lines(findings, "many-targets") == [1, 5]


def test_exact_repeats_that_are_kept_are_no_duplicates_in_form() -> None:
    rows = [("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y")]
    findings = check_rows(rows, PrepareConfig(keep=("duplicate",)))
    assert (findings["duplicate"].action, example_lines(findings, "duplicate")) == ("kept", [3])
    assert example_lines(findings, "duplicate-form") == [4]


def test_training_pairs_that_touch_given_test_data_are_dropped() -> None:
    rows = [("a", "1"), ("b", "2"), ("C!", "3"), ("d", "4"), ("c!", "x"), ("y", "2"), ("b", "z"), ("d", "w")]
    pairs = examine_rows(rows, roles=["train", "test", "dev"], inputs=[0, 0, 0, 0, 1, 1, 2, 2])
    findings = {finding.check: finding for finding in run_checks(pairs, PrepareConfig(), lambda done: None)}
    assert findings["held-out"].count == 3  # b and C! for test, d for dev
    assert pairs.is_kept.tolist() == [True, False, False, False, True, True, True, True]


def test_given_dev_pairs_that_touch_given_test_data_are_dropped_too() -> None:
    rows = [("a", "1"), ("b", "2"), ("b", "3")]
    pairs = examine_rows(rows, roles=["train", "dev", "test"], inputs=[0, 1, 2])
    run_checks(pairs, PrepareConfig(), lambda done: None)
    assert pairs.is_kept.tolist() == [True, False, True]
