"""What `nmt` alone says, in a directory at each stage."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nmt_cli.api.evaluate import keep_scores
from nmt_cli.api.scoring import EvaluationRequest
from nmt_cli.cli.app import app
from nmt_cli.cli.status import describe_status
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import prepare
from nmt_cli.evaluation.analysis.significance import Interval
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.score import Material, Score
from nmt_cli.evaluation.report import Report
from nmt_cli.runtime import installed_models
from nmt_cli.search.config import SearchOptions
from nmt_cli.training.checkpoints import lock_model
from support.commands import run_program
from support.fakes import make_card, write_state


@pytest.fixture(autouse=True)
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(installed_models, "CHECKOUT", tmp_path / "none")
    for name in ("NMT_DATA", "NMT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write_corpus(name: str = "pairs.tsv") -> Path:
    lines = (f"word number {index} here\tWort Nummer {index} hier\n" for index in range(400))
    Path(name).write_text("".join(lines), encoding="utf-8")
    return Path(name)


def test_an_empty_directory_needs_a_corpus() -> None:
    assert describe_status({}) == [
        "corpus   none in prepared/",
        "model    none in model/",
        "next     nmt prepare corpus.tsv",
        "",
        "All commands: nmt --help",
    ]


def test_files_that_may_be_a_corpus_are_named(empty_place: Path) -> None:
    write_corpus("my pairs.tsv")
    (empty_place / "notes.txt").write_text("")
    (empty_place / "more.tmx.gz").write_bytes(b"")
    assert describe_status({})[2:4] == ["next     nmt prepare more.tmx.gz", "         nmt prepare 'my pairs.tsv'"]


def test_a_corpus_is_described_and_a_model_after_it(empty_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(write_corpus(), empty_place / "prepared", PrepareOptions(vocab_size=300, dev="20", test="20"))
    corpus, model, following = describe_status({})[:3]
    assert corpus.startswith("corpus   prepared/: ")
    assert "20 dev, 20 test" in corpus
    assert (model, following) == ("model    none in model/", "next     nmt train")
    write_state(empty_place / "model", updates=9)
    assert describe_status({})[1:3] == ["model    an interrupted training run in model/", "next     nmt train --resume"]
    with lock_model(empty_place / "model", replace=False, resume=True):
        assert describe_status({})[1:3] == ["model    training is running in model/", "next     nmt visualize --curves"]
    development = {"bleu": {"value": 27.83}, "chrf": {"value": 48.1}}
    network = {"architecture": "rnn", "attention": "additive"}
    card = make_card(epochs=5, development=development, network=network)
    (empty_place / "model" / "model.json").write_text("{}")
    monkeypatch.setattr("nmt_cli.runtime.model_directory.read_card", lambda directory: card)
    lines = describe_status({})
    assert "eng -> deu; rnn with additive attention, epoch 5, dev BLEU 27.8, chrF 48.1 (greedy)" in lines[1]
    assert "data other than prepared/" in lines[1]
    assert lines[2] == "next     nmt train --resume" and lines[3].endswith("| nmt translate")
    write_state(empty_place / "model", updates=9, complete=True)
    assert describe_status({})[2].endswith("| nmt translate")  # the training is done


def test_other_models_here_are_named_with_their_commands(empty_place: Path) -> None:
    prepare(write_corpus(), empty_place / "prepared", PrepareOptions(vocab_size=300, dev="20", test="20"))
    write_state(empty_place / "luong", updates=9)
    (empty_place / "bahdanau").mkdir()
    (empty_place / "bahdanau" / "model.json").write_text("{}")
    assert describe_status({})[1:5] == [
        "model    none in model/; others: bahdanau/",
        "next     nmt train --model luong --resume",
        "         nmt evaluate --model bahdanau",
        "         nmt train",
    ]
    assert describe_status({"NMT_MODEL": "luong"})[2] == "next     nmt train --resume"


def test_scores_of_the_last_evaluation_are_shown_until_the_model_changes(
    empty_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = empty_place / "model"
    model.mkdir()
    (empty_place / "prepared").mkdir()
    for name in ("model.json", "weights.npz"):
        (model / name).write_text("{}")
    monkeypatch.setattr("nmt_cli.runtime.model_directory.read_card", lambda directory: make_card())
    score = Score("BLEU-4", 31.165, "tok:13a", ())
    report = Report({"bleu4": score}, 1000, 1, SearchOptions(), (), Material([], []), {"bleu4": Interval(29.0, 33.0)})
    request = EvaluationRequest(
        scores=ScoreOptions(), search=SearchOptions(), data=empty_place / "prepared", models=(model,)
    )
    keep_scores(report, replace(request, split="dev"))
    assert not any(line.startswith("scores") for line in describe_status({}))
    keep_scores(report, replace(request, settings_from={"data": "nmt.toml"}))
    assert list((empty_place / "prepared").iterdir()) == []
    keep_scores(report, request)
    assert sorted(path.name for path in model.iterdir()) == ["model.json", "weights.npz"]
    assert describe_status({})[2].startswith("scores   BLEU-4 31.16 ± 2.00 on 1,000 test sentences (beam 5")
    (model / "model.json").write_text("{ }")
    assert not any(line.startswith("scores") for line in describe_status({}))


def test_models_with_a_name_are_shown_with_a_sentence_of_their_language(monkeypatch: pytest.MonkeyPatch) -> None:
    models = {name: Path(name) for name in ("deu-eng", "eng-deu", "zzz-eng")}
    monkeypatch.setattr(installed_models, "list_models", lambda: models)
    assert describe_status({})[1:5] == [
        "model    none in model/; installed: deu-eng, eng-deu, zzz-eng",
        "next     nmt prepare corpus.tsv",
        '         echo "Wo ist der Bahnhof?" | nmt translate --model deu-eng',
        '         echo "Where is the station?" | nmt translate --model eng-deu',
    ]


def test_what_is_damaged_is_said_and_nothing_fails(empty_place: Path) -> None:
    (empty_place / "elsewhere").mkdir()
    (empty_place / "elsewhere" / "model.json").write_text("{")
    assert any("not valid JSON" in line for line in describe_status({"NMT_MODEL": "elsewhere"}))


def test_nmt_alone_prints_it() -> None:
    result = CliRunner().invoke(app, [])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "next     nmt prepare corpus.tsv" in result.stdout


def test_an_output_that_has_not_every_character_is_no_error(empty_place: Path) -> None:
    (empty_place / "жук.tsv").write_text("")
    done = run_program(cwd=empty_place, PYTHONIOENCODING="cp1252")
    assert (done.returncode, done.stderr) == (0, "")
    assert "???.tsv" in done.stdout


def test_a_model_of_several_languages_names_them_all() -> None:
    card = make_card()._replace(source_language="eng", target_language="deu", tags={">deu": 9, ">nld": 9, "ui": 9})
    assert card.direction == "eng -> deu, nld"
