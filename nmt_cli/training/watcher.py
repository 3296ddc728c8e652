"""The reports of a training run, and their recipients. Does not depend on how they are shown.

    class Losses(nmt.Watcher):
        def report_step(self, status):
            if status.loss < 0.1: self.is_done = True
        def should_stop(self):  # asked before each update: the model so far is exported
            return self.is_done

`nmt.train(..., watcher=Losses())` calls `report_start` once, then `report_step` after each update, `report_validation`
and `report_epoch` after each epoch, and finally `report_export`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.installed_models import FLOAT, INT8

if TYPE_CHECKING:
    from nmt_cli.corpus.manifest import Finding


@dataclass(frozen=True)
class RowCounts:
    """The origins of a vocabulary's embeddings: the parent's piece, pieces that spell it, or random."""

    kept: int
    spelled: int
    drawn: int


@dataclass(frozen=True)
class ParentInfo:
    """The model that a training run starts from, and the origin of its embeddings."""

    name: str  # of its directory, or of the package that has it
    source_language: str
    target_language: str
    weights: str  # SHA-256 of its file of weights
    rows: Mapping[str, RowCounts]  # by side: "joint", or "source" and "target"
    tags: Mapping[str, int] = field(default_factory=dict)  # that the new network has, too, with their training pairs
    context: int = 0  # sentences before that the new network reads, too

    @property
    def languages(self) -> tuple[str, str]:
        return self.source_language, self.target_language

    @property
    def is_same_vocabulary(self) -> bool:
        """Whether every piece of the new network is the parent's."""
        return not any(counts.spelled or counts.drawn for counts in self.rows.values())


@dataclass(frozen=True)
class RequestInfo:
    """Describes the request for a training run, before TensorFlow starts."""

    direction: str  # all languages of both sides
    data: Path
    directory: Path  # of the model
    choice: str | None = None  # of the settings, by the size of the corpus, as a line for a person
    truncation: Finding | None = None  # of sources of the corpus
    assistant: str | None = None  # which of several processes this one is, if it is not the chief
    start: str | None = None  # why training starts from a model that nobody named, as a line for a person


@dataclass(frozen=True)
class RunInfo:
    """Describes a run before its first update."""

    weights: int  # number of trainable weights
    pairs: int
    steps_per_epoch: int
    epochs: int  # likely to fit, if a time limits the run
    devices: str
    precision: str  # name of the dtype policy
    network: ModelConfig
    parent: ParentInfo | None = None  # of a training run that starts from another model
    choice: str | None = None  # of the settings, by the size of the corpus, as a line for a person
    is_timed: bool = False  # by --time, instead of epochs


@dataclass(frozen=True)
class StepStatus:
    """Describes a run after an update."""

    epoch: int  # from 1
    epochs: int
    step: int  # update of this epoch, from 1
    steps_per_epoch: int
    updates: int  # since the start of the run
    loss: float  # nats per target token, mean of the epoch so far
    tokens_per_second: float  # target tokens, of the epoch so far
    seconds_left: (
        float | None
    )  # until the last update, with validations on the way; None in the first updates of a process


@dataclass(frozen=True)
class Validation:
    """Scores of a network on the development set."""

    loss: float  # nats per target token, teacher-forced
    accuracy: float  # 0-100: share of target tokens predicted correctly, teacher-forced
    bleu: float  # 0-100, like chrF: of free-running greedy translations, detokenised
    chrf: float
    bleu_signature: str
    chrf_signature: str
    sample_source: str
    sample_hypothesis: str
    distinct_share: float = 1.0  # 0-1: how many different translations there are, by different sources
    chance_chrf: float | None = None  # of references for other sentences; None if it was not measured
    failures: str = ""  # about sentences on which nmt itself failed; empty if there are none

    @property
    def gain(self) -> float | None:
        """How far chrF exceeds that of random sentences; None if that was not measured."""
        return None if self.chance_chrf is None else self.chrf - self.chance_chrf

    def rate(self, metric: str) -> float:
        """Returns the value of a metric, or the negative loss: higher is better."""
        value: float = getattr(self, metric)
        return -value if metric == "loss" else value


@dataclass(frozen=True)
class SeedResult:
    """One of several training runs: its directory, its seed, and its model's scores on the development set."""

    directory: Path
    seed: int
    validation: Validation


@dataclass(frozen=True)
class EpochRecord:
    """One line of `history.jsonl`."""

    epoch: int
    steps: int  # since the start of the run
    loss: float  # nats per target token of the training set while it is learned, without label smoothing
    dev_loss: float
    perplexity: float  # exp(dev_loss)
    accuracy: float
    bleu: float
    chrf: float
    learning_rate: float  # at the end of the epoch
    tokens_per_second: float
    seconds: float  # including validation
    best: bool  # whether this epoch was the best so far
    complete: bool  # false if training was stopped within the epoch


TOLERATED_COST = 0.2  # BLEU that int8 may lose and still be the default


@dataclass(frozen=True)
class Int8Check:
    """Greedy BLEU (0-100) on the development set in each precision, and the default precision."""

    float_bleu: float
    int8_bleu: float
    signature: str
    int8_bytes: int  # of both graphs

    @property
    def cost(self) -> float:
        """The BLEU that int8 loses; negative if it gains."""
        return self.float_bleu - self.int8_bleu

    @property
    def default(self) -> str:
        """The precision used to translate unless the user sets one."""
        return INT8 if self.cost <= TOLERATED_COST else FLOAT

    def to_mapping(self) -> dict[str, Any]:
        """Returns the check in the card's format."""
        scores = {FLOAT: self.float_bleu, INT8: self.int8_bleu}
        return {"default": self.default, "decoding": "greedy", "bleu": scores, "signature": self.signature}


