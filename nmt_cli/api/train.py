"""Runs `nmt train` and `nmt.train`: turns a request into a trained model.

It reports every invalid option before TensorFlow starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack, cast

from nmt_cli.api.advice import FORCE, Advice, BaseCommands, TrainingSummary, advise_on_model, has_learned_nothing
from nmt_cli.api.log import log_warnings
from nmt_cli.api.options.command_lines import (
    CommandLine,
    TypedOption,
    describe_train,
    find_saved_options,
    list_typed,
    locate_first_run,
    name_beside,
    recall_prepare,
    recall_typed,
    select_explicit,
)
from nmt_cli.api.options.interface import check_call
from nmt_cli.api.options.options import PathLike, build_settings, find_path
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.progress import StageReporter
from nmt_cli.api.startup import require_tensorflow, silence_ray, silent_tensorflow
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.options import FIRST_RUN, NO_START, TrainOptions
from nmt_cli.training.watcher import EpochRecord, RequestInfo, StepStatus, TrainReport, Validation, Watcher, Watchers
from nmt_cli.workers.choice import RayOptions

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import TrainKeywords
    from nmt_cli.runtime.model_directory import KnownStart
    from nmt_cli.training.request import TrainRequest


# Watchers of a training run: stages for programs, TensorBoard, and the few reports of an assisting process.


class StageWatcher(Watcher):
    """Reports a training run as the stages of a `StageReporter`: updates, validations, the export."""

    def __init__(self, progress: StageReporter) -> None:
        self.progress = progress

    def report_step(self, status: StepStatus) -> None:
        self.progress(f"epoch {status.epoch}", status.step, status.steps_per_epoch)

    def report_validation(self, epoch: int) -> None:
        self.progress(f"validating epoch {epoch}", 0, 0)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.progress(f"validating epoch {record.epoch}", 1, 1)

    def report_stage(self, name: str, number: int, stages: int) -> None:
        self.progress(name, number, stages)

    def report_translations(self, done: int, total: int, seconds_left: float) -> None:
        self.progress("translating", done, total)

    def report_export(self) -> None:
        self.progress("exporting", 0, 0)


class LogWatcher(Watcher):
    """Logs warnings, for programs."""

    def warn(self, problem: str) -> None:
        log_warnings([problem])


class AssistantWatcher(Watcher):
    """Passes on only warnings and requests to stop, since the chief shows everything else."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def warn(self, problem: str) -> None:
        self.watcher.warn(problem)

    def should_stop(self) -> bool:
        return self.watcher.should_stop()


def combine_watchers(watcher: Watcher | None, progress: StageReporter | None, tensorboard: Path | None) -> Watcher:
    """Returns one watcher for all given ones; without a watcher, one that logs warnings."""
    watchers = [LogWatcher() if watcher is None else watcher]
    if progress is not None:
        watchers.append(StageWatcher(progress))
    if tensorboard is not None:
        from nmt_cli.training.watcher import TensorBoard

        watchers.append(TensorBoard(tensorboard, watchers[0].warn))
    return watchers[0] if len(watchers) == 1 else Watchers(*watchers)


LATE = 1.05  # share of --time above which a late end is reported
Loading = Callable[[], AbstractContextManager[None]]  # entered while TensorFlow starts


@dataclass(frozen=True)
class TrainOutcome:
    """The trained model, and the commands that would help most."""

    report: TrainReport
    advice: Advice
    example: str | None  # a source to try the model with
    init_from: str | None = None  # the model that training started from, as it was named or chosen
    late_seconds: float | None = None  # that the whole command took, if that is longer than its --time

    def to_mapping(self, model: Path) -> dict[str, Any]:
        """Returns the outcome as `--json` prints it."""
        return {
            "model": str(model),
            "epochs": list(self.report.epochs),
            "init_from": self.init_from,
            "learned_nothing": has_learned_nothing(self.report.validation),
            "development": asdict(self.report.validation),
            "advice": self.advice.to_mapping(),
        }


