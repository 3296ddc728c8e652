"""Settings by name: `--set NAME=VALUE`, a file of settings, and how both are spelled in messages."""

from __future__ import annotations

import os
import re
import stat
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.exceptions import TyperException

from nmt_cli.api.options.options import OPTIONS
from nmt_cli.errors import DataError, OptionError, find_nearest
from nmt_cli.files import require_file
from nmt_cli.settings import has_type, reject_unknown

# The spelling of options in messages: those without a flag of their own as `--set NAME=VALUE`.


NUMBER = r"-?\d[\d.]*(?:e-?\d+)?"  # a value in a message; a word is one only where it is a choice
END = r"(?![\w-])"


def is_setting(parameter: Any) -> bool:
    """Whether the parameter has no option of its own: `--set` and `--config` set it."""
    return getattr(parameter, "is_setting", False)


def name_option(parameter: Any) -> str:
    """Returns the longest name of an option, without dashes."""
    return str(max(parameter.opts, key=len)).removeprefix("--")


def spell_option(parameter: Any, value: Any = None) -> str:
    """Returns an option as typed (`--no-x` if it is switched off), an argument by its metavar."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).strip("[].")
    if is_setting(parameter):
        return f"--set {name_option(parameter)}"
    names = parameter.secondary_opts if value is False and parameter.secondary_opts else parameter.opts
    return str(next((name for name in names if name.startswith("--")), names[0]))


def spell_typed(parameter: Any, flag: str, value: str | None) -> str:
    """Returns how to set what was typed as `flag` with a value: by the parameter's option, or by `--set`."""
    if not is_setting(parameter):
        return spell_option(parameter) + ("" if parameter.is_flag else f" {value or 'VALUE'}")
    if parameter.is_flag:
        value = "false" if flag in parameter.secondary_opts else "true"
    return f"{spell_option(parameter)}={value or 'VALUE'}"


def respell_settings(text: str, parameters: Sequence[Any]) -> str:
    """Returns a text of ours with the settings among the parameters written as they are typed.

    `--x 3` becomes `--set x=3`, `--no-x` becomes `--set x=false`, and `--x` becomes `--set x`.
    """
    for parameter in filter(is_setting, parameters) if "--" in text else ():
        name = name_option(parameter)
        if f"-{name}" in text:
            choices = parameter.type_descriptor.choices or ()
            values = "|".join([NUMBER, *(re.escape(str(choice)) for choice in choices)])
            text = re.sub(rf"--{name} ({values}){END}", rf"--set {name}=\1", text)
            text = re.sub(rf"--no-{name}{END}", f"--set {name}=false", text)
            text = re.sub(rf"--{name}{END}", f"--set {name}", text)
    return text


# Settings that nobody types: an environment variable for each, and a configuration file that is found by itself.
# What is typed precedes the environment, and that precedes the file.


FILE, PROJECT = "nmt.toml", "pyproject.toml"
PREFIX = "NMT_"
# Variables of nmt that are no settings, and the one that Java hands to every process that it starts.
OTHERS = re.compile(r"NMT_(?:DEBUG|API_KEYS|LEVEL_\d+)")


class NearbyFile(NamedTuple):
    """The configuration file of the current directory, or of the nearest one above that has one."""

    path: Path  # from the current directory
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """Its path, and its table in a file that has others, as shown to a person."""
        return f"{self.path}, [tool.nmt]" if self.path.name == PROJECT else str(self.path)

    def resolve(self, value: str) -> str:
        """Returns a path of the file from the current directory, if it exists there; else the value."""
        beside = self.path.parent / value
        return str(beside) if beside.exists() else value


def find_file() -> NearbyFile | None:
    """Returns the nearest `nmt.toml`, or `pyproject.toml` with a table `tool.nmt`. Raises DataError.

    A file that a stranger may have left in a directory open to all, such as /tmp, is none.
    """
    here = Path.cwd()
    for folder in map(Path, map(os.path.relpath, (here, *here.parents))):
        if is_trusted(folder / FILE):
            return NearbyFile(folder / FILE, load_toml(folder / FILE))
        if is_trusted(folder / PROJECT) and b"tool.nmt" in (folder / PROJECT).read_bytes():
            table = load_toml(folder / PROJECT).get("tool", {}).get("nmt")
            if isinstance(table, dict):
                return NearbyFile(folder / PROJECT, table)
    return None


