from __future__ import annotations

import math

import pytest

from nmt_cli.training.divergence import Diverged, LossMonitor


def add_losses(*losses: float) -> LossMonitor:
    monitor = LossMonitor()
    for loss in losses:
        monitor.add(loss)
    return monitor


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_told_at_once(loss: float) -> None:
    with pytest.raises(Diverged, match="NaN or infinite"):
        add_losses(3.0, loss)


def test_a_loss_that_stays_far_above_its_least_is_an_explosion() -> None:
    with pytest.raises(Diverged, match=r"rose from 3\.00 to 6\.\d\d"):
        add_losses(*[3.0] * 50, *[9.0] * 50)


def test_a_loss_may_rise_a_little_and_one_batch_a_lot() -> None:
    add_losses(*[9.0, 5.0, 3.0] * 10, *[4.5] * 200)
    add_losses(*[3.0] * 50, 40.0, *[3.0] * 50)
    add_losses(*[0.1] * 50, *[1.9] * 50)


def test_falling_from_any_height_is_no_explosion() -> None:
    monitor = add_losses(*[300.0 / step for step in range(1, 100)])
    assert monitor.least == monitor.mean


def test_a_loss_on_its_way_up_is_not_calm() -> None:
    assert add_losses(*[3.0] * 10, 4.4).is_calm
    assert not add_losses(*[3.0] * 10, 4.6).is_calm
    assert not add_losses(*[3.0] * 10, *[5.5] * 30, 4.4).is_calm
