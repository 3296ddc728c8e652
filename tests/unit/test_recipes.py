"""The files of examples/recipes: each is taken by both commands, told in the README, and has the published widths."""

import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nmt_cli.cli.app import app
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.options import TrainOptions

FOLDER = Path(__file__).parents[2] / "examples" / "recipes"
RECIPES = sorted(FOLDER.glob("*.toml"))


def table(path: Path, name: str) -> dict[str, object]:
    values = tomllib.loads(path.read_text(encoding="utf-8")).get(name, {})
    return {key.replace("-", "_"): value for key, value in values.items()}


def network(name: str) -> ModelConfig:
    known = {field.name for kind in ModelConfig.list_option_classes() for field in fields(kind)}
    values = table(FOLDER / f"{name}.toml", "train")
    return ModelConfig.from_options(**{key: value for key, value in values.items() if key in known})


def training(name: str) -> TrainOptions:
    known = {field.name for field in fields(TrainOptions)}
    values = table(FOLDER / f"{name}.toml", "train")
    return TrainOptions(**{key: value for key, value in values.items() if key in known})


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_both_commands_take_the_file_and_then_miss_only_the_corpus(path: Path, tmp_path: Path) -> None:
    trained = CliRunner().invoke(app, ["train", "--config", str(path), "--data", str(tmp_path / "none")])
    assert "there is no prepared corpus" in trained.stderr
    prepared = CliRunner().invoke(app, ["prepare", str(tmp_path / "none.tsv"), "--config", str(path)])
    assert f"{tmp_path / 'none.tsv'}" in prepared.stderr
    assert "--config" not in prepared.stderr


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_file_says_first_what_it_reproduces_and_the_readme_lists_it(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# ")
    assert f"[{path.stem}]({path.name})" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "attention", "cell", "embedding", "of_a_direction", "units", "readout", "batch", "epochs"),
    [
        ("tf-in-action-11", "none", "gru", 128, 128, 256, 512, 128, 5),
        ("tf-in-action-12", "additive", "gru", 128, 128, 256, 512, 128, 5),
        ("geron", "dot", "lstm", 128, 256, 512, 512, 32, 10),
        ("tf-nmt-with-attention", "scaled-dot", "gru", 256, 256, 256, 256, 64, 13),
        ("bahdanau-2015", "additive", "gru", 620, 1000, 1000, 500, 80, 5),
    ],
)
def test_the_widths_are_the_published_ones(
    name: str,
    attention: str,
    cell: str,
    embedding: int,
    of_a_direction: int,
    units: int,
    readout: int,
    batch: int,
    epochs: int,
) -> None:
    config = network(name)
    assert (config.attention, config.cell, config.bidirectional) == (attention, cell, True)
    assert (config.embedding, config.encoder_width // 2, config.units) == (embedding, of_a_direction, units)
    assert config.readout_width == readout
    assert (training(name).batch, training(name).epochs) == (batch, epochs)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_the_same_for_every_corpus(path: Path) -> None:
    fitted = {"attention", "embedding", "units", "dropout", "batch", "epochs", "learning_rate"}
    options = table(path, "train")
    left_open = fitted - options.keys()
    if "time" in options:  # an hour is for large corpora
        assert left_open <= {"batch", "epochs"}
    elif options.get("architecture") == "transformer":
        assert left_open <= {"attention", "units", "learning_rate"}
    else:
        assert not left_open


def test_luongs_network_is_the_published_one() -> None:
    config = network("luong-2015")
    assert (config.attention, config.input_feeding, config.cell, config.bidirectional) == (
        "general",
        True,
        "lstm",
        False,
    )
    assert (config.layers, config.embedding, config.encoder_width, config.units) == (4, 1000, 1000, 1000)
    assert (config.readout_width, config.dropout) == (1000, 0.2)
    assert (training("luong-2015").batch, training("luong-2015").clip) == (128, 5.0)


def test_the_words_of_tensorflow_in_action_stand_ten_times_or_more() -> None:
    config = PrepareOptions(**table(FOLDER / "tf-in-action-12.toml", "prepare"))
    assert (config.tokenizer, config.min_count, config.separate_vocabularies) == ("word", 10, True)
    assert table(FOLDER / "tf-in-action-11.toml", "prepare") == table(FOLDER / "tf-in-action-12.toml", "prepare")
