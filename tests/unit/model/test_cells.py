""""""

import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.cells import Dropout

ONES = np.ones((301, 501), np.float32)  # an odd number of values: the last word is not used up


def test_as_many_are_dropped_as_asked_and_the_rest_makes_up_for_them() -> None:
    outputs = np.asarray(Dropout(0.3, seed=1)(ONES, training=True))
    dropped = 77 / 256  # the nearest to 0.3
    assert set(np.unique(outputs)) == {np.float32(0), np.float32(1 / (1 - dropped))}
    assert np.mean(outputs == 0) == pytest.approx(dropped, abs=5 * (dropped * (1 - dropped) / ONES.size) ** 0.5)


def test_each_is_dropped_by_itself() -> None:
    """Neither neighbours, of which four come from one word, nor rows know of each other."""
    dropped = np.asarray(Dropout(0.5, seed=1)(ONES, training=True)) == 0
    for shift in (1, 2, 3, 4, 501):
        together = np.mean(dropped.flat[shift:] == dropped.flat[:-shift])
        assert together == pytest.approx(0.5, abs=5 * 0.5 / ONES.size**0.5)


def test_each_call_draws_anew_and_a_seed_repeats_all() -> None:
    layer, twin = Dropout(0.5, seed=3), Dropout(0.5, seed=3)
    first, second = (np.asarray(layer(ONES, training=True)) for _ in range(2))
    assert np.mean(first == second) == pytest.approx(0.5, abs=0.01)
    np.testing.assert_array_equal(np.asarray(twin(ONES, training=True)), first)
    np.testing.assert_array_equal(np.asarray(twin(ONES, training=True)), second)


def test_the_gradient_goes_where_the_value_went() -> None:
    value, layer = tf.constant(ONES), Dropout(0.25, seed=1)
    with tf.GradientTape() as tape:
        tape.watch(value)
        outputs = layer(value, training=True)
    np.testing.assert_array_equal(np.asarray(tape.gradient(outputs, value)), np.asarray(outputs))


def test_shapes_known_only_while_running_and_bfloat16() -> None:
    layer = Dropout(0.25, dtype="bfloat16", seed=1)
    run = tf.function(lambda value: layer(value, training=True), input_signature=[tf.TensorSpec([None, None])])
    outputs = run(ONES)
    assert outputs.dtype == tf.bfloat16
    assert np.mean(np.asarray(outputs, np.float32) == 0) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(("rate", "training"), [(0.5, False), (0.0, True), (0.001, True)])
def test_what_drops_nothing_changes_nothing(rate: float, training: bool) -> None:
    np.testing.assert_array_equal(np.asarray(Dropout(rate)(ONES, training=training)), ONES)
