"""Chooses the numbers that the network computes with: float32, or bfloat16 where the machine multiplies it faster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import keras
import tensorflow as tf

FLOAT32 = "float32"
MIXED = "mixed_bfloat16"  # products in bfloat16, weights in float32

PROCESSOR = Path("/proc/cpuinfo")
# Without AMX TensorFlow emulates bfloat16, or uses AVX512-BF16: on Intel's processors half as fast as float32.
INSTRUCTIONS = "amx_bf16"
FIRST_GPU = (8, 0)  # compute capability of the first NVIDIA GPUs with bfloat16


def choose_policy(mixed: bool | None) -> str:
    """Returns the name of the Keras dtype policy; with None, mixed precision exactly where the machine is faster."""
    fast = is_fast_in_bfloat16() if mixed is None else mixed
    return MIXED if fast else FLOAT32


def is_fast_in_bfloat16() -> bool:
    """Whether the machine multiplies bfloat16 faster than float32.

    Asks the devices what they are, and times nothing: equal machines must train equal models.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
        return all(detail.get("compute_capability", (0, 0)) >= FIRST_GPU for detail in details)
    if not PROCESSOR.exists():
        return False
    flags = next((line for line in PROCESSOR.read_text().splitlines() if line.startswith("flags")), "")
    return INSTRUCTIONS in flags.split()


@contextmanager
def dtype_policy(name: str) -> Iterator[None]:
    """Layers created within the block have this dtype policy."""
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(previous)
