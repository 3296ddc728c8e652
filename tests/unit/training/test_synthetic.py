"""Training with synthetic pairs, on a toy language, from the first stage to the model."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.dataset import PreparedCorpus, SyntheticPair, reverse_corpus
from nmt_cli.corpus.pairs import Side
from nmt_cli.errors import DataError, OptionError, OutputError
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import STAGES, TRAINED_SOURCES, ModelDirectory
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.training.checkpoints import locate_state
from nmt_cli.training.data.synthetic_pairs import (
    HeldOutSentences,
    Interrupted,
    Selection,
    WordRatio,
    count_repeats,
    find_stage_options,
    make_plan,
    select_pairs,
)
from nmt_cli.training.deadline import TooShortError
from nmt_cli.training.export import publish as publishing
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.step import Trainer
from nmt_cli.training.synthetic import SyntheticRun, train_with_synthetic
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import Watcher
from support.corpora import prepare_pairs, toy_pairs
from support.properties import examples
from support.training import export_once, nudge, weigh

NETWORK = ModelConfig.from_options(embedding=16, units=16, attention="none", bidirectional=False)
CONFIG = TrainOptions(epochs=1, batch=64, mixed_precision=False)


@pytest.fixture(scope="module")
def with_text(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    directory: Path = tmp_path_factory.mktemp("corpus")
    pairs = toy_pairs(700)
    text = directory / "text.de"
    text.write_text("".join(f"{target}\n" for _, target in pairs[400:]), encoding="utf-8")
    return prepare_pairs(directory, pairs[:400], monolingual_target=(str(text),), dev="20", test="20")


@pytest.fixture
def quick_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models learn nothing and have the graphs of the first: what they translate does not matter."""
    monkeypatch.setattr(Trainer, "update", nudge)
    monkeypatch.setattr(Validator, "validate", weigh)
    monkeypatch.setattr(publishing, "export", export_once(tmp_path))


@dataclass
class Recorder(Watcher):
    """Remembers the stages, and wants to stop once the stage with the number `last` has begun."""

    last: int = 99
    stages: list[str] = field(default_factory=list)

    def report_stage(self, name: str, number: int, stages: int) -> None:
        self.stages.append(f"{number}/{stages} {name}")

    def should_stop(self) -> bool:
        return len(self.stages) >= self.last


def test_the_plan_follows_from_the_mode_and_from_what_the_corpus_has(with_text: PreparedCorpus) -> None:
    assert make_plan(with_text, TrainOptions(synthetic="none")).tasks == ()
    assert [task.name for task in make_plan(with_text, TrainOptions()).tasks] == ["back-translation"]
    diversify = make_plan(with_text, TrainOptions(synthetic="diversify"))
    assert diversify.directions == ("reverse", "forward")
    distil = make_plan(with_text, TrainOptions(synthetic="distil", synthetic_search="greedy"))
    assert distil.directions == ("forward",) and [task.search for task in distil.tasks] == ["beam"]
    with pytest.raises(OptionError, match="needs monolingual target text"):
        make_plan(
            replace(with_text, manifest=replace(with_text.manifest, monolingual={})), TrainOptions(synthetic="back")
        )


def test_real_pairs_are_repeated_by_the_number_of_synthetic_ones() -> None:
    assert count_repeats(20_000, 100_000) == 3
    assert count_repeats(100_000, 1_000) == 1
    assert count_repeats(100, 1_000_000) == 10


def test_a_checkpoint_of_the_replaced_model_is_none_of_the_new_training(
    with_text: PreparedCorpus, tmp_path: Path
) -> None:
    request = TrainRequest(with_text, tmp_path, NETWORK, CONFIG)
    state = locate_state(tmp_path)
    state.parent.mkdir()
    state.write_bytes(b"old")
    SyntheticRun.open(request, make_plan(with_text, CONFIG))
    assert not state.exists()


def test_stages_that_are_done_need_no_more_room(
    with_text: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = TrainRequest(with_text, tmp_path, NETWORK, CONFIG)
    plan = make_plan(with_text, CONFIG)
    run = SyntheticRun.open(request, plan)
    for name in ("reverse", "back-translation"):
        with run.stages.run(name):
            pass
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=0))
    SyntheticRun.open(replace(request, resume=True), plan)
    with pytest.raises(OutputError, match="the stages of this run need"):
        SyntheticRun.open(request, plan)


