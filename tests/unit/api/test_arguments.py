from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nmt_cli.api.drawings.config import DrawingConfig
from nmt_cli.api.evaluate import evaluate
from nmt_cli.api.options.options import list_paths, list_texts, select_options
from nmt_cli.api.prepare import prepare
from nmt_cli.api.train import combine_watchers, train
from nmt_cli.api.visualize import visualize
from nmt_cli.errors import MissingExtraError, NotFoundError, OptionError
from nmt_cli.runtime import installed_models
from nmt_cli.training.watcher import Watcher
from nmt_cli.translation.config import LineConfig


def test_a_string_is_a_list_of_one() -> None:
    assert list_texts("abc") == ["abc"]
    assert list_texts(None) == []
    assert list_paths("abc") == [Path("abc")]
    assert list_paths(["a", Path("b")]) == [Path("a"), Path("b")]


def test_a_path_is_taken_where_an_option_is_text() -> None:
    assert select_options({"glossary": Path("terms.tsv"), "beam_size": 3}, LineConfig) == {"glossary": "terms.tsv"}


def test_a_text_is_one_of_those_that_an_option_takes() -> None:
    assert select_options({"target": "Wo?", "pairs": Path("p.tsv")}, DrawingConfig) == {
        "target": ("Wo?",),
        "pairs": "p.tsv",
    }


def test_every_function_names_the_option_that_was_meant(tmp_path: Path) -> None:
    for call in (
        lambda: prepare("corpus.tsv", vocab_sise=300),
        lambda: train(epoch=5),
        lambda: evaluate(beam_sise=1),
        lambda: visualize("hello", beam_sise=1),
    ):
        with pytest.raises(OptionError, match="there is no option") as raised:
            call()
        assert "did you mean" in raised.value.hint


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"corpus\.tsv"):
        prepare(str(tmp_path / "corpus.tsv"), data=tmp_path / "prepared", test=100)
    with pytest.raises((NotFoundError, MissingExtraError)):
        train(data=tmp_path / "prepared", model=tmp_path / "model")
    with pytest.raises(NotFoundError):
        evaluate(data=tmp_path / "prepared", model=tmp_path / "model", metric="bleu4")
    with pytest.raises(NotFoundError):
        visualize("hello", model=tmp_path / "model")


def test_alternatives_exclude_each_other() -> None:
    with pytest.raises(OptionError, match="curves cannot be combined with beam"):
        visualize("hello", beam=True, curves=True)


def test_a_training_is_reported_in_stages() -> None:
    stages: list[tuple[str, int, int]] = []
    watcher = combine_watchers(None, lambda *stage: stages.append(stage), None)
    watcher.report_validation(3)
    watcher.report_export()
    assert stages == [("validating epoch 3", 0, 0), ("exporting", 0, 0)]
    assert not combine_watchers(Watcher(), lambda *stage: None, None).should_stop()


def prepare_nothing(inputs: Any, data: Path, config: Any, **others: Any) -> Any:
    return SimpleNamespace(directory=config.tokenizer_from, manifest=SimpleNamespace(findings=()))


def test_subwords_are_taken_from_a_model_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.corpus.prepare.prepare", prepare_nothing)
    monkeypatch.setattr(installed_models, "list_models", lambda: {"xxx-yyy": Path("models/xxx-yyy")})
    monkeypatch.chdir(tmp_path)
    assert prepare("a.tsv", tokenizer_from="xxx-yyy").directory == "models/xxx-yyy"
    Path("xxx-yyy").touch()
    names = ("xxx-yyy", "none", None)
    assert [prepare("a.tsv", tokenizer_from=name).directory for name in names] == ["xxx-yyy", "none", None]
