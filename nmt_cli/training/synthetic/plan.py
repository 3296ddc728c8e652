"""The stages of a training with synthetic pairs, and the text that each translates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.pairs import Side
from nmt_cli.errors import OptionError
from nmt_cli.text.tags import TagSet, reverse_tags
from nmt_cli.training.config import TrainConfig

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
