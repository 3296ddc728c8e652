import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.api.model_info import read_info, read_package
from nmt_cli.cli.app import app
from nmt_cli.cli.status import format_info
from nmt_cli.runtime.installed_models import list_bundled_models
from nmt_cli.runtime.model_directory import read_card


def test_a_bundled_model_has_languages_scores_a_licence_and_a_date() -> None:
    bundled = nmt.info("eng-deu")
    assert (bundled.name, bundled.source.tag, bundled.target.name) == ("eng-deu", "en", "German")
    assert bundled.scores["tatoeba"]["bleu4"].value > 30
    assert bundled.scores["tatoeba"]["bleu4"].half_width is not None
    assert bundled.scores["dev"]["bleu"].signature.startswith("nrefs:1")
    assert "MPL-2.0" in bundled.package.licence and bundled.package.version
    assert len(bundled.date) == 10
    assert 0 < bundled.bytes["int8"] < bundled.bytes["directory"]
    assert bundled.has_confidence


def test_every_installed_model_is_listed_by_its_name() -> None:
    models = nmt.installed()
    assert models.keys() >= list_bundled_models().keys() == {"deu-eng", "eng-deu"}
    assert all(model.name == name for name, model in models.items())


def test_a_trained_model_has_all_but_a_package(untrained_model: Path) -> None:
    card, described = read_card(untrained_model), read_info(untrained_model)
    assert described.name == str(untrained_model)
    assert described.bytes["float"] > 0
    assert described.subwords["source"] == card.vocabularies["source"]
    assert (described.package.licence, described.data) == ("", card.dataset_fingerprint)


def test_the_tags_that_a_model_knows_are_told_with_their_pairs(untrained_model: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(untrained_model, tmp_path / "model"))
    card = json.loads((model / "model.json").read_text(encoding="utf-8"))
    (model / "model.json").write_text(json.dumps(card | {"tags": {">nld": 5_000, "ui": 1}}), encoding="utf-8")
    assert "  tags        >nld (5,000 pairs), ui (1 pair)" in format_info(read_info(model))
    assert not any("  tags" in line for line in format_info(read_info(untrained_model)))


def test_without_a_checkout_the_metadata_of_the_package_is_read(tmp_path: Path) -> None:
    package = tmp_path / "nmt_model_none" / "model"
    package.mkdir(parents=True)
    assert read_package(package) == ("", "", "")  # neither a project nor a distribution
    (tmp_path / "pyproject.toml").write_text('[project]\nlicense = "MIT"\ndescription = "A model"\n')
    assert read_package(package) == ("", "A model", "MIT")


def test_the_command_prints_lines_or_json() -> None:
    lines = CliRunner().invoke(app, ["translate", "--info", "--model", "eng-deu"]).stdout.splitlines()
    assert lines[0] == "eng-deu"
    lines = [" ".join(line.split()) for line in lines]
    assert "languages eng -> deu, English to German (en, de)" in lines
    assert any(line.startswith("tatoeba BLEU-4 ") and " ± " in line for line in lines)
    printed = CliRunner().invoke(app, ["translate", "--info", "--json", "--model", "eng-deu"]).stdout
    values = json.loads(printed)
    assert values == json.loads(json.dumps(nmt.info("eng-deu").to_mapping()))
    assert values["source"] == {"code": "eng", "tag": "en", "name": "English"}
    both = CliRunner().invoke(app, "translate --info --json --model eng-deu --model deu-eng".split()).stdout
    assert [model["name"] for model in json.loads(both)] == ["eng-deu", "deu-eng"]


def test_a_model_that_is_not_there_or_damaged_is_an_error(untrained_model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["translate", "--info", "--model", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (66, "")
    copy = Path(shutil.copytree(untrained_model, tmp_path / "copy"))
    (copy / "model.json").write_text("{}")
    with pytest.raises(nmt.NmtError, match="is damaged"):
        nmt.info(copy)
