"""Where a run is, between two updates: what of a checkpoint goes on changing, beside arrays."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from nmt_cli.training.divergence import LossWatch
from nmt_cli.training.meter import Meter
from nmt_cli.training.schedule import Handover


@dataclass
class Progress:
    """The epoch that is running, from 1, and what of it is done (`meter.steps` updates)."""

    epoch: int = 1
    meter: Meter = field(default_factory=Meter)
    losses: LossWatch = field(default_factory=LossWatch)
    rollbacks: int = 0
    factor: float = 1.0  # of the learning rate
    handover: Handover | None = None
    elapsed: float = 0.0  # of a run with a deadline: seconds, and the share of the training, 0 to 1
    share: float = 0.0

    def next_epoch(self) -> None:
        self.epoch += 1
        self.meter = Meter()

    def to_mapping(self) -> dict[str, Any]:
        return {
            "epoch": self.epoch,
            "meter": self.meter.to_mapping(),
            "losses": asdict(self.losses),
            "rollbacks": self.rollbacks,
            "factor": self.factor,
            "elapsed": self.elapsed,
            "share": self.share,
            "handover": None if self.handover is None else asdict(self.handover),
        }

    @classmethod
    def from_mapping(cls, values: dict[str, Any]) -> Self:
        handover = values["handover"]
        nested = {
            "meter": Meter.from_mapping(values["meter"]),
            "losses": LossWatch(**values["losses"]),
            "handover": None if handover is None else Handover(**handover),
        }
        return cls(**{**values, **nested})
