"""The stages and translations of a training run with synthetic pairs, and the selection of the pairs.

    nmt train --synthetic both      # with monolingual target text

    stage                 helper model     text                           pairs
    back-translation      reverse          target text alone              (translation, text), tagged
    diversified-source    reverse          targets of the training pairs  (translation, target)
    diversified-target    forward          sources of the training pairs  (source, translation)

The stages are kept in `stages/` in the model directory until the model is complete. A stage is done once it is in
`state.json`, which is written last. A process killed at any moment thus repeats at most one stage, and in that stage
only the part after the last checkpoint. Letters: N pairs.
"""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.dataset import PreparedCorpus, SyntheticPair
from nmt_cli.corpus.pairs import Side, Texts
from nmt_cli.corpus.steps.held_out import find_near_held_out
from nmt_cli.errors import DamagedError, DataError, OptionError, OutputError
from nmt_cli.files import write_json
from nmt_cli.jobs.journal import BlockJournal
from nmt_cli.model.config import ModelConfig
from nmt_cli.records import parse_json
from nmt_cli.runtime.model_directory import STAGES as STAGES
from nmt_cli.text.normalise import count_words, make_sentence_key
from nmt_cli.text.tags import TagSet, reverse_tags
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import SavedOptions, read_started_facts
from nmt_cli.translation.lines import lay_out_lines
from nmt_cli.translation.repair.faults import find_fault
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import LineTranslator
from nmt_cli.workers.work import DoneReporter

Mode = Literal["none", "back", "diversify", "both", "distil"]
SearchName = Literal["greedy", "beam", "sample"]
Direction = Literal["forward", "reverse"]  # of a helper model, seen from the model that is trained

# Real pairs are repeated until they are at least this share of the synthetic ones: with 20,000 pairs and 100,000
# sentences, three copies.
REAL_SHARE = 0.6
MOST_REPEATS = 10
FEWEST_FINAL_EPOCHS = 5  # of the model itself, unless --epochs is set: each passes every real pair several times
HELPERS_TIME = {1: 0.25, 2: 0.375}  # share of --time for the training of so many helper models together


class Interrupted(Exception):
    """The watcher asked to stop before the model itself was trained."""

    def __init__(self, stage: str, number: int, stages: int) -> None:
        super().__init__(f"interrupted in stage {number} of {stages} ({stage})")


class Task(NamedTuple):
    """Text that a helper model translates, and its purpose."""

    name: str
    direction: Direction  # of the helper model
    text: Literal["monolingual", "training"]
    is_tagged: bool  # a back-translation of new text is tagged; a second translation of a training pair is not
    search: SearchName | None = None  # None: that of --synthetic-search

    @property
    def summary(self) -> str:
        """A description of the text for the user."""
        side = "target" if self.direction == "reverse" else "source"
        return f"the {side} {'text' if self.text == 'monolingual' else 'side of the training pairs'}"

    def orient_tags(self, tags: TagSet) -> TagSet:
        """Returns the tags of a pair as the helper model reads them."""
        return reverse_tags(tags) if self.direction == "reverse" else tags


class TaggedText(NamedTuple):
    """A sentence, with the tags of the pair that it becomes."""

    text: str
    tags: TagSet


