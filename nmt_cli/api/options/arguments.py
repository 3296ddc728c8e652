"""Arguments that callers may pass: a string for a path, a string for a list of one, options of commands by name.

A string is one text or one path, never its letters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar, get_origin

from nmt_cli.api.options.combinations import collect_values, list_names
from nmt_cli.api.options.explicit import ExplicitOptions, Fallback, leave_open
from nmt_cli.api.options.refusals import refuse_combinations
from nmt_cli.api.options.spelling import spell_as_arguments
from nmt_cli.errors import OptionError, convert_import_error, convert_os_error
from nmt_cli.settings import Settings, reject_unknown

PathLike = str | os.PathLike[str]
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
TEXTS = "give a string, or an iterable of strings"


def explain_os_errors(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Wraps a function so that it raises NmtError for refusals of the operating system, and for missing extras."""

    @wraps(function)
    def call_explained(*arguments: Arguments.args, **options: Arguments.kwargs) -> Returned:
        try:
            return function(*arguments, **options)
        except OSError as error:
            raise convert_os_error(error) from error
        except ImportError as error:
            raise convert_import_error(error) or error from error

    return call_explained


def list_texts(values: str | Iterable[str] | None) -> list[str]:
    """Returns the texts: a string as a list of one, None as an empty list. Raises OptionError for what is neither."""
    if values is None or isinstance(values, str):
        return [] if values is None else [values]
    if not isinstance(values, Iterable):
        raise OptionError(f"{values!r} is no text", hint=TEXTS)
    return list(values)


def check_texts(values: str | Iterable[str]) -> Iterator[str]:
    """Returns an iterator over the texts, or a single one, which raises OptionError for an item that is not text.

    Raises OptionError at once for anything but an iterable of texts.
    """
    if isinstance(values, str):
        return iter([values])
    if isinstance(values, bytes | bytearray | Mapping) or not isinstance(values, Iterable):
        raise OptionError(f"the text to translate is of type {type(values).__name__}", hint=TEXTS)
    return map(require_text, count(1), values)


def require_text(number: int, value: str) -> str:
    """Returns the value. Raises OptionError, with its number in its iterable, if it is not text."""
    if not isinstance(value, str):
        raise OptionError(f"text {number:,} is {type(value).__name__}", hint=TEXTS)
    return value


def check_count(name: str, value: int | None) -> None:
    """Raises OptionError unless a number of things is a whole number from 1, or None."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise OptionError(f"{name} cannot be {value!r}", hint="it takes a whole number from 1")


def list_paths(values: PathLike | Iterable[PathLike] | None) -> list[Path]:
    """Returns the paths: a string or a path as a list of one, None as an empty list."""
    if values is None:
        return []
    return [Path(values)] if isinstance(values, str | os.PathLike) else [Path(value) for value in values]


def find_path(value: PathLike | None) -> Path | None:
    return None if value is None else Path(value)


def build_settings(
    command: str,
    options: Mapping[str, Any],
    *kinds: type[Settings],
    others: Mapping[str, Any] = MappingProxyType({}),
    earlier: Mapping[str, Any] = MappingProxyType({}),
    fallback: Fallback = leave_open,
    where: str = "",
) -> list[Any]:
    """Returns the settings of these kinds with the values of `options`, which overrule those given `earlier`.

    `others` are arguments that are not settings. Raises OptionError for an option that none of the kinds has, and for
    arguments that cannot be combined in a `command`. `fallback` may set whatever is not explicit. `where` names the
    function in errors, if it has another name.
    """
    names = list_names(*kinds)
    reject_unknown(options, sorted(names), where=where or command)
    values = {**earlier, **options}
    explicit = ExplicitOptions.from_arguments({**others, **values}, *kinds, earlier={*earlier} - {*options})
    with spell_as_arguments(names | others.keys()):
        saved = fallback({**others, **values}, explicit)
        settings = [kind.from_options(**{**select_options(values, kind), **saved.get(kind, {})}) for kind in kinds]
        refuse_combinations(command, explicit, collect_values(settings, others))
    return settings


def select_options(options: Mapping[str, Any], kind: type[Settings]) -> dict[str, Any]:
    """Returns the options that `kind` has, as its fields: paths as text, lists and texts of a list as tuples."""
    several = {name for name, type in kind.resolve_field_types().items() if get_origin(type) is tuple}
    return {
        name: convert_value(list_texts(value) if name in several and isinstance(value, str) else value)
        for name, value in options.items()
        if name in list_names(kind)
    }


def convert_value(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return tuple(map(convert_value, value)) if isinstance(value, list | tuple) else value
