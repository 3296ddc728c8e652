"""Writes all messages to the terminal, on stderr. Only this module imports rich."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from nmt_cli.text.wrapping import count_columns, escape_line, shorten_text, wrap_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from nmt_cli.api.advice import Advice

SHORTEST_BAR = 15  # columns of a progress bar, its percentage and the gaps between them and the words beside
TIME_LEFT = "TimeLeftColumn"
UNKNOWN_FOR = 4.0  # seconds of a stage, in which its speed says little about the rest
TIME_WIDTH = 9  # columns of the time that is left, with the gap before it
STYLES: dict[str | None, dict[str, Any]] = {"dim": {"dim": True}, "yellow": {"fg": typer.colors.YELLOW}}


class Screen:
    """Prints the messages of a command; only errors when quiet, details when verbose.

    rich is imported only where something is redrawn, so that printing a line does not have to wait for it.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(stderr=True, highlight=False, markup=False, emoji=False, quiet=self.quiet)

    @property
    def width(self) -> int | None:
        """The width of the terminal in columns; None for a file or a pipe."""
        return find_width(sys.stderr)

    @property
    def live(self) -> bool:
        """Whether progress may be redrawn in place."""
        return not self.quiet and sys.stderr.isatty() and self.console.is_terminal

    def say(self, text: str, *, style: str | None = None, hang: int | None = None) -> None:
        """Prints a line, wrapped at words on a terminal, with further lines indented by `hang` columns."""
        if self.quiet:
            return
        lines = "\n".join(wrap_for(sys.stderr, name_packages(text), hang))
        if "console" in vars(self):  # which may be drawing a bar
            self.console.print(lines, style=style, soft_wrap=True)
        else:
            typer.secho(lines, err=True, **({} if os.environ.get("NO_COLOR") else STYLES.get(style, {})))

    def say_detail(self, text: str, *, hang: int | None = None) -> None:
        """Prints a line only with --verbose."""
        if self.verbose:
            self.say(text, style="dim", hang=hang)

    def warn(self, text: str) -> None:
        self.say(f"  ! {text}", style="yellow")

    @contextmanager
    def show_status(self, activity: str) -> Iterator[None]:
        """Shows the current activity while the block runs, if lines may be redrawn."""
        if not self.live:
            yield
            return
        with self.console.status(escape_line(activity)):
            yield


def print_error(message: str, hint: str) -> None:
    """Prints the two lines of an error, without rich: an error must not wait for an import, nor fail in one."""
    typer.secho("\n".join(wrap_for(sys.stderr, f"error: {name_packages(message)}")), err=True, fg=typer.colors.RED)
    if hint:
        typer.secho("\n".join(wrap_for(sys.stderr, f"hint: {name_packages(hint)}")), err=True)


def name_packages(text: str) -> str:
    """Returns a message in which the directory of each installed model is replaced by the name to type."""
    if "nmt_model_" not in text:  # as in almost all
        return text
    from nmt_cli.runtime.installed_models import list_models

    for name, directory in list_models().items():
        text = re.sub(rf"{re.escape(str(directory))}/?(?![\w/.-])", name, text)
    return text


def print_lines(lines: Iterable[str], hang: int | None = None) -> None:
    """Prints lines to standard output, wrapped at words on a terminal."""
    for line in lines:
        typer.echo("\n".join(wrap_for(sys.stdout, line, hang)))


def wrap_for(stream: TextIO, line: str, hang: int | None = None) -> list[str]:
    r"""Returns a line, wrapped for this stream.

    It may contain names and texts from outside, so control characters are shown, including line ends: a file called
    `a\nb: ok` must not print a line of its own.
    """
    width, line = find_width(stream), escape_line(line)
    return [line] if width is None else wrap_text(line, width, hang=hang)


