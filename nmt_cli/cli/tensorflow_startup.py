"""What stands between a command and TensorFlow: whether it is there, and that it says nothing while it starts.

Must stay light: `nmt translate` imports it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from nmt_cli.errors import MissingExtraError


def require_tensorflow(what: str = "training") -> None:
    for package in ("tensorflow", "tf2onnx"):
        if find_spec(package) is None:
            raise MissingExtraError(
                f"{what} needs {package}, which is not installed",
                hint="install it with `pip install 'nmt-cli[train]'`",
            )


@contextmanager
def silent_tensorflow() -> Iterator[None]:
    """Imports within the block get a TensorFlow backend that is set up as training wants it, and says nothing.

    What the environment sets already, stays. Some of what it would say is written by C++ before any setting is read,
    so the descriptor itself is turned away.
    """
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # its own default only from AVX-512 on: 9 % slower with AVX2
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # else all of its memory: nobody could share it
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
