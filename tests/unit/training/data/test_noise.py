from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.sides import SentencePair
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.augmentation import make_rewrites
from nmt_cli.training.data.noise import add_typing_errors, write_source_casually

TEXT = "Where is Anna's old house, and who lives in it?"


def test_a_source_of_marks_alone_stays_as_it_is() -> None:
    generator = np.random.default_rng(1)
    assert write_source_casually("?!", "Wie?", generator) == SentencePair("?!", "Wie?")
    assert write_source_casually("Where is Tom?", "Wo ist Tom?", generator) == ("where is tom", "Wo ist Tom?")


def test_only_what_is_asked_for_draws_random_numbers() -> None:
    config = TrainConfig(placeholders=0.1)
    assert [share for share, _ in make_rewrites(config, None)] == [0.1, 0.3]
    assert [share for share, _ in make_rewrites(replace(config, typing_errors=0.2), None)] == [0.1, 0.2, 0.3]


def test_about_one_letter_in_twenty_is_mistyped() -> None:
    generator = np.random.default_rng(1)
    texts = [add_typing_errors("abcdefghij" * 10, generator) for _ in range(100)]
    changed = [sum(a != b for a, b in zip(text, "abcdefghij" * 10, strict=False)) for text in texts]
    assert 50 < sum(text != "abcdefghij" * 10 for text in texts) and min(changed) < max(changed)
    lengths = np.array([len(text) for text in texts])
    assert lengths.mean() == pytest.approx(100, abs=1)  # as many letters are left out as are doubled


@given(st.text(), st.integers(0, 100))
def test_typing_errors_change_letters_alone(text: str, seed: int) -> None:
    typed = add_typing_errors(text, np.random.default_rng(seed))
    assert [c for c in typed if not c.isalpha()] == [c for c in text if not c.isalpha()]


@given(st.integers(0, 1000))
def test_typing_errors_leave_placeholders(seed: int) -> None:
    assert "⟦3⟧" in add_typing_errors(f"{TEXT} ⟦3⟧ {TEXT}", np.random.default_rng(seed))
