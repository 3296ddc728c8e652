"""All that is drawn on the terminal. The only module that imports rich; everything goes to stderr."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from nmt_cli.corpus.manifest import Example, Features, Finding, Manifest, Subwords
    from nmt_cli.corpus.prepare import PrepareReport
    from nmt_cli.evaluation.report import Report

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


class StepBar:
    """A bar that tells what is done, how much of it, and a few words beside; for a screen that is `live`."""

    def __init__(self, screen: Screen, doing: str, told: str, total: int) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[told]}"),
        )
        self.progress = Progress(*columns, console=screen.console, transient=True)
        self.task = self.progress.add_task(doing, total=total, told=told)
        self.progress.start()

    def redraw(self, doing: str, told: str, completed: int | None = None, total: int | None = None) -> None:
        self.progress.update(self.task, description=doing, told=told, completed=completed, total=total)

    def stop(self) -> None:
        self.progress.stop()


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
    size = f"{source.vocabulary:,} and {target.vocabulary:,},"
    if manifest.joint:
        for_target = "" if source.file == target.file else f" ({target.vocabulary:,} for the target)"
        size = f"{source.vocabulary:,}{for_target}, joint"
    fit = f"{source.pieces_per_word:.1f} per source word, {target.pieces_per_word:.1f} per target word"
    unknown = "nothing unencodable"
    if source.unknown_share or target.unknown_share:
        unknown = f"unknown in dev and test: {source.unknown_share:.1%} of source, {target.unknown_share:.1%} of target"
    return f"{size} {kind}; {fit}; {unknown}"