def is_trusted(path: Path) -> bool:
    """Whether a file exists, and not as a stranger's in a directory into which all may write."""
    if not path.is_file():
        return False
    is_open = hasattr(os, "getuid") and path.parent.stat().st_mode & stat.S_IWOTH
    return not is_open or path.lstat().st_uid in (0, os.getuid())


def load_toml(path: Path) -> dict[str, Any]:
    """Returns the top-level table of a TOML file. Raises DataError."""
    import tomllib  # only a configuration needs it

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows puts a mark before it
    except (ValueError, RecursionError) as error:  # also for a whole number of too many digits
        raise DataError(f"{path} is not valid TOML: {error}", hint="correct it, or move it away") from error


def name_variable(setting: str) -> str | None:
    """Returns the environment variable of a setting; None if nmt uses that for something else."""
    variable = PREFIX + setting.upper().replace("-", "_")
    return None if OTHERS.fullmatch(variable) else variable


def refuse_unknown_variables(
    environment: Mapping[str, str], is_known: Callable[[str], bool], names: Iterable[str]
) -> None:
    """Raises OptionError for a variable that is not that of any setting; the hint is the nearest of `names`."""
    for variable, value in environment.items():
        name = variable.removeprefix(PREFIX).lower().replace("_", "-")
        if not variable.startswith(PREFIX) or not value or OTHERS.fullmatch(variable) or is_known(name):
            continue
        nearest = find_nearest(name, names)
        hint = f"did you mean {name_variable(nearest)}?" if nearest else "variables are named for settings"
        raise OptionError(f"{variable}: there is no setting {name!r}", hint=hint)


# A file of settings, of `--config` or found, whose values become the defaults of a command, so that typed ones win.
# Keys are the names of settings, with `-` or `_`. A table named for a command applies only to that command and takes
# precedence over the top level. A file that is found serves all commands: each takes what it has of the top level.


# What the types of settings are called in errors about a file.
IN_FILES = {str: "text", Path: "a path", int: "a whole number", float: "a number", bool: "true or false"}
NEVER = {"config", "set", "help", "help-all"}  # that a file or `--set` may not set
CONFIGURED_BY = "nmt.configured-by"  # the file of the defaults, in the `meta` of a context


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
    refuse_unknown_variables(os.environ, partial(is_known, context), list_known(context))
    nearby = find_file() if path is None else None
    if path is not None:
        set_defaults(context, load_toml(require_file(path)), str(path))
    elif nearby is not None:
        tables, shared = split_tables(nearby.values, list_sibling_commands(context))
        useful = {
            name: value for name, value in shared.items() if is_own(context, name) or find_owner(context, name) is None
        }
        set_defaults(context, tables | useful, nearby.name, nearby)
    return path


def set_defaults(context: typer.Context, values: dict[str, Any], name: str, nearby: NearbyFile | None = None) -> None:
    """Makes the values of a file the defaults of this command, and records the name of the file."""
    tables, shared = split_tables(values, list_sibling_commands(context))
    table = tables.get(str(context.info_name), {})
    defaults: dict[str, Any] = {}
    for group, where in ((shared, name), (table, f"{name}, [{context.info_name}]")):
        defaults |= convert_values(context, group, where=where, nearby=nearby)
    context.default_map, context.meta[CONFIGURED_BY] = defaults, name


def convert_values(
    context: typer.Context, values: Mapping[str, Any], *, where: str, nearby: NearbyFile | None
) -> dict[str, Any]:
    """Returns the values of a table by parameter name; paths of a `nearby` file as they are from here.

    Raises OptionError for settings that the command lacks.
    """
    tables = [key for key, value in values.items() if isinstance(value, dict)]
    reject_unknown(tables, list_sibling_commands(context), where=where, noun="command")
    converted: dict[str, Any] = {}
    known = [] if nearby is None else list_known(context)
    for name, value in values.items():
        parameter = find_setting(context, name, where=where, hint="put it under [{}]", known=known)
        value = convert_value(parameter.type_descriptor.annotation, name, value, where)
        converted[str(parameter.name)] = value if nearby is None else resolve_paths(parameter, value, nearby)
    return converted


