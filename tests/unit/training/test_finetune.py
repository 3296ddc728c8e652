"""Training that starts from the weights of another model."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DataError, OptionError
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_chrf
from nmt_cli.files import hash_file
from nmt_cli.formats.inputs import CorpusFile
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.records import build
from nmt_cli.runtime.model_directory import ModelDirectory, read_card
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import parse_tag_list
from nmt_cli.training import transfer as finetune
from nmt_cli.training.export import publish as publishing
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.run import train
from nmt_cli.training.step import Trainer
from nmt_cli.training.transfer import choose_network, load_replayed_corpus
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import ParentInfo, RunInfo, Watcher
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from support.models import SYLLABLES, list_state, prepare_toy, toy_pairs, write_pairs
from support.training import export_once, nudge, weigh

SMALL = ModelConfig.from_options(attention="none", bidirectional=False, embedding=32, units=48)
ABLE = ModelConfig.from_options(attention="additive", embedding=32, units=48, attention_units=16)
OPTIONS = {"batch": 32, "mixed_precision": False, "careless": 0.0, "placeholders": 0.0, "learning_rate": 0.01}


@dataclass(frozen=True)
class Old:
    corpus: PreparedCorpus
    model: Path


@pytest.fixture(scope="module")
def old_corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_toy(tmp_path_factory.mktemp("corpus"), 900)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Seq2Seq, Path], None]:
    return export_once(tmp_path_factory.mktemp("exported"))


@pytest.fixture(scope="module")
def old(
    old_corpus: PreparedCorpus, graphs: Callable[[Seq2Seq, Path], None], tmp_path_factory: pytest.TempPathFactory
) -> Old:
    """A model that has learned nothing."""
    model = tmp_path_factory.mktemp("old") / "model"
    with pytest.MonkeyPatch.context() as patch:
        skip_updates(patch, graphs)
        train(TrainRequest(old_corpus, model, SMALL, TrainOptions(epochs=1, **OPTIONS)))
    return Old(old_corpus, model)


@pytest.fixture(scope="module")
def able(old_corpus: PreparedCorpus, tmp_path_factory: pytest.TempPathFactory) -> Old:
    """A model that translates words by spelling them backwards."""
    model = tmp_path_factory.mktemp("able") / "model"
    train(TrainRequest(old_corpus, model, ABLE, TrainOptions(epochs=12, **OPTIONS)))
    return Old(old_corpus, model)


@pytest.fixture
def no_updates(graphs: Callable[[Seq2Seq, Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the weights with which a training begins matter, and what is told of them."""
    skip_updates(monkeypatch, graphs)


def skip_updates(patch: pytest.MonkeyPatch, graphs: Callable[[Seq2Seq, Path], None]) -> None:
    patch.setattr(Trainer, "update", nudge)
    patch.setattr(Validator, "validate", weigh)
    patch.setattr(publishing, "export", graphs)