@check_call(ModelConfig, TrainOptions)
def train(
    *,
    data: PathLike = "prepared",
    model: PathLike = "model",
    force: bool = False,
    resume: bool = False,
    reverse: bool = False,
    keep_stages: bool = False,
    runs: int = 1,
    tensorboard: PathLike | None = None,
    ray: str | None = None,
    progress: StageReporter | None = None,
    watcher: Watcher | None = None,
    **options: Unpack[TrainKeywords],
) -> TrainReport:
    """Trains a network on the prepared corpus `data`, and writes the model directory `model`.

        nmt.train(time="30m").validation.bleu

    With `reverse`, the network translates from target to source. `nmt train --help-all` explains the `options`, such as
    `epochs=5` or `attention="dot"`. With `resume`, the options of the checkpoint still apply. A `watcher` receives
    every update, epoch and warning. Its `should_stop` may stop training early with a usable model. Raises DataError,
    OptionError, OutputError or TrainingError, and MissingExtraError without TensorFlow.
    """
    directory = Path(model)
    others = {"force": force, "resume": resume, "runs": runs, "model": directory}
    network, training = build_settings(
        "train", options, ModelConfig, TrainOptions, others=others, fallback=find_saved_options
    )
    request = open_request(
        network,
        training,
        ExplicitOptions.from_arguments(options, ModelConfig, TrainOptions),
        data=Path(data),
        model=directory,
        force=force,
        resume=resume,
        reverse=reverse,
        keep_stages=keep_stages,
        runs=runs,
        tensorboard=find_path(tensorboard),
        ray=ray,
        watcher=combine_watchers(watcher, progress, None),
    )
    outcome = run_training(request)
    return cast(TrainOutcome, outcome).report  # a process that trains alone is its own chief


def open_request(
    network: ModelConfig,
    training: TrainOptions,
    explicit: ExplicitOptions,
    *,
    data: Path,
    model: Path,
    runs: int,
    reverse: bool,
    cluster: str | None = None,
    ray: str | None = None,
    **command: Any,
) -> TrainRequest:
    """Returns the request for a training run with the corpus in `data`; the time of a deadline starts now.

    `cluster` is the value of TF_CONFIG; `command` holds the other fields of the request. Raises MissingExtraError
    without TensorFlow.
    """
    from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
    from nmt_cli.training.deadline import Deadline
    from nmt_cli.training.request import ProcessRole, TrainRequest

    deadline = Deadline.from_option(training.time)  # the time before training counts too
    require_tensorflow()
    role = ProcessRole.parse(cluster)
    if runs > 1 and role.processes > 1:
        raise OptionError(f"--runs cannot be used with {role.processes} processes", hint="start the runs one by one")
    corpus = PreparedCorpus.load(data)
    values = network.to_mapping() | training.to_mapping()
    began = recall_typed(model, runs) if command["resume"] and not command["force"] else ()
    return TrainRequest(
        reverse_corpus(corpus) if reverse else corpus,
        model,
        network,
        replace(training, init_from=None) if training.init_from == NO_START else training,
        role=role,
        deadline=deadline,
        explicit=select_explicit(explicit, model, resume=command["resume"], force=command["force"], runs=runs),
        ray=silence_ray(RayOptions(ray=ray)).ray,
        typed=CommandLine("train", options=tuple(began)).extend(*list_typed(values, explicit)).options,
        reverse=reverse,
        runs=runs,
        **command,
    )


def describe_resumption(request: TrainRequest) -> CommandLine:
    """Returns the command that continues a training run; the checkpoint holds all options but the command's own."""
    return describe_train(request.corpus.directory, request.directory, *list_more(request), ("--resume",))


def list_more(request: TrainRequest) -> list[TypedOption]:
    """Returns the typed options that belong to the command itself, and so are not stored in a checkpoint."""
    more: list[TypedOption] = [("--reverse",)] if request.reverse else []
    more += [("--runs", str(request.runs))] if request.runs > 1 else []
    more += [("--keep-stages",)] if request.keep_stages else []
    return more + ([] if request.ray is None else [("--ray", request.ray)])


