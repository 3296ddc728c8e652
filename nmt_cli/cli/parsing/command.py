"""A command of `nmt` for Typer: how it is parsed, how it starts fast, and its usage errors in our words."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args

import typer
from typer import BadParameter
from typer.core import TyperCommand
from typer.exceptions import TyperException

from nmt_cli.api.options.options import OPTIONS
from nmt_cli.cli.parsing.configuration import (
    CONFIGURED_BY,
    is_setting,
    name_option,
    name_variable,
    parse_command_line,
    respell_settings,
    spell_option,
)
from nmt_cli.errors import NmtError, find_nearest

# Measures taken only for a fast start. Nothing here changes what a command does.
#
# Measured on `echo hello | nmt translate`, 0.33 s in all. Typer imports pydantic, 0.07 s, as soon as it converts an
# option; so it does not convert defaults, which already have their type, nor text and paths, which cannot be invalid.
# When a process ends, Python and ONNX Runtime take apart all that they hold, for up to a tenth of a short translation,
# although the system would free it at once; so the process leaves through `os._exit`. Modules, options and translations
# hold no cyclic garbage, yet Python looks for it after every 700 new objects, 0.005 s of a start; here it does so a
# hundred times less often.


NEW_OBJECTS = 70_000  # after which Python looks for garbage; its own default is 700
# How values are converted in which nothing can be wrong.
CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    str: str,
    Path: Path,
    list[str]: list,
    list[Path]: lambda values: [Path(value) for value in values],
}


def collect_rarely() -> None:
    """Makes Python look for cyclic garbage less often."""
    gc.set_threshold(NEW_OBJECTS)


class LightParameters:
    """Mixin of a command: converts its parameters without pydantic wherever possible."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            convert_lightly(parameter)
        return parameters


def convert_lightly(parameter: Any) -> None:
    """Makes a parameter convert its values without pydantic wherever possible."""
    if "process_value" not in vars(parameter):  # Typer asks for the parameters again and again
        parameter.process_value = partial(process_value, parameter, parameter.process_value)


