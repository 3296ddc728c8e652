"""How a device computes an update: its number format, and its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from nmt_cli.model.config import RnnConfig
from nmt_cli.model.encoders import RecurrentEncoder
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.config import Kernels

# Chooses the number format of the network: float32, or bfloat16 if the machine multiplies it faster.


FLOAT32 = "float32"
MIXED = "mixed_bfloat16"  # products in bfloat16, weights in float32

PROCESSOR = Path("/proc/cpuinfo")


class ProcessorKind(NamedTuple):
    """A kind of processor, and whether it trains faster in bfloat16."""

    vendor: str | None  # None: any
    flag: str  # one of the instructions that it has
    fast: bool
    measured: str  # what the row rests on: benchmarks/precision.py, the step of the default network


PROCESSORS = (  # the first row that applies decides; a processor that fits none trains in float32
    ProcessorKind(None, "amx_bf16", True, "1.36 times the target tokens per second of float32, on an Intel Xeon"),
    ProcessorKind(
        "AuthenticAMD",
        "avx512_bf16",
        True,
        "8,430 target tokens per second instead of 5,640, 1.47 times (median of five rounds)",
    ),
    ProcessorKind("GenuineIntel", "avx512_bf16", False, "0.6 times the target tokens per second, on a Xeon"),
)
FIRST_GPU = (8, 0)  # compute capability of the first NVIDIA GPUs with bfloat16


def choose_policy(mixed: bool | None) -> str:
    """Returns the name of the Keras dtype policy; None: mixed precision if and only if it is faster here."""
    fast = is_fast_in_bfloat16() if mixed is None else mixed
    return MIXED if fast else FLOAT32


def is_fast_in_bfloat16() -> bool:
    """Whether the machine multiplies bfloat16 faster than float32.

    Queries the devices instead of timing them: equal machines must train equal models.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
        return all(detail.get("compute_capability", (0, 0)) >= FIRST_GPU for detail in details)
    if not PROCESSOR.exists():
        return False
    vendor, flags = read_processor(PROCESSOR.read_text())
    kind = next((kind for kind in PROCESSORS if kind.flag in flags and kind.vendor in (None, vendor)), None)
    return kind is not None and kind.fast


def read_processor(text: str) -> tuple[str, frozenset[str]]:
    """Returns the vendor and the flags of the first processor in the text of /proc/cpuinfo."""
    entries: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        entries.setdefault(name.strip(), value.strip())
    return entries.get("vendor_id", ""), frozenset(entries.get("flags", "").split())


@contextmanager
def dtype_policy(name: str) -> Iterator[None]:
    """Within the block, new layers have this dtype policy."""
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(previous)


# Chooses how a device computes an update, which changes its speed but, up to rounding, not its result.
#
#     written  the loops of `model/fast/`, whose gradients are written out: few and large products, for processors
#     cudnn    each recurrence is one kernel of NVIDIA's library, if Keras finds a GPU, else Keras' own loop
#     xla      the whole update is compiled for the shape of the batch
#
# XLA cannot compile cuDNN's kernels, so no update has both; nor a decoder that TensorFlow differentiates step by step,
# with input feeding or several layers of additive attention.


ROUNDED = (32, 8)  # XLA compiles for each shape anew, which takes seconds: rows and positions are multiples of these


def choose_kernels(asked: Kernels, network: Seq2Seq, replicas: int) -> Kernels:
    """Returns the kernels for a network that `replicas` devices train; "auto" decides by the kind of device."""
    if asked != "auto":
        return asked
    if replicas > 1 or not tf.config.list_physical_devices("GPU"):
        return "written"
    return "cudnn" if isinstance(network.config, RnnConfig) else "xla"


def prepare_network(network: Seq2Seq, kernels: Kernels) -> None:
    """Has the recurrences of a network run by Keras if the kernels are cuDNN's."""
    if kernels == "cudnn":
        parts = (network.encoder, network.decoder) if isinstance(network.encoder, RecurrentEncoder) else ()
        for part in parts:
            part.use_vendor_kernels()


def round_up(ids: NDArray[Any]) -> NDArray[Any]:
    """Pads ids (B, S), or features (B, S, D), at the end of the first two axes, as XLA likes them."""
    padding = [(0, -size % multiple) for size, multiple in zip(ids.shape, ROUNDED, strict=False)]
    fill = 0 if ids.dtype.kind == "i" else np.nan
    return np.pad(ids, padding + [(0, 0)] * (ids.ndim - len(ROUNDED)), constant_values=fill)
