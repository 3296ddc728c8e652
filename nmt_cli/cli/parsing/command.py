"""Extends Typer for the commands of `nmt`: faster parsing, and clearer usage errors.

nmt translate --length-penalty 0.8        Typer parses it, and converts 0.8 if it was typed at all
nmt translate --set length-penalty=0.8    the same: `parse_command_line` makes it the value of that option
nmt translate --lenght-penalty 0.8        error: there is no option --lenght-penalty
                                          hint: did you mean --length-penalty? see `nmt translate --help`
"""

from __future__ import annotations

import difflib
import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, get_args

import typer
from typer import BadParameter
from typer.core import TyperCommand
from typer.exceptions import TyperException

from nmt_cli.cli.parsing.configuration import (
    CONFIGURED_BY,
    find_owner,
    find_setting,
    name_option,
    name_variable,
    spell_option,
)
from nmt_cli.errors import OptionError, find_nearest
from nmt_cli.settings import SYNONYMS, find_choice

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


def leave_process(exit_codes: Sequence[int]) -> None:
    """Ends the process with the exit code it was about to end with. Without a code, as after an error, Python ends it.

    If the streams cannot be flushed, Python reports it.
    """
    if exit_codes:
        with suppress(OSError, ValueError):
            for stream in filter(None, (sys.stdout, sys.stderr)):  # see `check_streams`
                stream.flush()
            os._exit(exit_codes[0])


class LightParameters:
    """Mixin of a command: converts its parameters without pydantic wherever possible."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if "process_value" not in vars(parameter):  # Typer asks for the parameters again and again
                parameter.process_value = partial(process_value, parameter, parameter.process_value)
        return parameters


def process_value(parameter: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Returns the value of a parameter, calling Typer's `convert` only if needed. Raises OptionError."""
    if isinstance(value, str):
        if value.startswith("--") and any(value in other.opts for other in context.command.params):
            raise OptionError(f"{parameter.opts[0]} needs a value", hint=refer_to_help(context))
        value = SYNONYMS.get(parameter.name, {}).get(value, value)
    converter = CONVERTERS.get(parameter.type_descriptor.annotation)
    if converter is not None and value:
        value = converter(value)
    elif parameter.required or context.get_parameter_source(parameter.name).name != "DEFAULT":
        try:
            return convert(context, value)
        except BadParameter as problem:
            if value is None:  # it is missing
                raise
            raise explain_value(context, parameter, value) from problem
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


# Usage errors in our words, since Typer names Python types instead of the typed value.


# What other programs have a command for, and what does it here.
OTHER_COMMANDS = {
    "serve": "nmt translate --serve 5000",
    "server": "nmt translate --serve 5000",
    "info": "nmt translate --info, with --model NAME for another model",
    "models": "nmt, which lists the installed models",
    "list": "nmt, which lists the installed models",
    "version": "nmt --version",
    "score": "nmt evaluate, or nmt translate --score for given translations",
    "test": "nmt evaluate",
    "predict": "nmt translate",
    "learn": "nmt train; with --init-from MODEL, from the weights of another model",
    "export": "nmt translate --export ctranslate2 -o FOLDER",
}
HELP = "help"
TRANSLATE = "translate"  # the command that hints name if several are possible
OTHER_ARGUMENTS = {  # commands without arguments: what a file that is typed after their name may be meant for
    "train": "to prepare a corpus from a file for nmt train: nmt prepare {0}",
    "evaluate": "to score a file of translations: nmt evaluate --hypothesis {0} --reference FILE",
}
# What other programs have an option for: of the options here, the first that the command has, and what to do.
BY_ITSELF = {"": "give the file name alone, without an option"}
FROM = {
    "--source-language": "use --source-language LANGUAGE",
    "": "the model sets the languages; to see them: nmt translate --info",
}
TO = {
    "--target-language": "use --target-language LANGUAGE",
    "--to": "use --to LANGUAGE, if the model has several targets",
    "": FROM[""],
}
LANGUAGES = {"--source-language": f"{FROM['--source-language']} and {TO['--target-language'].removeprefix('use ')}"}
OUTPUT = {
    "--output": "use --output FILE",
    "--vocab-size": "the corpus is written to --data DIR",
    "--epochs": "the model is written to --model DIR",
    "--report": "use --report FILE",
}
GPU = {"": "nmt uses a GPU if there is one: docs/scale.md#gpus"}
OTHER_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "-m": {"--model": "use --model DIR"},
    **dict.fromkeys(("-i", "--in", "--input"), BY_ITSELF),
    **dict.fromkeys(("--from", "--source", "--src", "--source-lang", "--src-lang"), FROM),
    **dict.fromkeys(("--target", "--tgt", "--trg", "--target-lang", "--tgt-lang"), TO),
    **dict.fromkeys(("-o", "--output", "--out", "--out-dir", "--prepared"), OUTPUT),
    **dict.fromkeys(("--gpu", "--cuda", "--device"), GPU),
    **dict.fromkeys(("--lang", "--langs", "--languages"), LANGUAGES),
    "--page": {"--export": "use --export page -o FOLDER, with the files that docs/page.md lists"},
}
CLOSE = 0.7  # similarity of a mistyped name to the one that was probably meant
MOST_SIMILAR = 3  # names that a hint lists
KINDS = {int: "a whole number", float: "a number"}