def find_width(stream: TextIO) -> int | None:
    """Returns the width in columns, from COLUMNS or the stream's terminal; None for a file or a pipe.

    In a file or a pipe, nothing is wrapped, so that a program finds each message on one line.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):  # no terminal after all, or a closed stream
        return None


def make_progress(screen: Screen, *columns: str) -> Progress:
    """Returns a progress bar between the description of its task and these columns: names of rich columns, or texts.

    Only the bar narrows with the terminal: everything beside it stays on its line.
    """
    from rich import progress
    from rich.table import Column
    from rich.text import Text

    class TimeLeftColumn(progress.TimeRemainingColumn):
        def render(self, task: progress.Task) -> Text:
            return super().render(task) if (task.elapsed or 0) > UNKNOWN_FOR and task.time_remaining else Text()

    beside = [
        progress.TextColumn(column, table_column=Column(no_wrap=True))
        if "{" in column
        else (TimeLeftColumn if column == TIME_LEFT else getattr(progress, column))(table_column=Column(no_wrap=True))
        for column in ("{task.description}", *columns)
    ]
    return progress.Progress(beside[0], progress.BarColumn(), *beside[1:], console=screen.console, transient=True)


class StepBar:
    """A progress bar with a few words beside it, on one line at any width; for a `live` screen."""

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
        """Returns as many of the details as fit beside a short bar, in order of priority."""
        shown = list(map(escape_line, details))
        room = self.console.width - count_columns(activity) - SHORTEST_BAR
        while len(shown) > 1 and count_columns("   ".join(shown)) > room:
            del shown[-2]
        text = "   ".join(shown)
        return text if count_columns(text) <= room else shorten_text(text, max(0, room - 1))

    def stop(self) -> None:
        self.progress.stop()


@contextmanager
def show_translation_progress(
    screen: Screen, paths: Sequence[Path], has_lines: bool = True
) -> Iterator[Callable[[int], None]]:
    """Shows a bar over the lines of these files while the block runs; yields a function to report finished ones.

    The number of texts in a file without lines, such as an archive, is unknown: they are counted without a total.

    Shows nothing without files, as when translations go to the same terminal.
    """
    if not (screen.live and paths):
        yield lambda _: None
        return
    with make_progress(screen, "MofNCompleteColumn", TIME_LEFT) as progress:
        total = sum(map(count_lines, paths)) if has_lines else 0
        task = progress.add_task("translating", total=total or None)
        yield lambda finished: progress.update(task, completed=finished)


def count_lines(path: Path) -> int:
    """Counts the lines of a file; 0 for a pipe, which can be read only once."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))


@contextmanager
def show_stage_progress(
    screen: Screen, shares: Mapping[str, int] | None = None
) -> Iterator[Callable[[str, int, int], None]]:
    """Shows a bar for the current stage or, given the usual share of time of each, for all stages in order.

    Yields a function that reports the stage, its progress and its total.
    """
    if not screen.live:
        yield print_stages(screen)
        return
    room = screen.console.width - SHORTEST_BAR - TIME_WIDTH
    with make_progress(screen, "TaskProgressColumn", TIME_LEFT) as progress:
        task = progress.add_task("reading", total=None)
        stages = ["reading"]

        def advance(stage: str, done: int, total: int) -> None:
            if stage != stages[-1]:
                stages.append(stage)
                begin = progress.reset if shares is None else progress.update
                begin(task, description=shorten_text(escape_line(stage), max(0, room - 1)))
            if shares is None:
                progress.update(task, completed=done, total=total or None)
            else:  # never back, as where a stage comes again
                passed = measure_passed(shares, stage, done / total if total else 0)
                progress.update(task, completed=max(progress.tasks[0].completed, passed), total=100)

        yield advance


def measure_passed(shares: Mapping[str, int], stage: str, part: float) -> float:
    """Returns the percentage of the total time that has passed at this point of a stage; 0 for an unknown stage."""
    before = takewhile(lambda name: name != stage, shares)
    return sum(shares[name] for name in before) + part * shares[stage] if stage in shares else 0


def print_stages(screen: Screen) -> Callable[[str, int, int], None]:
    """Returns a function that prints a line as each stage begins, with --verbose; used without a bar."""
    begun: set[str] = set()

    def advance(stage: str, done: int, total: int) -> None:
        if stage not in begun:
            begun.add(stage)
            screen.say_detail(f"  {stage} ...")

    return advance


def show_advice(screen: Screen, advice: Advice) -> None:
    """Prints the typical scores, their precision, and the commands that would help most."""
    for line in advice.format_lines(screen.width and screen.width - 2):
        screen.say(f"  {line}")
