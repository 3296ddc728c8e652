"""The deadline of a training run, and the share of its time that has passed. Depends on a clock, but not on a network.

The learning rate follows this clock rather than a number of updates: a number planned at the start would miss the
deadline as soon as other work on the machine slows updates down. Validations between updates count like updates.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from nmt_cli.errors import OptionError
from nmt_cli.text.wrapping import format_count

# Share of the training after which a validation is measured again: the machine may be more or less busy than before,
# and a network that has learned to end its sentences translates faster than one that has not.
REMEASURED = 0.25
RECENT_UPDATES = 20  # whose mean is what an update takes
# Factor on the measured time of the last validations and the export: the only reserve for surprises.
CAUTION = 1.1

UNITS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text: str) -> float:
    """Returns the seconds of a duration like `90s`, `30m` or `1h30m`. Raises OptionError."""
    parts = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    seconds = (
        sum(int(part) * unit for part, unit in zip(parts.groups("0"), UNITS.values(), strict=True)) if parts else 0
    )
    if not seconds:
        raise OptionError(f"--time cannot be {text!r}", hint="use a duration like 90s, 30m or 1h30m")
    return float(seconds)


SEVERAL = 4  # times what a training run takes besides its updates, which leaves three quarters of the time to learn


class TooShortError(OptionError):
    """The given time is too short for a single update: even without any, a training run takes `least` seconds here.

    The hint names a time that is long enough (`whole` seconds where other stages share it), and says how to continue if
    something is done already.
    """

    def __init__(self, message: str, least: int, whole: float | None = None, *, resumes: bool = False) -> None:
        seconds = SEVERAL * least if whole is None else whole
        fits = f"{math.ceil(seconds)}s" if seconds < 60 else f"{math.ceil(seconds / 60)}m"
        needed = f"starting, measuring and exporting alone take at least {format_count(least, 'second')} here"
        super().__init__(message, hint=f"{needed}; --time {fits}{' --resume' * resumes} is enough")
        self.least = least


@dataclass
class Deadline:
    """The time from the creation of this object to a finished model. All times are in seconds."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    validation_seconds: float = 0.0  # that one validation takes
    validations: float = 1.0  # after the last update, with all other translations of the development set
    export_seconds: float = 0.0  # that an export took when an update took `first_update_seconds`
    update_seconds: float = 0.0  # that one update takes
    first_update_seconds: float = 0.0  # that one took at first: the mean of RECENT_UPDATES
    timed_updates: int = 0
    share: float = 0.0  # of the training that has passed, 0 to 1; never falls
    measured_share: float = 0.0  # that had passed when a validation was last measured

    def __post_init__(self) -> None:
        self.started_at = self.advanced_at = self.clock()

    @classmethod
    def from_option(cls, duration: str | None) -> Self | None:
        """Returns a deadline for the value of --time that starts now; None without a value."""
        return None if duration is None else cls(parse_duration(duration))

    @property
    def elapsed(self) -> float:
        return self.clock() - self.started_at

    @property
    def seconds_left(self) -> float:
        """The time left for updates, reserving enough for the last validations and the export."""
        closing_seconds = self.validations * self.validation_seconds + self.export_seconds * self.slowdown
        return self.seconds - self.elapsed - CAUTION * closing_seconds

    @property
    def slowdown(self) -> float:
        """The factor by which work has slowed down since the export was measured; it is measured only once."""
        return self.update_seconds / self.first_update_seconds if self.first_update_seconds else 1.0

    @property
    def is_over(self) -> bool:
        """Whether not even one more update fits."""
        return self.seconds_left <= self.update_seconds

    @property
    def is_measure_due(self) -> bool:
        """Whether the last measurement of a validation is too old."""
        return self.share - self.measured_share >= REMEASURED

    def expect_closing(self) -> None:
        """Assumes that closing takes as long as starting has taken so far, until closing is measured.

        Compiling, measuring and exporting take longer than loading TensorFlow, even from a cold disk: 86 seconds
        against 35 on two cores that other processes used too.
        """
        self.export_seconds = self.elapsed

    def require_update(self, option: str | None, updates: int | None = 0) -> None:
        """Raises TooShortError, suggesting a value of --time, if the time left is too short for a first update."""
        if self.is_over and not updates:
            least = math.ceil(self.seconds - self.seconds_left + self.update_seconds)
            raise TooShortError(f"--time {option} is too short to learn anything", least)

    def set_validation(self, seconds: float) -> None:
        """Updates the cost of one validation."""
        self.validation_seconds, self.measured_share = seconds, self.share

    def start(self, *, elapsed: float | None = None, share: float = 0.0) -> None:
        """Starts training now, or continues a run in which this time and share have already passed."""
        self.advanced_at, self.share = self.clock(), share
        self.measured_share = share
        if elapsed is not None:
            self.started_at = self.advanced_at - elapsed

    def advance(self) -> float:
        """Returns the share of the training that has passed by now.

        The remaining share shrinks by the same factor as the time left has since the last call. It thus stays
        continuous when an estimate of the costs changes, and still reaches 1 at the deadline.
        """
        now, seconds_left = self.clock(), max(self.seconds_left, 0.0)
        passed = now - self.advanced_at
        if passed > 0:
            self.share += (1 - self.share) * passed / (passed + seconds_left)
            self.advanced_at = now
        return self.share

    def finish_update(self) -> None:
        """Records the time since `advance` as that of one update; `update_seconds` is the mean of the last ones."""
        self.timed_updates += 1
        seconds, count = self.clock() - self.advanced_at, min(self.timed_updates, RECENT_UPDATES)
        self.update_seconds += (seconds - self.update_seconds) / count
        if self.timed_updates == RECENT_UPDATES:
            self.first_update_seconds = self.update_seconds

    @property
    def updates_left(self) -> float:
        """Number of updates that fit into the time left, not counting validations between them."""
        return max(self.seconds_left, 0.0) / self.update_seconds

    def fit_epochs(self, updates: int) -> float:
        """Returns how many epochs of `updates` updates, each with a validation, fit into the time left."""
        return max(self.seconds_left, 0.0) / (updates * self.update_seconds + self.validation_seconds)
