"""All that is drawn on the terminal. The only module that imports rich; everything goes to stderr."""

from __future__ import annotations

import dataclasses
import math
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeGuard

import typer

from nmt_cli.cli.described import described_network
from nmt_cli.training.watch import EpochRecord, RunInfo, StepStatus, Validation, Watcher

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from nmt_cli.corpus.dataset import PrepareReport
    from nmt_cli.corpus.manifest import Example, Features, Finding, Manifest, Subwords
    from nmt_cli.evaluation.report import Report
    from nmt_cli.training.proof import Proof
    from nmt_cli.training.run import TrainReport

# Checks whose findings are usual: their pairs are shown to those who ask for more. What was dropped is always counted.
CUT = "source-length"  # corpus.manifest.CUT, whose module needs more than the standard library
HARMLESS = frozenset({"empty", "duplicate", "duplicate-form", "many-targets", "control", "identical-short", "numbers"})


class Screen:
    """Where a command speaks: lines in order of importance, none but errors when quiet.

    rich is imported with the first line that is drawn, so that a command with nothing to say starts at once.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(stderr=True, highlight=False, markup=False, emoji=False, quiet=self.quiet)

    @property
    def live(self) -> bool:
        """Whether progress may be drawn and redrawn in place."""
        return not self.quiet and sys.stderr.isatty() and self.console.is_terminal

    def say(self, text: str, *, style: str | None = None) -> None:
        if not self.quiet:
            self.console.print(text, style=style, soft_wrap=True)

    def detail(self, text: str) -> None:
        """A line for those who asked for more."""
        if self.verbose:
            self.say(text, style="dim")

    def warn(self, text: str) -> None:
        self.say(f"  ! {text}", style="yellow")

    @contextmanager
    def status(self, doing: str) -> Iterator[None]:
        """Says what is being done, for as long as it is, where lines may be redrawn."""
        if not self.live:
            yield
            return
        with self.console.status(doing):
            yield


def error(message: str, hint: str) -> None:
    """The two lines of an error, without rich: an error must not wait for an import, nor fail in one."""
    typer.secho(f"error: {message}", err=True, fg=typer.colors.RED)
    if hint:
        typer.secho(f"hint: {hint}", err=True)


@contextmanager
def sentence_progress(screen: Screen, doing: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """A bar over `total` sentences while the block runs; gives a function that is told how many are finished.

    Gives None where nothing may be drawn in place.
    """
    if not screen.live:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen.console, transient=True) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda finished: progress.update(task, completed=finished)


@contextmanager
def translation_progress(screen: Screen, paths: Iterable[Path]) -> Iterator[Callable[[int], None]]:
    """A bar over the lines of these files while the block runs; gives a function that is told how many are done.

    Draws nothing without files, which is when translations may go to the same terminal.
    """
    files = list(paths) if screen.live else []
    if not files:
        yield lambda _: None
        return
    with sentence_progress(screen, "translating", sum(map(count_lines, files))) as advance:
        yield advance or (lambda _: None)


def count_lines(path: Path) -> int:
    """How many lines a file has; a pipe, which can be read only once, none."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))


def evaluation_context(screen: Screen, report: Report, *, what: str, unseen: bool) -> None:
    """Below the scores: how many sentences, how they were translated, and what casts doubt on the scores."""
    parts = [f"{report.sentences:,} {what}"]
    if report.references_per_sentence > 1:
        parts.append(f"{report.references_per_sentence} references each")
    if report.search is not None:
        parts.append(f"beam {report.search.beam_size}")
    if unseen:
        parts.append("none of their sources seen in training")
    screen.say(", ".join(parts) + ".")
    for doubt in report.warnings:
        screen.warn(doubt)


@contextmanager
def stage_progress(screen: Screen) -> Iterator[Callable[[str, int, int], None]]:
    """One bar for what is being done at the moment; gives a function that is told what, how much and of how much."""
    if not screen.live:
        yield stage_lines(screen)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen.console, transient=True) as progress:
        task = progress.add_task("reading", total=None)
        stages = ["reading"]

        def advance(stage: str, done: int, total: int) -> None:
            if stage != stages[-1]:
                stages.append(stage)
                progress.reset(task, description=stage)
            progress.update(task, completed=done, total=total or None)

        yield advance


def stage_lines(screen: Screen) -> Callable[[str, int, int], None]:
    """Where there is no bar: a plain line as each stage begins, for those who asked for more."""
    told: set[str] = set()

    def advance(stage: str, done: int, total: int) -> None:
        if stage not in told:
            told.add(stage)
            screen.detail(f"  {stage} ...")

    return advance


