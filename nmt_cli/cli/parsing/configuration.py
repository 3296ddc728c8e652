"""Reads settings from files and environment variables, and spells their names in messages.

Every setting is an option of its command, and has one name: `--beam-size 3` on the command line; `beam-size = 3` in a
`--config` file or in `nmt.toml` in the current directory, at the top level or under `[translate]`.
"""

from __future__ import annotations

import grp
import inspect
import os
import pwd
import re
import stat
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import typer

from nmt_cli.cli.help_pages import PAGES
from nmt_cli.errors import DataError, OptionError, find_nearest
from nmt_cli.files import require_file
from nmt_cli.settings import has_type, reject_unknown


def name_option(parameter: Any) -> str:
    """Returns the longest name of an option, without dashes."""
    return str(max(parameter.opts, key=len)).removeprefix("--")


def spell_option(parameter: Any, value: Any = None) -> str:
    """Returns an option as typed (`--no-x` if it is switched off), an argument by its metavar."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).strip("[].")
    names = parameter.secondary_opts if value is False and parameter.secondary_opts else parameter.opts
    return str(next((name for name in names if name.startswith("--")), names[0]))


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
    """The `nmt.toml` of the current directory: its values, or the reason why nmt does not read it."""

    values: Mapping[str, Any]
    doubt: str = ""

    @property
    def warning(self) -> str:
        """The line that says why the file is not read, and how to read it anyway; empty if it is read."""
        return f"nmt does not read {FILE}: {self.doubt}; to read it, use --config {FILE}" if self.doubt else ""


def find_file() -> FoundFile | None:
    """Returns the configuration file of the current directory, if there is one. Raises DataError."""
    if not FILE.is_file():
        return None
    doubt = find_doubt(FILE)
    return FoundFile({}, doubt) if doubt else FoundFile(load_toml(FILE))


def find_doubt(path: Path) -> str:
    """Returns who other than the user and root may have written a file, as the end of a sentence; empty for nobody.

    Considers the file, the target if it is a link, and the folder, in which others could replace the file.
    """
    link, target, folder = path.lstat(), path.stat(), path.absolute().parent.stat()
    if stranger := next((part.st_uid for part in (link, target) if part.st_uid not in (0, os.getuid())), None):
        return f"the file belongs to another user ({name_user(stranger)})"
    if reader := name_writers(target):
        return f"{reader} can change it"
    reader = "" if folder.st_mode & stat.S_ISVTX else name_writers(folder)  # sticky: each removes only what is theirs
    return f"{reader} can change its folder" if reader else ""


def name_writers(status: os.stat_result) -> str:
    """Returns who other than its owner may write to a file or folder; empty for nobody."""
    writers = [name for bit, name in OPEN_TO.items() if status.st_mode & bit]
    if writers == [OPEN_TO[stat.S_IWGRP]] and is_private(status.st_gid):
        return ""
    return writers[-1] if writers else ""


def is_private(group: int) -> bool:
    """Whether this user is a group's only member. Many systems make one for each user, and let it write by default."""
    user = os.getuid()
    if user == 0 or group != user:
        return False
    with suppress(KeyError):
        return set(grp.getgrgid(group).gr_mem) <= {pwd.getpwuid(user).pw_name}
    return False


def name_user(user: int) -> str:
    """Returns the name of a user, or the user's number if there is no name."""
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


def refuse_unknown_variables(context: typer.Context, environment: Mapping[str, str]) -> None:
    """Raises OptionError for a variable that seems to be meant for nmt, but sets nothing.

    Otherwise, nmt would silently ignore it. Such a variable is named after a setting that has no variable, or has a
    name similar to a known variable.
    """
    variables = [str(name_variable(name)) for name in SETTINGS]
    for variable, value in environment.items():
        name = variable.removeprefix(PREFIX).lower().replace("_", "-")
        if not variable.startswith(PREFIX) or not value or OTHERS.fullmatch(variable) or variable in variables:
            continue
        if name == "config" or name in map_settings(context.command) or find_owner(context, name) is not None:
            hint = f"use --{name}, or put it into {FILE}; the variables are {', '.join(variables)}"
            raise OptionError(f"{variable} has no effect: {name} has no variable", hint=hint)
        if nearest := find_nearest(variable, variables):
            raise OptionError(f"{variable} has no effect: there is no such variable", hint=f"did you mean {nearest}?")


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
    """Makes the values of the file, or of nmt.toml if there is no file, the defaults of this command.

    Raises OptionError for unknown names, including those of environment variables.
    """
    if context.resilient_parsing:  # for a completion
        return path
    refuse_unknown_variables(context, os.environ)
    nearby = find_file() if path is None else None
    if path is not None:
        set_defaults(context, load_toml(require_file(path)), str(path))
    elif nearby is not None:
        values, context.meta[LEFT_OUT] = select_harmless(context, nearby)
        set_defaults(context, values, str(FILE), is_shared=True)
    return path


