"""All output to the terminal. The only module that imports rich; everything goes to stderr."""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeGuard

import typer

from nmt_cli.text.escapes import escape_controls, escape_line
from nmt_cli.text.wrapping import count_columns, format_count, shorten_text, wrap_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from nmt_cli.api.advice import Advice
    from nmt_cli.corpus.manifest import Finding, FindingExample, Manifest, PictureStatistics, SubwordStatistics
    from nmt_cli.corpus.prepare import PrepareReport
    from nmt_cli.evaluation.report import Report

# Checks whose findings are usual: their examples are shown with --verbose alone. Dropped pairs are always counted.
CUT = "source-length"  # corpus.manifest.CUT, whose module needs more than the standard library
HARMLESS = frozenset({"empty", "duplicate", "duplicate-form", "many-targets", "control", "identical-short", "numbers"})

SHORTEST_BAR = 15  # columns of a progress bar, its percentage and the gaps between them and the words beside
TIME_WIDTH = 9  # columns of the time that is left, with the gap before it
STYLES: dict[str | None, dict[str, Any]] = {"dim": {"dim": True}, "yellow": {"fg": typer.colors.YELLOW}}


class Screen:
    """Prints the messages of a command; errors alone when quiet, details when verbose.

    rich is imported only where something is drawn and redrawn, so that a line costs no more than its printing.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False, spell: Callable[[str], str] = str) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.spell = spell  # writes the names of settings as the command takes them

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(stderr=True, highlight=False, markup=False, emoji=False, quiet=self.quiet)

    @property
    def width(self) -> int | None:
        """The columns of the terminal; None for a file or a pipe."""
        return find_width(sys.stderr)

    @property
    def live(self) -> bool:
        """Whether progress may be drawn and redrawn in place."""
        return not self.quiet and sys.stderr.isatty() and self.console.is_terminal

    def say(self, text: str, *, style: str | None = None) -> None:
        """Prints lines, wrapped at words where they go to a terminal."""
        if self.quiet:
            return
        lines = "\n".join(wrap_for(sys.stderr, self.spell(text)))
        if "console" in vars(self):  # which may be drawing a bar
            self.console.print(lines, style=style, soft_wrap=True)
        else:
            typer.secho(lines, err=True, **({} if os.environ.get("NO_COLOR") else STYLES.get(style, {})))

    def say_detail(self, text: str) -> None:
        """Prints a line with --verbose alone."""
        if self.verbose:
            self.say(text, style="dim")

    def warn(self, text: str) -> None:
        self.say(f"  ! {text}", style="yellow")

    @contextmanager
    def show_status(self, activity: str) -> Iterator[None]:
        """Shows what is being done while the block runs, where lines may be redrawn."""
        if not self.live:
            yield
            return
        with self.console.status(escape_line(activity)):
            yield


def print_error(message: str, hint: str) -> None:
    """Prints the two lines of an error, without rich: an error must not wait for an import, nor fail in one."""
    typer.secho("\n".join(wrap_for(sys.stderr, f"error: {escape_line(message)}")), err=True, fg=typer.colors.RED)
    if hint:
        typer.secho("\n".join(wrap_for(sys.stderr, f"hint: {escape_line(hint)}")), err=True)


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines to standard output, wrapped at words where it is a terminal."""
    for line in lines:
        typer.echo("\n".join(wrap_for(sys.stdout, line)))


def wrap_for(stream: TextIO, text: str) -> list[str]:
    """Returns the lines of `text` as they are printed to this stream, with its control characters shown."""
    width, text = find_width(stream), escape_controls(text)
    return text.split("\n") if width is None else wrap_text(text, width)