def prepared(screen: Screen, report: PrepareReport) -> None:
    """What `nmt prepare` read, found, dropped, split and learnt, and the command that comes next."""
    manifest, directory = report.manifest, report.directory
    counts = manifest.counts
    names = list(manifest.inputs)
    name = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    languages = f"{manifest.source_language} -> {manifest.target_language}"
    screen.say(f"{name}: {counts.read:,} pairs {languages}, prepared in {report.seconds:.1f} s")
    dropped = ", ".join(f"{number:,} {reason}" for reason, number in counts.dropped.items() if number)
    total = sum(counts.dropped.values())
    why = f": {dropped}   -> {directory / 'rejected.tsv.gz'}" if total else ""
    screen.say(f"  kept {counts.kept:,}   dropped {total:,}{why}")
    if counts.more_columns:
        lines = "1 line has" if counts.more_columns == 1 else f"{counts.more_columns:,} lines have"
        screen.warn(f"{lines} more than two columns; the first two were used")
    findings(screen, manifest.findings)
    split_and_subwords(screen, manifest)
    next_command = "nmt train" if str(directory) == "prepared" else f"nmt train --data {shlex.quote(str(directory))}"
    screen.detail(f"           fingerprint of the data {manifest.fingerprint[:16]}")
    screen.say(f"{directory}/ is ready. Next: {next_command}")


def findings(screen: Screen, found: Iterable[Finding]) -> None:
    """A line for each check that found something that may be worth a look, with its first pair; more if verbose."""
    for finding in found:
        note = f" ({finding.note})" if finding.note else ""
        first = finding.examples[0]
        told = f"{finding.count:,} {finding.action}: {finding.problem}{note}"
        if finding.check == CUT:
            screen.warn(cut_line(finding))
        elif finding.check in HARMLESS:
            screen.detail(f"  {told}")
        else:
            screen.warn(f"{told}; {example_line(first)}   [{finding.check}]")
        for example in finding.examples[finding.check not in HARMLESS :]:
            screen.detail(f"      {example_line(example)}")


def cut_line(finding: Finding) -> str:
    """How many sources of a corpus were cut, and where the first of them stands."""
    first = finding.examples[0]
    return f"{finding.count:,} cut: {finding.problem}; the first is {first.file}, line {first.line:,}"


def example_line(example: Example) -> str:
    """Where a pair stands, and the pair."""
    source, target = (text if len(text) <= 60 else f"{text[:60]}…" for text in (example.source, example.target))
    return f'{example.file}, line {example.line:,}: "{source}" / "{target}"'


def split_and_subwords(screen: Screen, manifest: Manifest) -> None:
    """How large the splits are, what they would have leaked by rows, and the vocabulary."""
    leak, counts = manifest.leak, manifest.counts
    splits = "   ".join(f"{split} {number:,}" for split, number in counts.splits.items())
    leaked = leak.test_sources_by_rows
    by_rows = f" (split by rows, {leaked:.0%} of test would have)" if leaked else ""
    one = "sentence" if is_text(manifest.source) else "picture"
    screen.say(f"  split    {splits}     no {one} stands in two splits{by_rows}")
    if counts.repeated:
        screen.say(f"           {counts.repeated:,} of train are repetitions, by weight")
    screen.detail(f"           {leak.groups:,} groups of connected pairs, the largest of {leak.largest_group:,}")
    if not is_text(manifest.source):
        screen.say(f"  pictures {described_pictures(manifest.source)}")
    screen.say(f"  subwords {described_subwords(manifest)}")
    for side, fit in (("source", manifest.source), ("target", manifest.target)):
        if is_text(fit):
            screen.detail(
                f"           {side}: {fit.coverage:.2%} of characters covered; longest sentence {fit.longest:,} "
                f"pieces, 99 % up to {fit.longest_of_99_percent:,}"
            )


def is_text(side: Subwords | Features) -> TypeGuard[Subwords]:
    """Whether the side has subwords. By its attributes: its module needs more than `nmt --help` has."""
    return hasattr(side, "vocabulary")


def described_pictures(source: Subwords | Features) -> str:
    """How many pictures of how many regions."""
    told = dataclasses.asdict(source)
    fewest, most = told["fewest_regions"], told["regions"]
    regions = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{told['pictures']:,}, of {regions} regions with {told['depth']:,} features each"


def described_subwords(manifest: Manifest) -> str:
    """Size and kind of the vocabulary, and how well it fits: one line."""
    source, target, kind = manifest.source, manifest.target, manifest.tokenizer.kind
    if not is_text(source):
        unseen = f"unknown in dev and test: {target.unknown_share:.1%}" if target.unknown_share else "none unencodable"
        return f"{target.vocabulary:,}, {kind}; {target.pieces_per_word:.1f} per word of a caption; {unseen}"
    joint = source.file == target.file
    size = f"{source.vocabulary:,}, joint" if joint else f"{source.vocabulary:,} and {target.vocabulary:,},"
    fit = f"{source.pieces_per_word:.1f} per source word, {target.pieces_per_word:.1f} per target word"
    unknown = "nothing unencodable"
    if source.unknown_share or target.unknown_share:
        unknown = f"unknown in dev and test: {source.unknown_share:.1%} of source, {target.unknown_share:.1%} of target"
    return f"{size} {kind}; {fit}; {unknown}"