def process_value(parameter: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Returns the value of a parameter, calling Typer's `convert` only if needed."""
    converter = CONVERTERS.get(parameter.type_descriptor.annotation)
    if converter is not None and value:
        value = converter(value)
    elif parameter.required or context.get_parameter_source(parameter.name).name != "DEFAULT":
        return convert(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def leave_process(exit_codes: Sequence[int]) -> None:
    """Ends the process with the exit code it was about to end with. Without a code, after an error, Python ends it.

    If the streams cannot be flushed, Python reports it.
    """
    if exit_codes:
        with suppress(OSError, ValueError):
            for stream in filter(None, (sys.stdout, sys.stderr)):  # see `check_streams`
                stream.flush()
            os._exit(exit_codes[0])


# Explains usage errors in our words, since Typer names Python types instead of the typed value.


# What other programs have a command for, and what does it here.
OTHER_COMMANDS = {
    "serve": "nmt translate --serve 5000",
    "server": "nmt translate --serve 5000",
    "info": "nmt translate --info, with --model NAME for another model",
    "models": "nmt, which names the models that are installed",
    "list": "nmt, which names the models that are installed",
    "help": "nmt --help, or nmt COMMAND --help",
    "version": "nmt --version",
    "score": "nmt evaluate, or nmt translate --score for given translations",
    "test": "nmt evaluate",
    "predict": "nmt translate",
    "learn": "nmt train; with --init-from MODEL, from the weights of another",
    "export": "nmt translate --export ctranslate2 -o FOLDER",
}
OTHER_OPTIONS = {
    "--page": "--export page -o FOLDER, with what docs/page.md lists",
    "--input": "the name of the file by itself: nmt translate FILE",
}
KINDS = {int: "a whole number", float: "a number"}


def attach_value(parameter: Any) -> None:
    """Makes the error for a refused value carry that value, which Typer's own error lacks."""
    parameter.process_value = partial(convert_value, parameter.process_value)


def convert_value(convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    try:
        return convert(context, value)
    except BadParameter as problem:
        if value is not None:  # else it is missing
            problem.value = value  # type: ignore[attr-defined]
        raise


def explain_usage(problem: TyperException) -> tuple[str, str]:
    """Returns the message and the hint for a usage error."""
    context: Any = getattr(problem, "ctx", None)
    see = f"see `{context.command_path if context else 'nmt'} --help`"
    message, name = problem.format_message(), getattr(problem, "option_name", None)
    if isinstance(problem, BadParameter) and hasattr(problem, "value") and problem.param is not None:
        message, hint = explain_value(problem.param, problem.value, see)
        origin = name_origin(context, problem.param)
        return f"{origin}: {message.removeprefix('--set ')}" if origin else message, hint
    if "No such command" in message:
        return explain_command(message, see)
    if name is not None and "requires an argument" in message:
        return f"{name} needs a value", see
    if name is not None and "No such option" in message:
        if name in OTHER_OPTIONS:
            return f"there is no option {name}", f"type {OTHER_OPTIONS[name]}"
        nearest = " or ".join(sorted(getattr(problem, "possibilities", None) or ()))
        return f"there is no option {name}", f"did you mean {nearest}? {see}" if nearest else see
    return message.replace("Value error, ", ""), see  # pydantic adds it


def explain_command(message: str, see: str) -> tuple[str, str]:
    """Returns the message and the hint for a command that does not exist: what does its work, or the nearest one."""
    name = message.split("'")[1]
    nearest = re.findall(r"'(\w[\w-]*)'", message.partition("Did you mean")[2])
    typed = OTHER_COMMANDS.get(name) or (f"nmt {nearest[0]}" if nearest else "")
    return f"there is no command {name}", f"type {typed}" if typed else see


def name_origin(context: Any, parameter: Any) -> str:
    """Returns the variable or the file of a value that was not typed; empty for one that was."""
    source = context.get_parameter_source(parameter.name) if context is not None else None
    if source is None or source.name not in ("ENVIRONMENT", "DEFAULT_MAP"):
        return ""
    return str(parameter.envvar if source.name == "ENVIRONMENT" else context.meta[CONFIGURED_BY])


def explain_value(parameter: Any, value: Any, see: str) -> tuple[str, str]:
    """Returns the message and the hint for a value that a parameter refuses."""
    kind, choices = (
        parameter.type_descriptor.annotation,
        [str(choice) for choice in parameter.type_descriptor.choices or ()],
    )
    values = value if isinstance(value, list | tuple) else [value]
    refused = next((part for part in values if part not in choices), value)
    message = f"{spell_option(parameter)} cannot be {refused!r}"
    if choices:
        nearest = find_nearest(str(refused), choices)
        return message, f"did you mean {nearest}?" if nearest else f"it takes {', '.join(choices)}"
    expected = next((KINDS[part] for part in (kind, *get_args(kind)) if part in KINDS), None)
    least = getattr(parameter, "min", None)
    bound = "" if least is None else f" of at least {least}"
    return message, f"it takes {expected}{bound}" if expected else see


# A command of `nmt` for Typer: which parameters are options, how they are parsed, and its help pages.


# Other names of values, by the option: those by which textbooks and other toolkits call them.
SYNONYMS = {"attention": {"bahdanau": "additive", "luong": "general"}}
ALWAYS = {"help", "help-all"}  # options of every command


class PanelledCommand(LightParameters, TyperCommand):
    """A command with examples, everyday options and headings in its `--help`, and all settings in `--help-all`.

    Parameters outside its OPTIONS are settings: unknown to its parser, but accepted by `--set`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for parameter in self.params:
            self.prepare_parameter(parameter)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from nmt_cli.cli.help import format_command_help  # only help needs it

        formatter.write(format_command_help(self, ctx, in_full=False))

    def prepare_parameter(self, parameter: Any) -> None:
        """Records whether a parameter is a setting, its environment variable, and how its values are converted."""
        options = OPTIONS.get(self.name or "")
        if parameter.param_type_name == "option":
            parameter.envvar = name_variable(name_option(parameter))
        if options is not None and parameter.param_type_name == "option":
            parameter.is_setting = name_option(parameter) not in options.names | ALWAYS
        if is_setting(parameter):
            parameter.hidden = True  # from completion
            parameter.add_to_parser = lambda parser, ctx: None
        convert_lightly(parameter)
        attach_value(parameter)
        synonyms = SYNONYMS.get(parameter.name)
        if synonyms:
            parameter.process_value = partial(replace_synonym, synonyms, parameter.process_value)

    def make_parser(self, ctx: Any) -> Any:
        parser = super().make_parser(ctx)
        if not ctx.resilient_parsing:
            parser.parse_args = partial(parse_command_line, ctx, parser.parse_args)  # type: ignore[method-assign]
        return parser

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except NmtError as error:
            error.message, error.hint = (respell_settings(text, self.params) for text in (error.message, error.hint))
            raise


def replace_synonym(synonyms: Mapping[str, str], convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Returns the value of an option, translating synonyms used in textbooks."""
    return convert(context, synonyms.get(value, value) if isinstance(value, str) else value)


def show_full_help(context: Any, parameter: Any, is_set: bool) -> bool:
    """Prints every setting of a command in full and exits, if `is_set`."""
    if is_set and not context.resilient_parsing:
        from nmt_cli.cli.help import format_command_help

        typer.echo(format_command_help(context.command, context, in_full=True))
        raise typer.Exit
    return is_set
