"""`nmt train`: from a prepared corpus to a model."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nmt_cli.api.advice import (
    FORCE,
    Advice,
    Commands,
    Trained,
    advise_on_model,
    has_learned_nothing,
)
from nmt_cli.api.command_lines import CommandLine, TypedOption, describe_train, list_values, recall_prepare
from nmt_cli.api.explicit import ExplicitOptions
from nmt_cli.api.startup import require_tensorflow, silent_tensorflow
from nmt_cli.api.train import combine_watchers, load_training
from nmt_cli.cli.parsing.options import AsJson, DataOption, Force, ModelOption
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cli.render import Screen, format_cut
from nmt_cli.cli.stopping import Stop, catch_stop_signals
from nmt_cli.cli.training_screen import TrainingScreen, format_time
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.settings import Settings
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.distributed.process import ProcessRole
from nmt_cli.training.watcher import Watcher

if TYPE_CHECKING:
    from nmt_cli.training.request import TrainingRequest
    from nmt_cli.training.run import TrainReport
    from nmt_cli.training.synthetic.stage_options import StageOptions

Resume = Annotated[
    bool,
    typer.Option("--resume", help="Continue from the last checkpoint, if there is one.", rich_help_panel="Files"),
]
TensorBoardDirectory = Annotated[
    Path | None,
    typer.Option("--tensorboard", help="Directory for TensorBoard logs.", rich_help_panel="Output"),
]

Reverse = Annotated[
    bool,
    typer.Option("--reverse", help="Train the other direction: from target to source.", rich_help_panel="Files"),
]
Runs = Annotated[
    int,
    typer.Option(
        "--runs",
        min=1,
        help="Number of trainings with different seeds, from --seed on, in run-1, run-2 and so on below --model; the "
        "best becomes the model.",
        rich_help_panel="Optimisation",
    ),
]
KeepStages = Annotated[
    bool,
    typer.Option(
        "--keep-stages",
        help="Keep the helper models and the synthetic pairs in the model directory.",
        rich_help_panel="Synthetic pairs",
    ),
]

LogEvery = Annotated[
    float,
    typer.Option(
        "--log-every",
        help="Seconds between two lines of progress where the output is no terminal; 0 for one line per epoch alone.",
        rich_help_panel="Output",
        min=0,
    ),
]

FIRST_RUN = "run-1"  # of --runs, whose options are those of all; training.checkpoints.lock needs numpy
LATE = 1.05  # share of --time above which a late end is reported


def find_saved_options(
    values: Mapping[str, Any], explicit: ExplicitOptions
) -> Mapping[type[Settings], Mapping[str, Any]]:
    """Returns the options of the checkpoint that --resume continues from; none without --resume, or a checkpoint."""
    if not values["resume"] or values["force"]:
        return {}
    from nmt_cli.training.checkpoints.saved_options import read_saved_options
    from nmt_cli.training.synthetic.stage_options import restore_stage_options

    directory = locate_first_run(values["model"], values["runs"])
    names = {*explicit.typed, *explicit.filed}
    stages = find_options_of_stages(values["model"], values["runs"])
    if stages is not None:
        return restore_stage_options(directory, stages, values, names)
    return read_saved_options(directory, values, names)


def find_options_of_stages(model: Path, runs: int) -> StageOptions | None:
    """Returns the options with which a training with synthetic pairs began, if --resume takes its options from them."""
    from nmt_cli.training.synthetic.stage_options import find_stage_options

    return find_stage_options(locate_first_run(model, runs), several_runs=runs > 1)


def locate_first_run(model: Path, runs: int) -> Path:
    return model / FIRST_RUN if runs > 1 else model


@partial(with_settings, fallback=find_saved_options)
def train(
    screen: Screen,
    explicit: ExplicitOptions,
    network: ModelConfig,
    training: TrainConfig,
    data: DataOption = Path("prepared"),
    model: ModelOption = Path("model"),
    force: Force = False,
    resume: Resume = False,
    reverse: Reverse = False,
    keep_stages: KeepStages = False,
    runs: Runs = 1,
    tensorboard: TensorBoardDirectory = None,
    log_every: LogEvery = 60.0,
    as_json: AsJson = False,
) -> None:
    """Train a translator on a prepared corpus.

    The default network has a bidirectional GRU encoder, and a GRU decoder with scaled dot-product attention; its size,
    and how it is trained, follow the size of the corpus. After each epoch the development set is translated, and the
    best weights are exported to the model directory. Ctrl-C ends training early with a usable model; a second Ctrl-C
    stops at once. After that, or after a crash, the same command with --resume continues where it stopped.
    """
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.corpus.reversed import reverse_corpus
    from nmt_cli.training.checkpoints.lock import lock_model
    from nmt_cli.training.request import TrainingRequest
    from nmt_cli.training.synthetic.plan import make_plan

    deadline = Deadline.from_option(training.time)  # the time before training counts too
    require_tensorflow()
    role = ProcessRole.parse(os.environ.get("TF_CONFIG"))
    check_processes(role, runs)
    corpus = PreparedCorpus.load(data)  # errors in the request come before TensorFlow starts
    corpus = reverse_corpus(corpus) if reverse else corpus
    plan = make_plan(corpus, training)
    chosen = select_explicit(explicit, model, resume=resume, force=force, runs=runs)
    request = TrainingRequest(
        corpus, model, network, training, role=role, resume=resume, deadline=deadline, explicit=chosen
    )
    if not role.is_chief:
        assist_chief(request, screen)
        return
    continued = resume and runs > 1 and (model / FIRST_RUN).is_dir()  # the best run so far is no training to resume
    resumption = describe_resumption(data, model, reverse=reverse, runs=runs, keep_stages=keep_stages)
    with lock_model(model, replace=force or continued, resume=resume and runs == 1):
        choice = announce_training(screen, request, data, has_stages=bool(plan.tasks))
        with catch_stop_signals() as stop:
            with screen.show_status("starting TensorFlow"), silent_tensorflow():
                run = load_runs(runs, with_synthetic=bool(plan.tasks), replace_models=force, keep_stages=keep_stages)
            shown = TrainingScreen(screen, stop, log_every, announced=choice)
            with shown, explain_interruption(screen, stop, resumption):
                report = run(replace(request, watcher=combine_watchers(shown, None, tensorboard)))
    trained = Trained(reverse, training.init_from is not None, plan.mode, training.time is not None, runs)
    commands = describe_commands(request, data, trained, explicit)
    advice = advise_on_model(corpus.manifest, report, commands, trained)
    shown.show_summary(report, model, None if stop.signal else advice, pictures=corpus.has_pictures)
    print_json(report, model, advice, as_json=as_json)
    if runs == 1:
        warn_if_late(screen, request)
    if stop.signal:
        shown.show_interruption(report, resumption, runs)
        raise typer.Exit(128 + stop.signal)


def announce_training(screen: Screen, request: TrainingRequest, data: Path, *, has_stages: bool) -> str | None:
    """Prints what is chosen, what is trained, and what of its sources was cut; returns the choice that was printed.

    Where helper models come first, each training tells its own choice.
    """
    from nmt_cli.training.defaults import fit_to_corpus

    corpus = request.corpus
    choice = None if has_stages else fit_to_corpus(request).choice
    if choice is not None:
        screen.say(choice)
    screen.say(f"{corpus.source_language} -> {corpus.target_language}, from {data}/ to {request.directory}/")
    if corpus.manifest.truncation is not None:
        screen.warn(format_cut(corpus.manifest.truncation))
    return choice


def select_explicit(
    explicit: ExplicitOptions, model: Path, *, resume: bool, force: bool, runs: int
) -> frozenset[str] | None:
    """Returns the names of the options that the user set; None where a checkpoint has all: it is not chosen anew."""
    typed = explicit.select_fields(ModelConfig) | explicit.select_fields(TrainConfig)
    stages = find_options_of_stages(model, runs) if resume and not force else None
    if stages is not None:
        return None if stages.explicit is None else stages.explicit | typed
    is_saved = bool(find_saved_options({"resume": resume, "force": force, "runs": runs, "model": model}, explicit))
    return None if is_saved else typed


def warn_if_late(screen: Screen, request: TrainingRequest) -> None:
    deadline = request.deadline
    if deadline is not None and deadline.elapsed > LATE * deadline.seconds:
        time = request.training.time
        screen.warn(f"the whole command took {format_time(deadline.elapsed)}, longer than --time {time}")


def describe_commands(request: TrainingRequest, data: Path, trained: Trained, explicit: ExplicitOptions) -> Commands:
    """Returns the commands that prepare this corpus, train on it anew, and continue training, unless nothing can."""
    from nmt_cli.runtime.model_directory import STAGES

    model, has_stages = request.directory, trained.synthetic != "none"
    direction: list[TypedOption] = [("--reverse",)] if trained.is_reversed else []
    typed = list_typed_options(explicit, request.network, request.training)
    prepare = recall_prepare(request.corpus.manifest, data)
    anew = describe_train(data, model, *direction, *typed, FORCE)
    if has_stages and not (model / STAGES).is_dir():  # what training could continue with
        return Commands(prepare, anew)
    resume = describe_resumption(data, model, reverse=trained.is_reversed, keep_stages=has_stages)
    return Commands(prepare, anew, resume)


def list_typed_options(explicit: ExplicitOptions, *settings: Settings) -> list[TypedOption]:
    """Returns the options of these settings that were typed, and the file of the others, as they are typed."""
    values = {name: value for group in settings for name, value in group.to_mapping().items()}
    typed: list[TypedOption] = [] if explicit.file is None else [("--config", str(explicit.file))]
    for name, flag in explicit.typed.items():
        typed += list_values(flag, values[name]) if name in values else []
    return typed


def print_json(report: TrainReport, model: Path, advice: Advice, *, as_json: bool) -> None:
    """Prints what `--json` says of a model, if it is asked for."""
    values = {
        "model": str(model),
        "epochs": list(report.epochs),
        "learned_nothing": has_learned_nothing(report.validation),
        "development": asdict(report.validation),
        "advice": advice.to_mapping(),
    }
    if as_json:
        typer.echo(json.dumps(values, ensure_ascii=False))


@contextmanager
def explain_interruption(screen: Screen, stop: Stop, resumption: CommandLine) -> Iterator[None]:
    """Ends the command with the exit code of the signal if a training with synthetic pairs was stopped on its way."""
    from nmt_cli.training.synthetic.plan import Interrupted

    try:
        yield
    except Interrupted as interruption:
        screen.warn(f"{interruption}; continue with {resumption}")
        raise typer.Exit(128 + (stop.signal or signal.SIGINT)) from None


def load_runs(
    runs: int, *, with_synthetic: bool, replace_models: bool, keep_stages: bool
) -> Callable[[TrainingRequest], TrainReport]:
    """Returns a function that trains as often as there are runs. Its import starts TensorFlow."""
    if runs == 1:
        return load_training(with_synthetic=with_synthetic, keep_stages=keep_stages)
    # The stages of a run that is done tell --resume what the other runs need.
    run = load_training(with_synthetic=with_synthetic, keep_stages=True)
    from nmt_cli.training.repeated import train_repeatedly

    return partial(train_repeatedly, train=run, runs=runs, replace_models=replace_models, keep_stages=keep_stages)


def describe_resumption(
    data: Path, model: Path, *, reverse: bool = False, runs: int = 1, keep_stages: bool = False
) -> CommandLine:
    """Returns the command that continues a training; the checkpoint has all options but those of the command itself."""
    again: list[TypedOption] = [("--reverse",)] if reverse else []
    again += [("--runs", str(runs))] if runs > 1 else []
    again += [("--keep-stages",)] if keep_stages else []
    return describe_train(data, model, *again, ("--resume",))


def check_processes(role: ProcessRole, runs: int) -> None:
    """Raises OptionError for several runs of several processes."""
    if runs > 1 and role.processes > 1:
        raise OptionError(f"--runs cannot be used with {role.processes} processes", hint="start the runs one by one")


def assist_chief(request: TrainingRequest, screen: Screen) -> None:
    """Trains as a process that is not the chief: it computes its share of each update and writes nothing."""
    from nmt_cli.training.checkpoints.checkpoint import locate_state

    screen.say(f"{request.role}: assists the chief, which shows progress and writes the model")
    with TemporaryDirectory(prefix="nmt.") as scratch, catch_stop_signals() as stop:
        if request.resume and locate_state(request.directory).is_file():
            locate_state(Path(scratch)).parent.mkdir(parents=True)
            copyfile(locate_state(request.directory), locate_state(Path(scratch)))
        with screen.show_status("starting TensorFlow"), silent_tensorflow():
            from nmt_cli.training.run import assist
        assist(replace(request, directory=Path(scratch), watcher=StopWatcher(screen, stop)))
    screen.say(f"{request.role}: done")
    if stop.signal:
        raise typer.Exit(128 + stop.signal)


class StopWatcher(Watcher):
    """Shows warnings alone, and passes on the request to stop."""

    def __init__(self, screen: Screen, stop: Stop) -> None:
        self.screen = screen
        self.stop = stop

    def warn(self, problem: str) -> None:
        self.screen.warn(problem)

    def should_stop(self) -> bool:
        return self.stop()
