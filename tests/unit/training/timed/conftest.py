"""Measurements of a run with a deadline that move its clock, and measure nothing."""

from types import SimpleNamespace

import pytest

from nmt_cli.training import setup
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.validation import Validator
from support.timed import CALIBRATION, EXPORT, VALIDATION, Machine

MEASURE_PACE, MEASURE_CLOSING = setup.measure_pace, setup.measure_closing  # the real ones


@pytest.fixture
def real_measures() -> SimpleNamespace:
    return SimpleNamespace(pace=MEASURE_PACE, closing=MEASURE_CLOSING)


@pytest.fixture(autouse=True)
def calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure_pace(run: TrainingRun, deadline: Deadline) -> None:
        machine = deadline.clock
        assert isinstance(machine, Machine)
        machine.now += CALIBRATION
        deadline.update_seconds = machine.seconds

    def measure_closing(run: TrainingRun, deadline: Deadline) -> None:
        deadline.validations, deadline.validation_seconds, deadline.export_seconds = 4, VALIDATION, EXPORT

    monkeypatch.setattr(setup, "measure_pace", measure_pace)
    monkeypatch.setattr(setup, "measure_closing", measure_closing)
    monkeypatch.setattr(Validator, "estimate_seconds", lambda validator, trainer: VALIDATION)
