"""Checks JSON that nmt has written, since a file may be damaged or come from another program.

The types of a dataclass or NamedTuple define its entries; `Annotated` with a `Range`, or FileName, restricts their
values. Everything else is refused, with an error that names the entry's key. Standard library only, since translation
reads a card.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

MOST_DIGITS = 20  # of a whole number: the largest count of bytes has 19
MOST_CHARACTERS = 40  # of a value in a message
DEEPEST = 50  # levels of lists and objects; ours have 6
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


class RecordError(ValueError):
    """An invalid entry; its text names the entry by key, as in `source.limit`."""


class Range(NamedTuple):
    """The inclusive bounds of a number."""

    low: float
    high: float = math.inf

    def __str__(self) -> str:
        return f"at least {self.low:g}" if math.isinf(self.high) else f"from {self.low:g} to {self.high:g}"

    def accept(self, value: Any) -> bool:
        return bool(self.low <= value <= self.high)


class FileNameRule(NamedTuple):
    """The name of a file in the same directory, but never a path."""

    def __str__(self) -> str:
        return "the name of a file in the same directory"

    def accept(self, value: str) -> bool:
        return Path(value).name == value and "\\" not in value and "\0" not in value


FileName = Annotated[str, FileNameRule()]
Count = Annotated[int, Range(0, 2**53)]
Share = Annotated[float, Range(0, 1)]


def parse_json(text: str) -> Any:
    """Parses JSON. Raises RecordError for anything else, for NaN, and for numbers too large or nesting too deep."""
    endless: list[str] = []  # numbers that are not finite

    def parse_number(digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            endless.append(digits)
        return number

    def parse_whole(digits: str) -> float:
        return int(digits) if len(digits) <= MOST_DIGITS else parse_number("inf")

    try:
        value = json.loads(text, parse_float=parse_number, parse_int=parse_whole, parse_constant=parse_number)
    except RecursionError as error:
        raise RecordError("it is nested too deeply") from error
    except ValueError as error:
        raise RecordError(f"it is not valid JSON ({error})") from error
    if endless or text.count("[") + text.count("{") > DEEPEST:  # else there is nothing to find
        check_numbers(value, "", DEEPEST)
    return value


def check_numbers(value: Any, key: str, levels: int) -> None:
    """Raises RecordError for a number in `value` that is not finite, and for more than `levels` levels of nesting."""
    if isinstance(value, float) and not math.isfinite(value):
        raise RecordError(f"{key or 'it'} is not a finite number")
    if isinstance(value, dict | list) and not levels:
        raise RecordError(f"{key[:MOST_CHARACTERS]} is nested too deeply")
    if isinstance(value, dict):
        for name, part in value.items():
            check_numbers(part, join_key(key, name), levels - 1)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            check_numbers(part, f"{key}[{index}]", levels - 1)


def build(kind: Any, value: Any, key: str = "") -> Any:
    """Converts a value of parsed JSON to the type `kind`. Raises RecordError, with its `key`, if it does not fit."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return check_bounds(build(parts[0], value, key), parts[1:], key)
    if origin in (types.UnionType, typing.Union):
        return build_union(parts, value, key)
    if kind is Any or (origin is Literal and value in parts):
        return value
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return build_record(kind, value, key)
    if origin in (dict, Mapping) or kind is dict:
        return build_mapping(parts or (str, Any), value, key)
    if origin in (list, tuple) and isinstance(value, list):
        return origin(build(parts[0], part, f"{key}[{index}]") for index, part in enumerate(value))
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(kind, type) and type(value) is kind:
        return value
    raise report_type(kind, value, key)


def build_record(kind: Any, value: Any, key: str) -> Any:
    """Builds a dataclass or NamedTuple from an object with its entries; those with a default may be missing."""
    if not isinstance(value, dict):
        raise report_type(kind, value, key)
    hints = list_hints(kind)
    unknown = next((name for name in value if name not in hints), None)
    if unknown is not None:
        raise RecordError(f"there is no entry {join_key(key, unknown)}")
    missing = next((name for name in hints if name not in value and not has_default(kind, name)), None)
    if missing is not None:
        raise RecordError(f"{join_key(key, missing)} is missing")
    return kind(**{name: build(hints[name], part, join_key(key, name)) for name, part in value.items()})


@cache
def list_hints(kind: Any) -> dict[str, Any]:
    """Returns the types of the entries of a dataclass or NamedTuple; cached, since this is slow but often needed."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: hint for name, hint in hints.items() if typing.get_origin(hint) is not typing.ClassVar}


def has_default(kind: Any, name: str) -> bool:
    """Whether an entry of a dataclass or NamedTuple may be left out."""
    if hasattr(kind, "_fields"):
        return name in kind._field_defaults
    field = kind.__dataclass_fields__[name]
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def build_mapping(parts: tuple[Any, ...], value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise report_type(dict, value, key)
    return {
        check_bounds(name, typing.get_args(parts[0])[1:], join_key(key, name)): build(
            parts[1], part, join_key(key, name)
        )
        for name, part in value.items()
    }


def build_union(parts: tuple[Any, ...], value: Any, key: str) -> Any:
    """Returns the value as the first of these types that fits. For a record, raises the error of the last type."""
    problem: RecordError | None = None
    for part in parts:
        kind, *bounds = typing.get_args(part) if typing.get_origin(part) is Annotated else (part,)
        try:
            built = build(kind, value, key)
        except RecordError as error:
            problem = error
        else:
            return check_bounds(built, tuple(bounds), key)
    if problem is not None and isinstance(value, dict) and "an object" in map(name_kind, parts):
        raise problem
    raise report_type(typing.Union[parts], value, key)  # noqa: UP007


def check_bounds(value: Any, bounds: tuple[Any, ...], key: str) -> Any:
    """Returns the value. Raises RecordError if it violates a bound."""
    for bound in bounds:
        if not bound.accept(value):
            raise RecordError(f"{key or 'it'} is {describe(value)}; it must be {bound}")
    return value


def report_type(kind: Any, value: Any, key: str) -> RecordError:
    """Returns the error for a value of the wrong type."""
    return RecordError(f"{key or 'it'} is {describe(value)}; it must be {name_kind(kind)}")


def describe(value: Any) -> str:
    """Returns a value as written in a file, shortened."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def name_kind(kind: Any) -> str:
    """Returns a type's name in messages."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return name_kind(parts[0])
    if origin in (types.UnionType, typing.Union):
        return " or ".join(map(name_kind, parts))
    if origin is Literal:
        return " or ".join(describe(part) for part in parts)
    if origin in (list, tuple):
        return "a list"
    return WORDS.get(kind, "an object")


def join_key(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
