"""A file of settings, of `--config` or found, whose values become the defaults of a command, so that typed ones win.

Keys are the names of settings, as in options. A table named for a command applies only to that command and takes
precedence over the top level. A file that is found serves all commands: each takes what it has of the top level, and
only what is harmless.
"""

from __future__ import annotations

import inspect
import os
import typing
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import typer

from nmt_cli.api.options.command_options import OPTIONS
from nmt_cli.cli.parsing.ambient import FILE, FoundFile, find_file, load_toml, refuse_unknown_variables
from nmt_cli.errors import OptionError
from nmt_cli.files import require_file
from nmt_cli.settings import has_type, reject_unknown

# What the types of settings are called in errors about a file.
IN_FILES = {str: "text", Path: "a path", int: "a whole number", float: "a number", bool: "true or false"}
NEVER = {"config", "set", "help", "help-all"}  # that a file or `--set` may not set
# In the `meta` of a context: the file of the defaults, and warnings about what was left out of it.
CONFIGURED_BY, LEFT_OUT = "nmt.configured-by", "nmt.left-out"


def map_settings(command: Any) -> dict[str, Any]:
    """Returns the parameters of a command that a file may set, by all their names, without leading dashes."""
    flags = [(flag, parameter) for parameter in command.params for flag in parameter.opts]
    names = {flag.removeprefix("--"): parameter for flag, parameter in flags if flag.startswith("--")}
    return {name: parameter for name, parameter in names.items() if name not in NEVER}


