"""`nmt train`: from a prepared corpus to a model."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.api.options.saved_training import find_saved_options
from nmt_cli.api.train import TrainRequest, run_training
from nmt_cli.cli.parsing.options import AsJson, DataOption, Force, WrittenModelOption, declare_option
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cli.render import Screen
from nmt_cli.cli.stopping import Stop, catch_stop_signals
from nmt_cli.cli.training_screen import TrainingScreen
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.config import TrainConfig
from nmt_cli.workers.choice import RayConfig

RUNS_HELP = (
    "Number of trainings with different seeds, from --seed on, in run-1, run-2 and so on below --model; the best "
    "becomes the model."
)
STAGES_HELP = "Keep the helper models and the synthetic pairs in the model directory."
LOG_HELP = "Seconds between lines of progress if the output is not a terminal; 0 for only one line per epoch."


@partial(with_settings, fallback=find_saved_options)
def train(
    screen: Screen,
    explicit: ExplicitOptions,
    network: ModelConfig,
    training: TrainConfig,
    translating: RayConfig,
    data: DataOption = Path("prepared"),
    model: WrittenModelOption = Path("model"),
    force: Force = False,
    resume: Annotated[
        bool, declare_option("--resume", "Continue from the last checkpoint, if there is one.", "Files")
    ] = False,
    reverse: Annotated[
        bool, declare_option("--reverse", "Train the other direction: from target to source.", "Files", harmless=True)
    ] = False,
    keep_stages: Annotated[bool, declare_option("--keep-stages", STAGES_HELP, "Synthetic pairs")] = False,
    runs: Annotated[int, declare_option("--runs", RUNS_HELP, "Optimisation", min=1)] = 1,
    tensorboard: Annotated[
        Path | None, declare_option("--tensorboard", "Directory for TensorBoard logs.", "Output")
    ] = None,
    log_every: Annotated[float, declare_option("--log-every", LOG_HELP, "Output", min=0)] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Train a translator on a prepared corpus.

    The default network has a bidirectional GRU encoder, and a GRU decoder with scaled dot-product attention; its size,
    and how it is trained, follow the size of the corpus. After each epoch the development set is translated, and the
    best weights are exported to the model directory. Ctrl-C ends training early with a usable model; a second Ctrl-C
    stops at once. After that, or after a crash, the same command with --resume continues where it stopped.
    """
    request = TrainRequest(
        network=network,
        training=training,
        explicit=explicit,
        data=data,
        model=model,
        force=force,
        resume=resume,
        reverse=reverse,
        keep_stages=keep_stages,
        runs=runs,
        tensorboard=tensorboard,
        ray=translating.ray,
        cluster=os.environ.get("TF_CONFIG"),
    )
    loading = partial(screen.show_status, "starting TensorFlow")
    with catch_stop_signals() as stop, TrainingScreen(screen, stop, log_every) as shown:
        with explain_interruption(screen, stop, request):
            outcome = run_training(request, shown, loading)
    shown.show_outcome(outcome, request, was_stopped=bool(stop.signal))
    if as_json and outcome is not None:
        typer.echo(json.dumps(outcome.to_mapping(model) | explicit.origin_entry, ensure_ascii=False))
    if stop.signal:
        raise typer.Exit(128 + stop.signal)


@contextmanager
def explain_interruption(screen: Screen, stop: Stop, request: TrainRequest) -> Iterator[None]:
    """Ends the command with the signal's exit code if a training with synthetic pairs was stopped midway."""
    from nmt_cli.training.synthetic.plan import Interrupted

    try:
        yield
    except Interrupted as interruption:
        screen.warn(f"{interruption}; continue with {request.resumption}")
        raise typer.Exit(128 + (stop.signal or signal.SIGINT)) from None
