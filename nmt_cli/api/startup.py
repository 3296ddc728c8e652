"""Starts ONNX Runtime, Ray and TensorFlow silently, without telemetry; locates the cache.

Apart from the command line, only this file reads or sets environment variables, which configure these libraries before
they are imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TypeVar

from nmt_cli import ENVIRONMENT
from nmt_cli.errors import MissingExtraError, explain_install
from nmt_cli.workers.choice import RayOptions

Processes = TypeVar("Processes", bound=RayOptions)

REPORTS_NOTHING = "ORT_DISABLE_TELEMETRY"
RAY_ENVIRONMENT = {  # no usage report, no notice
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def silence_onnxruntime() -> None:
    """Turns off the usage reports of ONNX Runtime, which is imported later.

    Existing environment settings are kept.
    """
    os.environ.setdefault(REPORTS_NOTHING, ENVIRONMENT[REPORTS_NOTHING])


def silence_ray(processes: Processes) -> Processes:
    """Sets up the environment so that Ray sends no usage reports, and returns the settings unchanged."""
    if processes.ray is not None:
        for name, value in RAY_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
    return processes


def require_tensorflow(purpose: str = "training") -> None:
    """Raises MissingExtraError, with the command that installs it, if TensorFlow is not installed."""
    extra = "train" if which("nvidia-smi") else "train-cpu"  # which comes with the driver of a GPU
    for package in ("tensorflow", "tf2onnx"):
        if find_spec(package) is None:
            raise MissingExtraError(f"{purpose} needs {package}, which is not installed", hint=explain_install(extra))


def find_cache() -> Path:
    """Returns the directory for files that can be made again: in XDG_CACHE_HOME, else in the system's usual place."""
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or usual) / "nmt"


@contextmanager
def silent_tensorflow() -> Iterator[None]:
    """Sets TensorFlow up for training and silences it while the block imports it.

    Existing environment settings are kept. C++ code writes some messages before any setting is read, so the file
    descriptor itself is redirected.
    """
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # its own default only from AVX-512 on: 9 % slower with AVX2
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # else all of its memory: nobody could share it
    sys.stderr.flush()
    saved = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)
