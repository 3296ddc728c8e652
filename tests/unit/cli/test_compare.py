"""`nmt evaluate` of several systems, with a translator that needs no model."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from nmt_cli.api import scoring
from nmt_cli.api.evaluate import merge_warnings
from nmt_cli.cli.app import app
from nmt_cli.errors import ExitCode
from nmt_cli.runtime import installed_models
from nmt_cli.translation.config import ModelRequest
from nmt_cli.translation.translator import Translator
from support.shouting import Shouting

runner = CliRunner()


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_model_has_the_weights_that_are_asked_for(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ModelRequest] = []
    monkeypatch.setattr(Translator, "load", lambda request: asked.append(request) or shouting)
    models = [word for name in ("a", "b") for word in ("--model", str(tmp_path / name))]
    made = runner.invoke(app, ["evaluate", "--metric", "chrf", "--set", "precision=float", *models])
    assert made.exit_code == ExitCode.OK, (made.exception, made.stderr)
    assert [(request.model.name, request.precision) for request in asked] == [("a", "float"), ("b", "float")]
    result = runner.invoke(app, ["evaluate", "--metric", "chrf", "--set", "precision=int8", "--json", *models[:2]])
    assert json.loads(result.stdout)["scored"]["precision"] == "int8"
    refused = runner.invoke(app, ["evaluate", "--hypothesis", "o", "--reference", "r", "--set", "precision=int8"])
    assert "--set precision cannot be combined with --hypothesis" in refused.stderr


def test_a_rival_is_compared_with_two_tests(shouting: Shouting, tmp_path: Path) -> None:
    rival = write(tmp_path / "rival", "qq\n" * 100)
    result = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", rival])
    verdict = f"model is 83.81 chrF2 better than {rival}, p = 0.0010 (paired bootstrap), p = 0.0001 (approximate"
    assert verdict in result.stdout
    short = write(tmp_path / "short", "ABC DEF\n")
    assert ": 1 line, the references: 100" in runner.invoke(app, ["evaluate", "--against", short]).stderr


def test_a_rival_may_be_a_model_by_its_name(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_models, "list_models", lambda: {"xxx-yyy": tmp_path})
    (tmp_path / "model.json").write_text("{}")
    result = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", "xxx-yyy"])
    assert "model and xxx-yyy have the same chrF2" in result.stdout


def test_without_resamples_there_is_no_bootstrap(shouting: Shouting, tmp_path: Path) -> None:
    rival = write(tmp_path / "rival", "qq\n" * 100)
    out = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", rival, "--set", "resamples=0"]).stdout
    assert f"chrF2 better than {rival}, p = 0.0001 (approximate randomisation)" in out and "bootstrap" not in out


def test_scores_of_tokens_compare_only_where_the_tokens_are_the_same(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = iter([shouting, Shouting("f1", target=SimpleNamespace(fingerprint="toy-2"))])
    monkeypatch.setattr(Translator, "load", lambda *arguments, **options: next(others))
    (tmp_path / "model.json").write_text("{}")
    result = runner.invoke(app, ["evaluate", "-m", "perplexity", "-m", "chrf", "--against", str(tmp_path)])
    assert result.stdout.count("have the same") == 1
    assert "perplexity cannot be compared: the systems have different subwords" in result.stderr


def test_what_a_rival_may_have_learnt_and_where_it_was_cut_is_told(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cutting(Shouting):
        def translate(self, *arguments: Any, **options: Any) -> list[SimpleNamespace]:
            return [SimpleNamespace(**{**vars(one), "cut": True}) for one in super().translate(*arguments, **options)]

    others = iter([shouting, Cutting("f2", training={"replay": "news"})])
    monkeypatch.setattr(Translator, "load", lambda *arguments, **options: next(others))
    (tmp_path / "model.json").write_text("{}")
    told = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", str(tmp_path)]).stderr
    assert f"{tmp_path} was trained on other data than prepared/" in told
    assert f"{tmp_path} was trained on news too" in told
    assert f"{tmp_path}: 100 translations were truncated at" in told


def test_several_systems_stand_in_one_table(shouting: Shouting, tmp_path: Path) -> None:
    shout, whisper = write(tmp_path / "shout", "ABC DEF\n" * 100), write(tmp_path / "whisper", "abc def\n" * 100)
    result = runner.invoke(app, ["evaluate", "-m", "chrf", "-m", "ter", "--against", shout, "--against", whisper])
    lines = result.stdout.splitlines()
    assert lines[0].split("  ")[-1] == "TER (lower is better)" and "chrF2" in lines[0]
    assert [line.split()[0] for line in lines[1:4]] == ["model", shout, whisper]
    assert [line.split()[4] for line in lines[1:4]] == ["a", "a", "b"]  # the model shouts too
    assert "Holm's correction for 3 pairs" in result.stdout and "**" not in result.stdout
    assert "100 test sentences" in result.stderr


def test_several_hypotheses_need_no_model_and_are_told_in_json_and_words(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good", "a b c d\n" * 60), write(tmp_path / "bad", "a b x y\n" * 60)
    reference = write(tmp_path / "r", "a b c d\n" * 60)
    arguments = ["evaluate", "--hypothesis", good, "--hypothesis", bad, "--reference", reference, "-m", "bleu"]
    comparison = json.loads(runner.invoke(app, [*arguments, "--json"]).stdout)
    assert [system["name"] for system in comparison["systems"]] == [good, bad]
    assert [system["scores"]["bleu"]["letters"] for system in comparison["systems"]] == ["a", "b"]
    assert comparison["systems"][0]["scores"]["bleu"]["precisions"] == [100.0] * 4
    assert (
        comparison["tests"]["bleu"][0]["systems"] == [good, bad]
        and comparison["tests"]["bleu"][0]["corrected_p"] < 0.05
    )
    assert comparison["scored"] == {"reference": [reference]}
    assert f"{good} is " in runner.invoke(app, arguments).stdout


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_a_report_of_several_has_them_side_by_side(tmp_path: Path, suffix: str) -> None:
    good, bad = write(tmp_path / "good", "a b c d\n" * 60), write(tmp_path / "<bad>", "a b <i> y\n" * 60)
    reference = write(tmp_path / "r", "a b c d\n" * 60)
    page, table = tmp_path / f"report{suffix}", tmp_path / "s.tsv"
    arguments = ["evaluate", "--hypothesis", good, "--hypothesis", bad, "--reference", reference, "-m", "chrf"]
    result = runner.invoke(app, [*arguments, "--report", str(page), "--sentences", str(table), "--profile"])
    assert result.exit_code == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    assert "differ most" in text and "&lt;bad&gt;" in text and "<i> y" not in text and "<bad>" not in text
    assert table.read_text().splitlines()[0].count("hypothesis:") == 2
    assert "chrF (sentences)" in result.stdout


def test_a_warning_names_its_system_even_if_it_contains_the_name() -> None:
    reports: Any = [SimpleNamespace(warnings=("one for all", f"{name}/ saw it", "a cut")) for name in ("a", "b")]
    reports[1].warnings = reports[1].warnings[:2]
    assert merge_warnings(["a", "b"], reports) == ["one for all", "a/ saw it", "a: a cut", "b/ saw it"]


def test_the_same_system_twice_is_refused(tmp_path: Path) -> None:
    hypotheses, reference = write(tmp_path / "h", "a\n"), write(tmp_path / "r", "a\n")
    result = runner.invoke(
        app, ["evaluate", "--hypothesis", hypotheses, "--hypothesis", hypotheses, "--reference", reference]
    )
    assert "is given twice" in result.stderr and result.exit_code == ExitCode.USAGE


def test_only_the_model_itself_is_reranked(shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path | None] = []
    monkeypatch.setattr(scoring, "open_translator", lambda request: asked.append(request.rerank) or shouting)
    (tmp_path / "model.json").write_text("{}")
    options = ["--rerank", str(tmp_path / "r"), "--against", str(tmp_path)]
    lines = runner.invoke(app, ["evaluate", "-m", "chrf", *options]).stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[1:3]] == [f"model reranked by {tmp_path}/r", str(tmp_path)]
    assert asked == [tmp_path / "r", None]
