"""Typer options out of settings classes, the options that commands share, and `--config`.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from nmt_cli.cli.completion import COMPLETIONS, complete_corpora, complete_models
from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import require_file
from nmt_cli.settings import Setting, Settings, has_type, name_option, reject_unknown
from nmt_cli.settings import option_fields as option_fields

CONTEXT = "typer_context"  # the parameter by which a command learns which of its options are set
# What the types of options are called in errors about a file of `--config`.
IN_FILES = {str: "text", Path: "a path", int: "a whole number", float: "a number", bool: "true or false"}

DATA_OPTION: dict[str, Any] = {"envvar": "NMT_DATA", "autocompletion": complete_corpora, "rich_help_panel": "Files"}
MODEL_OPTION: dict[str, Any] = {"envvar": "NMT_MODEL", "autocompletion": complete_models, "rich_help_panel": "Files"}


def resolve_model(path: Path) -> Path:
    """Returns the directory of the model with this path or name. Raises NotFoundError for a file."""
    from nmt_cli.runtime.installed_models import find_model

    return find_model(path)


def resolve_models(paths: list[Path] | None) -> list[Path] | None:
    """Returns the directories of the models with these paths or names. Raises NotFoundError for a file."""
    return [resolve_model(path) for path in paths] if paths else paths


def make_models_option(several: str) -> Any:
    """Returns the option `--model` of a command that takes several; its help says what becomes of these."""
    text = f"Directory of the model, or the name of an installed one; {several}.  [default: model]"
    return typer.Option("--model", help=text, show_default=False, callback=resolve_models, **MODEL_OPTION)


DataOption = Annotated[Path, typer.Option("--data", help="Directory of the prepared corpus.", **DATA_OPTION)]
CorporaOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        help="Directory of the prepared corpus; --corpus compares several.  [default: prepared]",
        show_default=False,
        **DATA_OPTION,
    ),
]
ModelOption = Annotated[Path, typer.Option("--model", help="Directory of the model.", **MODEL_OPTION)]
ModelsOption = Annotated[list[Path] | None, make_models_option("several are compared")]
ServedModelsOption = Annotated[list[Path] | None, make_models_option("several with --serve")]
Precision = Annotated[
    Literal["int8", "float"] | None,
    typer.Option(
        "--precision",
        help="Weights in 8 bits or as trained.  [default: int8 if it cost at most 0.2 BLEU after training]",
        rich_help_panel="Files",
    ),
]
DEFAULT_MODEL = Path("model")
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.", rich_help_panel="Files")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.", rich_help_panel="Output")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print more detail.", rich_help_panel="Output")]


class ExplicitOptions(NamedTuple):
    """The options that were typed and those in the file of `--config`, even where they equal the default.

    Each maps the names of parameters to options as they are typed. What the environment sets is in neither. `file` is
    that of `--config`.
    """

    typed: Mapping[str, str]
    filed: Mapping[str, str]
    file: Path | None = None

    @classmethod
    def from_context(cls, context: typer.Context) -> ExplicitOptions:
        names: dict[str, dict[str, str]] = {"COMMANDLINE": {}, "DEFAULT_MAP": {}}
        file = None
        for parameter in context.command.params:
            name = str(parameter.name)
            source = context.get_parameter_source(name)
            if source is not None and source.name in names:
                names[source.name][name] = format_option(parameter, context.params.get(name))
            if "--config" in parameter.opts:
                file = context.params.get(name)
        return cls(names["COMMANDLINE"], names["DEFAULT_MAP"], file)

    @contextmanager
    def name_file(self) -> Iterator[None]:
        """Names the file in an OptionError of the block whose first option is one of the file, which nobody typed."""
        try:
            yield
        except OptionError as error:
            first = re.search(r"--[\w-]+", error.message)
            if self.file is not None and first is not None and first[0] in self.filed.values():
                raise OptionError(f"{self.file}: {error.message}", hint=error.hint) from error
            raise

    def select_fields(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of those fields of `settings` that are set explicitly."""
        return frozenset(field.name for field in option_fields(settings)) & {*self.typed, *self.filed}

    def find_overruled(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of those fields of `settings` that the file sets and a typed option contradicts."""
        pairs = [(field.name, field.metadata["setting"].instead_of) for field in option_fields(settings)]
        both_ways = {*pairs, *((other, name) for name, other in pairs)}
        return frozenset(name for name, other in both_ways if name in self.filed and other in self.typed)

    def drop(self, names: Collection[str]) -> ExplicitOptions:
        """Returns the same options without those of the file that are in `names`."""
        return self._replace(filed={name: option for name, option in self.filed.items() if name not in names})

    def find_first(self, names: Collection[str], *, beside: str = "") -> str | None:
        """Returns the first of these options that is set; where `beside` is typed, the file does not count."""
        options = self.typed if beside in self.typed else {**self.filed, **self.typed}
        return next((option for name, option in options.items() if name in names), None)

    def refuse(self, names: Collection[str], why: str, *, hint: str, beside: str = "") -> None:
        """Raises OptionError if one of these options is set; `why` continues the sentence that its name begins."""
        first = self.find_first(names, beside=beside)
        if first is not None:
            raise OptionError(f"{first} {why}", hint=hint)


def format_option(parameter: Any, value: Any) -> str:
    """Returns an option as it is typed (`--no-x` where it is switched off), an argument by its metavar."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).strip("[].")
    names = parameter.secondary_opts if value is False and parameter.secondary_opts else parameter.opts
    return str(next((name for name in names if name.startswith("--")), names[0]))


# Returns options that are not set explicitly, by the class of their settings, from the values of all parameters.
Fallback = Callable[[Mapping[str, Any], ExplicitOptions], Mapping[type[Settings], Mapping[str, Any]]]


def with_settings(command: Callable[..., None], fallback: Fallback | None = None) -> Callable[..., None]:
    """Gives a command one option for each described field of each parameter annotated with a Settings class.

    The command itself is called with the settings objects, built (and so checked) from those options. A parameter
    annotated with `ExplicitOptions` receives which of its options were set; then a typed option overrules one in the
    file of `--config` that contradicts it. Where neither sets an option, `fallback` may, and else it has its default.
    """
    signature = inspect.signature(command, eval_str=True)
    groups = {name: p.annotation for name, p in signature.parameters.items() if is_settings(p.annotation)}
    asking = [name for name, p in signature.parameters.items() if p.annotation is ExplicitOptions]

    @functools.wraps(command)
    def call_command(**values: Any) -> None:
        explicit = ExplicitOptions.from_context(values.pop(CONTEXT))
        overruled = {name for kind in groups.values() for name in explicit.find_overruled(kind)}
        explicit = explicit.drop(overruled)
        with explicit.name_file():
            others = fallback(values, explicit) if fallback else {}
            for name, kind in groups.items():
                options = {field.name: freeze_list(values.pop(field.name)) for field in option_fields(kind)}
                options = {key: value for key, value in options.items() if key not in overruled}
                values[name] = kind.from_options(**{**options, **others.get(kind, {})})
            command(**values, **dict.fromkeys(asking, explicit))

    parameters = [inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for parameter in signature.parameters.values():
        if parameter.name in groups:
            parameters += make_options(parameter.annotation)
        elif parameter.name not in asking:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    call_command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call_command


def freeze_list(value: Any) -> Any:
    """Returns the list of a repeated option as the tuple that settings hold, anything else as it is."""
    return tuple(value) if isinstance(value, list) else value


def is_settings(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Settings)


def make_options(settings: type[Settings]) -> list[inspect.Parameter]:
    """Returns the Typer options of all fields that are options."""
    kinds = {name: kind for part in settings.list_option_classes() for name, kind in part.resolve_field_types().items()}
    return [make_option(field, kinds[field.name]) for field in option_fields(settings)]


def make_option(field: dataclasses.Field[Any], kind: Any) -> inspect.Parameter:
    """Returns the Typer option of one field of type `kind`, with its help, default and heading."""
    setting: Setting = field.metadata["setting"]
    flag = f"--{name_option(field)}"
    if kind in (bool, bool | None):
        flag = f"{flag}/--no-{name_option(field)}"
    default = field.default
    if typing.get_origin(kind) is tuple:
        kind, default = list[typing.get_args(kind)[0]], list(field.default)  # type: ignore[misc, arg-type]
    flags = [flag] if setting.also is None else [flag, f"--{setting.also}"]
    option = typer.Option(
        *flags, help=setting.help, rich_help_panel=setting.panel, autocompletion=COMPLETIONS.get(field.name)
    )
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def read_configuration(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the values of the file of `--config` the defaults of this command, so that typed options win.

    Keys are the names of options, with `-` or `_`. A table named for a command applies to that command alone and
    takes precedence over the top level. Raises OptionError for an option or table that does not exist.
    """
    if path is not None:
        commands = list_sibling_commands(context)
        tables, shared = split_tables(load_toml(path), commands)
        other_tables = [key for key, value in shared.items() if isinstance(value, dict)]
        reject_unknown(other_tables, commands, where=str(path), noun="command")
        table = tables.get(str(context.info_name), {})
        parameters = map_options(context)
        defaults: dict[str, Any] = {}
        for values, where in ((shared, str(path)), (table, f"{path}, [{context.info_name}]")):
            refuse_misplaced(context, values, parameters, where=where)
            reject_unknown(values, sorted(parameters), where=where)
            defaults |= {
                str(parameters[key].name): convert_file_value(
                    parameters[key].type_descriptor.annotation, key, value, where
                )
                for key, value in values.items()
            }
        context.default_map = defaults
    return path


def refuse_misplaced(
    context: typer.Context, values: Collection[str], parameters: Collection[str], *, where: str
) -> None:
    """Raises OptionError for the first option of a file that another command has, and this one does not."""
    unknown = next((key for key in values if key not in parameters), None)
    if unknown is None or context.parent is None:
        return
    group: Any = context.parent.command
    for name in list_sibling_commands(context):
        command = group.get_command(context.parent, name)
        if unknown in map_options(context, command):
            raise OptionError(
                f"{where}: {unknown} is an option of nmt {name}, not of nmt {context.info_name}",
                hint=f"put it under [{name}]",
            )


def convert_file_value(kind: Any, option: str, value: Any, where: str) -> Any:
    """Converts a value of a file to an option of type `kind`; a number may stand for text, a text for a list of one.

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


def map_options(context: typer.Context, command: Any = None) -> dict[str, Any]:
    """Returns the parameters of a command that a file may set, by the names of their options; by default of its own."""
    never = {"config", "help"}
    flags = [(flag, parameter) for parameter in (command or context.command).params for flag in parameter.opts]
    names = {flag.removeprefix("--"): parameter for flag, parameter in flags if flag.startswith("--")}
    return {name: parameter for name, parameter in names.items() if name not in never}


def load_toml(path: Path) -> dict[str, Any]:
    """Returns the top-level table of a TOML file. Raises NotFoundError and DataError."""
    import tomllib  # only `--config` needs it

    try:
        return tomllib.loads(require_file(path).read_text(encoding="utf-8-sig"))  # Windows puts a mark before it
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}") from error


Configuration = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file with options of the same names, at the top level or in a table named for the command; typed "
        "options take precedence.",
        is_eager=True,
        callback=read_configuration,
        rich_help_panel="Files",
    ),
]
