"""The progress of a run: everything in its checkpoint that changes between updates, except arrays."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from nmt_cli.training.data.batches import EarlierBatches
from nmt_cli.training.meter import LossMonitor, Meter
from nmt_cli.training.schedule import Handover


@dataclass
class Progress:
    """The current epoch, its sums, and the history of the loss and the learning rate."""

    epoch: int = 1  # the current one, from 1; `meter.steps` of its updates are done
    meter: Meter = field(default_factory=Meter)
    losses: LossMonitor = field(default_factory=LossMonitor)
    rollbacks: int = 0
    factor: float = 1.0  # of the learning rate
    handover: Handover | None = None
    earlier_batches: EarlierBatches | None = None
    elapsed: float = 0.0  # seconds; of a run with a deadline, like `share`
    share: float = 0.0  # of the training that has passed, 0 to 1

    def begin_next_epoch(self) -> None:
        """Moves on to the next epoch, resetting sums to 0."""
        self.epoch += 1
        self.meter = Meter()

    def to_mapping(self) -> dict[str, Any]:
        """Returns the progress in the form of the checkpoint."""
        return {
            "epoch": self.epoch,
            "meter": self.meter.to_mapping(),
            "losses": asdict(self.losses),
            "rollbacks": self.rollbacks,
            "factor": self.factor,
            "elapsed": self.elapsed,
            "share": self.share,
            "handover": None if self.handover is None else asdict(self.handover),
            "earlier_batches": None if self.earlier_batches is None else asdict(self.earlier_batches),
        }

    @classmethod
    def from_mapping(cls, values: dict[str, Any]) -> Self:
        handover, earlier = values["handover"], values.get("earlier_batches")
        nested = {
            "meter": Meter.from_mapping(values["meter"]),
            "losses": LossMonitor(**values["losses"]),
            "handover": None if handover is None else Handover(**handover),
            "earlier_batches": None if earlier is None else EarlierBatches(**earlier),
        }
        return cls(**{**values, **nested})
