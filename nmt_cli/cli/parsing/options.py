"""Declares the options of the commands, from settings classes, and completes them in the shell."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from nmt_cli.api.options.refusals import (
    ExplicitOptions,
    Fallback,
    collect_values,
    find_ignored,
    is_off,
    leave_open,
    refuse_combinations,
)
from nmt_cli.cli.parsing.command import show_full_help
from nmt_cli.cli.parsing.configuration import CONFIGURED_BY, LEFT_OUT, map_settings, read_configuration, spell_option
from nmt_cli.cli.render import Screen
from nmt_cli.settings import Setting, Settings, name_option, option_fields

# Shell completion beyond options and choices: models, prepared corpora, formats, metrics, checks.


def complete_models(incomplete: str) -> list[str]:
    """Returns the matching model directories (or directories that may lead to one), and installed models."""
    from nmt_cli.runtime.installed_models import list_models

    names = [name for name in list_models() if name.startswith(incomplete)]
    return complete_directories(incomplete, "model.json") + names


def complete_corpora(incomplete: str) -> list[str]:
    """Returns the matching prepared corpora or, if there are none, directories that may lead to one."""
    return complete_directories(incomplete, "dataset.json")


def complete_directories(incomplete: str, mark: str) -> list[str]:
    """Returns the directories with a file called `mark`; if there are none, those with subdirectories, plus a slash."""
    head, tail = os.path.split(incomplete)
    try:
        entries = sorted(path for path in Path(head or ".").iterdir() if path.is_dir())
    except OSError:
        return []
    entries = [path for path in entries if path.name.startswith(tail) and (tail or not path.name.startswith("."))]
    finished = [os.path.join(head, path.name) for path in entries if (path / mark).is_file()]
    ways = [
        os.path.join(head, path.name, "") for path in entries if not (path / mark).is_file() and has_directories(path)
    ]
    return finished or ways


def has_directories(path: Path) -> bool:
    """Whether a directory contains directories."""
    try:
        return any(child.is_dir() for child in path.iterdir())
    except OSError:
        return False


def complete_metrics(incomplete: str) -> list[str]:
    """Returns the matching metrics of `nmt evaluate`, preceded by those already typed before a comma."""
    from nmt_cli.evaluation.metrics.registry import ADDED, NAMES
    from nmt_cli.plugins import list_plugins

    done, comma, last = incomplete.rpartition(",")
    names = (*NAMES, *(plugin.name for plugin in list_plugins(ADDED)))
    return [f"{done}{comma}{name}" for name in select_beginning(names, last)]


def complete_checks(incomplete: str) -> list[str]:
    """Returns the matching checks of `nmt prepare`."""
    from nmt_cli.corpus.checks import CHECKS

    return select_beginning((check.name for check in CHECKS if check.can_be_kept), incomplete)


def complete_settings(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the matching settings of the command, each with the equals sign that precedes its value."""
    return [f"{name}=" for name in select_beginning(sorted(map_settings(context.command)), incomplete)]