def explain_end(request: TrainRequest) -> str:
    """Says what was saved of a training run that was stopped at once, and which command continues or repeats it."""
    from nmt_cli.runtime.model_directory import CARD, STAGES
    from nmt_cli.training.checkpoints import is_of_earlier
    from nmt_cli.training.request import read_started_facts

    first = locate_first_run(request.directory, request.runs)
    if not is_of_earlier(first) and ((first / STAGES).is_dir() or read_started_facts(first) is not None):
        return f"interrupted; continue from the last checkpoint with: {describe_resumption(request)}"
    forced = [FORCE] if request.force else []
    again = describe_train(request.corpus.directory, request.directory, *list_more(request), *request.typed, *forced)
    kept = f"; {request.directory}/ still contains the earlier model" if (request.directory / CARD).is_file() else ""
    return f"interrupted before the first update: nothing was saved{kept}. Start again with: {again}"


def run_training(request: TrainRequest, loading: Loading = nullcontext) -> TrainOutcome | None:
    """Runs the requested training; returns None in a process that assists the chief, which writes the model.

    Raises the errors of `train`, and Interrupted if the watcher stops a run with synthetic pairs before the model
    itself is trained.
    """
    from nmt_cli.training.checkpoints import lock_model
    from nmt_cli.training.data.synthetic_pairs import make_plan
    from nmt_cli.training.defaults import fit_to_corpus

    starts = list_open_starts(request)
    if start := choose_start(starts, request.training):
        request = replace(request, training=replace(request.training, init_from=start.name))
    plan = make_plan(request.corpus, request.training)
    if not request.role.is_chief:
        report_request(request)
        assist_chief(request, loading, with_synthetic=bool(plan.tasks))
        return None
    continued = request.resume and request.runs > 1 and (request.directory / FIRST_RUN).is_dir()
    resumed = request.resume and request.runs == 1  # of several runs, the best so far is no training to resume
    with lock_model(request.directory, replace=request.force or continued, resume=resumed):
        # Helper models, which come first if there are any, describe the settings chosen for themselves.
        report_request(
            request,
            None if plan.tasks else fit_to_corpus(request).choice,
            explain_start(start, starts, request.training),
        )
        with loading(), silent_tensorflow():
            run = load_training(request, with_synthetic=bool(plan.tasks))
        report = run(replace(request, watcher=combine_watchers(request.watcher, None, request.tensorboard)))
    trained = TrainingSummary(
        request.reverse,
        request.training.init_from is not None or any(start.difference for start in starts),
        plan.mode,
        request.training.time is not None,
        request.runs,
    )
    return conclude_training(request, report, trained)


# Training pairs, below which a parent that shares a language is the default: with text that looks like the parent's, it
# brought 4.6 BLEU at 6,379 pairs of English-Vietnamese, 1.9 at 19,826 of English-Dutch and 2.1 at 46,518, the largest
# corpus measured; it cost 1.0 and 2.3 in lower case (benchmarks/log/small-corpora.md).
BREAK_EVEN_PAIRS = 50_000


def list_open_starts(request: TrainRequest) -> list[KnownStart]:
    """Returns the installed models that share a language with a new training run on few pairs, the best first.

    Options of the network, synthetic pairs and --init-from turn this choice off.
    """
    from nmt_cli.runtime.model_directory import list_starts
    from nmt_cli.training.data.synthetic_pairs import make_plan

    corpus, config, explicit = request.corpus, request.training, request.explicit
    if explicit is None or "init_from" in explicit or config.init_from is not None:
        return []
    if {*request.explicit_options} - {"dropout"} or request.role.processes > 1:
        return []
    few = len(corpus.load_encoded("train").source) < BREAK_EVEN_PAIRS
    if not (few and corpus.manifest.source.is_text) or make_plan(corpus, config).tasks:
        return []
    return list_starts(corpus.languages, corpus.profile)


def choose_start(starts: Sequence[KnownStart], config: TrainOptions) -> KnownStart | None:
    """Returns the model to start from by default; not one of both languages, which may have seen the test set.

    Returns None if a time limit is set: the time chooses the size of the network, which a start would fix.
    """
    fitting = (start for start in starts if len(start.sides) == 1 and not start.difference)
    return next(fitting, None) if config.time is None else None


