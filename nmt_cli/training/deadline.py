"""A moment at which training has to be over, and what share of the way there is behind. Knows a clock, no network.

The learning rate follows this clock and not a count of updates: a count that was planned at the start misses its
moment as soon as other work on the machine makes updates slower. What is validated on the way counts like the rest.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from nmt_cli.errors import OptionError

# Of what the last validation and the export took when they were measured. It is the only time that is left for
# surprises, and a twentieth of it is below a hundredth of most runs.
CAUTION = 1.1

UNITS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text: str) -> float:
    """Seconds of a duration like `90s`, `30m` or `1h30m`. Raises OptionError."""
    parts = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    seconds = (
        sum(int(part) * unit for part, unit in zip(parts.groups("0"), UNITS.values(), strict=True)) if parts else 0
    )
    if not seconds:
        raise OptionError(f"--time cannot be {text!r}", hint="write a duration like 90s, 30m or 1h30m")
    return float(seconds)


@dataclass
class Deadline:
    """So many seconds from the moment it is made to a model that is written. All times are in seconds."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    validation: float = 0.0  # that a validation takes
    validations: int = 1  # after the last update
    export: float = 0.0
    update: float = 0.0
    share: float = 0.0  # of the training that is over, 0 to 1; it never falls

    def __post_init__(self) -> None:
        self.begun = self.told = self.clock()

    @classmethod
    def from_option(cls, duration: str | None) -> Self | None:
        return None if duration is None else cls(parse_duration(duration))

    @property
    def elapsed(self) -> float:
        return self.clock() - self.begun

    @property
    def left(self) -> float:
        """Until the last update must be done, so that a validation and the export fit in."""
        return self.seconds - self.elapsed - CAUTION * (self.validations * self.validation + self.export)

    @property
    def over(self) -> bool:
        return self.left <= self.update

    def start(self, *, elapsed: float | None = None, share: float = 0.0) -> None:
        """Training begins now, or goes on where so much of the time and of the training was over."""
        self.told, self.share = self.clock(), share
        if elapsed is not None:
            self.begun = self.told - elapsed

    def advance(self) -> float:
        """The share of the training that is over by now: of what was left when last asked, as much as has passed."""
        now, left = self.clock(), max(self.left, 0.0)
        passed = now - self.told
        if passed > 0:
            self.share += (1 - self.share) * passed / (passed + left)
            self.told = now
        return self.share

    @property
    def updates(self) -> float:
        """How many fit into the time that is left, without validations on the way."""
        return max(self.left, 0.0) / self.update

    def fit_epochs(self, updates: int) -> float:
        """How many epochs of so many updates fit into the time that is left."""
        return max(self.left, 0.0) / (updates * self.update + self.validation)
