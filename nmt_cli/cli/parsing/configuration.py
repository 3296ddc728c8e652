"""`--config`: a file whose values become the defaults of a command, so that typed options win.

Keys are the names of settings, with `-` or `_`. A table named for a command applies only to that command and takes
precedence over the top level.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import require_file
from nmt_cli.settings import has_type, reject_unknown

# What the types of settings are called in errors about a file.
IN_FILES = {str: "text", Path: "a path", int: "a whole number", float: "a number", bool: "true or false"}
NEVER = {"config", "set", "help", "help-all"}  # that a file or `--set` may not set


def map_settings(command: Any) -> dict[str, Any]:
    """Returns the parameters of a command that a file may set, by all their names, without leading dashes."""
    flags = [(flag, parameter) for parameter in command.params for flag in parameter.opts]
    names = {flag.removeprefix("--"): parameter for flag, parameter in flags if flag.startswith("--")}
    return {name: parameter for name, parameter in names.items() if name not in NEVER}


def read_configuration(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the values of the file the defaults of this command. Raises OptionError for unknown names."""
    if path is not None:
        tables, shared = split_tables(load_toml(path), list_sibling_commands(context))
        table = tables.get(str(context.info_name), {})
        defaults: dict[str, Any] = {}
        for values, where in ((shared, str(path)), (table, f"{path}, [{context.info_name}]")):
            defaults |= convert_values(context, values, where=where)
        context.default_map = defaults
    return path


def convert_values(context: typer.Context, values: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Returns the values of a table by parameter name. Raises OptionError for settings that the command lacks."""
    tables = [key for key, value in values.items() if isinstance(value, dict)]
    reject_unknown(tables, list_sibling_commands(context), where=where, noun="command")
    converted: dict[str, Any] = {}
    for name, value in values.items():
        parameter = find_setting(context, name, where=where, hint="put it under [{}]")
        converted[str(parameter.name)] = convert_value(parameter.type_descriptor.annotation, name, value, where)
    return converted


def find_setting(context: typer.Context, name: str, *, where: str, hint: str) -> Any:
    """Returns the parameter of this name.

    Raises OptionError for a name that the command lacks; if another command has it, with `hint` about that one.
    """
    settings = map_settings(context.command)
    group: Any = context.parent.command if context.parent is not None and name not in settings else None
    for command in list_sibling_commands(context) if group is not None else ():
        if name in map_settings(group.get_command(context.parent, command)):
            raise OptionError(
                f"{where}: {name} is a setting of nmt {command}, not of nmt {context.info_name}",
                hint=hint.format(command),
            )
    reject_unknown([name], sorted(settings), where=where, noun="setting")
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


def split_tables(values: dict[str, Any], commands: list[str]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Returns the tables named for one of `commands` and the values outside them, all keys with dashes."""
    tables = {key: dash_keys(value) for key, value in values.items() if key in commands and isinstance(value, dict)}
    return tables, dash_keys({key: value for key, value in values.items() if key not in tables})


def dash_keys(values: dict[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in values.items()}


def list_sibling_commands(context: typer.Context) -> list[str]:
    """Returns the names of all commands of the group that the running command belongs to."""
    parent = context.parent
    names = getattr(parent.command, "list_commands", None) if parent else None
    return list(names(parent)) if names else []


def load_toml(path: Path) -> dict[str, Any]:
    """Returns the top-level table of a TOML file. Raises NotFoundError and DataError."""
    import tomllib  # only `--config` needs it

    try:
        return tomllib.loads(require_file(path).read_text(encoding="utf-8-sig"))  # Windows puts a mark before it
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}") from error
