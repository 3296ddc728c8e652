"""What a run measures of itself before it plans its time."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.step import Trainer
from nmt_cli.training.watcher import Watcher
from support.timed import SMALL, TIMED


def test_a_real_calibration_leaves_the_run_as_it_was(
    corpus: PreparedCorpus, tmp_path: Path, real_measures: SimpleNamespace
) -> None:
    import numpy as np

    from nmt_cli.training.checkpoints.resume import Identity
    from nmt_cli.training.setup.prepare import build_run

    run = build_run(corpus, tmp_path, Identity(corpus.fingerprint, SMALL, TIMED), None, Watcher())
    before, deadline = [variable.numpy() for variable in run.trainer.state], Deadline(300.0)
    real_measures.pace(run, deadline)
    real_measures.closing(run, deadline)
    assert deadline.validations > 1
    assert min(deadline.update_seconds, deadline.validation_seconds, deadline.export_seconds) > 0
    assert deadline.update_seconds < deadline.export_seconds
    for variable, array in zip(run.trainer.state, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), array)


def test_a_calibration_takes_no_more_than_its_share_of_the_time(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nmt_cli.training.checkpoints.resume import Identity
    from nmt_cli.training.setup import prepare
    from nmt_cli.training.setup.prepare import build_run

    now = 0.0

    def update(trainer: Trainer, batches: object) -> tuple[float, float]:
        nonlocal now
        now += 2.0
        return 10.0, 10.0

    config = replace(TIMED, batch=8)
    run = build_run(corpus, tmp_path, Identity(corpus.fingerprint, SMALL, config), None, Watcher())
    monkeypatch.setattr(Trainer, "update", update)
    monkeypatch.setattr(prepare.time, "monotonic", lambda: now)
    assert prepare.measure_update(run, limit=5.0) == 2.0
    assert now == 2.0 * (1 + 3)  # one that is not timed, and those that pass 5 seconds
    now = 0.0
    assert prepare.measure_update(run, limit=300.0) == 2.0
    assert now == 2.0 * (1 + prepare.TIMED_UPDATES)
