"""The work of a function, counted in calls, since clocks are noisy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def count_calls(function: Callable[[], object]) -> int:
    """Counts the calls, of Python and C, that a function makes."""
    count = 0

    def observe(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(observe)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count
