"""The stages of a training with synthetic pairs: what each translates, which are done, and their output."""

from __future__ import annotations

import json
import shutil
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal, NamedTuple, Self

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.pairs import Side
from nmt_cli.errors import DamagedError, DataError, OptionError, OutputError
from nmt_cli.files import write_json
from nmt_cli.jobs.journal import BlockJournal
from nmt_cli.model.config import ModelConfig
from nmt_cli.records import parse_json
from nmt_cli.runtime.model_directory import STAGES as STAGES
from nmt_cli.text.tags import TagSet, reverse_tags
from nmt_cli.training.checkpoints.resume import SavedOptions, read_started_facts
from nmt_cli.training.config import TrainConfig

# The stages of a training with synthetic pairs, and the text that each translates.


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
    """The helper models and the tasks of a training, in order."""

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


def make_plan(corpus: PreparedCorpus, config: TrainConfig) -> Plan:
    """Returns the plan of a training. Raises OptionError if the corpus lacks the text that the mode needs."""
    has_text = {side: side in corpus.list_monolingual() for side in ("source", "target")}
    mode: Mode = ("back" if has_text["target"] else "none") if config.synthetic == "auto" else config.synthetic
    tasks = []
    if mode in ("back", "both"):
        if not has_text["target"]:
            raise OptionError(
                f"--synthetic {mode} needs target text without translations, which {corpus.directory}/ does not have",
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
    """Returns the number of copies of each real pair beside the synthetic pairs."""
    return max(1, min(MOST_REPEATS, round(REAL_SHARE * synthetic / real)))


def read_text(corpus: PreparedCorpus, task: Task) -> list[TaggedText]:
    """Returns the sentences that a task translates, each once with the same tags of its pair."""
    if task.text == "monolingual":
        read_side: Side = "target" if task.direction == "reverse" else "source"
        texts, tags = corpus.read_monolingual(read_side), corpus.read_monolingual_tags(read_side)
    else:
        side = 1 if task.direction == "reverse" else 0
        texts, tags = [pair[side] for pair in corpus.read_pairs("train")], corpus.read_tags("train")
    return list(dict.fromkeys(TaggedText(*row) for row in zip(texts, tags, strict=True)))


def read_real_pairs(corpus: PreparedCorpus, task: Task) -> set[tuple[str, str]]:
    """Returns the training pairs that a task might recreate, if it translates the sides of the training split."""
    return {(pair.source, pair.target) for pair in corpus.read_pairs("train")} if task.text == "training" else set()


# The stages of a training with synthetic pairs on disk: which are done, their output, and their duration.
#
# They are kept in `stages/` of the model directory until the model is complete. A stage is done once it is in
# `state.json`, which is written last; a process killed at any moment thus repeats at most one stage, and of a training
# or a translation only the part after its last checkpoint.


STATE = "state.json"
MIXTURE = "mixture"  # the stage in which real and synthetic pairs are mixed
ROOM_PER_SENTENCE = 400  # bytes of disk, for both texts, their ids and the copy in the mixture
ROOM_PER_MODEL = 200 * 2**20  # bytes: weights, checkpoints and graphs of a helper model


@dataclass
class Stages:
    """The directory of the stages, and the finished ones with their seconds."""

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
        """Returns the stages of a model directory: those of an interrupted run with `resume`, else none.

        Raises DataError if the resumed run differs in what is `compared`, by default all of its identity, and
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
                f"the stages in {directory}/ belong to other data or other settings",
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
    """All options with which a training began, before any was chosen by the size of a stage's corpus.

    `explicit` names those set by the user; None: no other may be chosen.
    """

    saved: SavedOptions
    explicit: frozenset[str] | None


def find_stage_options(directory: Path, *, several_runs: bool = False) -> StageOptions | None:
    """Returns the options of the stages in a model directory, if a resumed training takes its options from them.

    It takes them from the checkpoint of the last stage if there is one; but of several runs, the others have yet to
    begin with their first stage.
    """
    path = directory / STAGES / STATE
    if not path.is_file() or (read_started_facts(directory) is not None and not several_runs):
        return None
    try:
        options = parse_json(path.read_text(encoding="utf-8"))["options"]
        explicit = None if options["explicit"] is None else frozenset(options["explicit"])
        return StageOptions({ModelConfig: dict(options["network"]), TrainConfig: dict(options["training"])}, explicit)
    except (ValueError, KeyError, TypeError):  # training itself says what is damaged
        return None


def require_room(directory: Path, sentences: int, models: int) -> None:
    """Raises OutputError if the disk has no room for the stages, before hours are spent."""
    needed = sentences * ROOM_PER_SENTENCE + models * ROOM_PER_MODEL
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise OutputError(
            f"the stages of this training need {needed / 2**20:,.0f} MB in {directory}/, which has {free / 2**20:,.0f}",
            hint="free some space, or use less text",
        )


@contextmanager
def open_translations(path: Path) -> Iterator[BlockJournal]:
    """Yields the journal of a task, open behind the blocks that are finished."""
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
