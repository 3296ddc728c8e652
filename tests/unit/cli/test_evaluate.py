"""`nmt evaluate` with a translator that needs no model: the translations are the sources in upper case."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from nmt_cli.cli.app import app
from nmt_cli.corpus.dataset import Pair, PreparedCorpus
from nmt_cli.errors import ExitCode
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.translator import Translator

runner = CliRunner()


@dataclass
class Shouting:
    fingerprint: str
    beam_size: int = 0

    @property
    def card(self) -> SimpleNamespace:
        return SimpleNamespace(dataset_fingerprint=self.fingerprint)

    def translate(
        self, lines: Sequence[str], config: SearchConfig, progress: Callable[[int], None] | None
    ) -> list[SimpleNamespace]:
        self.beam_size = config.beam_size
        return [SimpleNamespace(text=line.upper(), cut=False) for line in lines]


@pytest.fixture
def shouting(monkeypatch: pytest.MonkeyPatch) -> Shouting:
    """The translator that `Translator.load` gives; a test split of 100 sentences, of which half are right."""
    pairs = [Pair("abc def", "ABC DEF" if number % 2 else "xyz") for number in range(100)]
    corpus = SimpleNamespace(pairs=lambda split: {"test": pairs}[split], fingerprint="f1")
    translator = Shouting("f1")
    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: corpus)
    monkeypatch.setattr(Translator, "load", lambda directory: translator)
    return translator


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_test_split_is_scored_and_only_the_scores_are_on_stdout(shouting: Shouting) -> None:
    result = runner.invoke(app, ["evaluate", "--metric", "rouge1", "--beam-size", "3"])
    assert result.exit_code == ExitCode.OK
    assert result.stdout.startswith("ROUGE-1   50.00  nrefs:1|")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == "100 test sentences, beam 3, none of their sources seen in training.\n"
    assert shouting.beam_size == 3


def test_a_model_of_other_data_is_warned_of_and_its_training_data_not_vouched_for(shouting: Shouting) -> None:
    shouting.fingerprint = "f2"
    result = runner.invoke(app, ["evaluate", "--metric", "bleu4"])
    assert "was trained on other data" in result.stderr
    assert "none of their sources" not in result.stderr


def test_all_metrics_are_the_default(shouting: Shouting) -> None:
    names = [line.split()[0] for line in runner.invoke(app, ["evaluate"]).stdout.splitlines()]
    expected = ["BLEU", "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "chrF2", "ROUGE-1", "ROUGE-2", "ROUGE-L"]
    assert names == expected


def test_json_is_one_object_that_says_what_was_scored(shouting: Shouting) -> None:
    told = json.loads(runner.invoke(app, ["evaluate", "-m", "bleu", "--json", "--data", "d", "--model", "m"]).stdout)
    assert told["scored"] == {"split": "test", "data": "d", "model": "m"}
    assert list(told["scores"]) == ["bleu"]
    assert (told["sentences"], told["beam_size"]) == (100, 5)


def test_a_source_file_is_translated_and_scored_against_its_references(shouting: Shouting, tmp_path: Path) -> None:
    source, reference = write(tmp_path / "s", "abc\ndef\n"), write(tmp_path / "r", "ABC\nDEF\n")
    result = runner.invoke(app, ["evaluate", "-m", "rouge1", "--source", source, "--reference", reference])
    assert result.stdout.startswith("ROUGE-1  100.00")
    assert "only 2 sentences" in result.stderr


def test_ready_hypotheses_need_no_model_and_may_have_several_references(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1", "a b\nc\n"), write(tmp_path / "2", "x\nd e\n")
    hypothesis = write(tmp_path / "h", "a b\nd e\n")
    arguments = ["evaluate", "-m", "rouge1", "--hypothesis", hypothesis, "--reference", one, "--reference", two]
    result = runner.invoke(app, [*arguments, "--json", "-q"])
    told = json.loads(result.stdout)
    assert result.stderr == ""
    assert told["scores"]["rouge1"]["value"] == 100
    assert told["scored"] == {"hypothesis": hypothesis, "reference": [one, two]}
    assert (told["references_per_sentence"], told["beam_size"]) == (2, None)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--source", "s", "--hypothesis", "h", "--reference", "r"], "--source and --hypothesis"),
        (["--source", "s"], "--source needs --reference"),
        (["--hypothesis", "h"], "--hypothesis needs --reference"),
        (["--reference", "r"], "--reference needs --source or --hypothesis"),
        (["--metric", "blue4"], "'blue4'"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_a_hint(options: list[str], named: str) -> None:
    result = runner.invoke(app, ["evaluate", *options])
    assert result.exit_code == ExitCode.USAGE
    assert named in result.stderr and "hint: " in result.stderr
    assert result.stdout == ""


def test_an_empty_test_split_is_an_error(shouting: Shouting, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = SimpleNamespace(pairs=lambda split: [], fingerprint="f1")
    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: empty)
    result = runner.invoke(app, ["evaluate"])
    assert (result.exit_code, result.stdout) == (ExitCode.DATA, "")
    assert "the test split is empty" in result.stderr
