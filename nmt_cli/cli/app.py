"""The command-line program `nmt`: finds the command, shows help, and turns errors into messages and exit codes.

`nmt translate --model none` imports only `cli/translate.py`, runs its function `translate`, and turns the NotFoundError
of the missing model into two lines on stderr and exit code 66 (`ExitCode.NO_INPUT`).

This module and those of the commands import no large libraries (`tests/test_architecture.py` tests this).
"""

from __future__ import annotations

import atexit
import codecs
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from importlib import import_module
from shlex import quote
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from nmt_cli import ENVIRONMENT, __version__
from nmt_cli.cli import render
from nmt_cli.cli.parsing.command import (
    HELP,
    LightParameters,
    PanelledCommand,
    collect_rarely,
    explain_command,
    explain_usage,
    leave_process,
)
from nmt_cli.errors import ExitCode, NmtError, OptionError, OutputError, convert_import_error, convert_os_error
from nmt_cli.files import leave_terminals, list_ending_signals, list_terminals

PLACEHOLDER = "[OPTIONS]"  # in the usage of `--help`
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class NmtGroup(LightParameters, TyperGroup):
    """The commands, each imported on demand. Reports the errors of all commands.

    An error of a command ends here, as two lines on stderr and a named exit code.
    """

    lazy: Mapping[str, str] = {}  # the commands that are modules of this package, each with a short description

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.lazy) or super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.lazy:
            return load_command(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if not self.lazy:
            super().format_help(ctx, formatter)
            return
        from nmt_cli.cli.help import format_group_help  # only help needs it

        formatter.write(format_group_help(self.lazy.items(), self.help or ""))  # without importing the commands

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        asks_help = self.lazy and args[:1] == [HELP]  # as of other programs
        return super().parse_args(ctx, [*args[1:], "--help"] if asks_help else args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if PLACEHOLDER in args:
            typed = " ".join(quote(word) for word in args if word != PLACEHOLDER)
            raise OptionError(f"{PLACEHOLDER} is only a placeholder for options", hint=f"leave it out: nmt {typed}")
        if self.lazy and args[0] not in self.lazy and not ctx.resilient_parsing:
            raise explain_command(args, self.lazy)
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Runs a command and exits; without `args`, runs the command line of this process and ends it at once."""
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        is_debugged = os.environ.get("NMT_DEBUG") == "1"
        with own_process() if args is None else nullcontext():
            try:
                if is_debugged:
                    log_failures()
                check_streams()
                code = super().main(args, prog_name or "nmt", standalone_mode=False, **extra)
            except (NmtError, TyperException, OSError) as problem:
                if is_debugged:
                    raise
                code = show_error(problem)
            except ImportError as problem:
                missing = convert_import_error(problem)
                code = find_exit_code(problem) if missing is None else show_error(missing)
                if code is None:
                    raise
            sys.exit(code or ExitCode.OK)


class NmtCommands(NmtGroup):
    lazy: Mapping[str, str] = {  # in the order in which a newcomer needs them
        "prepare": "Clean, split and encode sentence pairs.",
        "train": "Train a translator on a prepared corpus.",
        "translate": "Translate text line by line, or a document.",
        "evaluate": "Score translations, with confidence intervals and signatures.",
        "visualize": "Draw attention, beam search, learning curves and data.",
    }


@contextmanager
def own_process() -> Iterator[None]:
    """Sets the process up for the command that runs in the block, and ends it with the exit code of the command.

    SIGTERM and SIGHUP clean up unfinished work, as Ctrl-C does. Training handles these signals itself.
    """
    codes: list[int] = []
    atexit.register(leave_process, codes)  # the first to be registered is the last to run
    collect_rarely()
    exit_on_signals()
    try:
        yield
    except SystemExit as end:
        codes.append(int(end.code or ExitCode.OK))
        raise


def log_failures() -> None:
    """Shows the tracebacks of failures that affect only one text and do not end the command."""
    import logging  # which few runs need

    logger = logging.getLogger("nmt_cli")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(logging.StreamHandler())


@cache
def load_command(name: str) -> Any:
    """Returns the command `name`: the function of that name in the module of that name."""
    function = getattr(import_module(f"nmt_cli.cli.{name}"), name)
    single = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=CONTEXT)
    single.command(name, cls=PanelledCommand, context_settings=CONTEXT)(function)
    return typer.main.get_command(single)


def check_streams() -> None:
    """Replaces standard input and error if the caller closed them; raises OutputError if standard output is closed."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if sys.stdout is None:
        raise OutputError("standard output is closed", hint="send it to a file, or to /dev/null")
    codecs.register_error("nmt-substitute", substitute_characters)
    for stream in (sys.stdout, sys.stderr):  # what an encoding such as cp1252 lacks
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict" and not is_unicode(stream.encoding):
            stream.reconfigure(errors="nmt-substitute")


# Signs of ours for encodings that lack them, one for one so that tables stay in line: the shades of attention in the
# order of their darkness, arrows and rules. All else becomes a question mark.
SUBSTITUTES = dict(zip("█▓▒░·→›─━│…−±×", "#*+-.>>--|.-~x", strict=True))


def substitute_characters(error: UnicodeError) -> tuple[str, int]:
    """Returns the replacement for characters missing from an encoding, and where to continue, as `codecs` requires."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(SUBSTITUTES.get(character, "?") for character in missing), error.end


def is_unicode(encoding: str) -> bool:
    """Whether an encoding can represent every character."""
    return encoding.lower().replace("-", "").startswith("utf")


def find_exit_code(problem: ImportError) -> int | None:
    """Returns the exit code if a signal caused this ImportError while a compiled module was being loaded."""
    if isinstance(problem.__cause__, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    return int(problem.__cause__.code or 0) if isinstance(problem.__cause__, SystemExit) else None


def show_error(problem: NmtError | TyperException | OSError) -> int:
    """Prints the error and returns its exit code."""
    if isinstance(problem, TyperException):
        render.print_error(*explain_usage(problem))
        return problem.exit_code
    error = convert_os_error(problem) if isinstance(problem, OSError) else problem
    render.print_error(error.message, error.hint)
    return error.exit_code


# Signals: they end a command. In a training run, the first is a request to stop, and the second ends the process.
#
# Before a training run first asks whether to stop, there is nothing to keep: a signal then ends it at once.


class Stop:
    """Records the signal that asked training to stop, if there was one."""

    signal: int = 0

    def __init__(self, say: Callable[[str], None] = lambda text: None) -> None:
        self.terminals = list_terminals()
        self.say = say
        self.is_asked = False

    def __call__(self) -> bool:
        self.is_asked = True
        return bool(self.signal)

    def request_stop(self, number: int, frame: FrameType | None) -> None:
        """Handles a signal: the first is a request to stop; a second, or an early one, stops the process at once."""
        if number == signal.SIGHUP:
            leave_terminals(self.terminals)
        is_second, self.signal = bool(self.signal), self.signal or number
        if is_second or not self.is_asked:
            raise KeyboardInterrupt
        with suppress(RuntimeError):  # a line is just being printed: Python refuses another within it
            self.say("stopping after this step ...; Ctrl-C again stops at once")


@contextmanager
def catch_stop_signals(say: Callable[[str], None] = lambda text: None) -> Iterator[Stop]:
    """Turns SIGINT, SIGTERM and SIGHUP within the block into requests to stop, which `say` reports at once.

    A block stopped before there is anything to keep exits with the signal's own exit code.
    """
    stop = Stop(say)
    numbers = (signal.SIGINT, *list_ending_signals())
    previous = {number: signal.signal(number, stop.request_stop) for number in numbers}
    try:
        yield stop
    except KeyboardInterrupt:
        if stop.signal not in (0, signal.SIGINT):
            raise typer.Exit(128 + stop.signal) from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def exit_on_signals() -> None:
    """Makes terminating signals end the process as Ctrl-C does, with clean-up, but with their own exit codes."""
    terminals = list_terminals()

    def end(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            leave_terminals(terminals)
        sys.exit(128 + number)

    for number in list_ending_signals():
        signal.signal(number, end)


# The app, and the entry point of the console script.

app = typer.Typer(
    cls=NmtCommands,
    rich_markup_mode=None,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


def show_version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"nmt {__version__}")
        raise typer.Exit


@app.callback()
def run_without_command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """From a file of sentence pairs to a translator: prepare, train, translate, evaluate, visualize."""
    if context.invoked_subcommand is None:
        from nmt_cli.cli.status import STATUS_COLUMN, describe_status  # which only `nmt` alone needs

        render.print_lines(describe_status(), STATUS_COLUMN)


main = typer.main.get_command(app).main
