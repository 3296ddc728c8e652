"""Models that learn from corrections: what is held back, what is replayed, what the gate lets pass."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nmt_cli as nmt
from nmt_cli.api.corrections import learn as learning
from nmt_cli.api.corrections.gate import Change, Gate, Verdict
from nmt_cli.api.corrections.pairs import FEWEST, is_held_back, read_corrections
from nmt_cli.api.corrections.replayed import OldPairs, find_old_pairs, read_sample, write_sample
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.errors import DamagedError, DataError, NotFoundError, OptionError
from nmt_cli.files import write_json
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import CARD, SAMPLE, ModelDirectory, read_card
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.run import train
from support.models import prepare_toy, toy_pairs, write_pairs

pytestmark = pytest.mark.network

LANGUAGES = ("source", "target")
PAIRS = toy_pairs(1_100)  # those from 900 on are not in the corpus


@pytest.fixture(scope="module")
def half_learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, and with a model that has half learned it."""
    folder = tmp_path_factory.mktemp("trained")
    corpus = prepare_toy(folder, 900)
    network = ModelConfig.from_options(attention="additive", embedding=32, units=48, attention_units=16)
    options = {"batch": 32, "mixed_precision": False, "careless": 0.0, "placeholders": 0.0, "learning_rate": 0.01}
    train(TrainingRequest(corpus, folder / "model", network, TrainConfig(epochs=4, **options)))
    return folder


