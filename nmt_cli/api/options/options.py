"""Converts options between Python and the command line: `beam_size=9` is `--beam-size 9`."""

from __future__ import annotations

import dataclasses
import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_origin

from nmt_cli.api.options.refusals import (
    ExplicitOptions,
    Fallback,
    collect_values,
    find_ignored,
    leave_open,
    list_names,
    refuse_combinations,
)
from nmt_cli.errors import OptionError
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.settings import Settings, option_fields
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.config import CheckOptions, ContextOptions, RepairOptions, TagOptions, TranslateOptions

# Arguments that callers may pass: a string for a path, a string for a list of one, options of commands by name.
#
# A string is one text or one path, never its letters.


PathLike = str | os.PathLike[str]
TEXTS = "give a string, or a list of strings"


def list_texts(values: str | Iterable[str] | None) -> list[str]:
    """Returns the texts: a string as a list of one, None as an empty list."""
    if values is None or isinstance(values, str):
        return [] if values is None else [values]
    return list(values)


def check_texts(name: str, values: str | Iterable[str]) -> Iterator[str]:
    """Returns an iterator over one or several texts; it raises OptionError for an item that is not text."""
    return iter([values]) if isinstance(values, str) else map(partial(require_text, name), count(), values)


def require_text(name: str, index: int, value: str) -> str:
    """Returns the value. Raises OptionError, naming the iterable and the index, if it is not text."""
    if not isinstance(value, str):
        raise OptionError(f"{name}[{index}] cannot be {reprlib.repr(value)}", hint=TEXTS)
    return value


def check_count(name: str, value: int | None) -> None:
    """Raises OptionError unless a count is at least 1 or None."""
    if value is not None and value < 1:
        raise OptionError(f"{name} cannot be {value!r}", hint="use a whole number of at least 1")


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
) -> list[Any]:
    """Returns the settings of these kinds with the values of `options`, which overrule those given `earlier`.

    `others` are arguments that are not settings. Raises OptionError for arguments that cannot be combined in a
    `command`; earlier ones that conflict with these are left out. `fallback` may set options that are not given
    explicitly.
    """
    values = {**earlier, **options}
    explicit = ExplicitOptions.from_arguments({**others, **values}, *kinds, earlier={*earlier} - {*options})
    saved = fallback({**others, **values}, explicit)
    settings = [kind.from_options(**{**select_options(values, kind), **saved.get(kind, {})}) for kind in kinds]
    collected = collect_values(settings, others)
    defaults = {field.name: field.default for kind in kinds for field in option_fields(kind)}
    if ignored := find_ignored(command, explicit, collected, defaults):
        kept = {name: value for name, value in earlier.items() if name not in ignored}
        return build_settings(command, options, *kinds, others=others, earlier=kept, fallback=fallback)
    refuse_combinations(command, explicit, collected)
    return settings


def select_options(options: Mapping[str, Any], kind: type[Settings]) -> dict[str, Any]:
    """Returns the options that are fields of `kind`: paths as text; lists, and a string given for a list, as tuples."""
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


# The options of a search, as the Python interface takes them.


OF_SEARCH = (SearchOptions, SamplingOptions, RepairOptions, CheckOptions, TagOptions, ContextOptions)
TAG = "tag"  # an option that may be given as one text or several
# Options that are no fields with a help text, or not as here: their names, defaults and annotations.
PREFIX, GLOSSARY, TM = "prefix", "glossary", "tm"
MORE_OF_LOAD = ((PREFIX, "", "str"),)
MORE_OF_CALLS = (*MORE_OF_LOAD, (GLOSSARY, None, "PathLike | Mapping[str, str] | None"))


def make_search_options(
    options: Mapping[str, Any],
    earlier: Mapping[str, Any],
    *,
    n_best: int = 1,
    companions: Mapping[str, Any] = MappingProxyType({}),
) -> TranslateOptions:
    """Returns the settings of a search; `options` overrule those given `earlier`.

    Raises OptionError for unknown options, values out of range, and contradictory combinations.
    """
    check_count("n_best", n_best)
    prefix = {**earlier, **options}.get(PREFIX, "")
    options, earlier = (
        {name: value for name, value in group.items() if name != PREFIX} for group in (options, earlier)
    )
    others = {"n_best": n_best, **({PREFIX: prefix} if prefix else {}), **companions}
    settings = build_settings("translate", options, *OF_SEARCH, others=others, earlier=earlier)
    search, sampling, repair, checks, tags, before = settings
    search = dataclasses.replace(search, n_best=n_best, prefix=normalise(prefix), sampling=sampling)
    context = 0 if prefix or sampling.sample else before.context  # each of these lines stands alone
    return TranslateOptions(search, repair, checks, tags=tags, context=context)


def list_tags(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options, with a single tag as a tuple of one."""
    return {name: (value,) if name == TAG and isinstance(value, str) else value for name, value in options.items()}
