"""The deadline of a training run, and the share of its time that has passed. Knows a clock and no network.

The learning rate follows this clock rather than a number of updates: a number planned at the start would miss the
deadline as soon as other work on the machine slows updates down. Validations on the way count like updates.
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
    """The given time does not suffice for a single update: without any, a training run takes `least` seconds here.

    The hint names a time that fits: `whole` seconds, which is more where other stages share it, and how to continue if
    something is done.
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
        """How many times as long work takes as when the export was measured, which is not repeated."""
        return self.update_seconds / self.first_update_seconds if self.first_update_seconds else 1.0

    @property
    def is_over(self) -> bool:
        """Whether not even one more update fits."""
        return self.seconds_left <= self.update_seconds

    @property
    def is_measure_due(self) -> bool:
        """Whether it is long ago that a validation was measured."""
        return self.share - self.measured_share >= REMEASURED

    def expect_closing(self) -> None:
        """Takes the time of the start so far as that of the end, until the end is measured.

        Compiling, measuring and exporting take longer than loading TensorFlow does, even from a cold disk: on two cores
        that others used too, 86 seconds against 35.
        """
        self.export_seconds = self.elapsed

    def require_update(self, option: str | None, updates: int | None = 0) -> None:
        """Raises TooShortError, naming a value of --time, if this time is too short for a first update."""
        if self.is_over and not updates:
            least = math.ceil(self.seconds - self.seconds_left + self.update_seconds)
            raise TooShortError(f"--time {option} is too short to learn anything", least)

    def set_validation(self, seconds: float) -> None:
        """Updates the cost of one validation."""
        self.validation_seconds, self.measured_share = seconds, self.share

    def start(self, *, elapsed: float | None = None, share: float = 0.0) -> None:
        """Starts the training now, or continues one of which this time and share have passed."""
        self.advanced_at, self.share = self.clock(), share
        self.measured_share = share
        if elapsed is not None:
            self.started_at = self.advanced_at - elapsed

    def advance(self) -> float:
        """Returns the share of the training that has passed by now.

        The share's remainder shrinks by the same factor as the time left since the last call. It thus stays continuous
        when an estimate of the costs changes, and still reaches 1 at the deadline.
        """
        now, seconds_left = self.clock(), max(self.seconds_left, 0.0)
        passed = now - self.advanced_at
        if passed > 0:
            self.share += (1 - self.share) * passed / (passed + seconds_left)
            self.advanced_at = now
        return self.share

    def finish_update(self) -> None:
        """Takes the time since `advance` as that of an update; `update_seconds` is a mean of the last ones."""
        self.timed_updates += 1
        seconds, count = self.clock() - self.advanced_at, min(self.timed_updates, RECENT_UPDATES)
        self.update_seconds += (seconds - self.update_seconds) / count
        if self.timed_updates == RECENT_UPDATES:
            self.first_update_seconds = self.update_seconds

    @property
    def updates_left(self) -> float:
        """Number of updates that fit into the time left, without validations on the way."""
        return max(self.seconds_left, 0.0) / self.update_seconds

    def fit_epochs(self, updates: int) -> float:
        """Returns how many epochs of `updates` updates, each with a validation, fit into the time left."""
        return max(self.seconds_left, 0.0) / (updates * self.update_seconds + self.validation_seconds)
