"""Models that learn from corrections: what judges them, what is replayed, what the gate lets pass."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import nmt_cli as nmt
from nmt_cli.api.corrections import gate
from nmt_cli.api.corrections.course import Course, write_corpus
from nmt_cli.api.corrections.gate import Change, Verdict
from nmt_cli.api.corrections.learn import find_original
from nmt_cli.api.corrections.pairs import FEWEST, divide, read_corrections
from nmt_cli.api.corrections.replayed import OldPairs, find_old_pairs, fit_tags, read_sample, write_sample
from nmt_cli.api.memory import HEADINGS, MemoryLanguageError
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.sides import TaggedPair
from nmt_cli.errors import DamagedError, DataError, NotFoundError, OptionError
from nmt_cli.files import write_json
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import CARD, SAMPLE, ModelDirectory, read_card
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.tags import TagSet, parse_tag_list
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.run import train
from nmt_cli.training.transfer import short_steps
from support.fakes import FakeTranslator, make_card
from support.models import export_untrained, prepare_toy, toy_pairs, write_pairs

pytestmark = pytest.mark.network

LANGUAGES = ("source", "target")
PAIRS = toy_pairs(1_100)  # those from 900 on are not in the corpus
REGISTERS = ["formal", "informal"]
BOTH = tuple(map(parse_tag_list, REGISTERS))


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


def make_model(*languages: str, tags: dict[str, int] | None = None) -> ModelDirectory:
    """A directory that is not there, of a card with these languages and tags."""
    return ModelDirectory(Path("model"), make_card(*(languages or ("en", "de")), tags=tags or {}), "float")


def make_change(before: float, after: float) -> Change:
    return Change("BLEU", 100, before, after, 0.5)


def learn_nothing(course: Course) -> tuple[float, Verdict]:
    """Makes a copy of the old model, with another number of epochs, and judges it no better."""
    copytree(course.old.directory, course.new)
    write_json(course.new / CARD, read_card(course.new)._replace(epochs=99)._asdict())
    return 0.5, Verdict(make_change(1, 1), make_change(2, 2))


def learn_something(course: Course) -> tuple[float, Verdict]:
    """Makes the same copy, and judges it better."""
    learn_nothing(course)
    return 1.0, Verdict(make_change(1, 1), make_change(1, 2))


def test_each_correction_is_left_out_of_one_half_and_learned_in_the_other() -> None:
    corrections = [TaggedPair(f"source {number}", "t") for number in range(101)]
    first, second = divide(corrections)
    assert first.learned == second.left_out and first.left_out == second.learned
    assert sorted([*first.learned, *second.learned]) == sorted(corrections)
    assert len(first.learned) == 51  # half of the work each
    assert list(divide(corrections[::-1])) == [first, second]


def test_the_last_correction_of_a_source_counts(tmp_path: Path) -> None:
    pairs = [(f"Open file {number}.", f"Datei {number} öffnen.") for number in range(100)]
    path = write_pairs(tmp_path / "c.tsv", [(source.upper(), "Falsch.") for source, _ in pairs] + pairs)
    assert read_corrections(path, make_model()) == [TaggedPair(*pair) for pair in pairs]


def test_a_correction_has_the_tags_of_its_line_and_of_its_file(tmp_path: Path) -> None:
    model = make_model(tags={">de": 5, ">nl": 5, "ui": 5, "formal": 5})
    rows = [("Open it.", "Open het.", ">nl ui"), ("Save it.", "Speichern Sie es.", "formal"), ("Go.", "Los.", "")]
    lines = [*rows, *((f"Line {number}.", "Zeile.", "") for number in range(FEWEST))]
    headed = "".join("\t".join(line) + "\n" for line in (HEADINGS, *lines))
    (tmp_path / "c.tsv").write_text(headed, encoding="utf-8")
    tags = [" ".join(map(str, pair.tags)) for pair in read_corrections(tmp_path / "c.tsv", model)]
    assert tags[:4] == [">nl ui", ">de formal", ">de", ">de"]
    # Of a file for one direction, its name says which; what is typed beside it is a tag of each line.
    write_pairs(tmp_path / "c.en-nl.tsv", [line[:2] for line in lines])
    of_file = read_corrections(tmp_path / "c.en-nl.tsv=ui", model)
    assert {" ".join(map(str, pair.tags)) for pair in of_file} == {">nl ui"}
    with pytest.raises(OptionError, match="does not know the tag help"):
        read_corrections(tmp_path / "c.tsv=help", model)
    with pytest.raises(MemoryLanguageError):
        read_corrections(tmp_path / "c.en-nl.tsv", make_model())
    # Of one source, the last correction with each tag counts.
    both = [("Sit.", "Setz dich.", "informal"), ("Sit.", "Setzen Sie sich.", "formal"), ("Sit.", "Sitz!", "informal")]
    informed = make_model(tags={"formal": 5, "informal": 5})
    (tmp_path / "c.tsv").write_text("".join("\t".join(row) + "\n" for row in (HEADINGS, *lines[2:], *both)))
    assert [pair.target for pair in read_corrections(tmp_path / "c.tsv", informed)][-2:] == [
        "Sitz!",
        "Setzen Sie sich.",
    ]


def test_corrections_of_one_source_are_in_one_half() -> None:
    corrections = [TaggedPair(f"source {n // 2}", "t", parse_tag_list(tag)) for n, tag in enumerate(REGISTERS * 30)]
    for half in divide(corrections):
        assert not {pair.source for pair in half.learned} & {pair.source for pair in half.left_out}
        assert len(half.learned) == len(half.left_out) == 30


def test_too_few_corrections_are_no_lesson(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "c.tsv", PAIRS[: FEWEST - 1])
    with pytest.raises(DataError, match="a model learns from 50 on") as raised:
        read_corrections(path, make_model(*LANGUAGES))
    assert "--tm" in raised.value.hint


def test_a_sample_is_read_as_it_was_written(tmp_path: Path) -> None:
    pairs = OldPairs([TaggedPair("a", "b"), TaggedPair("ä", "ß", parse_tag_list(">nld ui"))], [TaggedPair("c", "d")])
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
    assert {pair[:2] for pair in corpus.train} < set(PAIRS) and len(corpus.train) > 600
    (workplace / "other").mkdir()
    other = prepare_toy(workplace / "other", 300)
    translated = find_old_pairs(model, other.directory, 1)
    assert {pair.source for pair in translated.train} <= {pair.source for pair in other.read_pairs("train")}
    assert {pair[:2] for pair in translated.dev} == set(other.read_pairs("dev"))  # whose references judge
    assert not {pair[:2] for pair in translated.train} <= set(other.read_pairs("train"))  # half learned by the model
    sample = OldPairs([TaggedPair("a", "b")], [TaggedPair("c", "d")])
    write_sample(workplace / "model" / SAMPLE, sample)
    assert find_old_pairs(model, other.directory, 1) == sample
    assert find_old_pairs(model, workplace / "prepared", 1) == corpus
    (workplace / "model" / SAMPLE).unlink()
    with pytest.raises(NotFoundError, match="nothing that"):
        find_old_pairs(model, workplace / "nowhere", 1)


@pytest.mark.parametrize(
    ("development", "corrections", "objection"),
    [
        ((30.0, 29.71), (40.0, 41.0), None),
        ((30.0, 29.69), (40.0, 41.0), "it loses 0.3 BLEU on the development set"),
        ((30.0, 31.0), (40.0, 40.0), "models that learn half of the corrections translate the other half no better"),
    ],
)
def test_the_gate_asks_for_a_gain_and_allows_a_small_loss(
    development: tuple[float, float], corrections: tuple[float, float], objection: str | None
) -> None:
    assert Verdict(make_change(*development), make_change(*corrections)).objection == objection


def test_a_model_that_was_trained_anew_is_its_own_original(workplace: Path) -> None:
    model = workplace / "model"
    copytree(model, model / "previous")  # of a model that was trained anew since
    assert find_original(ModelDirectory.load(model)).directory == model


def test_a_model_that_learned_takes_the_place_of_the_old_one(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corrections = write_pairs(workplace / "c.tsv", [(f"popo popo {source}", "abab eded.") for source, _ in PAIRS[900:]])
    model, before = workplace / "model", (workplace / "model" / CARD).read_bytes()
    lesson = nmt.learn(corrections, model=model, data=workplace / "prepared", epochs=6, learning_rate=0.01, batch=32)
    assert lesson.is_accepted and lesson.learned == 200 and 0 < lesson.share <= 1
    changed = lesson.verdict.corrections
    assert changed is not None and changed.sentences == 200 and changed.after > changed.before
    # The old model is whole where the lesson says, and the new one is one like any other.
    assert lesson.previous == model / "previous" and (model / "previous" / CARD).read_bytes() == before
    assert ModelDirectory.load(model / "previous") and (model / CARD).read_bytes() != before
    assert nmt.load(model).translate("bade gigi.")
    # The next lesson finds the same corpus and corrections, begins where this one began, and leaves no model behind.
    assert read_card(model).dataset_fingerprint == read_card(model / "previous").dataset_fingerprint
    assert find_original(ModelDirectory.load(model)).directory == model / "previous"
    monkeypatch.setattr(Course, "learn", learn_something)
    more = write_pairs(workplace / "more.tsv", PAIRS[:60])
    assert nmt.learn(more, model=model, data=workplace / "prepared").learned == 260
    assert (model / "previous" / CARD).read_bytes() == before and read_card(model).epochs == 99
    assert not (model / "checkpoints").exists() and not (model / "previous" / "previous").exists()


def test_a_model_that_is_no_better_leaves_the_old_one_in_its_place(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Course, "learn", learn_nothing)
    model = workplace / "model"
    before = {path.name: path.read_bytes() for path in model.iterdir() if path.is_file()}
    lesson = nmt.learn(write_pairs(workplace / "c.tsv", PAIRS[900:]), model=model, data=workplace / "prepared")
    assert not lesson.is_accepted and lesson.previous is None
    assert "stays as it was" in str(lesson)
    assert {path.name: path.read_bytes() for path in model.iterdir() if path.is_file()} == before
    assert not (model / "previous").exists()


def test_what_judges_is_never_learned(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judging: list[str] = []

    def read_sources(request: TrainingRequest, split: str) -> set[str]:
        return {pair.source for pair in request.corpus.read_pairs(split)}

    class Recorded:
        """A step that leads nowhere."""

        learned: set[str]

        @classmethod
        def take(cls, request: TrainingRequest) -> Recorded:
            recorded = cls()
            recorded.learned = read_sources(request, "train")
            return recorded

        def translate(self, sources: list[str], tags: list[TagSet], share: float) -> list[str]:
            assert self.learned and not self.learned & set(sources)
            judging.extend(sources)
            return sources

    def train_nothing(request: TrainingRequest, most_lost: float) -> Iterator[float]:
        learned, dev = read_sources(request, "train"), read_sources(request, "dev")
        assert len(dev) > 50 and not learned & dev
        copytree(workplace / "model", request.directory)
        yield 1.0

    monkeypatch.setattr(short_steps, "WeightStep", Recorded)
    monkeypatch.setattr(short_steps, "train_in_shorter_steps", train_nothing)
    again = random.Random(1).sample(PAIRS[:900], 100)  # which the old corpus has too
    nmt.learn(write_pairs(workplace / "c.tsv", again), model=workplace / "model", data=workplace / "prepared")
    assert set(judging) == {source for source, _ in again} and len(judging) == 200  # by both models


def test_tags_are_learned_replayed_and_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [write_pairs(tmp_path / f"{name}.tsv", PAIRS[start::2][:250]) for start, name in enumerate(REGISTERS)]
    nmt.prepare([f"{file}={file.stem}" for file in files], data=tmp_path / "prepared", vocab_size=330)
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    model = export_untrained(corpus, tmp_path / "model")
    write_json(model / CARD, read_card(model)._replace(tags=dict.fromkeys(REGISTERS, 200))._asdict())
    old = ModelDirectory.load(model)
    replayed = OldPairs.read(corpus, old.card)
    assert {pair.tags for pair in replayed.train} == {pair.tags for pair in replayed.dev} == set(BOTH)
    corrections = [TaggedPair(*pair, tags) for pair in PAIRS[900:1000] for tags in BOTH]
    written = write_corpus(tmp_path / "all", corrections, [], replayed, old)
    assert Counter(written.read_tags("train")) == Counter(pair.tags for pair in [*corrections, *replayed.train[1:]])
    asked: list[TagSet] = []

    class Asked(FakeTranslator):
        def translate(self, lines: Sequence[str], config: SearchConfig, *others: Any, **options: Any) -> Any:
            asked.extend([config.tags] * len(lines))
            return super().translate(lines, config, *others, **options)

    monkeypatch.setattr(gate.Translator, "load", lambda request: Asked(old.card))
    gate.Gate(model, replayed.dev).translate(model)
    assert Counter(asked) == Counter(pair.tags for pair in replayed.dev)
    # A corpus in more languages than a model's lends those pairs that it translates.
    assert fit_tags(parse_tag_list("to:nld formal"), old.card) is None
    assert fit_tags(parse_tag_list("ui formal"), old.card) == parse_tag_list("formal")


def test_a_model_of_a_package_stays_and_one_of_its_name_is_made(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = workplace / "model"
    monkeypatch.setattr("nmt_cli.runtime.installed_models.list_models", lambda: {"eng-xyz": package})
    monkeypatch.setattr(Course, "learn", learn_something)
    monkeypatch.chdir(tmp_path)
    lesson = nmt.learn(write_pairs(workplace / "c.tsv", PAIRS[900:]), model="eng-xyz", data=workplace / "prepared")
    assert (lesson.model, lesson.previous) == (Path("eng-xyz"), Path("eng-xyz/previous"))
    assert read_card(Path("eng-xyz")).epochs == 99 and read_card(package).epochs != 99


def test_options_that_start_elsewhere_are_refused(workplace: Path) -> None:
    with pytest.raises(OptionError, match="cannot be combined with"):
        nmt.learn(workplace / "c.tsv", model=workplace / "model", init_from="other")
