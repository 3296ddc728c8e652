"""`nmt train`: from a prepared corpus to a model."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import typer

from nmt_cli.cli.options import Configuration, DataDirectory, Force, ModelDirectory, Quiet, Verbose, with_settings
from nmt_cli.cli.render import Screen, TrainingScreen, cut_line
from nmt_cli.errors import MissingExtraError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.config import TrainConfig


@with_settings
def train(
    network: ModelConfig,
    training: TrainConfig,
    data: DataDirectory = Path("prepared"),
    model: ModelDirectory = Path("model"),
    force: Force = False,
    config: Configuration = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train a translator on a prepared corpus.

    By default the network is a bidirectional GRU encoder and a GRU decoder with Bahdanau's additive attention. After
    each epoch the development set is translated; the best weights are exported to the model directory. Ctrl-C ends
    training early with a model that works, a second Ctrl-C at once.
    """
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.inference.bundle import claim

    require_tensorflow()
    screen = Screen(quiet=quiet, verbose=verbose)
    corpus = PreparedCorpus.load(data)  # what is wrong with the request is told before TensorFlow is waited for
    claim(model, replace=force)
    screen.say(f"{corpus.source_language} -> {corpus.target_language}, from {data}/ to {model}/")
    if corpus.manifest.cut is not None:
        screen.warn(cut_line(corpus.manifest.cut))
    with stop_signals() as stop:
        with screen.status("starting TensorFlow"), silent_tensorflow():
            from nmt_cli.training.run import train as run
        with TrainingScreen(screen, network, stop) as watcher:
            report = run(corpus, model, network, training, watcher=watcher)
    watcher.summary(report, model, pictures=corpus.has_pictures)
    if stop.signal:
        raise typer.Exit(128 + stop.signal)


def require_tensorflow(what: str = "training") -> None:
    for package in ("tensorflow", "tf2onnx"):
        if find_spec(package) is None:
            raise MissingExtraError(
                f"{what} needs {package}, which is not installed",
                hint="install it with `pip install 'nmt-cli[train]'`",
            )


class Stop:
    """Which signal asked training to end, if any."""

    signal: int = 0

    def __call__(self) -> bool:
        return bool(self.signal)

    def request(self, number: int, frame: FrameType | None) -> None:
        """Signal handler: the first request is noted, a second ends the process at once."""
        if self.signal:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Within the block SIGINT and SIGTERM ask for an end instead of forcing it."""
    stop = Stop()
    before = {number: signal.signal(number, stop.request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def silent_tensorflow() -> Iterator[None]:
    """Imports within the block get a TensorFlow backend and leave no log lines on stderr.

    Some of them are written by C++ before any setting is read, so the descriptor itself is turned away.
    """
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
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