def find_width(stream: TextIO) -> int | None:
    """Returns the columns of COLUMNS, or of the terminal that the stream is; None for a file or a pipe.

    Nothing is wrapped there, so that a program finds each message on one line.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):  # no terminal after all, or a closed stream
        return None


def make_progress(screen: Screen, *columns: str) -> Progress:
    """Returns a progress bar between the description of its task and these columns: names of rich's, or texts.

    Only the bar becomes narrower with the terminal: what stands beside it stays on its line.
    """
    from rich import progress
    from rich.table import Column

    beside = [
        progress.TextColumn(column, table_column=Column(no_wrap=True))
        if "{" in column
        else getattr(progress, column)(table_column=Column(no_wrap=True))
        for column in ("{task.description}", *columns)
    ]
    return progress.Progress(beside[0], progress.BarColumn(), *beside[1:], console=screen.console, transient=True)


class StepBar:
    """A progress bar with a few words beside it, on one line at any width; for a screen that is `live`."""

    def __init__(self, screen: Screen, activity: str, details: Sequence[str], total: int) -> None:
        self.console = screen.console
        self.progress = make_progress(screen, "TaskProgressColumn", "{task.fields[detail]}")
        self.task = self.progress.add_task(activity, total=total, detail=self.fit_details(activity, details))
        self.progress.start()

    def redraw(
        self, activity: str, details: Sequence[str], completed: int | None = None, total: int | None = None
    ) -> None:
        detail = self.fit_details(activity, details)
        self.progress.update(
            self.task, description=escape_line(activity), detail=detail, completed=completed, total=total
        )

    def fit_details(self, activity: str, details: Sequence[str]) -> str:
        """Returns as many of the details as the terminal has room for beside a short bar; the last is dropped last."""
        shown = list(map(escape_line, details))
        room = self.console.width - count_columns(activity) - SHORTEST_BAR
        while len(shown) > 1 and count_columns("   ".join(shown)) > room:
            del shown[-2]
        text = "   ".join(shown)
        return text if count_columns(text) <= room else shorten_text(text, max(0, room - 1))

    def stop(self) -> None:
        self.progress.stop()


@contextmanager
def show_sentence_progress(screen: Screen, activity: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Shows a bar over `total` sentences while the block runs; yields a function to report how many are finished.

    Yields None where nothing may be redrawn.
    """
    if not screen.live:
        yield None
        return
    with make_progress(screen, "MofNCompleteColumn", "TimeRemainingColumn") as progress:
        task = progress.add_task(escape_line(activity), total=total)
        yield lambda finished: progress.update(task, completed=finished)


@contextmanager
def show_translation_progress(screen: Screen, paths: Iterable[Path]) -> Iterator[Callable[[int], None]]:
    """Shows a bar over the lines of these files while the block runs; yields a function to report how many are done.

    Shows nothing without files, since translations may go to the same terminal then.
    """
    files = list(paths) if screen.live else []
    if not files:
        yield lambda _: None
        return
    with show_sentence_progress(screen, "translating", sum(map(count_lines, files))) as advance:
        yield advance or (lambda _: None)


