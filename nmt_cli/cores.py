"""The share of the machine that this process may use. Standard library only."""

from __future__ import annotations

import os


def count_cores() -> int:
    """Returns the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
