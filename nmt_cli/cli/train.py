"""The command `nmt train`: trains a model on a prepared corpus."""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shlex import quote
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NamedTuple, Self

import typer

from nmt_cli.api.advice import ALIKE, HARDLY_TRANSLATES, Advice, describe_weakness, has_learned_nothing
from nmt_cli.api.options.command_lines import CommandLine, find_saved_options
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.train import describe_resumption, explain_end, open_request, run_training
from nmt_cli.cli.app import Stop, catch_stop_signals
from nmt_cli.cli.parsing.options import AsJson, DataOption, Force, WrittenModelOption, declare_option, with_settings
from nmt_cli.cli.prepare import format_cut
from nmt_cli.cli.render import Screen, StepBar, show_advice
from nmt_cli.languages.codes import is_same_language
from nmt_cli.model.config import ModelConfig, describe_network
from nmt_cli.text.wrapping import format_count, shorten_text
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.watcher import (
    EpochRecord,
    Int8Check,
    ParentInfo,
    RequestInfo,
    RunInfo,
    SeedResult,
    StepStatus,
    TrainReport,
    Validation,
    Watcher,
)
from nmt_cli.workers.choice import RayOptions

if TYPE_CHECKING:
    from nmt_cli.api.train import TrainOutcome
    from nmt_cli.training.request import TrainRequest


# Short descriptions of a training run: what it starts from, what its 8-bit weights cost.


def describe_parent(parent: ParentInfo) -> str:
    """Returns which model a training run starts from, and how many of its pieces are used."""
    languages = " -> ".join(parent.languages)
    if parent.is_same_vocabulary:
        return f"starts from {parent.name} ({languages}), which has the same subwords"
    sides = [
        f"{'pieces' if side == 'joint' else side} {counts.kept:,} kept, {counts.spelled:,} spelled, "
        f"{counts.drawn:,} drawn"
        for side, counts in parent.rows.items()
    ]
    return f"starts from {parent.name} ({languages}): {'; '.join(sides)}"


def describe_int8(check: Int8Check) -> str:
    """Returns the cost of 8-bit weights in BLEU, and whether they are used."""
    used = "are used" if check.default == "int8" else "are not used"
    return f"8-bit weights ({check.int8_bytes / 1e6:.0f} MB) cost {max(check.cost, 0.0):.1f} BLEU, and {used}"


# A training run on the terminal: a header, a progress bar, one line per epoch, and a summary.


class TableColumn(NamedTuple):
    heading: str
    width: int
    rank: int  # of the columns, which is shown first where there is no room for all


COLUMNS = (
    TableColumn("epoch", 7, 1),
    TableColumn("loss", 8, 5),
    TableColumn("dev loss", 10, 2),
    TableColumn("ppl", 9, 7),
    TableColumn("acc", 7, 8),
    TableColumn("BLEU", 7, 3),
    TableColumn("chrF", 7, 6),
    TableColumn("tok/s", 9, 9),
    TableColumn("time", 8, 4),
)
NOTE = 7  # columns of a terminal for the note that an epoch is the best
SAMPLE_WIDTH = 60  # characters of a sample translation that are shown, of each side


def choose_columns(width: int | None) -> list[TableColumn]:
    """Returns the most important table columns that fit this width together; all of them if it is None."""
    free = sum(column.width for column in COLUMNS) if width is None else width - NOTE
    columns: list[TableColumn] = []
    for column in sorted(COLUMNS, key=lambda column: column.rank):
        free -= column.width
        if free < 0:
            break
        columns.append(column)
    return sorted(columns, key=COLUMNS.index)


