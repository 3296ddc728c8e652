"""`nmt train` and `nmt.train`: one call, from the request to the trained model.

Everything that can be refused is refused before TensorFlow starts."""

from __future__ import annotations

from collections.abc import Callable
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
    list_values,
    recall_prepare,
    select_explicit,
)
from nmt_cli.api.options.options import PathLike, build_settings, explain_os_errors, find_path
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.progress import StageReporter
from nmt_cli.api.startup import require_tensorflow, silence_ray, silent_tensorflow
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.options import FIRST_RUN, NO_START, TrainConfig
from nmt_cli.training.watcher import EpochRecord, RequestInfo, StepStatus, Validation, Watcher, Watchers
from nmt_cli.workers.choice import RayConfig

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import TrainKeywords
    from nmt_cli.runtime.model_directory import KnownStart
    from nmt_cli.training.request import TrainingRequest
    from nmt_cli.training.run import TrainReport


# Watchers of a training: stages for programs, TensorBoard, and the few reports of an assisting process.


class StageWatcher(Watcher):
    """Reports a training as the stages of a `StageReporter`: updates, validations, the export."""

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
    """Passes on only warnings and the wish to stop, since the chief shows everything else."""

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


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """The requested training, its corpus, and the explicitly set options."""

    network: ModelConfig
    training: TrainConfig
    explicit: ExplicitOptions
    data: Path
    model: Path
    force: bool = False
    resume: bool = False
    reverse: bool = False
    keep_stages: bool = False
    runs: int = 1
    tensorboard: Path | None = None
    ray: str | None = None  # the address of a cluster that translates for synthetic pairs
    cluster: str | None = None  # TF_CONFIG: the processes that train together, and which of them this one is

    @property
    def resumption(self) -> CommandLine:
        """The command that continues the training; the checkpoint holds all options but the command's own."""
        again: list[TypedOption] = [("--reverse",)] if self.reverse else []
        again += [("--runs", str(self.runs))] if self.runs > 1 else []
        again += [("--keep-stages",)] if self.keep_stages else []
        again += [] if self.ray is None else [("--ray", self.ray)]
        return describe_train(self.data, self.model, *again, ("--resume",))

    @property
    def typed_options(self) -> list[TypedOption]:
        """The typed options of the network and of training, and the file of the others."""
        values = self.network.to_mapping() | self.training.to_mapping()
        typed: list[TypedOption] = [] if self.explicit.file is None else [("--config", str(self.explicit.file))]
        for name, flag in self.explicit.typed.items():
            typed += list_values(flag, values[name]) if name in values else []
        return typed


@dataclass(frozen=True)
class TrainOutcome:
    """The trained model, and what would help most."""

    report: TrainReport
    advice: Advice
    example: str | None  # a source to try the model with
    init_from: str | None = None  # the model that training started from, as it was named or chosen
    late_seconds: float | None = None  # that the whole command took, if that is longer than its --time

    def to_mapping(self, model: Path) -> dict[str, Any]:
        """Returns the outcome in the form of `--json`."""
        return {
            "model": str(model),
            "epochs": list(self.report.epochs),
            "init_from": self.init_from,
            "learned_nothing": has_learned_nothing(self.report.validation),
            "development": asdict(self.report.validation),
            "advice": self.advice.to_mapping(),
        }


