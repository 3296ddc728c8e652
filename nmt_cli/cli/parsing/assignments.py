"""`--set NAME=VALUE`: sets any setting of a command by name, converted and checked like an option of that name.

Settings that are not options are parameters of the command unknown to its parser. Anyone who types one as an option is
told what to type instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from typer.exceptions import TyperException

from nmt_cli.cli.parsing.configuration import find_setting, map_settings
from nmt_cli.cli.parsing.spelling import is_setting, spell_option, spell_typed
from nmt_cli.errors import OptionError, find_nearest

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