def read_configuration(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the values of the file, or else of one that is found, the defaults of this command.

    Raises OptionError for unknown names, also of environment variables.
    """
    if context.resilient_parsing:  # for a completion
        return path
    refuse_unknown_variables(os.environ, partial(is_known, context))
    nearby = find_file() if path is None else None
    if path is not None:
        set_defaults(context, load_toml(require_file(path)), str(path))
    elif nearby is not None:
        values, left_out = select_harmless(context, nearby)
        context.meta[LEFT_OUT] = left_out
        set_defaults(context, values, str(FILE), list_known(context))
    return path


def select_harmless(context: typer.Context, nearby: FoundFile) -> tuple[dict[str, Any], list[str]]:
    """Returns the values of a found file that this command may take from it, and a warning about those that it may not.

    Settings of the top level that only other commands have are left to them; unknown names stay, to be refused.
    """
    tables, shared = split_tables(nearby.values, list_sibling_commands(context))
    command = str(context.info_name)
    useful = {name: value for name, value in shared.items() if is_own(context, name) or not find_owner(context, name)}
    groups = {"": useful, command: tables.get(command, {})}
    names = {name for group in groups.values() for name in group if is_own(context, name)}
    refused = sorted(name for name in names if not is_harmless(context.command, name))
    top, table = ({n: v for n, v in group.items() if n not in refused} for group in groups.values())
    warnings = [nearby.warning] if nearby.warning else []
    if refused:
        are = "are" if len(refused) > 1 else "is"
        reason = "a file that nobody names says nothing about what is written, replaced, served or run"
        warnings.append(f"{FILE}: {', '.join(refused)} {are} left out: {reason}; --config {FILE} takes all of it")
    return {**tables, **top, command: table}, warnings


def is_harmless(command: Any, name: str) -> bool:
    """Whether a file that nobody named may set a setting of a command: one declared so, a number or a choice."""
    parameter = map_settings(command)[name]
    declared = inspect.signature(command.callback).parameters[str(parameter.name)].annotation.__metadata__
    harmless = next((option.harmless for option in declared if hasattr(option, "harmless")), None)
    kind = parameter.type_descriptor.annotation
    return bool(kind in (int, float) or typing.get_origin(kind) is Literal) if harmless is None else bool(harmless)


def set_defaults(context: typer.Context, values: dict[str, Any], name: str, known: Sequence[str] = ()) -> None:
    """Makes the values of a file the defaults of this command, and records the name of the file."""
    tables, shared = split_tables(values, list_sibling_commands(context))
    table = tables.get(str(context.info_name), {})
    defaults: dict[str, Any] = {}
    for group, where in ((shared, name), (table, f"{name}, [{context.info_name}]")):
        defaults |= convert_values(context, group, where=where, known=known)
    context.default_map, context.meta[CONFIGURED_BY] = defaults, name


def convert_values(
    context: typer.Context, values: Mapping[str, Any], *, where: str, known: Sequence[str]
) -> dict[str, Any]:
    """Returns the values of a table by parameter name.

    Raises OptionError for settings that the command lacks; `known` are further names that may be meant.
    """
    tables = [key for key, value in values.items() if isinstance(value, dict)]
    reject_unknown(tables, list_sibling_commands(context), where=where, noun="command")
    converted: dict[str, Any] = {}
    for name, value in values.items():
        parameter = find_setting(context, name, where=where, hint="put it under [{}]", known=known)
        converted[str(parameter.name)] = convert_value(parameter.type_descriptor.annotation, name, value, where)
    return converted


def is_own(context: typer.Context, name: str) -> bool:
    return name in map_settings(context.command)


def is_known(context: typer.Context, name: str) -> bool:
    """Whether a setting is one of any command, or the file of settings itself."""
    return is_own(context, name) or name == "config" or find_owner(context, name) is not None


def list_known(context: typer.Context) -> list[str]:
    """Returns the settings of this command and the options of all others, without importing these."""
    return sorted({*map_settings(context.command), *(name for options in OPTIONS.values() for name in options.names)})


def find_owner(context: typer.Context, name: str) -> str | None:
    """Returns the first command that has a setting, or None."""
    siblings = list_sibling_commands(context)
    owners = [command for command in siblings if command in OPTIONS and name in OPTIONS[command].names]
    if owners or context.parent is None:
        return next(iter(owners), None)
    group: Any = context.parent.command
    has_it = (command for command in siblings if name in map_settings(group.get_command(context.parent, command)))
    return next(has_it, None)


def find_setting(context: typer.Context, name: str, *, where: str, hint: str, known: Sequence[str] = ()) -> Any:
    """Returns the parameter of this name; `known` are further names that may be meant.

    Raises OptionError for a name that the command lacks; if another command has it, with `hint` about that one.
    """
    settings = map_settings(context.command)
    owner = find_owner(context, name) if name not in settings else None
    if owner is not None:
        message = f"{where}: {name} is a setting of nmt {owner}, not of nmt {context.info_name}"
        raise OptionError(message, hint=hint.format(owner))
    reject_unknown([name], known or sorted(settings), where=where, noun="setting")
    return settings[name]


def convert_value(kind: Any, option: str, value: Any, where: str) -> Any:
    """Converts a value of a file to a setting of type `kind`; numbers are accepted for text, and a text for a list of
    one.

    Raises OptionError with `where` for a value of another type.
    """
    if kind is str and has_type(float, value):
        return str(value)
    if typing.get_origin(kind) is list:
        value = [value] if isinstance(value, str) else value
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
    else:
        fits = kind not in IN_FILES or has_type(str if kind is Path else kind, value)
    if not fits:
        expected = IN_FILES.get(kind, "a list of texts")
        raise OptionError(f"{where}: --{option} cannot be {value!r}", hint=f"it takes {expected}")
    return value


def split_tables(
    values: Mapping[str, Any], commands: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Returns the tables named for one of `commands`, and the values outside them."""
    tables = {key: value for key, value in values.items() if key in commands and isinstance(value, dict)}
    return tables, {key: value for key, value in values.items() if key not in tables}


def list_sibling_commands(context: typer.Context) -> list[str]:
    """Returns the names of all commands of the group that the running command belongs to."""
    parent = context.parent
    names = getattr(parent.command, "list_commands", None) if parent else None
    return list(names(parent)) if names else []