@explain_os_errors
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

    With `reverse`, the network translates from target to source. `options` are those of `nmt train`, such as `epochs=5`
    or `attention="dot"`; with `resume`, the checkpoint's continue to apply. A `watcher` sees every update, epoch and
    warning, and its `should_stop` may end training early with a usable model. Raises DataError, OptionError,
    OutputError or TrainingError, and MissingExtraError without TensorFlow.
    """
    others: dict[str, Any] = {"force": force, "resume": resume, "runs": runs, "model": Path(model)}
    network, training = build_settings(
        "train", options, ModelConfig, TrainConfig, others=others, fallback=find_saved_options
    )
    request = TrainRequest(
        network=network,
        training=training,
        explicit=ExplicitOptions.from_arguments(options, ModelConfig, TrainConfig),
        data=Path(data),
        reverse=reverse,
        keep_stages=keep_stages,
        tensorboard=find_path(tensorboard),
        ray=ray,
        **others,
    )
    outcome = run_training(request, combine_watchers(watcher, progress, None))
    return cast(TrainOutcome, outcome).report  # a process that trains alone is its own chief


def run_training(request: TrainRequest, watcher: Watcher, loading: Loading = nullcontext) -> TrainOutcome | None:
    """Runs the requested training; returns None in a process that assists the chief, which writes the model.

    Raises Interrupted if the watcher stops a training with synthetic pairs before the model itself is trained, and the
    errors of `train`.
    """
    from nmt_cli.training.checkpoints import lock_model
    from nmt_cli.training.data.synthetic_pairs import make_plan
    from nmt_cli.training.defaults import fit_to_corpus

    training = open_training(request)
    start = choose_start(training)
    if start is not None:
        training = replace(training, training=replace(training.training, init_from=start.name))
    plan = make_plan(training.corpus, training.training)
    if not training.role.is_chief:
        watcher.report_request(describe_request(request, training, None))
        assist_chief(training, watcher, loading, with_synthetic=bool(plan.tasks))
        return None
    continued = request.resume and request.runs > 1 and (request.model / FIRST_RUN).is_dir()
    resumed = request.resume and request.runs == 1  # of several runs, the best so far is no training to resume
    with lock_model(request.model, replace=request.force or continued, resume=resumed):
        # Helper models, which come first if there are any, describe the settings chosen for themselves.
        choice = None if plan.tasks else fit_to_corpus(training).choice
        watcher.report_request(describe_request(request, training, choice, start))
        with loading(), silent_tensorflow():
            run = load_runs(request, with_synthetic=bool(plan.tasks))
        report = run(replace(training, watcher=combine_watchers(watcher, None, request.tensorboard)))
    trained = TrainingSummary(
        request.reverse,
        training.training.init_from is not None,
        plan.mode,
        request.training.time is not None,
        request.runs,
    )
    return conclude_training(request, training, report, trained)


# Training pairs, below which a parent that shares a language is the default. It brought 1.5 BLEU at 2,500 pairs of
# English-Japanese, 0.6 at 5,000 (benchmarks/log/small-corpora.md) and 2.3 at 6,441 of English-Vietnamese.
BREAK_EVEN_PAIRS = 20_000


def choose_start(training: TrainingRequest) -> KnownStart | None:
    """Returns the installed model that a new training on few pairs starts from by default; None for none.

    One that shares a single language: a model of both may have learned from the test set. The network, a time limit,
    synthetic pairs and --init-from, where they are asked for, leave nothing to choose.
    """
    from nmt_cli.runtime.model_directory import list_starts
    from nmt_cli.training.data.synthetic_pairs import make_plan

    corpus, config, explicit = training.corpus, training.training, training.explicit
    if explicit is None or "init_from" in explicit or config.init_from is not None or config.time is not None:
        return None
    if {*training.explicit_options} - {"dropout"} or training.role.processes > 1:
        return None
    few = len(corpus.load_encoded("train").source) < BREAK_EVEN_PAIRS
    if not (few and corpus.manifest.source.is_text) or make_plan(corpus, config).tasks:
        return None
    return next((start for start in list_starts(corpus.languages) if len(start.sides) == 1), None)


def open_training(request: TrainRequest) -> TrainingRequest:
    """Returns the training request with its corpus; the time of a deadline begins now. Raises MissingExtraError."""
    from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
    from nmt_cli.training.deadline import Deadline
    from nmt_cli.training.request import ProcessRole, TrainingRequest

    deadline = Deadline.from_option(request.training.time)  # the time before training counts too
    require_tensorflow()
    role = ProcessRole.parse(request.cluster)
    if request.runs > 1 and role.processes > 1:
        raise OptionError(f"--runs cannot be used with {role.processes} processes", hint="start the runs one by one")
    corpus = PreparedCorpus.load(request.data)
    config = request.training
    return TrainingRequest(
        reverse_corpus(corpus) if request.reverse else corpus,
        request.model,
        request.network,
        replace(config, init_from=None) if config.init_from == NO_START else config,
        role=role,
        ray=silence_ray(RayConfig(ray=request.ray)).ray,
        resume=request.resume,
        deadline=deadline,
        explicit=select_explicit(
            request.explicit, request.model, resume=request.resume, force=request.force, runs=request.runs
        ),
    )


def describe_request(
    request: TrainRequest, training: TrainingRequest, choice: str | None, start: KnownStart | None = None
) -> RequestInfo:
    corpus = training.corpus
    assistant = None if training.role.is_chief else str(training.role)
    why = start and f"so few pairs start from {start.name}, which has {start.reason}; --init-from none does not"
    return RequestInfo(
        corpus.languages, request.data, request.model, choice, corpus.manifest.truncation, assistant, why
    )


def load_runs(request: TrainRequest, *, with_synthetic: bool) -> Callable[[TrainingRequest], TrainReport]:
    """Returns a function that trains once per run. Its import starts TensorFlow."""
    if request.runs == 1:
        return load_training(with_synthetic=with_synthetic, keep_stages=request.keep_stages)
    # The stages of a run that is done tell --resume what the other runs need.
    run = load_training(with_synthetic=with_synthetic, keep_stages=True)
    from nmt_cli.training.run import train_repeatedly

    keep, runs = request.keep_stages, request.runs
    return partial(train_repeatedly, train=run, runs=runs, replace_models=request.force, keep_stages=keep)


def load_training(*, with_synthetic: bool, keep_stages: bool) -> Callable[[TrainingRequest], TrainReport]:
    """Returns the function that trains, whose import starts TensorFlow."""
    if not with_synthetic:
        from nmt_cli.training.run import train as run

        return run
    from nmt_cli.training.synthetic import train_with_synthetic

    return partial(train_with_synthetic, keep_stages=keep_stages)


def load_assistance(training: TrainingRequest, *, with_synthetic: bool) -> Callable[[TrainingRequest], None]:
    """Returns the function that takes part in a training, whose import starts TensorFlow."""
    if not with_synthetic:
        from nmt_cli.training.run import assist

        return assist
    from nmt_cli.training.synthetic import assist_with_synthetic

    return partial(assist_with_synthetic, model=training.directory)


def assist_chief(training: TrainingRequest, watcher: Watcher, loading: Loading, *, with_synthetic: bool) -> None:
    """Trains as a process that is not the chief: it computes its share of each update and writes nothing."""
    from nmt_cli.training.checkpoints import locate_state

    with TemporaryDirectory(prefix="nmt.") as scratch:
        resumes = training.resume and locate_state(training.directory).is_file()  # if not, the chief says so
        if resumes:
            locate_state(Path(scratch)).parent.mkdir(parents=True)
            copyfile(locate_state(training.directory), locate_state(Path(scratch)))
        with loading(), silent_tensorflow():
            assist = load_assistance(training, with_synthetic=with_synthetic)
        watcher = AssistantWatcher(watcher)
        assist(replace(training, directory=Path(scratch), resume=resumes, watcher=watcher))


def conclude_training(
    request: TrainRequest, training: TrainingRequest, report: TrainReport, trained: TrainingSummary
) -> TrainOutcome:
    """Returns the outcome: the report, with advice, and with the time needed if it was too long."""
    manifest, deadline = training.corpus.manifest, training.deadline
    advice = advise_on_model(manifest, report, describe_commands(request, training, trained), trained)
    is_late = deadline is not None and request.runs == 1 and deadline.elapsed > LATE * deadline.seconds
    late = deadline.elapsed if deadline is not None and is_late else None
    # A picture is no example, since its name is relative to the file that named it.
    example = next(iter(training.corpus.select_texts([report.validation.sample_source])), None)
    return TrainOutcome(report, advice, example, training.training.init_from, late)


def describe_commands(request: TrainRequest, training: TrainingRequest, trained: TrainingSummary) -> BaseCommands:
    """Returns the commands that prepare this corpus, train on it anew, and continue training, if possible."""
    from nmt_cli.runtime.model_directory import STAGES

    has_stages = trained.synthetic != "none"
    direction: list[TypedOption] = [("--reverse",)] if request.reverse else []
    prepare = recall_prepare(training.corpus.manifest, request.data)
    anew = describe_train(request.data, request.model, *direction, *request.typed_options, FORCE)
    if has_stages and not (request.model / STAGES).is_dir():  # what training could continue with
        return BaseCommands(prepare, anew)
    return BaseCommands(prepare, anew, replace(request, runs=1, keep_stages=has_stages).resumption)