@pytest.fixture
def workplace(half_learned: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return copytree(half_learned, tmp_path / "folder")


def make_change(before: float, after: float) -> Change:
    return Change("BLEU", 100, before, after, 0.5)


def copy_model(request: object, corpus: object, old: ModelDirectory, new: Path, watcher: object) -> Iterator[None]:
    """Learns nothing."""
    copytree(old.directory, new)
    yield


@given(st.lists(st.text("ab ", min_size=1, max_size=30), unique=True, max_size=50))
def test_whether_a_correction_is_held_back_never_depends_on_the_others(texts: list[str]) -> None:
    assert [is_held_back(text) for text in texts] == [is_held_back(text) for text in reversed(texts)][::-1]


def test_a_tenth_is_held_back_and_the_last_correction_of_a_source_counts(tmp_path: Path) -> None:
    pairs = [(f"Open file {number}.", f"Datei {number} öffnen.") for number in range(1_000)]
    path = write_pairs(tmp_path / "c.tsv", [(source.upper(), "Falsch.") for source, _ in pairs] + pairs)
    learned, held_back = read_corrections(path, ("en", "de"))
    assert sorted([*learned, *held_back]) == sorted(SentencePair(*pair) for pair in pairs)
    assert 60 < len(held_back) < 140  # five standard deviations of a binomial, rounded down and up
    assert all(is_held_back(make_sentence_key(pair.source)) for pair in held_back)


def test_too_few_corrections_are_no_lesson(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "c.tsv", PAIRS[: FEWEST - 1])
    with pytest.raises(DataError, match="a model learns from 50 on") as raised:
        read_corrections(path, LANGUAGES)
    assert "--tm" in raised.value.hint


def test_a_sample_is_read_as_it_was_written(tmp_path: Path) -> None:
    pairs = OldPairs([SentencePair("a", "b"), SentencePair("ä", "ß")], [SentencePair("c", "d")])
    write_sample(tmp_path / SAMPLE, pairs)
    assert read_sample(tmp_path / SAMPLE) == pairs
    first = (tmp_path / SAMPLE).read_bytes()
    write_sample(tmp_path / SAMPLE, pairs)
    assert (tmp_path / SAMPLE).read_bytes() == first
    (tmp_path / SAMPLE).write_bytes(first[:-9])
    with pytest.raises(DamagedError):
        read_sample(tmp_path / SAMPLE)


def test_a_model_replays_its_corpus_else_a_sample_else_its_translations(workplace: Path) -> None:
    model = ModelDirectory.load(workplace / "model")
    corpus = find_old_pairs(model, workplace / "prepared", 1)
    assert set(corpus.train) < set(PAIRS) and len(corpus.train) > 600
    (workplace / "other").mkdir()
    other = prepare_toy(workplace / "other", 300)
    translated = find_old_pairs(model, other.directory, 1)
    assert {pair.source for pair in translated.train} <= {pair.source for pair in other.read_pairs("train")}
    assert set(translated.dev) == set(other.read_pairs("dev"))  # whose references judge
    assert not set(translated.train) <= set(other.read_pairs("train"))  # the model has half learned it
    sample = OldPairs([SentencePair("a", "b")], [SentencePair("c", "d")])
    write_sample(workplace / "model" / SAMPLE, sample)
    assert find_old_pairs(model, other.directory, 1) == sample
    assert find_old_pairs(model, workplace / "prepared", 1) == corpus
    (workplace / "model" / SAMPLE).unlink()
    with pytest.raises(NotFoundError, match="nothing that"):
        find_old_pairs(model, workplace / "nowhere", 1)


@pytest.mark.parametrize(
    ("corrections", "development", "objection"),
    [
        ((40.0, 41.0), (30.0, 29.71), None),
        ((40.0, 41.0), (30.0, 29.69), "it loses 0.3 BLEU on the development set"),
        ((40.0, 40.0), (30.0, 31.0), "it translates 100 held-back corrections no better"),
    ],
)
def test_the_gate_asks_for_a_gain_and_allows_a_small_loss(
    corrections: tuple[float, float], development: tuple[float, float], objection: str | None
) -> None:
    assert Verdict(make_change(*corrections), make_change(*development)).objection == objection


def test_a_model_that_learned_takes_the_place_of_the_old_one(workplace: Path) -> None:
    corrections = write_pairs(workplace / "c.tsv", [(f"popo popo {source}", "abab eded.") for source, _ in PAIRS[900:]])
    model, before = workplace / "model", (workplace / "model" / CARD).read_bytes()
    lesson = nmt.learn(corrections, model=model, data=workplace / "prepared", epochs=6, learning_rate=0.01, batch=32)
    assert lesson.is_accepted and lesson.learned + lesson.held_back == 200
    assert lesson.verdict.corrections.after > lesson.verdict.corrections.before
    # The old model is whole where the lesson says, and the new one is one like any other.
    assert lesson.previous == model / "previous" and (model / "previous" / CARD).read_bytes() == before
    assert ModelDirectory.load(model / "previous") and (model / CARD).read_bytes() != before
    assert nmt.load(model).translate("bade gigi.")
    # The next lesson finds the same corpus, and leaves no older model behind.
    assert read_card(model).dataset_fingerprint == read_card(model / "previous").dataset_fingerprint
    assert not (model / "checkpoints").exists() and not (model / "previous" / "previous").exists()


def test_a_model_that_is_no_better_leaves_the_old_one_in_its_place(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "train_further", copy_model)
    model = workplace / "model"
    before = {path.name: path.read_bytes() for path in model.iterdir() if path.is_file()}
    lesson = nmt.learn(write_pairs(workplace / "c.tsv", PAIRS[900:]), model=model, data=workplace / "prepared")
    assert not lesson.is_accepted and lesson.previous is None
    assert "stays as it was" in str(lesson)
    assert {path.name: path.read_bytes() for path in model.iterdir() if path.is_file()} == before
    assert not (model / "previous").exists()


def test_what_was_held_back_is_never_learned(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def learn_nothing(
        request: object, corpus: object, old: ModelDirectory, new: Path, watcher: object
    ) -> Iterator[None]:
        seen.extend(corpus.read_pairs("train"))  # type: ignore[attr-defined]
        copytree(old.directory, new)
        yield

    monkeypatch.setattr(learning, "train_further", learn_nothing)
    again = random.Random(1).sample(PAIRS[:900], 100)  # which the old corpus has too
    path = write_pairs(workplace / "c.tsv", again)
    nmt.learn(path, model=workplace / "model", data=workplace / "prepared")
    held_back = {pair.source for pair in read_corrections(path, LANGUAGES).held_back}
    dev = {
        pair.source for pair in find_old_pairs(ModelDirectory.load(workplace / "model"), workplace / "prepared", 1).dev
    }
    assert seen and held_back and dev
    assert not {pair.source for pair in seen} & (held_back | dev)


def test_a_model_of_a_package_stays_and_one_of_its_name_is_made(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def learn_all(request: object, corpus: object, old: ModelDirectory, new: Path, watcher: object) -> Iterator[None]:
        copytree(old.directory, new)
        write_json(new / CARD, read_card(new)._replace(epochs=99)._asdict())
        yield

    package = workplace / "model"
    monkeypatch.setattr("nmt_cli.runtime.installed_models.list_models", lambda: {"eng-xyz": package})
    monkeypatch.setattr(learning, "train_further", learn_all)
    monkeypatch.setattr(Gate, "judge", lambda *_: Verdict(make_change(1, 2), make_change(1, 1)))
    monkeypatch.chdir(tmp_path)
    lesson = nmt.learn(write_pairs(workplace / "c.tsv", PAIRS[900:]), model="eng-xyz", data=workplace / "prepared")
    assert (lesson.model, lesson.previous) == (Path("eng-xyz"), None)
    assert read_card(Path("eng-xyz")).epochs == 99 and read_card(package).epochs != 99


def test_options_that_start_elsewhere_are_refused(workplace: Path) -> None:
    with pytest.raises(OptionError, match="cannot be combined with"):
        nmt.learn(workplace / "c.tsv", model=workplace / "model", init_from="other")
