"""The main job through the real command line, on a toy language: five commands in a new directory."""

import json
from pathlib import Path

import pytest

from support.commands import nmt, succeed
from support.learned import EPOCHS, TRAIN
from support.slow import sample


def test_a_toy_language_is_learned_from_the_command_line(learned: Path) -> None:
    done = succeed("evaluate", "--metric", "bleu4", "--json", cwd=learned)
    score = json.loads(done.stdout)["scores"]["bleu4"]
    assert score["value"] > 90
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in score["signature"]


def test_accuracy_by_forced_decoding_is_what_training_measured(learned: Path) -> None:
    rows = [line.split("\t") for line in (learned / "prepared" / "dev.tsv").read_text(encoding="utf-8").splitlines()]
    for name, column in (("dev.source", 0), ("dev.reference", 1)):
        (learned / name).write_text("".join(row[column] + "\n" for row in rows), encoding="utf-8")
    files = ["--source", "dev.source", "--reference", "dev.reference"]
    told = json.loads(succeed("evaluate", "--metric", "accuracy", *files, "--json", cwd=learned).stdout)
    card = json.loads((learned / "model" / "model.json").read_text(encoding="utf-8"))
    assert told["scores"]["accuracy"]["value"] == pytest.approx(card["development"]["accuracy"], abs=0.1)


@pytest.mark.parametrize("name", sample(["attention.png", "attention.svg"], 1))
def test_a_picture_is_drawn(learned: Path, name: str) -> None:
    succeed("visualize", "bade giko lu.", "-o", name, cwd=learned)
    head = (learned / name).read_bytes()[:200]
    assert head.startswith(b"\x89PNG") if name.endswith("png") else b"<?xml" in head


def test_without_a_file_the_picture_is_text(learned: Path) -> None:
    out = succeed("visualize", "bade giko lu.", cwd=learned).stdout
    assert out.splitlines()[0] == "bade giko lu."
    assert "▁" not in out
    assert any(row.split()[:1] == ["bade"] and set(row) & set("░▒▓█") for row in out.splitlines())


def test_history_has_a_line_an_epoch_and_says_which_was_best(learned: Path) -> None:
    records = [json.loads(line) for line in (learned / "model" / "history.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in records] == list(range(1, EPOCHS + 1))
    assert {"loss", "dev_loss", "perplexity", "accuracy", "bleu", "chrf"} <= set(records[0])
    card = json.loads((learned / "model" / "model.json").read_text())
    best = max(record["bleu"] for record in records)
    assert card["development"]["bleu"]["value"] == best
    assert records[card["epochs"] - 1]["bleu"] == best


def test_a_model_is_not_overwritten_unless_told(learned: Path) -> None:
    before = (learned / "model" / "model.json").read_bytes()
    done = nmt("train", *TRAIN, cwd=learned)
    assert done.returncode == 73
    hint = "continue training it with `nmt train --resume`, replace it with --force, or name another directory"
    assert " ".join(done.stderr.split()).endswith(f"error: model/ already exists hint: {hint}")
    assert (learned / "model" / "model.json").read_bytes() == before