def test_a_time_too_short_for_a_helper_model_is_named_as_it_was_typed(
    with_text: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(request: TrainRequest) -> None:
        raise TooShortError(f"--time {request.training.time} is too short", 10)

    monkeypatch.setattr("nmt_cli.training.synthetic.train", train)
    request = TrainRequest(with_text, tmp_path, NETWORK, replace(CONFIG, time="100s"))
    with pytest.raises(
        OptionError, match="--time 100s is too short: it leaves only 25s for the de -> en helper"
    ) as caught:
        train_with_synthetic(request)
    assert caught.value.hint.endswith("; --time 3m is enough")  # a quarter of it is four times 10 seconds
    assert not (tmp_path / "stages").exists()
    with pytest.raises(OptionError, match="the other stages left nothing for the") as caught:
        run = SyntheticRun.open(request, make_plan(with_text, CONFIG))
        run.stages.seconds["back-translation"] = 95.0
        run.request_final = lambda corpus: request  # type: ignore[method-assign]
        run.train_model(with_text)
    assert caught.value.hint.endswith("; --time 3m --resume is enough")  # 95 and 40 seconds are three quarters of it


@pytest.mark.parametrize(("pairs", "epochs"), [(16_000, 13), (35_000, 9), (150_000, 5), (1_000_000, 5)])
def test_the_model_itself_has_as_many_epochs_as_its_mixture_needs(
    with_text: PreparedCorpus, tmp_path: Path, pairs: int, epochs: int
) -> None:
    mixture: Any = SimpleNamespace(load_encoded=lambda split: SimpleNamespace(source=range(pairs)))
    request = TrainRequest(with_text, tmp_path, NETWORK, CONFIG, explicit=frozenset())
    assert SyntheticRun.open(request, make_plan(with_text, CONFIG)).request_final(mixture).training.epochs == epochs
    typed = replace(request, explicit=frozenset({"epochs"}))
    assert (
        SyntheticRun.open(typed, make_plan(with_text, CONFIG)).request_final(mixture).training.epochs == CONFIG.epochs
    )


@pytest.mark.usefixtures("quick_models")
def test_stages_are_interrupted_resumed_removed_and_named_in_the_card(
    with_text: PreparedCorpus, tmp_path: Path
) -> None:
    directory = tmp_path / "model"
    directory.mkdir()
    request = TrainRequest(with_text, directory, NETWORK, CONFIG)
    # 1. Stop in the first stage: nothing of it counts as done.
    with pytest.raises(Interrupted, match=r"interrupted in stage 1 of 3 \(de -> en helper model\)"):
        train_with_synthetic(replace(request, watcher=Recorder(last=1)))
    assert json.loads((directory / STAGES / "state.json").read_text(encoding="utf-8"))["seconds"] == {}
    # 2. Its options are those to continue with, and its stages count as something that can be continued.
    began = find_stage_options(directory)
    assert began is not None
    assert TrainOptions(**began.saved[TrainOptions]) == CONFIG
    assert ModelConfig.from_options(**began.saved[ModelConfig]) == NETWORK
    # 3. Another run is refused.
    with pytest.raises(DataError, match="belong to different data or settings"):
        train_with_synthetic(replace(request, training=replace(CONFIG, seed=2), resume=True))
    # 4. Stop in the second stage, then finish.
    with pytest.raises(Interrupted, match="stage 3 of 3"):
        train_with_synthetic(replace(request, resume=True, watcher=Recorder(last=2)))
    watcher = Recorder()
    report = train_with_synthetic(replace(request, resume=True, watcher=watcher))
    assert len(watcher.stages) == 3
    assert len(report.records) == 1
    assert not (directory / STAGES).exists()
    # 5. The card and the keys of the sources tell what was learned.
    card = ModelDirectory.load(directory).card
    assert card.dataset_fingerprint == with_text.fingerprint
    assert card.synthetic["tasks"]["back-translation"]["pairs"] == card.synthetic["pairs"]
    keys = np.load(directory / TRAINED_SOURCES)
    assert len(keys) <= 360 + card.synthetic["pairs"]
    # 6. What is gone cannot be continued.
    with pytest.raises(OptionError, match=r"synthetic pairs that .* no longer exist"):
        train_with_synthetic(replace(request, training=replace(CONFIG, epochs=2), resume=True))


# Which synthetic pairs are learned.


@pytest.fixture(scope="module")
def english_german(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_pairs(tmp_path_factory.mktemp("corpus"), toy_pairs(400))


def select(corpus: PreparedCorpus, pairs: list[SyntheticPair], confidence: float = 0.0) -> Selection:
    held_out, ratio = HeldOutSentences.from_corpus(corpus), WordRatio.from_corpus(corpus)
    return select_pairs(pairs, [confidence] * len(pairs), held_out, ratio, -1.0, "source")


def back(source: str, target: str) -> SyntheticPair:
    return SyntheticPair(source, target, is_tagged=True)


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (back("The cow sees the calf at noon.", "Die Kuh sieht das Kalb am Mittag."), ""),
        (back("", "Die Kuh sieht das Kalb."), "empty"),
        (back("The cow the cow the cow the cow the cow.", "Die Kuh sieht das Kalb."), "repeated"),
        (back("Die kuh sieht das kalb nun auch.", "Die kuh sieht das kalb nun auch."), "copied"),
        (back("Cow.", "Die Kuh sieht am Mittag das Kalb auf der Weide."), "off in length"),
    ],
)
def test_each_fault_is_dropped_and_counted(english_german: PreparedCorpus, pair: SyntheticPair, reason: str) -> None:
    selection = select(english_german, [pair])
    assert selection.pairs == ([] if reason else [pair])
    assert dict(selection.dropped) == ({reason: 1} if reason else {})


