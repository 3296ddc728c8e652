"""The benchmark of faithfulness counts a number as kept if it is there as often, in digits or as a word of its own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "stress.py"


@pytest.fixture(scope="module")
def stress() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stress_benchmark", BENCHMARK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "target", "kept"),
    [
        ("8 ducks in 1931", "1931 waren es 8 Enten", True),
        ("8 ducks in 1931", "1931 waren es acht Enten", True),
        ("the 8th duck", "die achte Ente", True),
        ("1,931 ducks", "1.931 Enten", True),
        ("8 ducks", "Achtung, Enten", False),
        ("8 ducks", "achtz Enten", False),
        ("8 ducks", "neun Enten", False),
        ("8 ducks", "8 Enten und 9 Gänse", False),
        ("8 ducks and 8 geese", "acht Enten und Gänse", False),
        ("8 ducks and 8 geese", "acht Enten und 8 Gänse", True),
        ("1 duck", "eine Ente", False),
        ("1 duck", "1 Ente", True),
        ("in 1931", "um 1913", False),
    ],
)
def test_numbers_are_kept_in_number_and_value(stress: ModuleType, source: str, target: str, kept: bool) -> None:
    assert stress.keeps_numbers(source, target, "deu") == kept
