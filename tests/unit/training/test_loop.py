from __future__ import annotations

import pytest

from nmt_cli.training import loop
from nmt_cli.training.loop import Meter


def test_speed_is_told_without_the_first_step_and_without_what_follows_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([100.0, 110.0, 111.0, 112.0, 150.0])  # begun, three steps, after validation
    monkeypatch.setattr(loop.time, "perf_counter", lambda: next(moments))
    meter = Meter(started=loop.time.perf_counter())
    meter.add(nats=20.0, tokens=10.0)
    assert (meter.tokens_per_second, meter.seconds_per_step) == (1.0, 10.0)
    meter.add(nats=10.0, tokens=10.0)
    meter.add(nats=10.0, tokens=20.0)
    assert (meter.tokens_per_second, meter.seconds_per_step) == (15.0, 1.0)
    assert meter.loss == 1.0
    assert meter.seconds == 50.0
