"""Commands to type: what was typed stays, and no option stands there twice."""

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nmt_cli.api.options.command_lines import CommandLine, describe_prepare, describe_train, recall_prepare
from nmt_cli.corpus.config import PrepareConfig


def test_an_option_that_is_added_takes_the_place_of_those_that_it_replaces() -> None:
    typed = CommandLine("train", (), (("--time", "5m"), ("--attention", "general"), ("--force",)))
    assert str(typed.extend(("--batch", "32"), ("--epochs", "60"))) == (
        "nmt train --attention general --force --batch 32 --epochs 60"
    )
    assert str(typed.extend(("--time", "60m"), ("--force",))) == "nmt train --attention general --time 60m --force"
    textbook = CommandLine("train", (), (("--epochs", "5"), ("--units", "64"), ("--no-tied",), ("--dropout", "0.2")))
    assert str(textbook.extend(("--time", "60m"))) == "nmt train --units 64 --no-tied --dropout 0.2 --time 60m"
    assert str(textbook.extend(("--init-from", "OTHER"))) == "nmt train --epochs 5 --dropout 0.2 --init-from OTHER"
    assert str(CommandLine("prepare", ("a b.tsv",)).add_input("more.tsv")) == "nmt prepare 'a b.tsv' more.tsv"


def test_a_setting_takes_the_place_of_itself_and_not_of_other_settings() -> None:
    typed = CommandLine(
        "train", (), (("--set", "batch-tokens=4096"), ("--set", "clip=1"), ("--set", "fixed-norm=true"))
    )
    assert str(typed.extend(("--batch", "32"), ("--set", "clip=5"))) == (
        "nmt train --set fixed-norm=true --batch 32 --set clip=5"
    )
    assert str(typed.extend(("--init-from", "a"))) == "nmt train --set batch-tokens=4096 --set clip=1 --init-from a"


def test_prepare_names_files_and_options_as_they_were_typed() -> None:
    config = PrepareConfig(
        lowercase=True,
        vocab_size=500,
        keep=("script", "language"),
        source_column="my text",
        dev="in/dev.tsv",
        monolingual_target=("in/more.de", "x.de.gz"),
        max_length=80,
        near_duplicates=True,
    )
    assert str(describe_prepare(["in/a b.tsv", "c.tsv=train"], config, Path("other"))) == (
        "nmt prepare 'in/a b.tsv' c.tsv=train --source-column 'my text' --monolingual-target in/more.de "
        "--monolingual-target x.de.gz --set max-length=80 --keep script --keep language --dev in/dev.tsv "
        "--set near-duplicates=true "
        "--vocab-size 500 --set lowercase=true --data other"
    )


def test_a_file_that_is_elsewhere_is_left_to_fill_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    manifest: Any = SimpleNamespace(inputs={"a.tsv": None, "dev.tsv": None}, options=asdict(PrepareConfig()))
    manifest.options |= {"dev": "dev.tsv", "test": "500", "monolingual_target": ["more.de"]}
    recalled = "nmt prepare CORPUS --monolingual-target MONOLINGUAL --dev DEV --test 500"
    assert str(recall_prepare(manifest, Path("prepared"))) == recalled
    for name in ("a.tsv", "dev.tsv", "more.de"):
        (tmp_path / name).touch()
    recalled = "nmt prepare a.tsv --monolingual-target more.de --dev dev.tsv --test 500"
    assert str(recall_prepare(manifest, Path("prepared"))) == recalled
    manifest.inputs |= {"b.tsv": None}
    assert str(recall_prepare(manifest, Path("prepared"))).startswith("nmt prepare CORPUS ")
    assert str(describe_train(Path("prepared"), Path("m"), ("--force",))) == "nmt train --model m --force"