@dataclass(frozen=True)
class Plan:
    """The helper models and the tasks of a training run, in order."""

    mode: Mode
    tasks: tuple[Task, ...]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The helper models, each once, in the order in which they are trained."""
        return tuple(dict.fromkeys(task.direction for task in self.tasks))

    @property
    def stages(self) -> int:
        """The number of reported stages: helper models, tasks, and the model itself."""
        return len(self.directions) + len(self.tasks) + 1


def make_plan(corpus: PreparedCorpus, config: TrainOptions) -> Plan:
    """Returns the plan of a training run. Raises OptionError if the corpus lacks the text that the mode needs."""
    has_text = {side: side in corpus.list_monolingual() for side in ("source", "target")}
    mode: Mode = ("back" if has_text["target"] else "none") if config.synthetic == "auto" else config.synthetic
    tasks = []
    if mode in ("back", "both"):
        if not has_text["target"]:
            raise OptionError(
                f"--synthetic {mode} needs monolingual target text, which {corpus.directory}/ does not have",
                hint="prepare the corpus with --monolingual-target, or use --synthetic diversify",
            )
        tasks.append(Task("back-translation", "reverse", "monolingual", is_tagged=True))
    if mode in ("diversify", "both"):
        tasks.append(Task("diversified-source", "reverse", "training", is_tagged=False))
        tasks.append(Task("diversified-target", "forward", "training", is_tagged=False))
        if has_text["source"]:
            tasks.append(Task("forward-translation", "forward", "monolingual", is_tagged=False))
    if mode == "distil":
        tasks.append(Task("distillation", "forward", "training", is_tagged=False, search="beam"))
    return Plan(mode, tuple(tasks))


def count_repeats(real: int, synthetic: int) -> int:
    """Returns how many copies of each real pair to mix with the synthetic pairs."""
    return max(1, min(MOST_REPEATS, round(REAL_SHARE * synthetic / real)))


def read_text(corpus: PreparedCorpus, task: Task) -> list[TaggedText]:
    """Returns the sentences that a task translates, each combination of text and tags once."""
    if task.text == "monolingual":
        read_side: Side = "target" if task.direction == "reverse" else "source"
        texts, tags = corpus.read_monolingual(read_side), corpus.read_monolingual_tags(read_side)
    else:
        side = 1 if task.direction == "reverse" else 0
        texts, tags = [pair[side] for pair in corpus.read_pairs("train")], corpus.read_tags("train")
    return list(dict.fromkeys(TaggedText(*row) for row in zip(texts, tags, strict=True)))


def read_real_pairs(corpus: PreparedCorpus, task: Task) -> set[tuple[str, str]]:
    """Returns the training pairs that a task might recreate; empty unless it translates the training split."""
    return {(pair.source, pair.target) for pair in corpus.read_pairs("train")} if task.text == "training" else set()


STATE = "state.json"
MIXTURE = "mixture"  # the stage in which real and synthetic pairs are mixed
ROOM_PER_SENTENCE = 400  # bytes of disk, for both texts, their ids and the copy in the mixture
ROOM_PER_MODEL = 200 * 2**20  # bytes: weights, checkpoints and graphs of a helper model


@dataclass
class Stages:
    """The directory of the stages, and how many seconds each finished stage took."""

    directory: Path
    identity: dict[str, Any]  # what is trained on what; stages of another run are of no use
    seconds: dict[str, float] = field(default_factory=dict)  # by stage that is done
    options: dict[str, Any] = field(default_factory=dict)  # with which the run began

    @classmethod
    def open(
        cls,
        model: Path,
        identity: dict[str, Any],
        *,
        resume: bool,
        compared: Collection[str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> Self:
        """Returns the stages of a model directory: with `resume`, those of an interrupted run; otherwise none.

        Raises DataError if the resumed run differs in the `compared` values (by default, its whole identity), and
        DamagedError if its state cannot be read.
        """
        directory = model / STAGES
        path = directory / STATE
        if not resume or not path.is_file():
            shutil.rmtree(directory, ignore_errors=True)
            stages = cls(directory, identity, options=options or {})
            directory.mkdir(parents=True)
            stages.write()
            return stages
        try:
            state = parse_json(path.read_text(encoding="utf-8"))
            seconds = {str(name): float(value) for name, value in state["seconds"].items()}
            stages = cls(directory, dict(state["identity"]), seconds, dict(state.get("options", {})))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedError(f"{path} is damaged: {error}", hint="start over with --force") from error
        now = json.loads(json.dumps(identity))
        if any(stages.identity.get(name) != now[name] for name in (identity if compared is None else compared)):
            raise DataError(
                f"the stages in {directory}/ belong to different data or settings",
                hint="continue with the same options, or start over with --force",
            )
        return stages

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    def is_done(self, name: str) -> bool:
        return name in self.seconds

    @contextmanager
    def run(self, name: str) -> Iterator[Path]:
        """Yields the path for a stage's output; the stage is done if the block ends without an error."""
        started = monotonic()
        yield self.directory / name
        self.seconds[name] = monotonic() - started
        self.write()

    def write(self) -> None:
        """Writes the state, atomically."""
        write_json(
            self.directory / STATE, {"identity": self.identity, "options": self.options, "seconds": self.seconds}
        )

    def remove(self) -> None:
        """Removes all stages, once the model is complete."""
        shutil.rmtree(self.directory, ignore_errors=True)


