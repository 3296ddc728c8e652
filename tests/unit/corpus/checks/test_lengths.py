"""Lengths and ratios of lengths, which are learned from the corpus or set by options."""

from __future__ import annotations

import random

import numpy as np

from nmt_cli.arrays.counting import count_values
from nmt_cli.corpus.checks.lengths import learn_length_limit
from nmt_cli.corpus.config import PrepareConfig
from support.corpora import check_rows, example_lines, toy_pairs


def test_lengths_are_learnt_from_the_corpus_and_options_set_them() -> None:
    short, long = np.full(1000, 8), np.full(1000, 60)
    noise = np.random.default_rng(1).lognormal(0, 0.4, 1000)
    assert learn_length_limit(count_values([(short * noise).astype(np.int32)])) == 100
    assert 300 < learn_length_limit(count_values([(long * noise).astype(np.int32)])) < 700
    rows = [*toy_pairs(300), ("a " * 120 + "b", "c " * 119 + "d"), ("x" * 5000, "y " * 90 + "z")]
    assert check_rows(rows)["too-long"].count == 2
    assert check_rows(rows, PrepareConfig(max_length=300))["length-ratio"].count == 1
    assert check_rows(rows, PrepareConfig(max_length=6))["too-long"].count == 302


def test_ratios_are_learnt_from_the_corpus() -> None:
    """Chinese has a third of the characters of its English; that is usual there, and equal lengths are not."""
    generator = random.Random(1)
    lengths = [generator.randint(4, 12) for _ in range(1000)]
    rows = [("word " * n + str(i), "字" * (2 * n) + str(i)) for i, n in enumerate(lengths)]
    assert "length-ratio" not in check_rows(rows)
    rows[500] = (rows[500][0], "字" * 90)
    rows[700] = (rows[700][0] + " word" * 20, "字字")
    assert example_lines(check_rows(rows), "length-ratio") == [501, 701]


def test_a_fixed_ratio_is_of_words_and_spares_short_pairs() -> None:
    rows = [("a b c d e", "x"), ("a b c d e f", "x y"), ("a b c d e f", "x"), ("x", "a b c d e f")]
    assert example_lines(check_rows(rows, PrepareConfig(max_ratio=3)), "length-ratio") == [3, 4]
