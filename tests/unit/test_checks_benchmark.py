"""The benchmark of the checks draws only sentences that training does not know."""

from __future__ import annotations

import importlib.util
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "checks.py"


def test_no_pair_that_training_knows_on_either_side_is_drawn() -> None:
    spec = importlib.util.spec_from_file_location("checks_benchmark", BENCHMARK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pairs = [("a", "x"), ("b", "y"), ("B", "z"), ("c", "x"), ("d", "w"), ("d", "v"), ("e", "u")]
    drawn = module.draw_unseen(pairs, [("b", "q"), ("r", "X")], 2, 1)
    assert sorted(drawn) == [("d", "v"), ("e", "u")]
    assert sorted(module.draw_unseen(pairs, [("b", "q"), ("r", "X")], 5, 1)) == [("d", "v"), ("e", "u")]