def explain_start(start: KnownStart | None, starts: Sequence[KnownStart], config: TrainOptions) -> str | None:
    """Returns a line that says which model a run starts from, or why it starts from none; None without models."""
    if start is not None:
        return f"few pairs: starts from {start.name}, which has {start.reason}; --init-from none prevents this"
    if not starts:
        return None
    name, why = starts[0].name, starts[0].difference or starts[0].doubt
    if choose_start(starts, replace(config, time=None)):
        why = f"which has {starts[0].reason}, because --time chooses the size of the network"
    return f"does not start from {name}, {why}; to start from it, add --init-from {name}"


def report_request(request: TrainRequest, choice: str | None = None, why: str | None = None) -> None:
    """Reports to the watcher the network, the corpus, the chosen settings, and the model that training starts from."""
    corpus = request.corpus
    assistant = None if request.role.is_chief else str(request.role)
    request.watcher.report_request(
        RequestInfo(
            corpus.manifest.direction,
            corpus.directory,
            request.directory,
            choice,
            corpus.manifest.truncation,
            assistant,
            why,
        )
    )


def load_training(request: TrainRequest, *, with_synthetic: bool) -> Callable[[TrainRequest], TrainReport]:
    """Returns the function that trains, once or several times. Importing it starts TensorFlow."""
    if with_synthetic:
        from nmt_cli.training.synthetic import train_with_synthetic as run
    else:
        from nmt_cli.training.run import train as run
    if request.runs == 1:
        return run
    from nmt_cli.training.run import train_repeatedly

    return partial(train_repeatedly, train=run)


def assist_chief(request: TrainRequest, loading: Loading, *, with_synthetic: bool) -> None:
    """Trains as a process that is not the chief: it computes its share of each update and writes nothing."""
    from nmt_cli.training.checkpoints import locate_state

    with TemporaryDirectory(prefix="nmt.") as scratch:
        state = locate_state(Path(scratch))
        resumes = request.resume and locate_state(request.directory).is_file()  # if not, the chief says so
        if resumes:
            state.parent.mkdir(parents=True)
            copyfile(locate_state(request.directory), state)
        watcher = AssistantWatcher(request.watcher)
        part = replace(request, directory=Path(scratch), resume=resumes, watcher=watcher)
        with loading(), silent_tensorflow():
            from nmt_cli.training.run import assist
            from nmt_cli.training.synthetic import assist_with_synthetic
        if with_synthetic:
            assist_with_synthetic(part, request.directory)
        else:
            assist(part)


def conclude_training(request: TrainRequest, report: TrainReport, trained: TrainingSummary) -> TrainOutcome:
    """Returns the outcome: the report, advice and, if training took too long, the time that it took."""
    corpus, deadline = request.corpus, request.deadline
    advice = advise_on_model(corpus.manifest, report, describe_commands(request, trained), trained)
    is_late = deadline is not None and request.runs == 1 and deadline.elapsed > LATE * deadline.seconds
    late = deadline.elapsed if deadline is not None and is_late else None
    # A picture is no example, since its name is relative to the file that named it.
    example = next(iter(corpus.select_texts([report.validation.sample_source])), None)
    return TrainOutcome(report, advice, example, request.training.init_from, late)


def describe_commands(request: TrainRequest, trained: TrainingSummary) -> BaseCommands:
    """Returns the commands that prepare this corpus, train on it anew, and continue training, if possible."""
    from nmt_cli.runtime.model_directory import STAGES

    data, model, has_stages = request.corpus.directory, request.directory, trained.synthetic != "none"
    prepare = recall_prepare(request.corpus.manifest, data)
    typed = (*list_more(request), *request.typed)
    beside = describe_train(data, name_beside(model), *typed)
    commands = BaseCommands(prepare, describe_train(data, model, *typed, FORCE), beside=beside)
    if has_stages and not (model / STAGES).is_dir():  # what training could continue with
        return commands
    return commands._replace(resume=describe_resumption(replace(request, runs=1, keep_stages=has_stages)))
