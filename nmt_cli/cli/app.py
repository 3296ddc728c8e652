"""The Typer app `nmt`: its commands, its help, and the one place where errors become exit codes.

Must stay light: `nmt --help` imports this and nothing heavy (held by tests/test_architecture.py).
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from nmt_cli import ENVIRONMENT, __version__
from nmt_cli.cli import render
from nmt_cli.errors import ExitCode, NmtError, OutputError, from_os_error

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


# What becomes of what is typed, where nothing in it can be wrong.
TAKEN: dict[Any, Callable[[Any], Any]] = {
    str: str,
    Path: Path,
    list[str]: list,
    list[Path]: lambda typed: [Path(one) for one in typed],
}


class LightParameters:
    """For a command: its parameters convert neither defaults, which have their type already, nor text and paths.

    Typer would, and imports pydantic for it: a fifth of a start.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if "process_value" not in vars(parameter):  # it is asked for again and again
                parameter.process_value = partial(processed, parameter, parameter.process_value)
        return parameters


def processed(parameter: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """The value of a parameter, as its `convert` gives it unless that is not needed."""
    take = TAKEN.get(parameter.type_descriptor.annotation)
    if take is not None and value:
        value = take(value)
    elif parameter.required or context.get_parameter_source(parameter.name).name != "DEFAULT":
        return convert(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


class PanelledCommand(LightParameters, TyperCommand):
    """A command whose `--help` lists its options under headings, as plain text.

    Typer's own panels need rich's Markdown, a third of the time that help may take.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                default = "Arguments" if parameter.param_type_name == "argument" else "Output"
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or default, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class NmtGroup(LightParameters, TyperGroup):
    """The commands, each imported when it is asked for, and the error boundary.

    What a command raises ends here as two lines on stderr and a named exit code.
    """

    lazy: Mapping[str, str] = {}  # commands that are modules of this package, and what each does in a few words

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.lazy) or super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.lazy:
            return load_command(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        if not self.lazy:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):  # without importing them
            formatter.write_dl(list(self.lazy.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.lazy:  # the message for a name that does not exist names the nearest that do
            self.commands = {**{name: load_command(name) for name in self.lazy}, **self.commands}
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        extra["standalone_mode"] = False
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        try:
            check_streams()
            code = super().main(*args, **extra)
        except (NmtError, TyperException, OSError) as problem:
            if os.environ.get("NMT_DEBUG") == "1":
                raise
            code = explain(problem)
        except ImportError as problem:
            code = code_of_request(problem)
            if code is None:
                raise
        sys.exit(code or ExitCode.OK)


class NmtCommands(NmtGroup):
    lazy: Mapping[str, str] = {  # in the order in which a newcomer needs them
        "prepare": "Clean, split and encode sentence pairs.",
        "train": "Train a translator on a prepared corpus.",
        "translate": "Translate lines of text, a line for a line.",
        "evaluate": "Score translations, with intervals and signatures.",
        "visualize": "Draw attention, beam search, training and data.",
    }


@cache
def load_command(name: str) -> Any:
    """The command `name`, which is the function of that name in the module of that name."""
    function = getattr(import_module(f"nmt_cli.cli.{name}"), name)
    single = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=CONTEXT)
    single.command(name, cls=PanelledCommand, context_settings=CONTEXT)(function)
    return typer.main.get_command(single)


def check_streams() -> None:
    """Python has none where the caller closed them: an input without a line then, and nobody who reads what is told;
    without an output nothing is done.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if sys.stdout is None:
        raise OutputError("standard output is closed", hint="send it to a file, or to /dev/null")


def code_of_request(problem: ImportError) -> int | None:
    """The exit code of the request to end that came while a compiled module was loaded, which makes this of it."""
    if isinstance(problem.__cause__, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    return ExitCode.TERMINATED if isinstance(problem.__cause__, SystemExit) else None


def explain(problem: NmtError | TyperException | OSError) -> int:
    """Draws the error and returns its exit code."""
    if isinstance(problem, TyperException):
        context = getattr(problem, "ctx", None)
        path = context.command_path if context else "nmt"
        said = problem.format_message().replace("Value error, ", "")  # pydantic's, which converts Typer's options
        render.error(said, f"see `{path} --help`")
        return problem.exit_code
    told = from_os_error(problem) if isinstance(problem, OSError) else problem
    render.error(told.message, told.hint)
    return told.exit_code


app = typer.Typer(
    cls=NmtCommands,
    rich_markup_mode=None,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nmt {__version__}")
        raise typer.Exit


@app.callback()
def nmt(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """From a file of sentence pairs to a translator: prepare, train, translate, evaluate, visualize."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the console script; exits the process.

    Where the system asks for an end, what is half done is cleared away as for Ctrl-C. Training has its own way.
    """
    codes: list[int] = []
    if arguments is None:
        atexit.register(leave, codes)  # as the first, so that all others are done when its turn comes
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(ExitCode.TERMINATED))
    try:
        typer.main.get_command(app).main(args=arguments, prog_name="nmt")
    except SystemExit as end:
        codes.append(int(end.code or ExitCode.OK))
        raise
    raise AssertionError("the group's main exits")


def leave(codes: Sequence[int]) -> None:
    """Ends the process with the code that it was to end with; without one, by an error, Python ends it.

    Python and ONNX Runtime would take apart all that they hold, which the system frees at once: a tenth of a short
    translation. Where output cannot be written Python says so.
    """
    if codes:
        with suppress(OSError, ValueError):
            for stream in filter(None, (sys.stdout, sys.stderr)):  # see `check_streams`
                stream.flush()
            os._exit(codes[0])
