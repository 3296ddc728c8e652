"""The share of a step that loses no more than is allowed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from nmt_cli.training.transfer.short_steps import RESOLUTION, WeightStep


class SteadyLoss(WeightStep):
    """A step whose whole loses 2 BLEU of 30, and every share in proportion."""

    def measure(self, share: float) -> float:
        return 30 - 2 * share


@pytest.mark.parametrize(
    ("most_lost", "share"), [(3.0, 1.0), (2.0, 1.0), (1.0, 0.5), (0.3, 0.15), (0.0, RESOLUTION), (-1.0, RESOLUTION)]
)
def test_the_share_is_the_largest_that_loses_no_more_than_is_allowed(most_lost: float, share: float) -> None:
    found = SteadyLoss(cast(Any, None), {}, {}).find_share(most_lost)
    assert found == share or share - RESOLUTION < found < share