def complete_formats(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the matching formats that the command reads."""
    from nmt_cli.formats import DOCUMENTS, list_formats
    from nmt_cli.plugins import list_plugins

    names = list_formats("pairs" if context.info_name == "prepare" else "translate")
    added = [plugin.name for plugin in list_plugins(DOCUMENTS) if context.info_name == "translate"]
    return select_beginning((*names, *added), incomplete)


def select_beginning(names: Iterable[str], beginning: str) -> list[str]:
    return [name for name in names if name.startswith(beginning)]


# By the name of the setting, for the options that are made of settings.
COMPLETIONS: dict[str, Callable[..., list[str]]] = {
    "format": complete_formats,
    "init_from": complete_models,
    "tokenizer_from": complete_models,
    "replay": complete_corpora,
    "keep": complete_checks,
}


# The options shared by commands.


DEFAULT_MODEL = Path("model")
OF_DATA: dict[str, Any] = {"autocompletion": complete_corpora}
OF_MODEL: dict[str, Any] = {"autocompletion": complete_models}


def declare_option(
    flag: str, help: str, panel: str, *, short: str | None = None, harmless: bool | None = None, **more: Any
) -> Any:
    """Returns an option of a command, which its help lists under the heading `panel`.

    `harmless` is as in a `Setting`: whether a file that the user did not name may set the option.
    """
    flags = [flag] if short is None else [short, flag]
    option: Any = typer.Option(*flags, help=help, rich_help_panel=panel, **more)
    option.harmless = harmless
    return option


def resolve_model(path: Path) -> Path:
    """Returns the directory of the model with this path or name. Raises NotFoundError for a file."""
    from nmt_cli.runtime.installed_models import find_model

    return find_model(path)


def resolve_models(paths: list[Path] | None) -> list[Path] | None:
    """Returns the directories of the models with these paths or names. Raises NotFoundError for a file."""
    return [resolve_model(path) for path in paths] if paths else paths


def make_models_option(several: str) -> Any:
    """Returns the option `--model` of a command that takes several; its help explains their use."""
    text = f"Directory of the model, or the name of an installed one; {several}.  [default: model]"
    more = OF_MODEL | {"show_default": False, "callback": resolve_models}
    return declare_option("--model", text, "Files", harmless=True, **more)


DATA_HELP = "Directory of the prepared corpus."
DataOption = Annotated[Path, declare_option("--data", DATA_HELP, "Files", harmless=True, **OF_DATA)]
WrittenDataOption = Annotated[Path, declare_option("--data", DATA_HELP, "Files", **OF_DATA)]
CORPORA_HELP = "Directory of the prepared corpus; --corpus compares several.  [default: prepared]"
CorporaOption = Annotated[
    list[Path] | None, declare_option("--data", CORPORA_HELP, "Files", show_default=False, harmless=True, **OF_DATA)
]
WrittenModelOption = Annotated[Path, declare_option("--model", "Directory of the model.", "Files", **OF_MODEL)]
ModelsOption = Annotated[list[Path] | None, make_models_option("several are compared")]
ServedModelsOption = Annotated[list[Path] | None, make_models_option("several with --serve")]
PRECISION_HELP = "Weights: 8-bit or as trained.  [default: int8 if it cost at most 0.2 BLEU after training]"
Precision = Annotated[Literal["float", "int8"] | None, declare_option("--precision", PRECISION_HELP, "Files")]
RERANK_HELP = "Model for the opposite direction, which ranks the hypotheses by the probability of the source."
Rerank = Annotated[Path | None, declare_option("--rerank", RERANK_HELP, "Decoding", metavar="MODEL", harmless=True)]
AsJson = Annotated[bool, declare_option("--json", "Print one JSON object.", "Output", harmless=True)]
Force = Annotated[bool, declare_option("--force", "Replace existing output.", "Files")]
Quiet = Annotated[bool, declare_option("--quiet", "Print errors only.", "Output", short="-q")]
Verbose = Annotated[bool, declare_option("--verbose", "Print more detail.", "Output", short="-v", harmless=True)]
Configuration = Annotated[
    Path | None,
    declare_option(
        "--config",
        "TOML file with options of the same names, at the top or in a table with the name of the command; those on "
        "the command line take precedence.  [default: the safe options of nmt.toml in the current directory]",
        "Files",
        is_eager=True,
        callback=read_configuration,
    ),
]
SET_HELP = "Set an option by its name; can be repeated."
Assignments = Annotated[
    list[str] | None,
    declare_option("--set", SET_HELP, "Files", metavar="NAME=VALUE", autocompletion=complete_settings, hidden=True),
]
FullHelp = Annotated[
    bool,
    typer.Option("--help-all", help="Show every option in full.", is_eager=True, callback=show_full_help, hidden=True),
]


# Gives a command its options: those of its settings classes, and those common to all commands.


CONTEXT = "typer_context"  # the parameter by which a command learns which of its options are set
COMMON: Mapping[str, tuple[Any, Any]] = {  # parameters of every command, with their annotations and defaults
    "configuration": (Configuration, None),
    "assignments": (Assignments, None),
    "quiet": (Quiet, False),
    "verbose": (Verbose, False),
    "help_all": (FullHelp, False),
}
PROVIDED = (ExplicitOptions, Screen)  # what a command gets beside the values of its options


def with_settings(command: Callable[..., None], fallback: Fallback = leave_open) -> Callable[..., None]:
    """Gives a command one option for each described field of each parameter annotated with a Settings class.

    The command itself is called with the settings objects, built (and thus checked) from those options. A parameter
    annotated with `ExplicitOptions` receives the explicitly set options; one annotated with `Screen` receives the
    screen to print to. A typed option overrules a contradicting one from the environment or a file. If nothing sets an
    option, `fallback` may set it; otherwise, it has its default.
    """
    signature = inspect.signature(command, eval_str=True)
    kinds = {name: parameter.annotation for name, parameter in signature.parameters.items()}

    @functools.wraps(command)
    def call_command(**values: Any) -> None:
        context, common = values.pop(CONTEXT), {name: values.pop(name) for name in COMMON}
        screen = Screen(quiet=common["quiet"], verbose=common["verbose"])
        parsed = combine_settings(context, kinds, values, find_explicit(context, common["configuration"]), fallback)
        show_origins(screen, parsed.explicit, parsed.ignored)
        for warning in context.meta.get(LEFT_OUT, ()):
            screen.warn(warning)
        provided = {ExplicitOptions: parsed.explicit, Screen: screen}
        command(**{name: provided[kind] if kind in PROVIDED else parsed.values[name] for name, kind in kinds.items()})

    parameters = [make_parameter(CONTEXT, typer.Context)]
    for parameter in signature.parameters.values():
        if is_settings(parameter.annotation):
            parameters += make_options(parameter.annotation)
        elif parameter.annotation not in PROVIDED:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    parameters += [make_parameter(name, annotation, default) for name, (annotation, default) in COMMON.items()]
    call_command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call_command


class ParsedOptions(NamedTuple):
    """The values of a command's parameters, with its settings built; `ignored` are options that do not apply."""

    values: dict[str, Any]
    explicit: ExplicitOptions
    ignored: dict[str, str]


def combine_settings(
    context: typer.Context,
    kinds: Mapping[str, Any],
    values: Mapping[str, Any],
    explicit: ExplicitOptions,
    fallback: Fallback,
) -> ParsedOptions:
    """Builds the settings from the values of options. Raises OptionError for those that cannot be combined."""
    groups = {name: kind for name, kind in kinds.items() if is_settings(kind)}
    overruled = {name for kind in groups.values() for name in explicit.find_overruled(kind)}
    every, command, values = explicit, str(context.info_name), dict(values)
    explicit = every.drop(overruled)
    with every.name_origin():
        settings = assemble_settings(groups, values, overruled, fallback(values, explicit))
        others = {name: value for name, value in values.items() if name in kinds}
        defaults = {str(parameter.name): parameter.default for parameter in context.command.params}
        ignored = find_ignored(command, explicit, collect_values(settings.values(), others), defaults)
        if ignored:
            explicit, overruled = explicit.drop(ignored), overruled | ignored
            values |= {name: defaults[name] for name in ignored}
            settings = assemble_settings(groups, values, overruled, fallback(values, explicit))
            others |= {name: values[name] for name in ignored & others.keys()}
        refuse_combinations(command, explicit, collect_values(settings.values(), others))
    return ParsedOptions(values | settings, explicit, {name: every.origins[name] for name in ignored})


def find_explicit(context: typer.Context, file: Path | None) -> ExplicitOptions:
    """Returns which options were typed, and which the environment, the `file` of `--config` or a found file set."""
    typed, filed, origins = dict[str, str](), dict[str, str](), dict[str, str]()
    off = set()
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        source = context.get_parameter_source(name)
        if source is None or source.name == "DEFAULT":
            continue
        if source.name == "COMMANDLINE":
            typed[name] = spell_option(parameter, value)
        else:
            filed[name] = spell_option(parameter, value)
            origins[name] = str(parameter.envvar if source.name == "ENVIRONMENT" else context.meta[CONFIGURED_BY])
        off |= {name} if is_off(value) and not parameter.default else set()
    config = file if "configuration" in typed else None
    return ExplicitOptions(typed, filed, config, frozenset(off), origins)


def show_origins(screen: Screen, explicit: ExplicitOptions, ignored: Mapping[str, str]) -> None:
    """Says with --verbose where the options that nobody typed come from, and which of them are left out."""
    for origin in dict.fromkeys(explicit.origins.values()):
        names = [option for name, option in explicit.filed.items() if explicit.origins[name] == origin]
        if names:
            screen.say_detail(f"{origin}: {', '.join(names)}")
    for name, origin in ignored.items():
        screen.say_detail(f"{origin}: {name.replace('_', '-')} does not apply to this call, so nmt ignores it")


def assemble_settings(
    groups: Mapping[str, type[Settings]],
    values: Mapping[str, Any],
    overruled: Collection[str],
    others: Mapping[type[Settings], Mapping[str, Any]],
) -> dict[str, Settings]:
    """Returns the settings built from their options, except those `overruled` or set by `others`."""
    settings = {}
    for name, kind in groups.items():
        typed = {field.name: values[field.name] for field in option_fields(kind) if field.name not in overruled}
        # Settings hold the list of a repeated option as a tuple.
        fixed = {field: tuple(value) if isinstance(value, list) else value for field, value in typed.items()}
        settings[name] = kind.from_options(**{**fixed, **others.get(kind, {})})
    return settings


def make_parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


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
    option: Any = typer.Option(
        *flags, help=setting.help, rich_help_panel=setting.panel, autocompletion=COMPLETIONS.get(field.name)
    )
    option.harmless = setting.harmless
    return make_parameter(field.name, Annotated[kind, option], default)
