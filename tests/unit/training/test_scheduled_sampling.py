"""Scheduled sampling, with a network that always says the next number."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.options import TrainConfig
from nmt_cli.training.step import Schedule, TimedSchedule, Trainer, predict_previous_tokens, sample_previous_tokens
from support.replicas import batch
from support.slow import sample


class Counter:
    """Likeliest after the token n is n + 10; padding would be likelier still, if it were allowed."""

    vocabulary = 40

    class Output:
        def make_forbidden_bias(self) -> tf.Tensor:
            return tf.one_hot(0, Counter.vocabulary) * -1e9

    output_layer = Output()

    def __call__(self, source: tf.Tensor, previous: tf.Tensor, training: bool) -> tf.Tensor:
        assert not training
        logits = tf.one_hot(previous + 10, self.vocabulary) + 5 * tf.one_hot(0, self.vocabulary)
        return tf.transpose(logits, [1, 0, 2])


PREVIOUS = tf.constant([[2, 5, 6, 7], [2, 8, 0, 0]])
SEED = tf.constant([1, 2])


def test_its_own_token_stands_where_it_would_be_the_previous_one() -> None:
    assert predict_previous_tokens(Counter(), PREVIOUS, PREVIOUS).numpy()[0].tolist() == [2, 12, 15, 16]


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, [[2, 5, 6, 7], [2, 8, 0, 0]]), (1.0, [[2, 12, 15, 16], [2, 12, 0, 0]])]
)
def test_start_and_padding_stay(share: float, expected: list[list[int]]) -> None:
    assert sample_previous_tokens(Counter(), PREVIOUS, PREVIOUS, tf.constant(share), SEED).numpy().tolist() == expected


def test_as_many_are_replaced_as_asked_and_the_same_ones_for_the_same_seed() -> None:
    previous = tf.concat([tf.fill([300, 1], 2), tf.fill([300, 40], 9)], axis=1)
    first, again = (
        sample_previous_tokens(Counter(), previous, previous, tf.constant(0.3), SEED).numpy() for _ in range(2)
    )
    other = sample_previous_tokens(Counter(), previous, previous, tf.constant(0.3), SEED + 1).numpy()
    assert (first[:, 1:] != 9).mean() == pytest.approx(0.3, abs=0.02)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_share_of_the_run_that_is_over() -> None:
    schedule, timed = Schedule(TrainConfig(), 200), TimedSchedule(TrainConfig(time="1m"))
    assert [float(schedule.compute_elapsed_share(step)) for step in (0, 50, 200, 300)] == [0.0, 0.25, 1.0, 1.0]
    timed.set_elapsed_share(0.25)
    assert float(timed.compute_elapsed_share(7)) == pytest.approx(0.25)


@pytest.mark.parametrize(
    "shape", sample([{}, {"attention": "dot", "input_feeding": True}, {"architecture": "transformer"}], 0), ids=str
)
def test_every_network_learns_with_it_and_repeats_itself(shape: dict[str, object]) -> None:
    small = {"embedding": 8, "units": 8, "attention_units": 4, "dropout": 0.0}
    if shape.get("architecture") == "transformer":
        small = {"embedding": 8, "layers": 1, "heads": 2, "feed_forward": 16, "dropout": 0.0}
    config = ModelConfig.from_options(**small, **shape)
    trainer = make_trainer(config, 1.0)
    mixed, again = (learn(trainer) for _ in range(2))
    forced = learn(make_trainer(config, 0.0))
    for one, other in zip(mixed, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert any((one != other).any() for one, other in zip(mixed, forced, strict=True))


def make_trainer(shape: ModelConfig, share: float) -> Trainer:
    """Returns a trainer with scheduled sampling up to `share`."""
    keras.utils.set_random_seed(1)
    config = TrainConfig(learning_rate=0.01, scheduled_sampling=share, seed=2**32 - 1)  # the largest that there is
    return Trainer(Seq2Seq(shape, Vocabularies(source=14, target=14, joint=True)), Schedule(config, 4), config)


def learn(trainer: Trainer) -> list[np.ndarray]:
    """Returns the weights after a few updates, and leaves the trainer as it was."""
    before = [variable.numpy() for variable in trainer.state]
    for seed in range(4):
        trainer.update([batch(6, seed)])
    weights = [variable.numpy() for variable in trainer.variables]
    for variable, value in zip(trainer.state, before, strict=True):
        variable.assign(value)
    return weights