@dataclass(frozen=True)
class TrainReport:
    """The result of a training run."""

    epochs: tuple[int, ...]  # whose weights are exported, best first; several if the weights are averaged
    validation: Validation  # of the exported weights
    records: tuple[EpochRecord, ...] = field(repr=False)
    int8_check: Int8Check  # of the exported weights in 8 bits
    passed_epochs: float = 0.0  # of the training data; the last may be passed in part
    planned_epochs: int | None = None  # None where a time decides
    runs: tuple[SeedResult, ...] = ()  # all runs of several with different seeds, of which this is the best


class Watcher:
    """Base class of all observers of a training run; a subclass overrides the reports that it needs."""

    def report_request(self, info: RequestInfo) -> None:
        """Reports the request, once, before TensorFlow starts."""

    def report_start(self, info: RunInfo) -> None:
        """Reports the run, once, before its first update."""

    def report_resume(self, records: Sequence[EpochRecord], epoch: int, step: int) -> None:
        """Follows `report_start` if the run continues from a checkpoint: `step` updates of `epoch` are done."""

    def report_run(self, number: int, runs: int, seed: int) -> None:
        """Reports that one of several training runs with different seeds begins; `number` counts from 1."""

    def report_stage(self, name: str, number: int, stages: int) -> None:
        """Reports that a stage of a training run with synthetic pairs begins; `number` counts from 1."""

    def report_translations(self, done: int, total: int, seconds_left: float) -> None:
        """Reports how many sentences of a synthetic text have been translated."""

    def report_selection(self, summary: str) -> None:
        """Reports the numbers of synthetic pairs that a stage made and dropped, in words."""

    def report_step(self, status: StepStatus) -> None:
        """Reports an update of the weights."""

    def report_validation(self, epoch: int) -> None:
        """Reports that the validation of an epoch begins."""

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        """Reports a finished and validated epoch."""

    def warn(self, problem: str) -> None:
        """Reports a problem that does not stop training."""

    def report_export(self) -> None:
        """Reports that training is over and the export begins."""

    def should_stop(self) -> bool:
        """Whether training should stop early, with a usable model; asked before each update and after each epoch."""
        return False


REPORTS = tuple(name for name in vars(Watcher) if name.startswith("report_") or name == "warn")


class Watchers(Watcher):
    """Several watchers as one: each report goes to all of them, in order."""

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers
        for name in REPORTS:
            setattr(self, name, partial(self.forward, name))

    def forward(self, name: str, *values: Any) -> None:
        """Passes the report with this name on to every watcher."""
        for watcher in self.watchers:
            getattr(watcher, name)(*values)

    def should_stop(self) -> bool:
        return any(watcher.should_stop() for watcher in self.watchers)


STEP_INTERVAL = 20  # steps between two values within an epoch
EPOCH_SCALARS = ("loss", "dev_loss", "perplexity", "accuracy", "bleu", "chrf", "learning_rate", "tokens_per_second")


class TensorBoard(Watcher):
    """Writes an event file to `directory`; the step of a value is the number of updates since the start of the run.

    TensorFlow itself writes the values. It is imported only for the first one, because a watcher is created before
    TensorFlow starts. TensorBoard is only needed to view them.
    """

    def __init__(self, directory: Path, report_problem: Callable[[str], None]) -> None:
        """Raises OSError if `directory` cannot be written; if writing fails later, `report_problem` is called once."""
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            self.directory = directory
        self.report_problem, self.failed = report_problem, False

    @cached_property
    def writer(self) -> Any:
        """Created for the first value: TensorFlow must do nothing before `distributed.make_strategy`."""
        import tensorflow as tf

        return tf.summary.create_file_writer(str(self.directory))

    def report_step(self, status: StepStatus) -> None:
        if status.step % STEP_INTERVAL == 0:
            values = {"step/loss": status.loss, "step/tokens_per_second": status.tokens_per_second}
            self.write(values, status.updates)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.write({f"epoch/{name}": getattr(record, name) for name in EPOCH_SCALARS}, record.steps)

    def write(self, values: dict[str, float], step: int) -> None:
        """Writes scalars by name, unless an earlier write failed."""
        if self.failed:
            return
        import tensorflow as tf
        from tensorflow.core.framework.summary_pb2 import DATA_CLASS_SCALAR, SummaryMetadata

        # What puts a value on TensorBoard's page of scalars (see its plugins/scalar/metadata.py).
        plugin = SummaryMetadata.PluginData(plugin_name="scalars")
        scalar = SummaryMetadata(plugin_data=plugin, data_class=DATA_CLASS_SCALAR)
        try:
            with self.writer.as_default():
                for name, value in values.items():
                    tf.summary.write(name, tf.constant(value, tf.float32), step=step, metadata=scalar)
            self.writer.flush()  # nothing else flushes it when the process ends
        except tf.errors.OpError as error:
            self.failed = True
            self.report_problem(f"nmt stops writing TensorBoard logs, but training continues: {error.message}")
