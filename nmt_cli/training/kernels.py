"""Chooses how a device computes an update, which changes its speed but, up to rounding, not its result.

    written  the loops of `model/fast/`, whose gradients are written out: few and large products, for processors
    cudnn    each recurrence is one kernel of NVIDIA's library, if Keras finds a GPU, else Keras' own loop
    xla      the whole update is compiled for the shape of the batch

XLA cannot compile cuDNN's kernels, so no update has both; nor a decoder that TensorFlow differentiates step by step,
with input feeding or several layers of additive attention.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from nmt_cli.model.config import RnnConfig
from nmt_cli.model.encoders import RecurrentEncoder
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.config import Kernels

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
