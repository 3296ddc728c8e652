"""What training tells whoever watches it. Knows nothing of how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nmt_cli.model.config import ModelConfig


@dataclass(frozen=True)
class RunInfo:
    """Told once, before the first step."""

    weights: int  # trainable numbers
    pairs: int
    steps_per_epoch: int
    epochs: int
    devices: str
    precision: str  # name of the dtype policy
    network: ModelConfig


@dataclass(frozen=True)
class StepStatus:
    """Told after every step."""

    epoch: int  # from 1
    epochs: int
    step: int  # of this epoch, from 1
    steps_per_epoch: int
    updates: int  # since the start of the run
    loss: float  # nats per target token, mean of the epoch so far
    tokens_per_second: float  # target tokens, of the epoch so far
    seconds_left: float  # until the last step, validations not counted


@dataclass(frozen=True)
class Validation:
    """What the development set says of the network as it is."""

    loss: float  # nats per target token, teacher-forced
    accuracy: float  # 0-100: share of target tokens predicted right, teacher-forced
    bleu: float  # 0-100, of free-running greedy translation, detokenised
    chrf: float
    bleu_signature: str
    chrf_signature: str
    sample_source: str
    sample_hypothesis: str


@dataclass(frozen=True)
class EpochRecord:
    """A line of `history.jsonl`."""

    epoch: int
    steps: int  # since the start of the run
    loss: float  # nats per target token of the training set while it was learned, without label smoothing
    dev_loss: float
    perplexity: float  # exp(dev_loss)
    accuracy: float
    bleu: float
    chrf: float
    learning_rate: float  # at the end of the epoch
    tokens_per_second: float
    seconds: float  # with validation
    best: bool  # whether this was the best so far
    complete: bool  # false if training was stopped within the epoch

    def to_mapping(self) -> dict[str, Any]:
        return dict(vars(self))


class Watcher:
    """Base class of what watches training; a subclass overrides the reports it wants."""

    def report_start(self, info: RunInfo) -> None: ...

    def report_resume(self, records: Sequence[EpochRecord], epoch: int, step: int) -> None:
        """Follows `report_start` if the run continues from a checkpoint: `step` updates of `epoch` are done."""

    def report_step(self, status: StepStatus) -> None: ...

    def report_validation(self, epoch: int) -> None: ...

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None: ...

    def warn(self, problem: str) -> None:
        """Reports a problem that does not stop training."""

    def report_export(self) -> None: ...

    def should_stop(self) -> bool:
        """Asked before every step and after every epoch; once true, training stops early, with a usable model."""
        return False


class Watchers(Watcher):
    """Several watchers as one: each report goes to all of them, in order."""

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers

    def should_stop(self) -> bool:
        return any(watcher.should_stop() for watcher in self.watchers)


def make_report(name: str) -> Callable[..., None]:
    """Returns a method that passes the report `name` on to every watcher."""

    def report(self: Watchers, *values: Any) -> None:
        for watcher in self.watchers:
            getattr(watcher, name)(*values)

    return report


for report_name in [name for name in vars(Watcher) if name.startswith("report_") or name == "warn"]:
    setattr(Watchers, report_name, make_report(report_name))
