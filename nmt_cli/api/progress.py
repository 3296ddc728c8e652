"""Progress reports for long tasks, independent of any screen."""

from __future__ import annotations

from collections.abc import Callable

StageReporter = Callable[[str, int, int], None]  # the stage, what is done of it, and the total (0: unknown)


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Ignores the report."""


def count_stage(progress: StageReporter, stage: str, total: int) -> Callable[[int], None]:
    """Begins a stage; returns the function that reports its progress."""
    progress(stage, 0, total)
    return lambda done: progress(stage, done, total)
