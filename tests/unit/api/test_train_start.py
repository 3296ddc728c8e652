"""The installed model that a training on few pairs starts from, though nobody named it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.api.train import choose_start, explain_start, list_open_starts
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import KnownStart, list_starts
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from support.corpora import prepare_pairs, toy_pairs


@pytest.fixture(scope="module")
def vietnamese(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    folder = tmp_path_factory.mktemp("vie")
    return prepare_pairs(folder, toy_pairs(100), source_language="eng", target_language="vie")


def make_request(corpus: PreparedCorpus, explicit: tuple[str, ...] | None = (), **options: Any) -> TrainRequest:
    config = TrainOptions(**options)
    chosen = None if explicit is None else frozenset(explicit)
    return TrainRequest(corpus, Path("model"), ModelConfig.from_options(), config, explicit=chosen)


def choose(request: TrainRequest) -> KnownStart | None:
    return choose_start(list_open_starts(request), request.training)


def test_few_pairs_start_from_a_model_of_the_same_source(vietnamese: PreparedCorpus) -> None:
    start = choose(make_request(vietnamese))
    assert start is not None and (start.name, start.sides) == ("eng-deu", ("source",))
    assert choose(make_request(vietnamese, ("epochs", "batch", "dropout"))) == start


@pytest.mark.parametrize(
    ("explicit", "options"),
    [
        (None, {}),  # a checkpoint has all options
        (("init_from",), {}),  # none
        (("init_from",), {"init_from": "deu-eng"}),
        (("units",), {}),
        (("architecture",), {}),
        (("time",), {"time": "5m"}),
        (("synthetic",), {"synthetic": "diversify"}),
    ],
)
def test_what_is_asked_for_leaves_nothing_to_choose(
    vietnamese: PreparedCorpus, explicit: tuple[str, ...] | None, options: dict[str, Any]
) -> None:
    assert choose(make_request(vietnamese, explicit, **options)) is None


def test_pairs_that_look_unlike_the_texts_of_a_model_do_not_start_from_it(tmp_path: Path) -> None:
    pairs = [(source.lower(), target) for source, target in toy_pairs(100)]
    request = make_request(prepare_pairs(tmp_path, pairs, source_language="eng", target_language="vie"))
    starts = list_open_starts(request)
    assert choose(request) is None
    assert re.fullmatch(  # most texts of any profile of the package, whatever it was trained on last
        r"does not start from eng-deu, because [5-9]\d% of its texts begin with a capital, but 0% of yours do; "
        r"to start from it, add --init-from eng-deu",
        str(explain_start(None, starts, request.training)),
    )


def test_a_run_with_a_time_limit_says_why_it_starts_from_no_model(vietnamese: PreparedCorpus) -> None:
    request = make_request(vietnamese, ("time",), time="5m")
    assert explain_start(None, list_open_starts(request), request.training) == (
        "does not start from eng-deu, which has the same source language, because --time chooses the size of the "
        "network; to start from it, add --init-from eng-deu"
    )


@pytest.mark.parametrize("languages", [("eng", "deu"), ("spa", "shp"), (None, None)])
def test_a_model_of_both_languages_or_of_none_is_no_start(
    languages: tuple[str | None, str | None], tmp_path: Path
) -> None:
    source, target = languages
    pairs = [(f"{english} {n}", f"{german} {n}") for n, (english, german) in enumerate(toy_pairs(100))]
    options = {"source_language": source, "target_language": target}
    corpus = prepare_pairs(tmp_path, pairs, **{name: code for name, code in options.items() if code})
    assert choose(make_request(corpus)) is None


def test_many_pairs_start_from_random_weights(vietnamese: PreparedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.api.train.BREAK_EVEN_PAIRS", 10)
    assert choose(make_request(vietnamese)) is None


def test_models_that_share_both_languages_come_first_then_those_of_the_source() -> None:
    assert [(start.name, start.sides) for start in list_starts(("eng", "deu"))] == [("eng-deu", ("source", "target"))]
    assert [start.name for start in list_starts(("en-GB", "vi"))] == ["eng-deu"]
    assert list_starts(("source", "target")) == []