def select_harmless(context: typer.Context, nearby: FoundFile) -> tuple[dict[str, Any], list[str]]:
    """Returns the values that this command may take from a found file, and a warning about those that it may not.

    Top-level settings that only other commands have are left to those commands; unknown names stay, to be refused.
    """
    tables, shared = split_tables(nearby.values, list_sibling_commands(context))
    command = str(context.info_name)
    settings = map_settings(context.command)
    useful = {name: value for name, value in shared.items() if name in settings or not find_owner(context, name)}
    groups = {"": useful, command: tables.get(command, {})}
    names = {name for group in groups.values() for name in group if name in settings}
    refused = sorted(name for name in names if not is_harmless(context.command, name))
    top, table = ({n: v for n, v in group.items() if n not in refused} for group in groups.values())
    warnings = [nearby.warning] if nearby.warning else []
    if refused:
        are = "are" if len(refused) > 1 else "is"
        reason = "a file that you did not name may not write, replace, serve or run anything"
        warnings.append(f"{FILE}: {', '.join(refused)} {are} ignored: {reason}; to apply all, use --config {FILE}")
    return {**tables, **top, command: table}, warnings


def is_harmless(command: Any, name: str) -> bool:
    """Whether a file that nobody named may set a command's setting: one declared harmless, a number or a choice."""
    parameter = map_settings(command)[name]
    declared = inspect.signature(command.callback).parameters[str(parameter.name)].annotation.__metadata__
    harmless = next((option.harmless for option in declared if hasattr(option, "harmless")), None)
    kind = parameter.type_descriptor.annotation
    return bool(kind in (int, float) or typing.get_origin(kind) is Literal) if harmless is None else bool(harmless)


def set_defaults(context: typer.Context, values: dict[str, Any], name: str, *, is_shared: bool = False) -> None:
    """Makes the values of a file the defaults of this command, and records the name of the file.

    `is_shared` says that the file serves all commands, so that an unknown name may resemble a setting of another
    command.
    """
    commands = list_sibling_commands(context)
    tables, shared = split_tables(values, commands)
    defaults: dict[str, Any] = {}
    for group, where in ((shared, name), (tables.get(str(context.info_name), {}), f"{name}, [{context.info_name}]")):
        inner = [key for key, value in group.items() if isinstance(value, dict)]
        reject_unknown(inner, commands, where=where, noun="command")
        for key, value in group.items():
            parameter = find_setting(context, key, where=where, hint="put it under [{}]", everywhere=is_shared)
            defaults[str(parameter.name)] = convert_value(parameter.type_descriptor.annotation, key, value, where)
    context.default_map, context.meta[CONFIGURED_BY] = defaults, name


def list_sibling_settings(context: typer.Context) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields each command of the group with the names of its settings: first everyday ones, which need no import."""
    siblings, group = list_sibling_commands(context), context.parent and context.parent.command
    yield from ((command, frozenset(PAGES[command].everyday)) for command in siblings if command in PAGES)
    for command in siblings:
        yield command, frozenset(map_settings(group.get_command(context.parent, command)))  # type: ignore[union-attr]


def find_owner(context: typer.Context, name: str) -> str | None:
    """Returns the first command that has a setting, or None."""
    return next((command for command, names in list_sibling_settings(context) if name in names), None)


def find_setting(context: typer.Context, name: str, *, where: str, hint: str, everywhere: bool = False) -> Any:
    """Returns the parameter of this name.

    Raises OptionError for a name that the command lacks: with `hint` about another command that has it or, if none
    does, with the nearest name of this command (of any command if `everywhere`).
    """
    settings = map_settings(context.command)
    if name in settings:
        return settings[name]
    if owner := find_owner(context, name):
        message = f"{where}: {name} is a setting of nmt {owner}, not of nmt {context.info_name}"
        raise OptionError(message, hint=hint.format(owner))
    others = {other for _, names in list_sibling_settings(context) for other in names} if everywhere else set()
    reject_unknown([name], sorted({*settings, *others}), where=where, noun="setting")


def convert_value(kind: Any, option: str, value: Any, where: str) -> Any:
    """Converts a value from a file to a setting of type `kind`; accepts a number for text, and a text for a list.

    Raises OptionError, which names `where`, for a value of the wrong type.
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
        raise OptionError(f"{where}: --{option} cannot be {value!r}", hint=f"use {expected}")
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
