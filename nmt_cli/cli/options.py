"""Typer options out of settings classes, the options that commands share, and `--config`.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import require_file
from nmt_cli.settings import Setting, Settings, is_of, option_name, reject_unknown

# What the types of options are called where a file of `--config` has another.
IN_FILES = {str: "text", Path: "a path", int: "a whole number", float: "a number", bool: "true or false"}

DataDirectory = Annotated[
    Path, typer.Option("--data", envvar="NMT_DATA", help="Directory of the prepared corpus.", rich_help_panel="Files")
]
ModelDirectory = Annotated[
    Path, typer.Option("--model", envvar="NMT_MODEL", help="Directory of the model.", rich_help_panel="Files")
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.", rich_help_panel="Files")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.", rich_help_panel="Output")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more.", rich_help_panel="Output")]


class Given(NamedTuple):
    """The options that were typed, and those that stand in the file of `--config`: also such as are at their default.

    Both are by the name of their parameter, as one types them. The environment gives none.
    """

    typed: Mapping[str, str]
    filed: Mapping[str, str]

    @classmethod
    def of(cls, context: typer.Context) -> Given:
        found: dict[str, dict[str, str]] = {"COMMANDLINE": {}, "DEFAULT_MAP": {}}
        for parameter in context.command.params:
            name = str(parameter.name)
            source = context.get_parameter_source(name)
            if source is not None and source.name in found:
                found[source.name][name] = as_typed(parameter, context.params.get(name))
        return cls(found["COMMANDLINE"], found["DEFAULT_MAP"])

    def among(self, settings: type[Settings]) -> frozenset[str]:
        """The names of the fields of these settings that are given."""
        return frozenset(field.name for field in described(settings)) & {*self.typed, *self.filed}

    def overruled(self, settings: type[Settings]) -> frozenset[str]:
        """The names of the fields of these settings that a file gives, and what is typed says in another way."""
        pairs = [(field.name, field.metadata["setting"].instead_of) for field in described(settings)]
        both_ways = {*pairs, *((other, name) for name, other in pairs)}
        return frozenset(name for name, other in both_ways if name in self.filed and other in self.typed)

    def without(self, names: Collection[str]) -> Given:
        """What is given when the file does not say `names`."""
        return self._replace(filed={name: option for name, option in self.filed.items() if name not in names})

    def first(self, names: Collection[str], *, beside: str = "") -> str | None:
        """The first of these options that is given; one of the file is overruled where `beside` is typed."""
        options = self.typed if beside in self.typed else {**self.filed, **self.typed}
        return next((option for name, option in options.items() if name in names), None)

    def refuse(self, names: Collection[str], why: str, *, hint: str, beside: str = "") -> None:
        """Raises OptionError for the `first` of these options; `why` goes on from its name."""
        first = self.first(names, beside=beside)
        if first is not None:
            raise OptionError(f"{first} {why}", hint=hint)


def as_typed(parameter: Any, value: Any) -> str:
    """The long name of an option, or what switches it off; of an argument what its metavar says."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).strip("[].")
    names = parameter.secondary_opts if value is False and parameter.secondary_opts else parameter.opts
    return str(next((name for name in names if name.startswith("--")), names[0]))


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command one option for each described field of each parameter annotated with a Settings class.

    The command itself is then called with the settings objects, built (and so checked) from those options. A parameter
    annotated with `Given` tells it which of all its options were given; then what is typed overrules what the file of
    `--config` says in another way.
    """
    signature = inspect.signature(command, eval_str=True)
    groups = {name: p.annotation for name, p in signature.parameters.items() if is_settings(p.annotation)}
    asking = next((name for name, p in signature.parameters.items() if p.annotation is Given), None)

    @functools.wraps(command)
    def called_by_typer(**values: Any) -> None:
        given = Given.of(values[asking]) if asking else Given({}, {})
        for name, kind in groups.items():
            own = {field.name: unlisted(values.pop(field.name)) for field in described(kind)}
            overruled = given.overruled(kind)
            given = given.without(overruled)
            values[name] = kind(**{key: value for key, value in own.items() if key not in overruled})
        if asking:
            values[asking] = given
        command(**values)

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name in groups:
            parameters += options_of(parameter.annotation)
        else:
            annotation = typer.Context if parameter.name == asking else parameter.annotation
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation))
    called_by_typer.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called_by_typer.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called_by_typer


def unlisted(value: Any) -> Any:
    """A list, as an option that may be given several times makes it, as the tuple that settings hold."""
    return tuple(value) if isinstance(value, list) else value


def is_settings(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Settings)


def described(settings: type[Settings]) -> list[dataclasses.Field[Any]]:
    """The fields that are options; one without a `Setting` is for programs alone."""
    return [field for field in dataclasses.fields(settings) if "setting" in field.metadata]


def options_of(settings: type[Settings]) -> list[inspect.Parameter]:
    """The Typer options of the described fields."""
    kinds = settings.field_types()
    return [option(field, kinds[field.name]) for field in described(settings)]


def option(field: dataclasses.Field[Any], kind: Any) -> inspect.Parameter:
    """The Typer option of one field of this type, with its help, default and heading."""
    setting: Setting = field.metadata["setting"]
    flag = f"--{option_name(field)}"
    if kind in (bool, bool | None):
        flag = f"{flag}/--no-{option_name(field)}"
    default = field.default
    if typing.get_origin(kind) is tuple:
        kind, default = list[typing.get_args(kind)[0]], list(field.default)  # type: ignore[misc, arg-type]
    annotation: Any = Annotated[kind, typer.Option(flag, help=setting.help, rich_help_panel=setting.panel)]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def read_configuration(context: typer.Context, path: Path | None) -> Path | None:
    """Callback of `--config`: the file's values become the defaults of this command, so that flags win.

    Keys are the names of the options, with `-` or `_`. A table with the name of a command is for that command alone
    and goes before what stands above all tables. Raises OptionError for an option or table that does not exist.
    """
    if path is not None:
        commands = commands_beside(context)
        tables, shared = divided(load_toml(path), commands)
        other_tables = [key for key, value in shared.items() if isinstance(value, dict)]
        reject_unknown(other_tables, commands, where=str(path), thing="command")
        own = tables.get(str(context.info_name), {})
        parameters = options_by_name(context)
        found: dict[str, Any] = {}
        for values, where in ((shared, str(path)), (own, f"{path}, [{context.info_name}]")):
            reject_unknown(values, sorted(parameters), where=where)
            found |= {
                str(parameters[key].name): from_file(parameters[key].type_descriptor.annotation, key, value, where)
                for key, value in values.items()
            }
        context.default_map = found
    return path


def from_file(kind: Any, option: str, value: Any, where: str) -> Any:
    """What a file says, for an option of this type: text may be a number there, and a list of one its only text.

    Raises OptionError, which names the place, for a value of another type.
    """
    if kind is str and is_of(float, value):
        return str(value)
    if typing.get_origin(kind) is list:
        value = [value] if isinstance(value, str) else value
        fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
    else:
        fits = kind not in IN_FILES or is_of(str if kind is Path else kind, value)
    if not fits:
        expected = IN_FILES.get(kind, "a list of texts")
        raise OptionError(f"{where}: --{option} cannot be {value!r}", hint=f"it takes {expected}")
    return value


def divided(values: dict[str, Any], commands: list[str]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The tables that are named for one of `commands`, and what stands outside them; all keys with dashes."""
    tables = {key: dashed(value) for key, value in values.items() if key in commands and isinstance(value, dict)}
    return tables, dashed({key: value for key, value in values.items() if key not in tables})


def dashed(values: dict[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in values.items()}


def commands_beside(context: typer.Context) -> list[str]:
    """The names of all commands that the running one belongs to."""
    parent = context.parent
    names = getattr(parent.command, "list_commands", None) if parent else None
    return list(names(parent)) if names else []


def options_by_name(context: typer.Context) -> dict[str, Any]:
    """The parameters of a command that a file may set, each under the name of its option."""
    never = {"config", "help"}
    flags = [(flag, parameter) for parameter in context.command.params for flag in parameter.opts]
    names = {flag.removeprefix("--"): parameter for flag, parameter in flags if flag.startswith("--")}
    return {name: parameter for name, parameter in names.items() if name not in never}


def load_toml(path: Path) -> dict[str, Any]:
    """The top-level table of a TOML file."""
    import tomllib  # only `--config` needs it

    try:
        return tomllib.loads(require_file(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}") from error


Configuration = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file with any of these options under the same names, at its top or in a table with the name of "
        "the command; flags win.",
        is_eager=True,
        callback=read_configuration,
        rich_help_panel="Files",
    ),
]