class TrainingScreen(Watcher):
    """Draws a training: a header, a bar while it runs (on a terminal), and a line an epoch."""

    HEADINGS = ("epoch", "loss", "dev loss", "ppl", "acc", "BLEU", "chrF", "tok/s", "time")
    WIDTHS = (7, 8, 10, 9, 7, 7, 7, 9, 8)

    def __init__(self, screen: Screen, stop: Callable[[], bool]) -> None:
        self.screen = screen
        self.should_stop = stop  # type: ignore[method-assign]
        self.progress: Progress | None = None
        self.task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.progress is not None:
            self.progress.stop()

    def started(self, info: RunInfo) -> None:
        weights = f"{info.weights / 1e6:.1f} M weights"
        devices = f"{info.devices}, {info.precision.replace('_', ' ')}"
        self.screen.say(f"{described_network(info.network)} · {weights}        {devices}")
        self.screen.say(f"{info.pairs:,} pairs, {info.steps_per_epoch:,} steps an epoch, {info.epochs} epochs")
        self.screen.say("".join(text.rjust(width) for text, width in zip(self.HEADINGS, self.WIDTHS, strict=True)))
        if self.screen.live:
            self.start_bar(info)

    def resumed(self, records: Sequence[EpochRecord], epoch: int, step: int) -> None:
        for record in records:
            self.row(record)
        done = f"{step:,} steps of epoch {epoch}" if step else f"epoch {epoch - 1}" if epoch > 1 else "nothing"
        self.screen.say(f"      resumed: {done} done", style="dim")

    def start_bar(self, info: RunInfo) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        told = TextColumn("{task.fields[told]}")
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), told)
        self.progress = Progress(*columns, console=self.screen.console, transient=True)
        self.task = self.progress.add_task(
            f"epoch 1/{info.epochs}", total=info.steps_per_epoch, told="compiling the training step"
        )
        self.progress.start()

    def stepped(self, status: StepStatus) -> None:
        told = (
            f"loss {status.loss:.2f}  ppl {math.exp(min(status.loss, 20)):.1f}   "
            f"{status.tokens_per_second:,.0f} tok/s   {clock(status.seconds_left)} left"
        )
        self.redraw(f"epoch {status.epoch}/{status.epochs}", told, completed=status.step, total=status.steps_per_epoch)

    def validating(self, epoch: int) -> None:
        self.redraw(f"epoch {epoch}", "translating the development set")

    def warned(self, problem: str) -> None:
        self.screen.warn(problem)

    def exporting(self) -> None:
        self.redraw("export", "writing the model")

    def redraw(self, doing: str, told: str, **numbers: float) -> None:
        if self.progress is not None and self.task is not None:
            self.progress.update(self.task, description=doing, told=told, **numbers)  # type: ignore[arg-type]

    def epoch_ended(self, record: EpochRecord, validation: Validation) -> None:
        self.row(record)
        self.screen.say(f"      {validation.sample_source} -> {validation.sample_hypothesis}", style="dim")

    def row(self, record: EpochRecord) -> None:
        values = (
            f"{record.epoch}",
            f"{record.loss:.2f}",
            f"{record.dev_loss:.2f}",
            f"{record.perplexity:.1f}",
            f"{record.accuracy:.1f}",
            f"{record.bleu:.1f}",
            f"{record.chrf:.1f}",
            f"{record.tokens_per_second:,.0f}",
            clock(record.seconds),
        )
        note = ("   best" if record.best else "") + ("" if record.complete else "   stopped early")
        row = "".join(text.rjust(width) for text, width in zip(values, self.WIDTHS, strict=True))
        self.screen.say(row + note)

    def summary(self, report: TrainReport, directory: Path, *, pictures: bool = False) -> None:
        """What was made, how good it is, and the command that comes next.

        A picture is not offered to be translated: its name is relative to the file that named it.
        """
        kept = report.validation
        score = f"dev BLEU {kept.bleu:.1f}, chrF {kept.chrf:.1f} (greedy)"
        epochs = ", ".join(map(str, sorted(report.epochs)))
        which = f"mean of epochs {epochs}" if len(report.epochs) > 1 else f"epoch {epochs}"
        self.screen.say(f"{directory}/ is ready: {which}, {score}. {proved(report.proof)}")
        self.screen.detail(f"  {kept.bleu_signature}")
        where = "" if str(directory) == "model" else f" --model {directory}"
        if pictures:
            self.screen.say(f"Next: nmt evaluate{where}")
        else:
            self.screen.say(f'Try: echo "{kept.sample_source}" | nmt translate{where}')


def proved(proof: Proof) -> str:
    """What weights in 8 bits cost, and whether they are used."""
    used = "used by default" if proof.default == "int8" else "so that float is the default"
    return f"int8 costs {max(proof.cost, 0.0):.1f} BLEU: {proof.int8_bytes / 1e6:.0f} MB, {used}."


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
