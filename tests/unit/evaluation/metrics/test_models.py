"""COMET and BERTScore with stand-ins for their packages, which need torch and a model of gigabytes."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nmt_cli.errors import DataError, MissingExtraError, NmtError, NotFoundError, OptionError, explain_install
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics import models
from nmt_cli.evaluation.metrics.registry import Available, measure_all, resolve_available_names
from nmt_cli.evaluation.metrics.score import Material

MATERIAL = Material(["a", "b"], [["a", "c"], ["b", "d"]], ["s", "t"])


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "read_version", lambda package: "9.9")


def module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    stand_in = ModuleType(name)
    vars(stand_in).update(members)
    monkeypatch.setitem(sys.modules, name, stand_in)


COMET = """#!{python}
import json, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
rows = list(zip(*(open(options[name], encoding="utf-8").read().splitlines() for name in ("-s", "-t", "-r"))))
assert options["--model"].endswith("model.ckpt"), options
assert rows == [("s", "a", "a"), ("s", "a", "c"), ("t", "b", "b"), ("t", "b", "d")], rows
scores = [{{"src": s, "COMET": 0.5 if t == r else 0.25}} for s, t, r in rows]
json.dump({{options["-t"]: scores}}, open(options["--to_json"], "w"))
"""


def install_program(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    """Makes `comet-score` the first program of its name."""
    program = folder / "bin" / "comet-score"
    program.parent.mkdir()
    program.write_text(text.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


def make_checkpoint(folder: Path) -> ScoreOptions:
    path = folder / "wmt22-comet-da" / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    path.touch()
    return ScoreOptions(comet_model=str(folder / "wmt22-comet-da"))


def test_comet_is_given_source_hypothesis_and_each_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_program(monkeypatch, tmp_path, COMET)
    score = measure_all(["comet"], MATERIAL, make_checkpoint(tmp_path))["comet"]
    assert score.sentence_values == pytest.approx((37.5, 37.5))
    assert "model:wmt22-comet-da|" in score.signature and score.signature.endswith("comet:unknown")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("#!{python}\nimport sys\nsys.exit('no encoder on this machine')\n", "no encoder on this machine"),
        ("#!{python}\n", "the program gave no reason"),
    ],
)
def test_a_comet_program_that_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, reason: str
) -> None:
    install_program(monkeypatch, tmp_path, text)
    with pytest.raises(NmtError, match=f"comet-score failed: {reason}"):
        measure_all(["comet"], MATERIAL, make_checkpoint(tmp_path))


def test_bertscore_takes_the_last_layer_of_a_local_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Scorer:
        def __init__(self, **options: Any) -> None:
            assert (options["model_type"], options["num_layers"]) == (str(tmp_path), 7)

        def score(self, hypotheses: list[str], references: list[list[str]]) -> tuple[list[float], ...]:
            return [0.5, 0.5], [0.7, 0.9], [0.6, 0.8]

    (tmp_path / "config.json").write_text('{"num_hidden_layers": 7}', encoding="utf-8")
    module(monkeypatch, "bert_score", BERTScorer=Scorer)
    score = measure_all(["bertscore"], MATERIAL, ScoreOptions(bertscore_model=str(tmp_path)))["bertscore"]
    assert score.value == pytest.approx(70)
    assert score.parts == pytest.approx({"precision": 50, "recall": 80})
    assert "layer:7" in score.signature


@pytest.mark.parametrize("name", ["comet", "bertscore"])
def test_without_a_model_or_its_package_the_message_is_clear(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    given = Available(model=True, sources=True)
    with pytest.raises(OptionError, match="needs a model on this machine"):
        resolve_available_names([name], ScoreOptions(), given)
    with pytest.raises(NotFoundError, match="does not exist"):
        resolve_available_names([name], ScoreOptions(**{f"{name}_model": str(tmp_path / "none")}), given)
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 7}', encoding="utf-8")
    (tmp_path / "m.ckpt").touch()
    monkeypatch.setitem(sys.modules, "bert_score", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtraError) as caught:
        measure_all([name], MATERIAL, ScoreOptions(**{f"{name}_model": str(tmp_path)}))
    assert {"comet": "uv tool install unbabel-comet", "bertscore": explain_install("bertscore")}[
        name
    ] in caught.value.hint


def test_a_directory_that_is_no_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not an encoder directory"):
        models.find_last_layer(tmp_path)


def test_comet_without_sources_is_refused_and_left_out_of_all(tmp_path: Path) -> None:
    config = ScoreOptions(comet_model=str(tmp_path))
    with pytest.raises(OptionError, match="source"):
        resolve_available_names(["comet"], config, Available(model=False, sources=False))
    assert "comet" not in resolve_available_names(["all"], config, Available(model=False, sources=False))
    assert resolve_available_names(["all"], config, Available(model=True, sources=True))[-3:] == (
        "perplexity",
        "accuracy",
        "comet",
    )
