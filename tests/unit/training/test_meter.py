from __future__ import annotations

import pytest

from nmt_cli.training import meter as module
from nmt_cli.training.meter import Meter


def test_speed_counts_neither_the_first_step_nor_what_follows_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([100.0, 110.0, 111.0, 112.0, 150.0])  # begun, three steps, after validation
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(moments))
    meter = Meter(started=module.time.perf_counter())
    meter.add(nats=20.0, tokens=10.0)
    assert (meter.tokens_per_second, meter.seconds_per_step) == (1.0, 10.0)
    meter.add(nats=10.0, tokens=10.0)
    meter.add(nats=10.0, tokens=20.0)
    assert (meter.tokens_per_second, meter.seconds_per_step) == (15.0, 1.0)
    assert meter.loss == 1.0
    assert meter.seconds == 50.0


def test_a_resumed_epoch_counts_earlier_tokens_and_time_but_not_its_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([0.0, 5.0, 7.0, 100.0, 101.0, 103.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(moments))
    killed = Meter(started=module.time.perf_counter())
    killed.add(nats=30.0, tokens=10.0)
    meter = Meter.from_mapping({**killed.to_mapping(), "started": module.time.perf_counter()})
    meter.add(nats=10.0, tokens=10.0)
    assert (meter.steps, meter.loss, meter.tokens_per_second) == (2, 2.0, 10.0)
    assert meter.seconds == 7.0 + 3.0


def test_a_process_that_did_no_step_of_an_epoch_has_no_speed() -> None:
    saved = {"nats": 1.0, "tokens": 2.0, "steps": 3, "earlier_seconds": 4.0}
    meter = Meter.from_mapping(saved)
    assert (meter.tokens_per_second, meter.seconds_per_step) == (0.0, 0.0)
