from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.model.vocabularies import Vocabularies
from nmt_cli.training import precision
from nmt_cli.training.precision import FLOAT32, MIXED, PROCESSORS, choose_policy, dtype_policy
from nmt_cli.training.step import compute_teacher_forced_loss
from support.models import tiny_config

SOURCE = np.array([[5, 6, 7, 3], [8, 3, 0, 0]])
PREVIOUS = np.array([[2, 9, 10, 11], [2, 12, 0, 0]])


KINDS = [
    {},
    {"cell": "lstm", "layers": 2},
    {"attention": "none"},
    {"attention": "dot"},
    {"attention": "general", "input_feeding": True},
    {"attention": "concat"},
    {"attention": "scaled-dot", "heads": 2},
    {"architecture": "transformer"},
    {"architecture": "transformer", "positions": "learned"},
]


def network(policy: str, **options: object) -> Seq2Seq:
    keras.utils.set_random_seed(3)
    with dtype_policy(policy):
        return Seq2Seq(tiny_config(**options), Vocabularies(source=14, target=14, joint=True))


def test_the_policy_holds_within_its_block_alone() -> None:
    with dtype_policy(MIXED):
        assert keras.config.dtype_policy().name == MIXED
    assert keras.config.dtype_policy().name == FLOAT32


@pytest.mark.parametrize(
    ("vendor", "flags", "name"),
    [
        ("GenuineIntel", "fpu amx_bf16 avx512_bf16 sse", MIXED),
        ("GenuineIntel", "amx_tile avx512_bf16", FLOAT32),
        ("AuthenticAMD", "avx512f avx512_bf16", MIXED),
        ("AuthenticAMD", "avx512f avx512_vnni", FLOAT32),
        ("HygonGenuine", "avx512_bf16", FLOAT32),  # nobody has measured it
    ],
)
def test_bfloat16_is_chosen_where_the_processor_is_faster_in_it(
    vendor: str, flags: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor : 0\nvendor_id\t: {vendor}\nflags\t\t: {flags}\n")
    monkeypatch.setattr(precision, "PROCESSOR", tmp_path / "cpuinfo")
    assert choose_policy(None) == name
    assert (choose_policy(True), choose_policy(False)) == (MIXED, FLOAT32)


def test_every_row_of_the_table_of_processors_says_what_was_measured() -> None:
    assert all("target tokens per second" in kind.measured for kind in PROCESSORS)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_attention_stays_a_distribution_in_mixed_precision(options: dict) -> None:
    model = network(MIXED, **options)
    step = model.step(np.array([2, 2]), model.encode(SOURCE))
    total = 0 if options.get("attention") == "none" else 1
    np.testing.assert_allclose(np.asarray(step.attention).sum(axis=1), total, atol=1e-6)
    assert np.asarray(step.attention)[1, 2:].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(np.exp(np.asarray(step.log_probabilities)).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_mixed_precision_keeps_float32_weights_and_nearly_its_gradient(options: dict) -> None:
    def gradients(policy: str) -> np.ndarray:
        model = network(policy, dropout=0.0, **options)
        assert {variable.dtype for variable in model.trainable_variables} == {"float32"}
        with tf.GradientTape() as tape:
            loss = compute_teacher_forced_loss(
                model, SOURCE, PREVIOUS, tf.constant([[9, 10, 11, 3], [12, 3, 0, 0]]), smoothing=0.1
            )
        found = tape.gradient(loss.objective, [variable.value for variable in model.trainable_variables])
        return np.concatenate([np.ravel(tf.convert_to_tensor(gradient)) for gradient in found])

    exact, mixed = gradients(FLOAT32), gradients(MIXED)
    assert mixed.dtype == np.float32
    cosine = exact @ mixed / np.linalg.norm(exact) / np.linalg.norm(mixed)
    # A unit of a ReLU that is nearly 0 may be so in one precision alone, and its gradient with it.
    assert cosine > (0.99 if options.get("architecture") == "transformer" else 0.999)
