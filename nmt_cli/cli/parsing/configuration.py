"""Settings by name: `--set NAME=VALUE`, a file of settings, and how both are spelled in messages."""

from __future__ import annotations

import inspect
import os
import re
import stat
import typing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

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


# Settings that nobody types: a few environment variables, and `nmt.toml` of the current directory.
#
# What is typed precedes the environment, and that precedes the file. The file is only found, so it is read only where
# nobody else can have written it, and sets only what is harmless: see `configuration.is_harmless`.


FILE = Path("nmt.toml")
PREFIX = "NMT_"
SETTINGS = ("model", "data", "api-key")  # that have a variable: places, which a container knows, and a secret
# Variables that are no settings: of nmt itself, of its tests and docs, and the one that Java hands to each process.
OTHERS = re.compile(r"NMT_(?:DEBUG|API_KEYS|ADDRESS|PAGE_ASSETS|LEVEL_\d+)")
OPEN_TO = {stat.S_IWGRP: "its group", stat.S_IWOTH: "everybody"}


class FoundFile(NamedTuple):
    """The `nmt.toml` of the current directory: its values, or why it is not read."""

    values: Mapping[str, Any]
    doubt: str = ""

    @property
    def warning(self) -> str:
        """The line that says why it is not read, and how to read it all the same; empty if it is read."""
        return f"{FILE} is not read: {self.doubt}; --config {FILE} reads it" if self.doubt else ""


def find_file() -> FoundFile | None:
    """Returns the configuration file of the current directory, if there is one. Raises DataError."""
    if not FILE.is_file():
        return None
    doubt = find_doubt(FILE)
    return FoundFile({}, doubt) if doubt else FoundFile(load_toml(FILE))


def find_doubt(path: Path) -> str:
    """Returns who else than the user and root may have written a file, as the end of a sentence; empty for nobody.

    Counts the link that a file may be, its target, and the folder, in which others could put another one in its place.
    """
    if not hasattr(os, "getuid"):  # as on Windows, where files have other rights
        return ""
    link, target, folder = path.lstat(), path.stat(), path.absolute().parent.stat()
    if stranger := next((part.st_uid for part in (link, target) if part.st_uid not in (0, os.getuid())), None):
        return f"it belongs to another user ({name_user(stranger)})"
    if reader := name_writers(target):
        return f"{reader} may write it"
    reader = "" if folder.st_mode & stat.S_ISVTX else name_writers(folder)  # sticky: each removes only what is theirs
    return f"{reader} may write in its folder" if reader else ""


def name_writers(status: os.stat_result) -> str:
    """Returns who may write to a file or folder beside its owner; empty for nobody."""
    writers = [name for bit, name in OPEN_TO.items() if status.st_mode & bit]
    if writers == [OPEN_TO[stat.S_IWGRP]] and is_private(status.st_gid):
        return ""
    return writers[-1] if writers else ""


def is_private(group: int) -> bool:
    """Whether a group is that of this user alone, which many systems make for each user and let write by default."""
    import grp  # not on Windows
    import pwd

    user = os.getuid()
    if user == 0 or group != user:
        return False
    with suppress(KeyError):
        return set(grp.getgrgid(group).gr_mem) <= {pwd.getpwuid(user).pw_name}
    return False


def name_user(user: int) -> str:
    """Returns the name of a user, or the number of one without."""
    import pwd

    with suppress(KeyError):
        return pwd.getpwuid(user).pw_name
    return str(user)


def load_toml(path: Path) -> dict[str, Any]:
    """Returns the top-level table of a TOML file. Raises DataError."""
    import tomllib  # only a configuration needs it

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows puts a mark before it
    except (ValueError, RecursionError) as error:  # also for a whole number of too many digits
        raise DataError(f"{path} is not valid TOML: {error}", hint="correct it, or move it away") from error


def name_variable(setting: str) -> str | None:
    """Returns the environment variable of a setting; None for one without."""
    return PREFIX + setting.upper().replace("-", "_") if setting in SETTINGS else None


def refuse_unknown_variables(environment: Mapping[str, str], is_known: Callable[[str], bool]) -> None:
    """Raises OptionError for a variable that seems to be meant for nmt, but sets nothing: it would do so in silence.

    These are the names of settings that have no variable, and those that resemble one that exists.
    """
    variables = [str(name_variable(name)) for name in SETTINGS]
    for variable, value in environment.items():
        name = variable.removeprefix(PREFIX).lower().replace("_", "-")
        if not variable.startswith(PREFIX) or not value or OTHERS.fullmatch(variable) or variable in variables:
            continue
        if is_known(name):
            hint = f"type --set {name}=VALUE, or put it into {FILE}; variables are {', '.join(variables)}"
            raise OptionError(f"{variable} sets nothing: {name} has no variable", hint=hint)
        if nearest := find_nearest(variable, variables):
            raise OptionError(f"{variable} sets nothing: there is no such variable", hint=f"did you mean {nearest}?")


# A file of settings, of `--config` or found, whose values become the defaults of a command, so that typed ones win.
#
# Keys are the names of settings, as in options. A table named for a command applies only to that command and takes
# precedence over the top level. A file that is found serves all commands: each takes what it has of the top level, and
# only what is harmless.


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


# `--set NAME=VALUE`: sets any setting of a command by name, converted and checked like an option of that name.
#
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
    name = name.strip()
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
