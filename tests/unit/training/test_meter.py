"""Tests of meter: ."""

import math
from typing import Any

import pytest

from nmt_cli.training import loop as module
from nmt_cli.training.loop import Diverged, LossMonitor, Meter
from nmt_cli.training.watcher import REPORTS, Watcher, Watchers


def test_speed_counts_neither_the_first_step_nor_what_follows_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([100.0, 110.0, 111.0, 112.0, 150.0])  # begun, three steps, after validation
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(moments))
    meter = Meter(started=module.time.perf_counter())
    meter.add(nats=20.0, tokens=10.0)
    assert meter.tokens_per_second == 1.0
    meter.add(nats=10.0, tokens=10.0)
    meter.add(nats=10.0, tokens=20.0)
    assert meter.tokens_per_second == 15.0
    assert meter.loss == 1.0
    assert meter.seconds == 50.0


def test_a_resumed_epoch_counts_earlier_tokens_and_time_but_not_its_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 5.0, 7.0, 100.0, 101.0, 103.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(moments))
    killed = Meter(started=module.time.perf_counter())
    killed.add(nats=30.0, tokens=10.0)
    meter = Meter(**killed.to_mapping(), started=module.time.perf_counter())
    meter.add(nats=10.0, tokens=10.0)
    assert (meter.steps, meter.loss, meter.tokens_per_second) == (2, 2.0, 10.0)
    assert meter.seconds == 7.0 + 3.0


def test_a_process_that_did_no_step_of_an_epoch_has_no_speed() -> None:
    saved = {"nats": 1.0, "tokens": 2.0, "steps": 3, "earlier_seconds": 4.0}
    meter = Meter(**saved)
    assert meter.tokens_per_second == 0.0


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


class Recorder(Watcher):
    """Records every report with its values."""

    def __init__(self, reports: list[tuple[object, ...]], number: int, *, stops: bool = False) -> None:
        self.stops = stops
        for name in REPORTS:
            setattr(self, name, lambda *values, name=name: reports.append((number, name, *values)))

    def should_stop(self) -> bool:
        return self.stops


def test_every_report_goes_to_all_watchers_in_order() -> None:
    reports: list[tuple[Any, ...]] = []
    watchers = Watchers(Recorder(reports, 1), Recorder(reports, 2))
    for name in REPORTS:
        getattr(watchers, name)("a value", "another")
    assert reports == [(number, name, "a value", "another") for name in REPORTS for number in (1, 2)]
    assert {name for name in vars(Watcher) if not name.startswith("_")} == {*REPORTS, "should_stop"}


def test_one_watcher_can_stop_training_for_all() -> None:
    assert not Watchers(Recorder([], 1), Recorder([], 2)).should_stop()
    assert Watchers(Recorder([], 1), Recorder([], 2, stops=True)).should_stop()
