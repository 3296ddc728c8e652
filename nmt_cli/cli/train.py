"""`nmt train`: from a prepared corpus to a model."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from nmt_cli.cli.options import (
    Configuration,
    DataDirectory,
    Force,
    Given,
    ModelDirectory,
    Quiet,
    Verbose,
    with_settings,
)
from nmt_cli.cli.render import Screen, cut_line
from nmt_cli.cli.tensorflow_startup import require_tensorflow, silent_tensorflow
from nmt_cli.cli.training_screen import TrainingScreen, clock
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ATTENTIONS, ModelConfig
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.distributed.process import Place
from nmt_cli.training.watcher import Watcher, Watchers

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus

Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on from the last checkpoint, if there is one.", rich_help_panel="Files"),
]
TensorBoardDirectory = Annotated[
    Path | None,
    typer.Option("--tensorboard", help="Directory for TensorBoard's logs.", rich_help_panel="Output"),
]

LATE = 1.05  # of the time that was given: what is told


@with_settings
def train(
    given: Given,
    network: ModelConfig,
    training: TrainConfig,
    data: DataDirectory = Path("prepared"),
    model: ModelDirectory = Path("model"),
    force: Force = False,
    resume: Resume = False,
    tensorboard: TensorBoardDirectory = None,
    config: Configuration = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train a translator on a prepared corpus.

    By default the network is a bidirectional GRU encoder and a GRU decoder with Bahdanau's additive attention. After
    each epoch the development set is translated; the best weights are exported to the model directory. Ctrl-C ends
    training early with a model that works, a second Ctrl-C at once. After that, or after a crash, the same command with
    --resume goes on where it was.
    """
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.training.checkpoints.lock import claimed

    deadline = Deadline.of(training.time)  # what was waited for before training counts too
    require_tensorflow()
    if force and resume:
        raise OptionError("--force begins anew and --resume goes on", hint="give one of them")
    check_meaning(given, network, training)
    screen = Screen(quiet=quiet, verbose=verbose)
    corpus = PreparedCorpus.load(data)  # what is wrong with the request is told before TensorFlow is waited for
    place = Place.parse(os.environ.get("TF_CONFIG"))
    asked = given.among(ModelConfig)
    if not place.is_chief:
        help_the_chief(corpus, model, network, training, place, screen, resume=resume, asked=asked)
        return
    with claimed(model, replace=force, resume=resume):
        screen.say(f"{corpus.source_language} -> {corpus.target_language}, from {data}/ to {model}/")
        if corpus.manifest.cut is not None:
            screen.warn(cut_line(corpus.manifest.cut))
        with stop_signals() as stop:
            with screen.status("starting TensorFlow"), silent_tensorflow():
                from nmt_cli.training.run import train as run
            with TrainingScreen(screen, stop) as shown:
                watcher = watched(shown, tensorboard)
                together = partial(run, place=place, deadline=deadline, resume=resume, asked=asked)
                report = together(corpus, model, network, training, watcher=watcher)
    shown.summary(report, model, pictures=corpus.has_pictures)
    if deadline is not None and deadline.elapsed > LATE * deadline.seconds:
        screen.warn(f"it took {clock(deadline.elapsed)} from the command on, longer than --time {training.time}")
    if stop.signal:
        raise typer.Exit(128 + stop.signal)


def check_meaning(given: Given, network: ModelConfig, training: TrainConfig) -> None:
    """Raises OptionError for options that say nothing, because of others. What is typed wins over `--config`."""
    if training.time is not None:
        given.refuse(["epochs"], "does not go with --time", hint="the time says how many: give one")
    if training.batch_tokens is not None:
        hint = "a batch is so many sentences or so many tokens: give one of them"
        given.refuse(["batch"], "does not go with --batch-tokens", hint=hint)
    if training.replay is None:
        given.refuse(["replay_share"], "is about --replay", hint="name the prepared directory of the old pairs by it")
    if network.architecture == "rnn" and not network.attention_kind.compares_in_units:
        why = f"does not go with --attention {network.attention}"
        hint = f"it is for {', '.join(name for name, kind in ATTENTIONS.items() if kind.compares_in_units)}"
        given.refuse(["attention_units"], why, beside="attention", hint=hint)
    if network.architecture == "transformer" and network.positions != "learned":
        why, hint = f"does not go with --positions {network.positions}", "these have no end; it is for learned ones"
        given.refuse(["max_positions"], why, beside="positions", hint=hint)


def help_the_chief(
    corpus: PreparedCorpus,
    model: Path,
    network: ModelConfig,
    training: TrainConfig,
    place: Place,
    screen: Screen,
    *,
    resume: bool,
    asked: Collection[str],
) -> None:
    """What a process does that is not the chief: it learns its share and leaves nothing."""
    from nmt_cli.training.checkpoints.checkpoint import state_path

    screen.say(f"{place}: helps the chief, which shows how training goes and writes the model")
    with TemporaryDirectory(prefix="nmt.") as own, stop_signals() as stop:
        if resume and state_path(model).is_file():
            state_path(Path(own)).parent.mkdir(parents=True)
            copyfile(state_path(model), state_path(Path(own)))
        with screen.status("starting TensorFlow"), silent_tensorflow():
            from nmt_cli.training.run import assist
        watcher = Asked(screen, stop)
        assist(corpus, Path(own), network, training, place=place, watcher=watcher, resume=resume, asked=asked)
    screen.say(f"{place}: done")
    if stop.signal:
        raise typer.Exit(128 + stop.signal)


class Asked(Watcher):
    """Shows nothing but warnings, and passes on that someone asked for an end."""

    def __init__(self, screen: Screen, stop: Stop) -> None:
        self.screen = screen
        self.stop = stop

    def warned(self, problem: str) -> None:
        self.screen.warn(problem)

    def should_stop(self) -> bool:
        return self.stop()


def watched(screen: TrainingScreen, tensorboard: Path | None) -> Watcher:
    """Whoever else wants to see the training, beside the screen."""
    if tensorboard is None:
        return screen
    from nmt_cli.training.tensorboard import TensorBoard

    return Watchers(screen, TensorBoard(tensorboard, screen.warned))


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
    """Within the block SIGINT and SIGTERM ask for an end instead of forcing it.

    A block that such a signal ends before there is anything to keep exits as the signal wants it.
    """
    stop = Stop()
    before = {number: signal.signal(number, stop.request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    except KeyboardInterrupt:
        if stop.signal == signal.SIGTERM:
            raise typer.Exit(128 + stop.signal) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