def count_lines(path: Path) -> int:
    """Counts the lines of a file; 0 for a pipe, which can be read only once."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))


def show_evaluation_context(screen: Screen, report: Report, *, what: str, unseen: bool) -> None:
    """Prints, below the scores, how many sentences were scored and how, and what casts doubt on the scores."""
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
def show_stage_progress(screen: Screen) -> Iterator[Callable[[str, int, int], None]]:
    """Shows a bar for the stage in progress; yields a function to report the stage, what is done, and the total."""
    if not screen.live:
        yield print_stages(screen)
        return
    room = screen.console.width - SHORTEST_BAR - TIME_WIDTH
    with make_progress(screen, "TaskProgressColumn", "TimeRemainingColumn") as progress:
        task = progress.add_task("reading", total=None)
        stages = ["reading"]

        def advance(stage: str, done: int, total: int) -> None:
            if stage != stages[-1]:
                stages.append(stage)
                progress.reset(task, description=shorten_text(escape_line(stage), max(0, room - 1)))
            progress.update(task, completed=done, total=total or None)

        yield advance


def print_stages(screen: Screen) -> Callable[[str, int, int], None]:
    """Returns a function that prints a line as each stage begins, with --verbose; used where there is no bar."""
    begun: set[str] = set()

    def advance(stage: str, done: int, total: int) -> None:
        if stage not in begun:
            begun.add(stage)
            screen.say_detail(f"  {stage} ...")

    return advance


def show_prepared_corpus(screen: Screen, report: PrepareReport, advice: Advice) -> None:
    """Prints what `nmt prepare` read, found, dropped, split and learned, what would help, and the next command."""
    manifest, directory = report.manifest, report.directory
    counts = manifest.counts
    names = list(manifest.inputs)
    name = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    languages = f"{manifest.source_language} -> {manifest.target_language}"
    screen.say(f"{name}: {format_count(counts.read, 'pair')} {languages}, prepared in {report.seconds:.1f} s")
    dropped = ", ".join(f"{number:,} {reason}" for reason, number in counts.dropped.items() if number)
    total = sum(counts.dropped.values())
    why = f": {dropped}   -> {directory / 'rejected.tsv.gz'}" if total else ""
    screen.say(f"  kept {counts.kept:,}   dropped {total:,}{why}")
    for note in report.notes:
        screen.say(f"  {note}")
    if counts.more_columns:
        lines = format_count(counts.more_columns, "line has", "lines have")
        screen.warn(f"{lines} more than two columns; the first two were used")
    show_findings(screen, manifest.findings)
    show_split_and_subwords(screen, manifest)
    for side, text in manifest.monolingual.items():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in text.dropped.items())
        why = f"; dropped {text.read - text.kept:,}: {reasons}" if reasons else ""
        screen.say(f"  text     {format_count(text.kept, f'{side} sentence')} without translations{why}")
    next_command = "nmt train" if str(directory) == "prepared" else f"nmt train --data {shlex.quote(str(directory))}"
    screen.say_detail(f"           fingerprint of the data {manifest.fingerprint[:16]}")
    show_advice(screen, advice)
    screen.say(f"{directory}/ is ready. Next: {next_command}")


def show_advice(screen: Screen, advice: Advice) -> None:
    """Prints which scores are usual, how far they can be trusted, and what would help most."""
    for line in advice.lines:
        screen.say(f"  {line}")


def show_findings(screen: Screen, findings: Iterable[Finding]) -> None:
    """Prints a line per check that found something, with its first pair; more with --verbose."""
    for finding in findings:
        note = f" ({finding.note})" if finding.note else ""
        first = finding.examples[0]
        summary = f"{finding.count:,} {finding.action}: {finding.problem}{note}"
        if finding.check == CUT:
            screen.warn(format_cut(finding))
        elif finding.check in HARMLESS:
            screen.say_detail(f"  {summary}")
        else:
            screen.warn(f"{summary}; {format_example(first)}   [{finding.check}]")
        for example in finding.examples[finding.check not in HARMLESS :]:
            screen.say_detail(f"      {format_example(example)}")


def format_cut(finding: Finding) -> str:
    """Returns how many sources of a corpus were truncated, and where the first one is."""
    first = finding.examples[0]
    return f"{finding.count:,} cut: {finding.problem}; the first is {first.file}, line {first.line:,}"


def format_example(example: FindingExample) -> str:
    """Returns where a pair stands, and the pair."""
    source, target = (shorten_text(text, 60) for text in (example.source, example.target))
    return f'{example.file}, line {example.line:,}: "{source}" / "{target}"'


def show_split_and_subwords(screen: Screen, manifest: Manifest) -> None:
    """Prints the sizes of the splits, what a random split would have leaked, and the vocabulary."""
    leak, counts = manifest.leak, manifest.counts
    splits = "   ".join(f"{split} {number:,}" for split, number in counts.splits.items())
    leaked = leak.test_sources_by_rows
    leak_note = f" (a random split would have leaked {leaked:.0%} of the test set)" if leaked else ""
    unit = "sentence" if is_text(manifest.source) else "picture"
    screen.say(f"  split    {splits}     no {unit} appears in two splits{leak_note}")
    if counts.repeated:
        repetitions = format_count(counts.repeated, "training pair is a repetition", "training pairs are repetitions")
        screen.say(f"           {repetitions}, by weight")
    groups = format_count(leak.groups, "group")
    screen.say_detail(f"           {groups} of connected pairs, the largest of {leak.largest_group:,}")
    if not is_text(manifest.source):
        screen.say(f"  pictures {describe_pictures(manifest.source)}")
    screen.say(f"  subwords {describe_subwords(manifest)}")
    for side, fit in (("source", manifest.source), ("target", manifest.target)):
        if is_text(fit):
            screen.say_detail(
                f"           {side}: {fit.coverage:.2%} of characters covered; longest sentence "
                f"{format_count(fit.longest, 'piece')}, 99 % up to {fit.longest_of_99_percent:,}"
            )


def is_text(side: SubwordStatistics | PictureStatistics) -> TypeGuard[SubwordStatistics]:
    """Whether the side has subwords. Looks at attributes: the module of the class needs more than `nmt --help` has."""
    return hasattr(side, "vocabulary")


def describe_pictures(source: SubwordStatistics | PictureStatistics) -> str:
    """Returns the number of pictures and of their regions."""
    values = dataclasses.asdict(source)
    fewest, most = values["fewest_regions"], values["regions"]
    regions = format_count(most, "region") if fewest == most else f"{fewest:,} to {most:,} regions"
    return f"{values['pictures']:,}, of {regions} with {format_count(values['depth'], 'feature')} each"


def describe_subwords(manifest: Manifest) -> str:
    """Returns one line with the size and kind of the vocabulary, and how well it fits."""
    source, target, kind = manifest.source, manifest.target, manifest.tokenizer.kind
    if not is_text(source):
        unseen = (
            f"unknown in dev and test: {target.unknown_share:.1%}"
            if target.unknown_share
            else "every character can be encoded"
        )
        return f"{target.vocabulary:,}, {kind}; {target.pieces_per_word:.1f} per word of a caption; {unseen}"
    size = f"{source.vocabulary:,} and {target.vocabulary:,},"
    if manifest.has_joint_vocabulary:
        for_target = "" if source.file == target.file else f" ({target.vocabulary:,} for the target)"
        size = f"{source.vocabulary:,}{for_target}, joint"
    fit = f"{source.pieces_per_word:.1f} per source word, {target.pieces_per_word:.1f} per target word"
    unknown = "every character can be encoded"
    if source.unknown_share or target.unknown_share:
        unknown = f"unknown in dev and test: {source.unknown_share:.1%} of source, {target.unknown_share:.1%} of target"
    return f"{size} {kind}; {fit}; {unknown}"
