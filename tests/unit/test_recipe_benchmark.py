"""What benchmarks/recipes.py counts and skips; the commands it runs have tests of their own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recipes.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recipe_benchmark", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


bench = load()


def row(name: str = "dot", **values: Any) -> dict[str, Any]:
    return {
        "name": name,
        "weights": 2_760_000,
        "dev_bleu": 20.04,
        "bleu": 25.31,
        "bleu_interval95": [23.5, 27.1],
        "bleu_lowercased": 26.0,
        "chrf": 45.1,
        "short": {"sentences": 950, "bleu": 26.0, "bleu_interval95": [24.0, 27.0], "chrf": 46.0},
        "long": {"sentences": 0, "bleu": None, "bleu_interval95": None, "chrf": None},
        "best_epoch": 4,
        "epochs": 5,
        "seconds": 605.2,
        "signatures": {"bleu": "nrefs:1", "chrf": "nrefs:1"},
        **values,
    }


def test_twelve_words_are_short_and_thirteen_are_long() -> None:
    twelve, thirteen = " ".join("a" * 12) + ".", " ".join("a" * 13) + "."
    texts = bench.Translations([twelve, thirteen], ["x", "y"], ["X", "Y"])
    assert texts.only(short=True) == bench.Translations([twelve], ["x"], ["X"])
    assert texts.only(short=False) == bench.Translations([thirteen], ["y"], ["Y"])


def test_a_group_without_sentences_has_no_score_and_case_counts_by_default() -> None:
    texts = bench.Translations(["a b c d e"], ["A B C D E"], ["a b c d e"])
    nothing = {"sentences": 0, "bleu": None, "bleu_interval95": None, "chrf": None}
    assert bench.group(texts.only(short=False)) == nothing
    assert texts.lowercased().score("bleu") == 100
    assert texts.score("bleu") < 10


def test_a_group_has_its_scores_and_an_interval_around_bleu() -> None:
    right, wrong = "a b c d e", "v w x y z"
    found = bench.group(bench.Translations([""] * 4, [right] * 4, [right, right, right, wrong]))
    assert found["sentences"] == 4
    low, high = found["bleu_interval95"]
    assert low < found["bleu"] < high <= 100


def test_translations_with_quotes_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text('number\tsource\treference\thypothesis\n1\t"Go.\tGeh\'.\t"\n', encoding="utf-8")
    assert bench.Translations.read(tmp_path / "s.tsv") == bench.Translations(['"Go.'], ["Geh'."], ['"'])


def test_recipes_with_equal_preparation_share_a_corpus() -> None:
    jobs = {job.name: job for job in bench.jobs_of_recipes(bench.RECIPES, ())}
    assert jobs["tf-in-action-11"].preparation == jobs["tf-in-action-12"].preparation == jobs["gru-50"].preparation
    assert jobs["geron"].preparation != jobs["gru-50"].preparation
    assert jobs["lstm"].preparation == jobs["general"].preparation


def test_each_attention_has_its_turn_and_one_that_does_not_exist_is_told() -> None:
    names = [job.name for job in bench.jobs_of_attention(3, ())]
    assert names == [f"attention-{one}" for one in ("none", "additive", "dot", "general", "concat", "scaled-dot")]
    with pytest.raises(SystemExit, match="there is no 'luong': there are none, additive"):
        list(bench.jobs_of_attention(3, ["luong"]))


def test_what_is_done_is_not_run_again_and_a_failure_stops_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def run(self: Any, job: Any) -> dict[str, Any]:
        ran.append(job.name)
        if job.name == "attention-dot":
            raise subprocess.CalledProcessError(1, ["python", "-m", "nmt_cli", "train"])
        return row(job.name)

    monkeypatch.setattr(bench.Bench, "run", run)
    place = bench.Bench(tmp_path / "c.tsv", tmp_path)
    jobs = list(bench.jobs_of_attention(1, ["none", "dot", "general"]))
    assert bench.run_all(place, jobs[:1]) == 0
    assert bench.run_all(place, jobs) == 1
    assert ran == ["attention-none", "attention-dot", "attention-general"]
    assert [json.loads(line)["name"] for line in place.results.read_text().splitlines()] == [
        "attention-none",
        "attention-general",
    ]


def test_the_table_has_a_line_per_row_with_half_interval_and_signature() -> None:
    lines = list(bench.table([row()]))
    assert lines[2] == ("| dot | 2.8 M | 20.0 | 25.3 ± 1.8 | 26.0 | 45.1 | 26.0 ± 1.5 (950) | - (0) | 4 of 5 | 10:05 |")
    assert lines[-1] == "BLEU `nrefs:1`, beam 5."
    assert lines[0].count("|") == lines[2].count("|")