def explain_usage(problem: TyperException) -> tuple[str, str]:
    """Returns the message and the hint for a usage error."""
    context: Any = getattr(problem, "ctx", None)
    message, name, see = problem.format_message(), getattr(problem, "option_name", None), refer_to_help(context)
    if name is not None and "requires an argument" in message:
        return f"{name} needs a value", see
    if name is not None and "No such option" in message:
        return f"there is no option {name}", suggest_option(context, name)
    return message.replace("Value error, ", ""), see  # pydantic adds it


def refer_to_help(context: Any) -> str:
    return f"see `{context.command_path if context else 'nmt'} --help`"


def explain_command(args: Sequence[str], commands: Collection[str]) -> OptionError:
    """Returns the error for an unknown command, with the command that does its work, or the most similar one."""
    name = args[0]
    nearest = find_nearest(name, commands)
    reads = f"nmt translate {quote(name)}" if Path(name).is_file() else ""
    typed = OTHER_COMMANDS.get(name) or reads or (f"nmt {nearest}" if nearest else "")
    return OptionError(f"there is no command {name}", hint=f"run {typed}" if typed else refer_to_help(None))


def refuse_arguments(context: Any, typed: Sequence[str], rest: Sequence[str]) -> None:
    """Raises OptionError for arguments that a command does not take, and for `help` if no file has that name."""
    command = context.command
    takes_text = any("SENTENCE" in (parameter.metavar or "") for parameter in command.params)
    if list(typed) == [HELP] and not takes_text and not Path(HELP).exists():
        raise OptionError(f"help is an option of nmt {command.name}", hint=f"run nmt {command.name} --help")
    if rest:
        hint = OTHER_ARGUMENTS.get(command.name, "").format(*rest)
        raise OptionError(f"nmt {command.name} takes no {rest[0]!r}", hint=hint or refer_to_help(context))


def suggest_option(context: Any, flag: str) -> str:
    """Returns the hint for an unknown option: the option that does its work here, or the options probably meant.

    An option was probably meant if its name is similar, or begins like the typed one: `vocab-size` for `--vocab`.
    """
    if context.parent is None:  # before any command
        takers = [taker for taker in context.command.list_commands(context) if flag in list_flags(context, taker)]
        taker = TRANSLATE if TRANSLATE in takers else "".join(takers[:1])
        return f"put {flag} after a command, as in nmt {taker} {flag}" if taker else refer_to_help(context)
    shown = [parameter for parameter in context.command.params if not getattr(parameter, "hidden", False)]
    options = [option for parameter in shown for option in (*parameter.opts, *parameter.secondary_opts)]
    for option, hint in OTHER_OPTIONS.get(flag, {}).items():
        if not option or option in options:
            return hint
    name = flag.strip("-").replace("_", "-")
    names = {option.removeprefix("--"): option for option in options if option.startswith("--")}
    begun = [other for other in names if other.startswith(f"{name}-") or name.startswith(f"{other}-")]
    similar = difflib.get_close_matches(name, names, MOST_SIMILAR, CLOSE) or begun
    if not similar and (owner := find_owner(context, name)):
        return f"{flag} is an option of nmt {owner}"
    meant = f"did you mean {' or '.join(sorted(names[other] for other in similar))}? " if similar else ""
    return meant + refer_to_help(context)


def list_flags(context: Any, name: str) -> list[str]:
    """Returns all spellings of the options of a command."""
    return [option for parameter in context.command.get_command(context, name).params for option in parameter.opts]


def name_origin(context: Any, parameter: Any) -> str:
    """Returns the variable or the file that a value comes from; empty for a typed value."""
    source = context.get_parameter_source(parameter.name)
    if source.name == "ENVIRONMENT":
        return str(parameter.envvar)
    return str(context.meta[CONFIGURED_BY]) if source.name == "DEFAULT_MAP" else ""


