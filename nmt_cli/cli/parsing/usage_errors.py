"""Explains usage errors in our words, since Typer names Python types instead of the typed value."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

from typer import BadParameter
from typer.exceptions import TyperException

from nmt_cli.cli.parsing.configuration import CONFIGURED_BY
from nmt_cli.cli.parsing.spelling import spell_option
from nmt_cli.errors import find_nearest

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