class TrainingScreen(Watcher):
    """Shows a training run: a header, one line per epoch and, while it runs, a bar or an occasional line.

    The bar is for terminals; elsewhere, a line is printed after `log_every` seconds without one.
    """

    def __init__(
        self,
        screen: Screen,
        stop: Callable[[], bool],
        log_every: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.screen = screen
        self.log_every = log_every
        self.clock = clock
        self.request: RequestInfo | None = None
        self.printed_at = clock()
        self.should_stop = stop  # type: ignore[method-assign]
        self.bar: StepBar | None = None
        self.part = ""  # of several runs or stages, the current one
        self.is_timed = False  # the current run, by --time
        self.parent: ParentInfo | None = None  # of the current run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop_bar()

    def stop_bar(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def report_request(self, info: RequestInfo) -> None:
        self.request = info
        if info.assistant is not None:
            self.screen.say(f"{info.assistant}: assists the chief, which shows progress and writes the model")
            return
        if info.choice is not None:
            self.screen.say(info.choice)
        if info.start is not None:
            self.screen.say(info.start)
        self.screen.say(f"{info.direction}, from {info.data}/ to {info.directory}/")
        if info.truncation is not None:
            self.screen.warn(format_cut(info.truncation))

    def report_start(self, info: RunInfo) -> None:
        self.is_timed, self.parent = info.is_timed, info.parent
        millions = info.weights / 1e6
        weights = f"{millions:.1f} M parameters" if millions >= 0.1 else format_count(info.weights, "parameter")
        devices = f"{info.devices}, {info.precision.replace('_', ' ')}"
        if info.choice and (self.request is None or info.choice != self.request.choice):
            self.screen.say(info.choice)
        self.screen.say(f"{describe_network(info.network)} · {weights}        {devices}")
        self.screen.say(
            f"{format_count(info.pairs, 'pair')}, {format_count(info.steps_per_epoch, 'step')} per epoch, "
            f"{'as many epochs as fit into the time' if info.is_timed else format_count(info.epochs, 'epoch')}"
        )
        if info.parent is not None:  # of which a training run that chose it itself has said so
            say = self.screen.say_detail if self.request and self.request.start else self.screen.say
            say(describe_parent(info.parent))
        self.screen.say(self.format_row({column.heading: column.heading for column in COLUMNS}))
        if self.screen.live:
            details = ["compiling the training step"]
            self.bar = StepBar(
                self.screen, f"{self.part}epoch {self.number_epoch(1, info.epochs)}", details, info.steps_per_epoch
            )

    def report_run(self, number: int, runs: int, seed: int) -> None:
        self.stop_bar()
        self.part = f"run {number}/{runs}, "
        self.screen.say(f"run {number} of {runs}, seed {seed}")

    def report_stage(self, name: str, number: int, stages: int) -> None:
        self.stop_bar()
        self.part = f"stage {number}/{stages}, "
        self.screen.say(f"stage {number} of {stages}: {name}")

    def report_translations(self, done: int, total: int, seconds_left: float) -> None:
        if self.bar is None and self.screen.live:
            self.bar = StepBar(self.screen, "translating", [], total)
        details = [f"{done:,} of {format_count(total, 'sentence')}", f"{format_time(seconds_left)} left"]
        self.redraw("translating", details, done, total)
        self.log_progress(f"      translating  {done / max(1, total):4.0%}   {'   '.join(details)}")

    def report_selection(self, summary: str) -> None:
        self.stop_bar()
        self.screen.say(f"  {summary}")

    def report_resume(self, records: Sequence[EpochRecord], epoch: int, step: int) -> None:
        for record in records:
            self.show_row(record)
        steps = f"{format_count(step, 'step')} of epoch {epoch}"
        done = steps if step else f"epoch {epoch - 1}" if epoch > 1 else "nothing"
        self.screen.say(f"      resumed: {done} done", style="dim")

    def report_step(self, status: StepStatus) -> None:
        details = [
            f"loss {status.loss:.2f}",
            f"ppl {math.exp(min(status.loss, 20)):.1f}",
            f"{status.tokens_per_second:,.0f} tok/s",
        ]
        if status.seconds_left is not None:
            details.append(f"{format_time(status.seconds_left)} left")
        epoch = f"epoch {self.number_epoch(status.epoch, status.epochs)}"
        self.redraw(epoch, details, status.step, status.steps_per_epoch)
        share = status.step / max(1, status.steps_per_epoch)
        self.log_progress(f"      {epoch}  {share:4.0%}   {'   '.join(details)}")

    def number_epoch(self, epoch: int, epochs: int) -> str:
        """Returns the number of an epoch, with the total unless --time decides that: how many fit shows at the end."""
        return f"{epoch}" if self.is_timed else f"{epoch}/{epochs}"

    def log_progress(self, text: str) -> None:
        """Prints a line of progress if there is no bar and the last line was long ago."""
        if self.bar is None and self.log_every and self.clock() - self.printed_at >= self.log_every:
            self.print_line(text)

    def print_line(self, text: str) -> None:
        self.screen.say(text)
        self.printed_at = self.clock()

    def report_validation(self, epoch: int) -> None:
        self.redraw(f"epoch {epoch}", ["translating the development set"])

    def warn(self, problem: str) -> None:
        self.screen.warn(problem)

    def report_export(self) -> None:
        self.redraw("export", ["writing the model"])

    def redraw(
        self, activity: str, details: Sequence[str], completed: int | None = None, total: int | None = None
    ) -> None:
        if self.bar is not None:
            self.bar.redraw(f"{self.part}{activity}", details, completed, total)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.show_row(record)
        texts = (validation.sample_source, validation.sample_hypothesis)
        source, hypothesis = (shorten_text(text, SAMPLE_WIDTH) for text in texts)
        self.screen.say(f"      {source} -> {hypothesis}", style="dim")

    def show_row(self, record: EpochRecord) -> None:
        """Prints the line of one epoch."""
        values = {
            "epoch": f"{record.epoch}" + ("" if record.complete else " part"),
            "loss": f"{record.loss:.2f}",
            "dev loss": f"{record.dev_loss:.2f}",
            "ppl": f"{record.perplexity:.1f}",
            "acc": f"{record.accuracy:.1f}",
            "BLEU": f"{record.bleu:.1f}",
            "chrF": f"{record.chrf:.1f}",
            "tok/s": f"{record.tokens_per_second:,.0f}",
            "time": format_time(record.seconds),
        }
        self.print_line(self.format_row(values) + ("   best" if record.best else ""))

    def format_row(self, texts: Mapping[str, str]) -> str:
        """Returns a line of the table, with the columns that fit the terminal."""
        return "".join(texts[column.heading].rjust(column.width) for column in choose_columns(self.screen.width))

    def show_outcome(self, outcome: TrainOutcome | None, request: TrainRequest, *, was_stopped: bool) -> None:
        """Prints the result of a training run, whether it took too long, and how to continue a stopped one."""
        if outcome is None:
            self.screen.say(f"{self.request.assistant if self.request else 'this process'}: done")
            return
        advice = None if was_stopped and not is_complete(outcome.report) else outcome.advice
        self.show_summary(outcome.report, request.directory, advice, outcome.example)
        if self.parent is not None and all(map(is_same_language, self.parent.languages, request.corpus.languages)):
            self.screen.warn(
                f"{self.parent.name} may know the development and test sentences: the scores may be too high"
            )
        if outcome.late_seconds is not None:
            seconds, time = format_time(outcome.late_seconds), request.training.time
            self.screen.warn(f"the whole command took {seconds}, longer than --time {time}")
        if was_stopped and not is_complete(outcome.report):
            self.show_interruption(outcome.report, describe_resumption(request), request.runs)

    def show_summary(
        self, report: TrainReport, directory: Path, advice: Advice | None = None, example: str | None = None
    ) -> None:
        """Prints the model, its score, advice, and the next command, with an example sentence."""
        validation = report.validation
        is_low = validation.bleu < HARDLY_TRANSLATES and validation.chance_chrf is not None
        chance = f" (random sentences: chrF {validation.chance_chrf:.1f})" if is_low else ""
        case = ", ignoring case" if "case:lc" in validation.bleu_signature else ""
        score = f"BLEU {validation.bleu:.1f}, chrF {validation.chrf:.1f} on the development set{case}{chance}"
        epochs = ", ".join(map(str, sorted(report.epochs)))
        which = f"mean of epochs {epochs}" if len(report.epochs) > 1 else f"epoch {epochs}"
        if report.runs:
            self.show_runs(report.runs, validation)
        if has_learned_nothing(validation):
            self.screen.say(f"{directory}/: {score}")
            alike = ", and its translations are all alike" if validation.distinct_share < ALIKE else ""
            self.screen.warn(f"this model has learned next to nothing{alike}")
            if advice is not None:
                show_advice(self.screen, advice)
            return
        self.screen.say(f"{directory}/ is ready: {score}")
        for weakness in describe_weakness(validation.bleu, validation.gain):
            self.screen.warn(weakness)
        self.screen.say_detail(f"  {which}, greedy search, {validation.bleu_signature}")
        say = self.screen.say_detail if report.int8_check.default == "int8" else self.screen.say
        say(f"  {describe_int8(report.int8_check)}")
        if advice is not None:
            show_advice(self.screen, advice)
        where = "" if str(directory) == "model" else f" --model {quote(str(directory))}"
        if example is None:
            self.screen.say(f"Next: nmt evaluate{where}")
        else:
            self.screen.say(f"Try: echo {quote_for_shell(example)} | nmt translate{where}")

    def show_runs(self, runs: Sequence[SeedResult], best: Validation) -> None:
        """Prints the scores of several training runs, the best of them, and their mean and standard deviation."""
        from nmt_cli.training.run import describe_spread

        for run in runs:
            scores = f"dev BLEU {run.validation.bleu:4.1f}, chrF {run.validation.chrf:4.1f}"
            note = "   best" if run.validation is best else ""
            self.screen.say(f"  seed {run.seed:<4} {scores}   {run.directory}/{note}")
        if len(runs) > 1:
            bleu, chrf = (describe_spread([getattr(run.validation, name) for run in runs]) for name in ("bleu", "chrf"))
            self.screen.say(f"  {len(runs)} runs: dev BLEU {bleu}, chrF {chrf} (mean and standard deviation)")

    def show_interruption(self, report: TrainReport, command: CommandLine, runs: int = 1) -> None:
        """Prints how far the `runs` training runs got before they were stopped, and the command that continues."""
        planned = "" if report.planned_epochs is None else f" of {report.planned_epochs}"
        unit = "epoch" if planned == " of 1" or (not planned and report.passed_epochs == 1) else "epochs"
        run = f"in run {len(report.runs)} of {runs}, " if runs > 1 else ""
        self.screen.say(f"interrupted {run}after {report.passed_epochs:.1f}{planned} {unit}; continue with: {command}")


def is_complete(report: TrainReport) -> bool:
    """Whether all planned epochs are finished, rounded to the tenth that is shown."""
    return report.planned_epochs is not None and round(report.passed_epochs, 1) >= report.planned_epochs


def quote_for_shell(text: str) -> str:
    """Quotes a text for a shell: in double quotes, or as `shlex` does if these do not suffice."""
    return quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def format_time(seconds: float) -> str:
    """Returns minutes and seconds, with hours if there are any."""
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remainder:02}" if hours else f"{minutes}:{remainder:02}"


RUNS_HELP = (
    "Number of runs with different seeds, starting at --seed, saved as run-1, run-2 and so on in --model; the best "
    "becomes the model."
)
STAGES_HELP = "Keep the helper models and the synthetic pairs in the model directory."
LOG_HELP = "Seconds between lines of progress if the output is not a terminal; 0 for only one line per epoch."


@partial(with_settings, fallback=find_saved_options)
def train(
    screen: Screen,
    explicit: ExplicitOptions,
    network: ModelConfig,
    training: TrainOptions,
    translating: RayOptions,
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

    The default network has a bidirectional GRU encoder, and a GRU decoder with scaled dot-product attention. Its
    size and the training settings depend on the size of the corpus. After each epoch, nmt translates the development
    set. At the end, it exports the best weights to the model directory. Ctrl-C stops training early with a usable
    model; a second Ctrl-C stops at once. To continue after that, or after a crash, type the same command with --resume.
    """
    loading = partial(screen.show_status, "starting TensorFlow")
    with catch_stop_signals(screen.say) as stop, TrainingScreen(screen, stop, log_every) as shown:
        request = open_request(
            network,
            training,
            explicit,
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
            watcher=shown,
        )
        with explain_interruption(screen, stop, request), limit_start(request, stop):
            outcome = run_training(request, loading)
    shown.show_outcome(outcome, request, was_stopped=bool(stop.signal))
    if as_json and outcome is not None:
        typer.echo(json.dumps(outcome.to_mapping(model) | explicit.origin_entry, ensure_ascii=False))
    if stop.signal:
        raise typer.Exit(128 + stop.signal)


@contextmanager
def limit_start(request: TrainRequest, stop: Stop) -> Iterator[None]:
    """Raises TooShortError within the block as soon as --time passes before the first update of a new training run.

    TensorFlow may take minutes to load and to compile. Where the system has no alarm, training itself checks the time
    between these steps.
    """
    deadline = request.deadline
    if deadline is None or request.resume or not hasattr(signal, "setitimer"):
        yield
        return

    def refuse(number: int, frame: FrameType | None) -> None:
        if not stop.is_asked:  # as a training run does before an update
            deadline.expect_closing()
            deadline.require_update(request.training.time)

    previous = signal.signal(signal.SIGALRM, refuse)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, max(deadline.seconds - deadline.elapsed, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def explain_interruption(screen: Screen, stop: Stop, request: TrainRequest) -> Iterator[None]:
    """Shows what was saved of a training run that was stopped at once, and how to continue it.

    If a run with synthetic pairs was stopped midway, the command ends with the signal's exit code.
    """
    from nmt_cli.training.data.synthetic_pairs import Interrupted

    try:
        yield
    except Interrupted as interruption:
        screen.warn(f"{interruption}; continue with: {describe_resumption(request)}")
        raise typer.Exit(128 + (stop.signal or signal.SIGINT)) from None
    except KeyboardInterrupt:
        screen.say(explain_end(request))
        raise
