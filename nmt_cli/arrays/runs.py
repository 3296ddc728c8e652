"""Runs of neighbours in a sequence of weights."""

from __future__ import annotations

import math
from collections.abc import Iterable


def find_heaviest_run(weights: Iterable[float]) -> tuple[int, int]:
    """Returns the run [start, end) with the largest sum of weights: the maximum subarray, by Kadane's algorithm.

    The run is not empty; among equals it is the first, without leading parts of weight 0. Raises ValueError without
    weights.
    """
    heaviest, heaviest_run = -math.inf, None
    total, start = 0.0, 0
    for index, weight in enumerate(weights):
        if total <= 0:  # what stands before adds nothing
            total, start = 0.0, index
        total += weight
        if total > heaviest:
            heaviest, heaviest_run = total, (start, index + 1)
    if heaviest_run is None:
        raise ValueError("there is no run without weights")
    return heaviest_run