def resolve_paths(parameter: Any, value: Any, nearby: NearbyFile) -> Any:
    """Returns the value of a parameter, with paths beside the file as they are from the current directory."""
    from nmt_cli.cli.help_pages import METAVARS, PATHS  # only a nearby file needs to know

    is_path = parameter.type_descriptor.annotation in (Path, list[Path]) or METAVARS.get(parameter.name) in PATHS
    if not is_path:
        return value
    return [nearby.resolve(part) for part in value] if isinstance(value, list) else nearby.resolve(value)


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


# `--set NAME=VALUE`: sets any setting of a command by name, converted and checked like an option of that name.
# Settings that are not options are parameters of the command unknown to its parser. Anyone who types one as an option
# is told what to type instead.


ASSIGNMENTS = "assignments"  # the parameter of `--set`
TRUTH = {"true": True, "false": False}
Parse = Callable[..., tuple[dict[str, Any], list[str], list[Any]]]


def parse_command_line(context: Any, parse: Parse, args: list[str]) -> tuple[dict[str, Any], list[str], list[Any]]:
    """Parses arguments: each assignment of `--set` becomes the value of a parameter, as if its option had been typed.

    Raises OptionError for a repeated option that takes one value, of which Typer would silently use the last, and for a
    setting typed as an option.
    """
    typed = list(args)
    try:
        values, rest, order = parse(args=args)
    except TyperException as problem:
        if hasattr(problem, "possibilities"):  # an option that the parser does not know
            explain_setting(context, problem, typed)
        raise
    assigned = [assign(context, values, text) for text in values.get(ASSIGNMENTS) or ()]
    order += assigned
    refuse_repeats(typed, order, assigned)
    return values, rest, order


def assign(context: Any, values: dict[str, Any], text: str) -> Any:
    """Adds an assignment to the parsed values; returns its parameter."""
    name, separator, value = text.partition("=")
    name = name.strip().removeprefix("--").replace("_", "-")
    if not separator:
        raise OptionError(f"--set {text} has no value", hint=f"type --set {name or 'NAME'}=VALUE")
    parameter = find_setting(context, name, where="--set", hint="leave it out, or set it for nmt {}")
    if parameter.nargs != 1:
        raise OptionError(f"--set {name} takes several values", hint=f"give them with {spell_option(parameter)}")
    if parameter.multiple:
        values.setdefault(parameter.name, []).append(value)
    elif parameter.is_flag:
        if value not in TRUTH:
            raise OptionError(f"--set {name} cannot be {value!r}", hint="it takes true or false")
        values[parameter.name] = TRUTH[value]
    else:
        values[parameter.name] = value
    return parameter


def explain_setting(context: Any, problem: Any, typed: Sequence[str]) -> None:
    """Raises OptionError if the unknown option is a setting, or resembles only one, saying what to type instead."""
    flag, settings = problem.option_name, map_settings(context.command)
    name = flag.removeprefix("--")
    parameter = settings.get(name) or settings.get(name.removeprefix("no-"))
    if parameter is not None:
        hint = f"type {spell_typed(parameter, flag, find_typed_value(flag, typed))}"
        raise OptionError(f"{flag} is a setting of nmt {context.info_name}, not an option of its own", hint=hint)
    nearest = find_nearest(name, settings)
    if nearest is not None and is_setting(settings[nearest]):
        raise OptionError(f"there is no option {flag}", hint=f"did you mean --set {nearest}=VALUE?")


def find_typed_value(flag: str, typed: Sequence[str]) -> str | None:
    """Returns the value typed for an option, or None."""
    for word, following in zip(typed, [*typed[1:], "-"], strict=True):
        if word.startswith(f"{flag}="):
            return word.removeprefix(f"{flag}=")
        if word == flag:
            return None if following.startswith("--") or following == "-" else following
    return None


def refuse_repeats(typed: Sequence[str], order: Sequence[Any], assigned: Sequence[Any]) -> None:
    """Raises OptionError for repeated values of a single-valued parameter, and for contradicting flags."""
    for parameter, times in Counter(order).items():
        if times == 1 or parameter.param_type_name == "argument" or parameter.multiple:
            continue
        names = [name for name in (*parameter.opts, *parameter.secondary_opts) if name in typed]
        if not parameter.is_flag or parameter in assigned:
            count = "twice" if times == 2 else f"{times} times"
            raise OptionError(f"{spell_option(parameter)} is given {count}", hint="give it once: it takes one value")
        if len(set(names) & set(parameter.secondary_opts)) not in (0, len(set(names))):
            raise OptionError(f"{' and '.join(dict.fromkeys(names))} contradict each other", hint="give one of them")
