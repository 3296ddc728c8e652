"""What to tell somebody who has prepared a corpus or trained on it.

Which scores are usual, how far they can be trusted, and what would help most, each as a command.

Reads the manifest and the results alone; measures nothing. Standard library at import, like all that commands import.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.corpus.config import FILE_OPTIONS, SPLIT_OPTIONS, PrepareConfig, is_size
from nmt_cli.languages import name_language
from nmt_cli.settings import name_option, option_fields
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.corpus.manifest import Manifest
    from nmt_cli.training.run import TrainReport
    from nmt_cli.training.watcher import Validation


class MeasuredRange(NamedTuple):
    """The range of BLEU that networks of this toolkit reached on the test set of a corpus with so many pairs."""

    pairs: int
    low: float
    high: float
    source: str


# Tatoeba English-German: short sentences of everyday life. Other text has other scores.
MEASURED = (
    MeasuredRange(5_000, 12, 17, "benchmarks/log/0031-small-corpora.md"),
    MeasuredRange(50_000, 28, 33, "benchmarks/log/0010-textbook-setting.md"),
    MeasuredRange(165_000, 39, 43, "benchmarks/log/0016-hour-wider.md"),
)
MEASURED_ON = "English-German of Tatoeba"
REACH = 2.0  # the table speaks for corpora up to so many times smaller or larger than its ends

# Half of a 95 % interval of BLEU (bootstrap, `nmt evaluate`) on so many test sentences; it shrinks with the root of
# their number: measured 0.9 with 5,000, 1.8 to 2.0 with 1,000, 2.9 to 3.2 with 500 (benchmarks/RESULTS.md).
INTERVAL, INTERVAL_SENTENCES = 0.9, 5_000

FEW_FOR_PARENT = 20_000  # training pairs, up to which a parent is offered; not measured
FEW_PAIRS = 50_000  # training pairs, up to which more of them are worth a word
FEW_FOR_TEXT = 200_000  # training pairs, up to which text without translations is worth a word
SMALL_TEST = 500  # test pairs
MANY_REJECTED = 0.05  # share of the pairs, repetitions and empty ones apart
REPETITIONS = ("duplicate", "duplicate-form", "empty")
MOST_SUGGESTIONS = 3
ENOUGH_UPDATES = 3_000  # below these, a network that has learned nothing has had too little time
STILL_RISING = 0.5  # BLEU that the last quarter of the epochs gained
LEARNED_NOTHING = 1.0  # BLEU on the development set
ALIKE = 0.02  # share of different translations under which all count as alike


@dataclass(frozen=True)
class Suggestion:
    """Something that would help, and the command that does it."""

    what: str
    command: str


@dataclass(frozen=True)
class Advice:
    """What the sizes of a corpus say of its scores, and what would help most, most useful first."""

    train_pairs: int
    test_pairs: int
    interval: float  # half of a 95 % interval of BLEU on the test set
    usual: tuple[float, float] | None  # BLEU measured with so many pairs; None where nothing comparable was measured
    suggestions: tuple[Suggestion, ...]

    def to_mapping(self) -> dict[str, Any]:
        """Returns the advice in the form of `--json`."""
        return asdict(self)

    @property
    def lines(self) -> list[str]:
        """The advice in words, a line for each suggestion."""
        usual = format_count(self.train_pairs, "training pair")
        if self.usual is not None:
            usual += f": {self.usual[0]:.0f} to {self.usual[1]:.0f} BLEU is usual ({MEASURED_ON})"
        interval = f"on {format_count(self.test_pairs, 'test pair')}, a BLEU is good to ± {self.interval:.1f}"
        first = f"{usual}; {interval}." + (" What helps most:" if self.suggestions else "")
        width = max((len(suggestion.what) for suggestion in self.suggestions), default=0)
        return [
            first,
            *(f"    {suggestion.what.ljust(width)}   {suggestion.command}" for suggestion in self.suggestions),
        ]


def compute_interval(test_pairs: int) -> float:
    """Returns half of a 95 % interval of BLEU on a test set: 0.9 for 5,000 sentences, times sqrt(5,000 / n)."""
    return INTERVAL * math.sqrt(INTERVAL_SENTENCES / max(test_pairs, 1))


def find_usual_bleu(train_pairs: int) -> tuple[float, float] | None:
    """Returns the range of BLEU that was measured with so many pairs, between two sizes in proportion to their logs."""
    first, last = MEASURED[0], MEASURED[-1]
    if not first.pairs / REACH <= train_pairs <= last.pairs * REACH:
        return None
    size = min(max(train_pairs, first.pairs), last.pairs)
    below, above = next((a, b) for a, b in pairwise(MEASURED) if size <= b.pairs)
    share = math.log(size / below.pairs) / math.log(above.pairs / below.pairs)
    low, high = (a + share * (b - a) for a, b in ((below.low, above.low), (below.high, above.high)))
    return round(low, 1), round(high, 1)


class Commands(NamedTuple):
    """What the commands to type begin with: preparing this corpus, training on it anew, continuing the training.

    Training that cannot be continued has no command for it.
    """

    prepare: str
    train: str
    resume: str = ""


def advise_on_corpus(manifest: Manifest, commands: Commands) -> Advice:
    """Returns the advice for a corpus that was prepared."""
    return make_advice(manifest, suggest_for_corpus(manifest, commands))


def advise_on_model(
    manifest: Manifest, report: TrainReport, commands: Commands, *, has_parent: bool, is_reversed: bool
) -> Advice:
    """Returns the advice for a model that was trained on a corpus, or with `is_reversed` on its other direction."""
    if has_learned_nothing(report.validation):
        return make_advice(manifest, suggest_for_nothing(manifest, report, commands))
    more = suggest_for_corpus(manifest, commands, has_parent=has_parent, is_reversed=is_reversed)
    return make_advice(manifest, [*suggest_longer(report, commands), *more])


def make_advice(manifest: Manifest, suggestions: Iterator[Suggestion] | Sequence[Suggestion]) -> Advice:
    splits = manifest.counts.splits
    return Advice(
        train_pairs=splits["train"],
        test_pairs=splits["test"],
        interval=round(compute_interval(splits["test"]), 1),
        usual=find_usual_bleu(splits["train"]) if has_text(manifest) else None,
        suggestions=tuple(islice(suggestions, MOST_SUGGESTIONS)),
    )


def has_text(manifest: Manifest) -> bool:
    """Whether the sources are text rather than pictures."""
    return hasattr(manifest.source, "vocabulary")


def suggest_for_corpus(
    manifest: Manifest, commands: Commands, *, has_parent: bool = False, is_reversed: bool = False
) -> Iterator[Suggestion]:
    """Yields what would help, in order, of what is true of a corpus."""
    counts, train = manifest.counts, manifest.counts.splits["train"]
    dropped = {check: count for check, count in counts.dropped.items() if count and check not in REPETITIONS}
    if sum(dropped.values()) > MANY_REJECTED * counts.read:
        rejected = format_count(sum(dropped.values()), "rejected pair")
        what = f"the {rejected} ({max(dropped, key=lambda check: dropped[check])})"
        yield Suggestion(what, f"{commands.prepare} --report report.html --force")
    written = "source" if is_reversed else "target"
    if has_text(manifest) and train < FEW_FOR_TEXT and written not in manifest.monolingual:
        language = manifest.source_language if is_reversed else manifest.target_language
        unknown = language == written
        name, suffix = (f"the {written} language", "txt") if unknown else (name_language(language), language)
        yield Suggestion(f"text in {name} alone", f"{commands.prepare} --monolingual-{written} more.{suffix} --force")
    if has_text(manifest) and train < FEW_FOR_PARENT and not has_parent:
        yield Suggestion("a parent, best of related languages", f"{commands.train} --init-from OTHER-MODEL")
    if counts.splits["test"] < SMALL_TEST and train >= 4 * SMALL_TEST:
        yield Suggestion("a larger test set", f"{commands.prepare} --test {SMALL_TEST} --force")
    if train < FEW_PAIRS:
        yield Suggestion("more pairs", f"{commands.prepare} more.tsv --force")


def suggest_longer(report: TrainReport, commands: Commands) -> Iterator[Suggestion]:
    """Yields longer training if the scores were still rising when it ended."""
    scores = [record.bleu for record in report.records if record.complete]
    if len(scores) < 4 or report.planned_epochs is None or report.runs or not commands.resume:
        return
    before = max(scores[: -(-3 * len(scores) // 4)])
    if scores[-1] == max(scores) and scores[-1] > before + STILL_RISING:
        yield Suggestion("longer training", f"{commands.resume} --epochs {2 * report.planned_epochs}")


def suggest_for_nothing(manifest: Manifest, report: TrainReport, commands: Commands) -> Iterator[Suggestion]:
    """Yields what to change for a model that has learned nothing."""
    train, updates = manifest.counts.splits["train"], max((record.steps for record in report.records), default=0)
    if updates < ENOUGH_UPDATES:
        epochs = min(200, max(5, math.ceil(ENOUGH_UPDATES * 32 / max(train, 1))))
        more = f"more than {format_count(updates, 'update')}"
        yield Suggestion(more, f"{commands.train} --batch 32 --epochs {epochs}")
    else:
        yield Suggestion("a lower learning rate", f"{commands.train} --learning-rate 5e-4")
    yield Suggestion("columns that belong together", f"{commands.prepare} --report report.html --force")
    if train < FEW_PAIRS:
        yield Suggestion("more pairs", f"{commands.prepare} more.tsv --force")


def has_learned_nothing(validation: Validation) -> bool:
    """Whether the translations of the development set are worthless, or all alike."""
    return validation.bleu < LEARNED_NOTHING or validation.distinct_share < ALIKE


def describe_prepare(inputs: Sequence[str], config: PrepareConfig, data: Path) -> str:
    """Returns the command that prepared a corpus from inputs and options as they were typed."""
    return join_prepare(inputs, config.to_mapping(), data)


def recall_prepare(manifest: Manifest, data: Path) -> str:
    """Returns the command that prepared a corpus, as far as its manifest knows: it has names of files without folders.

    A file that is not in the current directory is left for the reader to fill in, and so is one input of several.
    """
    held_out = {name for role in SPLIT_OPTIONS for name in str(manifest.options.get(role)).split(",")}
    inputs = [name for name in manifest.inputs if name not in held_out]
    options = {
        name: [find_file(part, name) for part in as_list(value)] if name in FILE_OPTIONS and value else value
        for name, value in manifest.options.items()
    }
    return join_prepare([find_file(inputs[0], "corpus")] if len(inputs) == 1 else ["CORPUS"], options, data)


def find_file(name: str, what: str) -> str:
    """Returns the name of a file in the current directory, or a size; in place of another name, what to fill in."""
    known = is_size(name) or all(Path(part).exists() for part in name.split(","))
    return name if known else what.partition("_")[0].upper()


def join_prepare(inputs: Sequence[str], options: Mapping[str, Any], data: Path) -> str:
    places = [] if str(data) == "prepared" else ["--data", str(data)]
    return shlex.join(["nmt", "prepare", *inputs, *list_prepare_options(options), *places])


def list_prepare_options(options: Mapping[str, Any]) -> list[str]:
    """Returns the options that were set, as they are typed."""
    typed = []
    for field in option_fields(PrepareConfig):
        value, flag = options.get(field.name, field.default), f"--{name_option(field)}"
        if value in (field.default, list(field.default) if isinstance(field.default, tuple) else None, False):
            continue
        typed += [flag] if value is True else [part for item in as_list(value) for part in (flag, str(item))]
    return typed


def as_list(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple) else [value]


def describe_train(data: Path, model: Path, *options: str) -> str:
    """Returns the command that trains on a corpus, with these options."""
    places = (("--data", data, "prepared"), ("--model", model, "model"))
    typed = [part for flag, path, default in places if str(path) != default for part in (flag, str(path))]
    return shlex.join(["nmt", "train", *typed, *options])