class StageOptions(NamedTuple):
    """All options that a training run began with, before any was chosen for the size of a stage's corpus.

    `explicit` names those set by the user; None means that no other may be chosen.
    """

    saved: SavedOptions
    explicit: frozenset[str] | None
    typed: Sequence[tuple[str, ...]]


def find_stage_options(directory: Path, *, several_runs: bool = False) -> StageOptions | None:
    """Returns the options of the stages in a model directory if a resumed training run takes its options from them.

    If the last stage has a checkpoint, the run takes its options from there instead. With `several_runs`, however, the
    others still have to begin with their first stage.
    """
    path = directory / STAGES / STATE
    if not path.is_file() or (read_started_facts(directory) is not None and not several_runs):
        return None
    try:
        options = parse_json(path.read_text(encoding="utf-8"))["options"]
        explicit = None if options["explicit"] is None else frozenset(options["explicit"])
        saved = {ModelConfig: dict(options["network"]), TrainOptions: dict(options["training"])}
        return StageOptions(saved, explicit, list(map(tuple, options.get("typed", ()))))
    except (ValueError, KeyError, TypeError):  # training itself says what is damaged
        return None


def require_room(directory: Path, sentences: int, models: int) -> None:
    """Raises OutputError early, before hours are spent, if the disk has no room for the stages."""
    needed = sentences * ROOM_PER_SENTENCE + models * ROOM_PER_MODEL
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise OutputError(
            f"the stages of this run need {needed / 2**20:,.0f} MB in {directory}/, which has {free / 2**20:,.0f}",
            hint="free some space, or use less text",
        )


@contextmanager
def open_translations(path: Path) -> Iterator[BlockJournal]:
    """Yields the journal of a task, positioned after the finished blocks."""
    with closing(BlockJournal(path, {})) as journal:
        if path.is_file():
            deque(journal.replay(), maxlen=0)
        yield journal


def read_translations(path: Path) -> list[tuple[float, str]]:
    """Returns the confidence and the text of each translation that a task has written."""
    if not path.is_file():
        return []
    with closing(BlockJournal(path, {})) as journal:
        return [(confidence, text) for block in journal.replay() for confidence, text in block.results]


SPREADS = 4.0  # a ratio of lengths that is so many standard deviations from the mean is off
LENGTH_SLACK = 3  # words by which the lengths may always differ
LEAST_CONFIDENT = 0.01  # share of the development set that is less likely than what is still learned


@dataclass(frozen=True)
class WordRatio:
    """The length ratio of real pairs: mean and spread of the logarithm of target words per source word."""

    mean: float
    spread: float

    @classmethod
    def from_corpus(cls, corpus: PreparedCorpus) -> WordRatio:
        words = np.array([[count_words(pair.source), count_words(pair.target)] for pair in corpus.read_pairs("train")])
        ratios = np.log(words[:, 1] / words[:, 0])
        return cls(float(ratios.mean()), max(float(ratios.std()), 0.1))

    def is_off(self, source: str, target: str) -> bool:
        """Whether the lengths differ more than in nearly all real pairs."""
        source_words, target_words = max(count_words(source), 1), max(count_words(target), 1)
        expected = source_words * np.exp(self.mean)
        ratio = np.log(target_words / expected)
        return bool(abs(ratio) > SPREADS * self.spread and abs(target_words - expected) > LENGTH_SLACK)


@dataclass(frozen=True)
class HeldOutSentences:
    """The keys and texts of the sentences of the development and test sets, by side."""

    keys: tuple[frozenset[str], frozenset[str]]
    texts: tuple[Texts, Texts]

    @classmethod
    def from_corpus(cls, corpus: PreparedCorpus) -> HeldOutSentences:
        pairs = [pair for split in ("dev", "test") for pair in corpus.read_pairs(split)]
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        keys = frozenset(map(make_sentence_key, sources)), frozenset(map(make_sentence_key, targets))
        return cls(keys, (Texts.from_strings(sources), Texts.from_strings(targets)))

    def find(self, sentences: Sequence[str], side: int) -> NDArray[np.bool_]:
        """Returns (N,): whether each sentence (nearly) equals a held-out one on side 0 (source) or 1 (target)."""
        is_equal = np.array([make_sentence_key(sentence) in self.keys[side] for sentence in sentences], dtype=np.bool_)
        texts, held_out = Texts.from_strings(sentences), self.texts[side]
        return is_equal | find_near_held_out(texts, np.arange(len(texts)), held_out, np.arange(len(held_out)))


