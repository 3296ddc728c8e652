"""An update from several batches, and on several devices, against the update from one batch on one device."""

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.schedule import Schedule
from nmt_cli.training.step import Trainer
from support import replicas
from support.slow import sample


def trained(groups: list[list[Batch]], parts: int = 1, dropout: float = 0.0, **options: object) -> Trainer:
    keras.utils.set_random_seed(1)
    config = TrainConfig(learning_rate=0.01, **options)
    network = replicas.make_network(dropout)
    trainer = Trainer(network, Schedule(config, 10), config, parts)
    for group in groups:
        trainer.update(group)
    return trainer


def rows(batch: Batch, start: int, stop: int) -> Batch:
    return Batch(batch.source[start:stop], batch.previous[start:stop], batch.target[start:stop])


def assert_same_state(one: Trainer, other: Trainer) -> None:
    for found, expected in zip(one.state, other.state, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=2e-4, atol=1e-7)


@pytest.mark.parametrize("clip", sample([1e-2, 1e3], 0), ids=["clipped", "unclipped"])
def test_accumulated_batches_make_the_update_of_the_big_one(clip: float) -> None:
    big = [replicas.batch(7, seed) for seed in range(3)]
    whole = trained([[batch] for batch in big], clip=clip)
    parts = trained(
        [[rows(batch, 0, 2), rows(batch, 2, 3), rows(batch, 3, 7)] for batch in big], clip=clip, accumulate=3
    )
    assert int(parts.optimizer.iterations.numpy()) == 3
    assert_same_state(parts, whole)


@pytest.mark.parametrize("division", sample([(2, 1), (4, 2)], 0), ids=["uneven", "more than rows of any"])
def test_parts_of_a_batch_side_by_side_make_the_update_of_the_whole(division: tuple[int, int]) -> None:
    parts, accumulate = division
    groups = [[replicas.batch(3, seed), replicas.batch(1, seed + 100)][:accumulate] for seed in range(3)]
    settings = {"clip": 1e-2, "accumulate": accumulate}
    assert_same_state(trained(groups, parts, **settings), trained(groups, **settings))


@pytest.mark.slow
def test_parts_side_by_side_learn_the_same_each_time() -> None:
    """Whichever is done first: they take their dropout in turn, and are added in one order."""
    trainer = trained([], parts=3, dropout=0.3)
    before = [variable.numpy() for variable in trainer.state]
    states = []
    for _ in range(2):
        for variable, value in zip(trainer.state, before, strict=True):
            variable.assign(value)
        for seed in range(3):
            trainer.update([replicas.batch(48, seed)])
        states.append([variable.numpy() for variable in trainer.state])
    for found, expected in zip(*states, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_moving_average_is_the_one_of_its_definition() -> None:
    groups = [[replicas.batch(4, seed)] for seed in range(3)]
    trainer = trained(groups[:1], ema=0.9)
    after = [trainer.variables[0].numpy()]
    for group in groups[1:]:
        trainer.update(group)
        after.append(trainer.variables[0].numpy())
    expected = 0.9 * (0.9 * after[0] + 0.1 * after[1]) + 0.1 * after[2]
    assert len(trainer.averages) == len(trainer.variables)
    np.testing.assert_allclose(trainer.averages[0].numpy(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_two_devices_make_the_update_of_one(tmp_path: Path) -> None:
    subprocess.run([sys.executable, replicas.__file__, str(tmp_path)], check=True, capture_output=True)
    one, two = (dict(np.load(tmp_path / f"{count}.npz")) for count in (1, 2))
    assert len(one) == len(two) > 10
    for name, expected in one.items():
        np.testing.assert_allclose(two[name], expected, rtol=2e-4, atol=1e-7, err_msg=name)
