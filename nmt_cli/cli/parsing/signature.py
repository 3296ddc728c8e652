"""Gives a command its options: those of its settings classes, and those common to all commands."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from nmt_cli.api.options.combinations import collect_values
from nmt_cli.api.options.explicit import ExplicitOptions, Fallback, is_off, leave_open
from nmt_cli.api.options.refusals import find_set_aside, refuse_combinations
from nmt_cli.cli.parsing.completion import COMPLETIONS
from nmt_cli.cli.parsing.configuration import CONFIGURED_BY, LEFT_OUT
from nmt_cli.cli.parsing.options import Assignments, Configuration, FullHelp, Quiet, Verbose
from nmt_cli.cli.parsing.spelling import respell_settings, spell_option
from nmt_cli.cli.render import Screen
from nmt_cli.settings import Setting, Settings, name_option, option_fields

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
    annotated with `ExplicitOptions` receives the explicitly set options, one annotated with `Screen` where to print;
    then a typed option overrules one of the environment or of a file that contradicts it. If none sets an option,
    `fallback` may; otherwise it has its default.
    """
    signature = inspect.signature(command, eval_str=True)
    kinds = {name: parameter.annotation for name, parameter in signature.parameters.items()}

    @functools.wraps(command)
    def call_command(**values: Any) -> None:
        context, common = values.pop(CONTEXT), {name: values.pop(name) for name in COMMON}
        spell = functools.partial(respell_settings, parameters=context.command.params)
        screen = Screen(quiet=common["quiet"], verbose=common["verbose"], spell=spell)
        parsed = combine_settings(context, kinds, values, find_explicit(context, common["configuration"]), fallback)
        show_origins(screen, parsed.explicit, parsed.aside)
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
    """The values of a command's parameters, with its settings built; `aside` are options that were left out."""

    values: dict[str, Any]
    explicit: ExplicitOptions
    aside: dict[str, str]


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
        aside = find_set_aside(command, explicit, collect_values(settings.values(), others), defaults)
        if aside:
            explicit, overruled = explicit.drop(aside), overruled | aside
            values |= {name: defaults[name] for name in aside}
            settings = assemble_settings(groups, values, overruled, fallback(values, explicit))
            others |= {name: values[name] for name in aside & others.keys()}
        refuse_combinations(command, explicit, collect_values(settings.values(), others))
    return ParsedOptions(values | settings, explicit, {name: every.origins[name] for name in aside})


def find_explicit(context: typer.Context, file: Path | None) -> ExplicitOptions:
    """Returns which options were typed, and which the environment and the `file` of `--config` or a found one set."""
    typed, filed, origins = dict[str, str](), dict[str, str](), dict[str, str]()
    idle = set()
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
        idle |= {name} if is_off(value) and not parameter.default else set()
    config = file if "configuration" in typed else None
    return ExplicitOptions(typed, filed, config, frozenset(idle), origins)


def show_origins(screen: Screen, explicit: ExplicitOptions, aside: Mapping[str, str]) -> None:
    """Says with --verbose where the options that nobody typed come from, and which of them are left out."""
    for origin in dict.fromkeys(explicit.origins.values()):
        names = [option for name, option in explicit.filed.items() if explicit.origins[name] == origin]
        if names:
            screen.say_detail(f"{origin}: {', '.join(names)}")
    for name, origin in aside.items():
        screen.say_detail(f"{origin}: {name.replace('_', '-')} does not apply to this call, and is left out")


def assemble_settings(
    groups: Mapping[str, type[Settings]],
    values: Mapping[str, Any],
    overruled: Collection[str],
    others: Mapping[type[Settings], Mapping[str, Any]],
) -> dict[str, Settings]:
    """Returns the settings built from their options, except those `overruled` or set by `others`."""
    settings = {}
    for name, kind in groups.items():
        fields = [field.name for field in option_fields(kind) if field.name not in overruled]
        settings[name] = kind.from_options(
            **{**{field: freeze_list(values[field]) for field in fields}, **others.get(kind, {})}
        )
    return settings


def list_declared(command: Callable[..., Any]) -> dict[str, Setting]:
    """Returns the declared settings of a command by parameter name."""
    kinds = [parameter.annotation for parameter in inspect.signature(command, eval_str=True).parameters.values()]
    fields = [field for kind in kinds if is_settings(kind) for field in option_fields(kind)]
    return {field.name: field.metadata["setting"] for field in fields}


def make_parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def freeze_list(value: Any) -> Any:
    """Returns the list of a repeated option as the tuple that settings hold; anything else unchanged."""
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
    option: Any = typer.Option(
        *flags, help=setting.help, rich_help_panel=setting.panel, autocompletion=COMPLETIONS.get(field.name)
    )
    option.harmless = setting.harmless
    return make_parameter(field.name, Annotated[kind, option], default)
