"""The benchmark of case marks loses nothing: what is marked is restored, and noise changes the case of whole pairs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nmt_cli.corpus.dataset import SentencePair
from nmt_cli.training.config import TrainConfig

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def case_marks() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    import case_marks

    yield case_marks
    sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("where is it?", "where is it?"),
        ("Where is Tom?", "ǂ where is ǂ tom?"),
        ('"I am," he said.', 'ǂ "i am," he said.'),
        ("The USA has TV.", "ǂ the ƻ usa has ƻ tv."),
        ("WHERE IS TOM?", "ʔ where is tom?"),
        ("STOP!", "ƻ stop!"),
        ("I", "ǂ i"),
        ("An iPod at McDonald's", "ǂ an iPod at McDonald's"),
        ("Die STRAẞE", "ǂ die STRAẞE"),  # ß has no capital in `str.upper`
        ("Übung 1984", "ǂ übung 1984"),
        ("", ""),
    ],
)
def test_marked_case_is_restored(case_marks: ModuleType, text: str, marked: str) -> None:
    assert case_marks.mark_case(text) == marked
    assert case_marks.restore_case(marked) == text


def test_marks_before_nothing_are_left_out(case_marks: ModuleType) -> None:
    assert case_marks.restore_case("ǂ das ǂ haus ƻ") == "Das Haus"


def test_noise_changes_the_case_of_both_sides_and_the_care_of_one(case_marks: ModuleType) -> None:
    pair = SentencePair("ǂ where is ǂ tom?", "ǂ wo ist ǂ tom?")
    noise = case_marks.make_marked_noise(TrainConfig())
    changed = [kind.rewrite_pairs([pair], np.random.default_rng(1))[0] for kind in noise]
    assert changed == [
        SentencePair("ʔ where is tom?", "ʔ wo ist tom?"),
        SentencePair("ǂ where ǂ is ǂ tom?", "ǂ wo ǂ ist ǂ tom?"),
        SentencePair("where is tom", "ǂ wo ist ǂ tom?"),
    ]