def test_a_pair_that_is_less_likely_than_nearly_all_others_is_dropped(english_german: PreparedCorpus) -> None:
    pair = back("The cow sees the calf at noon.", "Die Kuh sieht das Kalb am Mittag.")
    assert dict(select(english_german, [pair], confidence=-1.5).dropped) == {"of low confidence": 1}
    assert select(english_german, [pair], confidence=float("nan")).pairs == [pair]  # unknown is not low


def test_equal_pairs_are_learned_once(english_german: PreparedCorpus) -> None:
    pair = back("The cow sees the calf at noon.", "Die Kuh sieht das Kalb am Mittag.")
    selection = select(english_german, [pair, pair])
    assert (selection.pairs, dict(selection.dropped)) == ([pair], {"duplicate": 1})


def test_a_translation_that_the_corpus_has_already_is_not_learned_again(english_german: PreparedCorpus) -> None:
    known, new = ("The cow sees.", "Die Kuh sieht."), ("The cow looks.", "Die Kuh sieht.")
    pairs = [SyntheticPair(*pair, is_tagged=False) for pair in (known, new)]
    held_out, ratio = HeldOutSentences.from_corpus(english_german), WordRatio.from_corpus(english_german)
    selection = select_pairs(pairs, [0.0, 0.0], held_out, ratio, -1.0, "source", {known})
    assert (selection.pairs, dict(selection.dropped)) == (pairs[1:], {"as in the corpus": 1})


@examples(30)
@given(st.data(), st.booleans(), st.booleans(), st.sampled_from(["source", "target"]))
def test_no_held_out_sentence_is_on_either_side_of_a_synthetic_pair(
    english_german: PreparedCorpus, data: st.DataObject, is_reversed: bool, is_tagged: bool, generated: Side
) -> None:
    """Holds for back-translation and diversification, which differ in the side that is generated and in the tag."""
    direction = reverse_corpus(english_german) if is_reversed else english_german
    held_out = [pair for split in ("dev", "test") for pair in direction.read_pairs(split)]
    shapes = st.sampled_from([str, str.upper, str.lower, lambda text: f"{text} ", lambda text: text.replace(".", " .")])
    turn = -1 if is_reversed else 1
    new = st.sampled_from([pair[::turn] for pair in toy_pairs(800)[400:]])
    leak = st.builds(lambda pair, shape: (shape(pair.source), shape(pair.target)), st.sampled_from(held_out), shapes)
    rows = data.draw(st.lists(st.tuples(leak, new, st.integers(0, 2)), min_size=1, max_size=20))
    pairs = [
        SyntheticPair(*((leaking[0], fresh[1]), (fresh[0], leaking[1]), fresh)[kind], is_tagged)
        for leaking, fresh, kind in rows
    ]
    held, ratio = HeldOutSentences.from_corpus(direction), WordRatio.from_corpus(direction)
    kept = select_pairs(pairs, [0.0] * len(pairs), held, ratio, -1.0, generated).pairs
    for side in (0, 1):
        keys = {make_sentence_key(pair[side]) for pair in held_out}
        assert keys.isdisjoint(make_sentence_key(pair[side]) for pair in kept)


def test_lengths_may_always_differ_by_a_few_words() -> None:
    ratio = WordRatio(mean=0.0, spread=0.1)
    assert not ratio.is_off("tea", "one two three four")
    assert ratio.is_off("tea", "one two three four five")
    assert not ratio.is_off("one two three four", "tea")
    assert ratio.is_off("one two three four five", "tea")
