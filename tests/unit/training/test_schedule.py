import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.training.options import TrainOptions
from nmt_cli.training.step import Handover, Schedule, make_optimizer


def rate(config: TrainOptions, steps: int, step: int, handover: Handover | None = None) -> float:
    return float(Schedule(config, steps, handover)(step))


def test_the_rate_rises_to_its_peak_and_falls_to_zero_over_the_run() -> None:
    config = TrainOptions(learning_rate=1e-3, warmup=0.1)
    assert rate(config, 100, 0) == 0
    assert rate(config, 100, 5) == pytest.approx(5e-4)
    assert rate(config, 100, 10) == pytest.approx(1e-3)
    assert rate(config, 100, 55) == pytest.approx(5e-4)  # half of the cosine
    assert rate(config, 100, 100) == pytest.approx(0, abs=1e-9)


def test_without_warm_up_the_first_step_has_the_peak_rate() -> None:
    assert rate(TrainOptions(learning_rate=1e-3, warmup=0.0), 100, 0) == pytest.approx(1e-3)


def test_a_run_of_one_step_learns_something() -> None:
    assert rate(TrainOptions(warmup=0.5), 1, 0) > 0


def test_a_longer_schedule_is_reached_from_the_rate_of_the_shorter_one() -> None:
    config, handover = TrainOptions(learning_rate=1e-3, warmup=0.1), Handover(step=100, rate=1e-5)
    assert rate(config, 200, 100, handover) == pytest.approx(1e-5)
    assert rate(config, 200, 105, handover) == pytest.approx((1e-5 + rate(config, 200, 105)) / 2)
    assert rate(config, 200, 110, handover) == pytest.approx(rate(config, 200, 110))
    assert rate(config, 200, 200, handover) == pytest.approx(0, abs=1e-9)


def test_the_factor_scales_the_whole_schedule() -> None:
    schedule = Schedule(TrainOptions(learning_rate=1e-3), 100)
    schedule.factor.assign(0.25)
    assert float(schedule(10)) == pytest.approx(2.5e-4)
    assert float(schedule.compute_rate(10)) == pytest.approx(1e-3)


def test_the_default_peak_suits_the_architecture_and_fine_tuning() -> None:
    assert TrainOptions().fit_to("transformer").learning_rate == 2e-3
    assert TrainOptions().fit_to("rnn").learning_rate == TrainOptions().peak_rate == 5e-3
    assert TrainOptions(init_from="model").fit_to("rnn").learning_rate == 5e-4
    given = TrainOptions(learning_rate=0.0, init_from="model")
    assert given.fit_to("rnn") == given and given.peak_rate == 0.0


@pytest.mark.parametrize("clip", [0.5, 1e6])
def test_an_update_is_that_of_adam_as_keras_has_it(clip: float) -> None:
    config = TrainOptions(learning_rate=1e-2, warmup=0.5, clip=clip)
    ours, theirs = ([keras.Variable([[1.0, -2.0], [3.0, 0.5]]), keras.Variable([0.3])] for _ in range(2))
    adam = keras.optimizers.Adam(Schedule(config, 10), beta_2=0.98, epsilon=1e-8, global_clipnorm=clip)
    for optimizer_, variables in ((make_optimizer(config, Schedule(config, 10)), ours), (adam, theirs)):
        for step in range(1, 8):
            gradients = [tf.constant([[0.1, -2.0], [0.0, 1e-3]]) * step, tf.constant([1.0]) / step]
            optimizer_.apply(gradients, variables)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)
    assert ours[0].numpy()[0, 1] > -2.0  # it has moved