def explain_value(context: Any, parameter: Any, value: Any) -> OptionError:
    """Returns the error for a value that a parameter refuses."""
    kind, choices = parameter.type_descriptor.annotation, list(map(str, parameter.type_descriptor.choices or ()))
    values = value if isinstance(value, list | tuple) else [value]
    refused = next((part for part in values if part not in choices), value)
    origin = name_origin(context, parameter)
    message = f"{origin and f'{origin}: '}{spell_option(parameter)} cannot be {refused!r}"
    if choices:
        nearest = find_choice(parameter.name, refused, choices)
        return OptionError(message, hint=f"did you mean {nearest}?" if nearest else f"use one of {', '.join(choices)}")
    expected = next((KINDS[part] for part in (kind, *get_args(kind)) if part in KINDS), None)
    least = getattr(parameter, "min", None)
    bound = "" if least is None else f" of at least {least}"
    return OptionError(message, hint=f"use {expected}{bound}" if expected else refer_to_help(context))


# How arguments are parsed: `--set NAME=VALUE` sets an option by its name, and none that takes one value has two.


ASSIGNMENTS = "assignments"  # the parameter of `--set`
TRUTH = {"true": True, "false": False}
Parse = Callable[..., tuple[dict[str, Any], list[str], list[Any]]]


def parse_command_line(context: Any, parse: Parse, args: list[str]) -> tuple[dict[str, Any], list[str], list[Any]]:
    """Parses arguments: each assignment of `--set` becomes the value of a parameter, as if its option had been typed.

    Raises OptionError if an option that takes one value is repeated, since Typer would silently use the last value.
    """
    typed = list(args)
    try:
        values, rest, order = parse(args=args)
    except TyperException as problem:
        if getattr(problem, "ctx", None) is None:  # as of an option without its value: its hint names the command
            problem.ctx = context  # type: ignore[attr-defined]
        raise
    refuse_arguments(context, typed, rest)
    assigned = [assign(context, values, text) for text in values.get(ASSIGNMENTS) or ()]
    refuse_repeats(typed, [*order, *assigned], assigned)
    return values, rest, [*order, *assigned]


def assign(context: Any, values: dict[str, Any], text: str) -> Any:
    """Adds an assignment to the parsed values; returns its parameter."""
    name, separator, value = text.partition("=")
    name = name.strip()
    if not separator:
        raise OptionError(f"--set {text} has no value", hint=f"use --set {name or 'NAME'}=VALUE")
    parameter = find_setting(context, name, where="--set", hint="leave it out, or set it for nmt {}")
    if parameter.nargs != 1:
        raise OptionError(f"--set {name} takes several values", hint=f"give them with {spell_option(parameter)}")
    if parameter.is_flag and value not in TRUTH:
        raise OptionError(f"--set {name} cannot be {value!r}", hint="use true or false")
    if parameter.multiple:
        values.setdefault(parameter.name, []).append(value)
    else:
        values[parameter.name] = TRUTH[value] if parameter.is_flag else value
    return parameter


def refuse_repeats(typed: Sequence[str], order: Sequence[Any], assigned: Sequence[Any]) -> None:
    """Raises OptionError for repeated values of a single-valued parameter, and for contradicting flags."""
    for parameter, times in Counter(order).items():
        if times == 1 or parameter.param_type_name == "argument" or parameter.multiple:
            continue
        names = [name for name in (*parameter.opts, *parameter.secondary_opts) if name in typed]
        if not parameter.is_flag or parameter in assigned:
            count = "twice" if times == 2 else f"{times} times"
            raise OptionError(
                f"{spell_option(parameter)} is given {count}", hint=f"give {spell_option(parameter)} only once"
            )
        if len(set(names) & set(parameter.secondary_opts)) not in (0, len(set(names))):
            raise OptionError(f"{' and '.join(dict.fromkeys(names))} contradict each other", hint="give one of them")


class PanelledCommand(LightParameters, TyperCommand):
    """A command with examples, everyday options and headings in its `--help`, and every option in `--help-all`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if parameter.param_type_name == "option":
                parameter.envvar = name_variable(name_option(parameter))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from nmt_cli.cli.help import format_command_help  # only help needs it

        formatter.write(format_command_help(self, ctx, in_full=False))

    def make_parser(self, ctx: Any) -> Any:
        parser = super().make_parser(ctx)
        if not ctx.resilient_parsing:
            parser.parse_args = partial(parse_command_line, ctx, parser.parse_args)  # type: ignore[method-assign]
        return parser


def show_full_help(context: Any, parameter: Any, is_set: bool) -> bool:
    """Prints every option of a command in full and exits, if `is_set`."""
    if is_set and not context.resilient_parsing:
        from nmt_cli.cli.help import format_command_help

        typer.echo(format_command_help(context.command, context, in_full=True))
        raise typer.Exit
    return is_set