@dataclass(frozen=True)
class Selection:
    """The synthetic pairs to learn, and how many were dropped, by reason."""

    pairs: list[SyntheticPair]
    dropped: Counter[str]

    @property
    def summary(self) -> str:
        """The counts in words for the user."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.dropped.most_common())
        return format_count(len(self.pairs), "synthetic pair") + (f"; dropped {reasons}" if reasons else "")


def select_pairs(
    pairs: Sequence[SyntheticPair],
    confidences: Sequence[float],
    held_out: HeldOutSentences,
    ratio: WordRatio,
    least: float,
    generated: Side,
    real: Collection[tuple[str, str]] = frozenset(),
) -> Selection:
    """Returns the pairs to learn. Both sides of each are checked against the development and test sets.

    `generated` is the side of all pairs that a helper model wrote. `confidences` (N,) are mean log-probabilities per
    token, NaN where unknown; pairs below `least` are dropped, as are pairs that are `real` already (Nguyen et al.
    2020).
    """
    is_held_out = held_out.find([pair.source for pair in pairs], 0) | held_out.find([pair.target for pair in pairs], 1)
    kept: dict[SyntheticPair, None] = {}
    dropped: Counter[str] = Counter()
    for pair, confidence, leaks in zip(pairs, confidences, is_held_out.tolist(), strict=True):
        reason = "held out" if leaks else find_problem(pair, ratio, generated)
        if not reason and confidence < least:
            reason = "of low confidence"
        if not reason and (pair.source, pair.target) in real:
            reason = "as in the corpus"
        if not reason and pair in kept:
            reason = "duplicate"
        if reason:
            dropped[reason] += 1
        else:
            kept[pair] = None
    return Selection(list(kept), dropped)


def find_problem(pair: SyntheticPair, ratio: WordRatio, generated: Side) -> str:
    """Describes the problem of a pair; empty if it may be learned."""
    if not pair.source or not pair.target:
        return "empty"
    texts = (pair.target, pair.source) if generated == "source" else (pair.source, pair.target)
    fault = find_fault(*texts, finished=True)
    if fault is not None:
        return {"loop": "repeated", "copied": "copied"}.get(fault, fault)
    return "off in length" if ratio.is_off(pair.source, pair.target) else ""


def measure_confidence(translation: Translation) -> float:
    """Returns the mean log-probability per token of a translation, in nats; NaN without a translation."""
    if not translation.hypotheses or not translation.hypotheses[0].tokens:
        return math.nan
    hypothesis = translation.hypotheses[0]
    return hypothesis.log_probability / len(hypothesis.tokens)


HelperResult = tuple[float, str]  # the confidence of a translation, and its text


class TaggedBlock(NamedTuple):
    """N sentences; `first` is the position of the first one in the whole text."""

    first: int
    lines: list[str]
    tags: list[TagSet]  # (N,) as the helper model reads them

    def __str__(self) -> str:
        return f"sentences {self.first + 1:,} to {self.first + len(self.lines):,}"


class HelperWork(NamedTuple):
    """A request to a helper model, which returns only confidences and texts. Implements `workers.work.Work`."""

    request: TranslationRequest

    def start(
        self, *, threads: int | None = None, report: DoneReporter | None = None
    ) -> Callable[[TaggedBlock], list[HelperResult]]:
        return partial(self.translate_sentences, self.request.open(threads))

    def pack(self) -> HelperWork:
        return HelperWork(self.request.pack())

    def hold(self) -> HelperWork:
        return HelperWork(self.request.hold())

    def translate_sentences(self, translator: LineTranslator, block: TaggedBlock) -> list[HelperResult]:
        """Translates the sentences of a block."""
        lines = lay_out_lines(block.lines, block.tags)
        translations = translator.translate(lines, self.request.options, first_line=block.first)
        return [
            (measure_confidence(translation), "" if translation.failure else translation.text)  # a copy is no pair
            for translation in translations
        ]


def cut_block(task: Task, texts: Sequence[TaggedText], start: int, size: int) -> TaggedBlock:
    """Returns the block of `size` texts of a task that begins at index `start`."""
    block = texts[start : start + size]
    return TaggedBlock(start, [text.text for text in block], [task.orient_tags(text.tags) for text in block])
