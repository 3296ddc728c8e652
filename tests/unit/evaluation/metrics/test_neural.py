"""COMET and BERTScore with stand-ins for their packages, which need torch and a model of gigabytes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from nmt_cli.errors import DataError, MissingExtraError, NotFoundError, OptionError
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics import neural
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.registry import Available, measure_all, resolve_available_names

MATERIAL = Material(["a", "b"], [["a", "c"], ["b", "d"]], ["s", "t"])


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neural, "read_version", lambda package: "9.9")


def module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    stand_in = ModuleType(name)
    vars(stand_in).update(members)
    monkeypatch.setitem(sys.modules, name, stand_in)


def test_comet_is_given_source_hypothesis_and_each_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    class Model:
        def predict(self, rows: list[dict[str, str]], **options: Any) -> SimpleNamespace:
            asked.extend(rows)
            return SimpleNamespace(scores=[0.5 if row["mt"] == row["ref"] else 0.25 for row in rows])

    path = tmp_path / "wmt22-comet-da" / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    path.touch()
    loaded: list[str] = []
    module(monkeypatch, "comet", load_from_checkpoint=lambda place, **options: loaded.append(place) or Model())
    config = ScoreConfig(comet_model=str(tmp_path / "wmt22-comet-da"))
    score = measure_all(["comet"], MATERIAL, config)["comet"]
    assert loaded == [str(path)]
    assert asked[0] == {"src": "s", "mt": "a", "ref": "a"} and len(asked) == 4
    assert score.sentence_values == pytest.approx((37.5, 37.5))
    assert "model:wmt22-comet-da|" in score.signature and "comet:9.9" in score.signature


def test_bertscore_takes_the_last_layer_of_a_local_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Scorer:
        def __init__(self, **options: Any) -> None:
            assert (options["model_type"], options["num_layers"]) == (str(tmp_path), 7)

        def score(self, hypotheses: list[str], references: list[list[str]]) -> tuple[list[float], ...]:
            return [0.5, 0.5], [0.7, 0.9], [0.6, 0.8]

    (tmp_path / "config.json").write_text('{"num_hidden_layers": 7}', encoding="utf-8")
    module(monkeypatch, "bert_score", BERTScorer=Scorer)
    score = measure_all(["bertscore"], MATERIAL, ScoreConfig(bertscore_model=str(tmp_path)))["bertscore"]
    assert score.value == pytest.approx(70)
    assert score.parts == pytest.approx({"precision": 50, "recall": 80})
    assert "layer:7" in score.signature


@pytest.mark.parametrize("name", ["comet", "bertscore"])
def test_without_a_model_or_its_package_the_message_is_clear(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    given = Available(model=True, sources=True)
    with pytest.raises(OptionError, match="needs a model on this machine"):
        resolve_available_names([name], ScoreConfig(), given)
    with pytest.raises(NotFoundError, match="does not exist"):
        resolve_available_names([name], ScoreConfig(**{f"{name}_model": str(tmp_path / "none")}), given)
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 7}', encoding="utf-8")
    (tmp_path / "m.ckpt").touch()
    for package in ("comet", "bert_score"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as caught:
        measure_all([name], MATERIAL, ScoreConfig(**{f"{name}_model": str(tmp_path)}))
    assert f"nmt-cli[{name}]" in caught.value.hint


def test_a_directory_that_is_no_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not the directory of an encoder"):
        neural.find_last_layer(tmp_path)


def test_comet_without_sources_is_refused_and_left_out_of_all(tmp_path: Path) -> None:
    config = ScoreConfig(comet_model=str(tmp_path))
    with pytest.raises(OptionError, match="source"):
        resolve_available_names(["comet"], config, Available(model=False, sources=False))
    assert "comet" not in resolve_available_names(["all"], config, Available(model=False, sources=False))
    assert resolve_available_names(["all"], config, Available(model=True, sources=True))[-3:] == (
        "perplexity",
        "accuracy",
        "comet",
    )