@pytest.fixture(scope="module")
def new(old: Old, tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    """The same words with other translations: their syllables change places."""
    directory = tmp_path_factory.mktemp("new")
    generator = random.Random(5)
    sentences = {tuple(generator.choices(SYLLABLES, k=2 * generator.randint(2, 4))) for _ in range(400)}
    pairs = [("no " + written(words), "on " + written([*words[1:], words[0]])) for words in sorted(sentences)]
    config = PrepareOptions(tokenizer_from=str(old.model), dev="30", test="30")
    prepare(write_pairs(directory / "new.tsv", pairs), directory / "prepared", config)
    return PreparedCorpus.load(directory / "prepared")


def written(syllables: list[str] | tuple[str, ...]) -> str:
    pieces = ["".join(syllables[start : start + 2]) for start in range(0, len(syllables), 2)]
    return " ".join(pieces) + "."


def score(model: Path, corpus: PreparedCorpus) -> float:
    pairs = corpus.read_pairs("test")
    sources = [pair.source for pair in pairs]
    translations = TranslationRequest(model).load().translate(sources, TranslateOptions(SearchOptions(beam_size=1)))
    return compute_chrf([translation.text for translation in translations], [[pair.target] for pair in pairs]).value


@pytest.mark.slow
def test_a_fine_tuned_model_knows_the_new_and_with_replay_forgets_less(
    able: Old, new: PreparedCorpus, tmp_path: Path
) -> None:
    options = {**OPTIONS, "epochs": 12, "init_from": str(able.model)}
    train(TrainRequest(new, tmp_path / "alone", ABLE, TrainOptions(**options)))
    train(
        TrainRequest(
            new,
            tmp_path / "replayed",
            ABLE,
            TrainOptions(**options, replay=str(able.corpus.directory), replay_share=0.5),
        )
    )
    before = score(able.model, able.corpus), score(able.model, new)
    alone, replayed = (
        (score(tmp_path / name, able.corpus), score(tmp_path / name, new)) for name in ("alone", "replayed")
    )
    assert min(alone[1], replayed[1]) > before[1] + 10
    assert replayed[0] > alone[0] + 10


@pytest.mark.usefixtures("no_updates")
def test_it_begins_with_the_weights_of_the_model_which_stays_as_it_is(
    old: Old, new: PreparedCorpus, tmp_path: Path
) -> None:
    before = list_state(old.model)
    config = TrainOptions(epochs=1, batch=400, mixed_precision=False, init_from=str(old.model), learning_rate=0.0)
    train(TrainRequest(new, tmp_path / "model", ModelConfig.from_options(), config))
    initial, trained = (dict(np.load(model / "weights.npz")) for model in (old.model, tmp_path / "model"))
    assert initial.keys() == trained.keys()
    for name, array in initial.items():
        np.testing.assert_array_equal(array, trained[name])
    assert list_state(old.model) == before


def test_the_network_is_that_of_the_model_unless_another_is_asked_for(old: Old, new: PreparedCorpus) -> None:
    config = TrainOptions(init_from=str(old.model))
    assert choose_network(new, ModelConfig.from_options(), config, ()) == SMALL
    dropping = replace(SMALL, dropout=0.3)
    assert choose_network(new, ModelConfig.from_options(dropout=0.3), config, {"dropout"}) == dropping
    assert choose_network(new, dropping, config, {"units", "dropout"}) == dropping
    with pytest.raises(OptionError, match=r"model/ has --units 48, but you set --units 128"):
        choose_network(new, ModelConfig.from_options(units=128), config, {"units"})
    with pytest.raises(OptionError, match=r"model/ has --units 48, but you set --units 512"):
        choose_network(new, ModelConfig.from_options(), config, {"units"})  # its default, spelled out
    assert choose_network(new, ModelConfig.from_options(), TrainOptions(), ()) == ModelConfig.from_options()


def test_sources_of_another_kind_are_refused(old: Old, new: PreparedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = Vocabularies(source=0, target=300, joint=False, features=2048)
    monkeypatch.setattr(finetune, "read_vocabularies", lambda corpus: pictures)
    with pytest.raises(DataError, match=r"are pictures, but .*model/ reads text"):
        choose_network(new, ModelConfig.from_options(), TrainOptions(init_from=str(old.model)), ())


def test_other_features_are_refused(old: Old, new: PreparedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = replace_features(old, 512)
    monkeypatch.setattr(finetune, "load_initial_model", lambda config: reader)
    monkeypatch.setattr(
        finetune, "read_vocabularies", lambda corpus: Vocabularies(source=0, target=300, joint=False, features=2048)
    )
    with pytest.raises(DataError, match="differ from those that"):
        choose_network(new, ModelConfig.from_options(), TrainOptions(init_from=str(old.model)), ())


def replace_features(old: Old, depth: int) -> ModelDirectory:
    model = ModelDirectory.load(old.model)
    return model._replace(card=model.card._replace(vocabularies={**model.card.vocabularies, "features": depth}))


def test_only_old_pairs_need_the_same_subwords(old: Old, tmp_path: Path) -> None:
    other = prepare_toy(tmp_path, 200, vocab_size=320)
    assert choose_network(other, ModelConfig.from_options(), TrainOptions(init_from=str(old.model)), ()) == SMALL
    with pytest.raises(DataError, match="have different subwords") as error:
        load_replayed_corpus(other, TrainOptions(replay=str(old.corpus.directory)))
    assert "--tokenizer-from" in (error.value.hint or "")


def test_old_pairs_are_replayed_beside_new_tags(old: Old, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "new.tsv", toy_pairs(300))
    config = PrepareOptions(tokenizer_from=str(old.corpus.directory), dev="20", test="20")
    prepare(CorpusFile(path, tags=parse_tag_list("ui")), tmp_path / "new", config)
    child = PreparedCorpus.load(tmp_path / "new")
    replayed = load_replayed_corpus(child, TrainOptions(replay=str(old.corpus.directory)))
    assert replayed is not None and len(replayed.rows)
    ids = replayed.corpus.load_encoded("train").source[0]  # type: ignore[index]
    assert child.source_tokenizer.decode(ids.tolist()) == replayed.corpus.read_pairs("train")[0].source
    with pytest.raises(DataError, match="have different subwords"):
        load_replayed_corpus(old.corpus, TrainOptions(replay=str(tmp_path / "new")))


@pytest.mark.usefixtures("no_updates")
def test_a_child_keeps_what_it_shares_with_its_parent_as_its_card_says(old: Old, tmp_path: Path) -> None:
    child = prepare_toy(tmp_path, 200, vocab_size=310)
    config = TrainOptions(epochs=1, **{**OPTIONS, "learning_rate": 0.0}, init_from=str(old.model))
    watcher = StartWatcher()
    train(TrainRequest(child, tmp_path / "model", ModelConfig.from_options(), config, watcher))
    parent, trained = (dict(np.load(model / "weights.npz")) for model in (old.model, tmp_path / "model"))
    for name in parent:
        if "embedding" not in name and "output" not in name:
            np.testing.assert_array_equal(parent[name], trained[name])
    entries = read_card(tmp_path / "model").parent
    assert entries["name"] == "model" and entries["weights"] == hash_file(old.model / "weights.npz")
    counts = entries["rows"]["joint"]
    assert sum(counts.values()) == child.source_tokenizer.vocabulary_size and counts["kept"] > 290
    assert watcher.parents == [build(ParentInfo, entries)]


@pytest.mark.slow
def test_a_child_with_other_subwords_learns_faster_than_from_scratch(able: Old, tmp_path: Path) -> None:
    child = prepare_toy(tmp_path, 200, vocab_size=310)
    config = TrainOptions(epochs=3, **OPTIONS)
    scratch, initialised = (
        train(TrainRequest(child, tmp_path / name, ABLE, replace(config, init_from=parent)))
        for name, parent in (("scratch", None), ("child", str(able.model)))
    )
    assert initialised.validation.chrf > scratch.validation.chrf + 10


@pytest.mark.usefixtures("no_updates")
def test_a_resumed_child_needs_its_parent_no_more_and_still_tells_it(old: Old, tmp_path: Path) -> None:
    child, parent = prepare_toy(tmp_path, 200, vocab_size=310), tmp_path / "parent"
    copytree(old.model, parent)
    config = TrainOptions(epochs=1, **OPTIONS, init_from=str(parent))
    request = TrainRequest(child, tmp_path / "model", ModelConfig.from_options(), config)
    train(request)
    before = read_card(tmp_path / "model").parent
    rmtree(parent)
    watcher = StartWatcher()
    train(replace(request, network=SMALL, training=replace(config, epochs=2), resume=True, watcher=watcher))
    assert read_card(tmp_path / "model").parent == before
    assert watcher.parents == [build(ParentInfo, before)]


class StartWatcher(Watcher):
    """Collects what is reported of parents."""

    def __init__(self) -> None:
        self.parents: list[ParentInfo | None] = []

    def report_start(self, info: RunInfo) -> None:
        self.parents.append(info.parent)


def test_old_pairs_are_replayed_in_the_direction_that_is_trained(old: Old, tmp_path: Path) -> None:
    new = reverse_corpus(prepare_toy(tmp_path, 200, vocab_size=None, tokenizer_from=str(old.corpus.directory)))
    replayed = load_replayed_corpus(new, TrainOptions(replay=str(old.corpus.directory)))
    assert replayed is not None
    assert replayed.corpus.source_language == old.corpus.target_language
