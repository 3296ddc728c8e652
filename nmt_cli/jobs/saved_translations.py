"""Translations as JSON and back, without loss: each value that is not JSON is an object with its kind as the key.

`FailedCheck("numbers", "7 missing")` is written as `{"FailedCheck": ["numbers", "7 missing"]}`. What is read is held
against the types of the fields, since whatever stands in a file may have been written by anybody.
"""

from __future__ import annotations

import types
import typing
from base64 import b85decode, b85encode
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, NoReturn

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.translation.repair.faults import Fault
from nmt_cli.translation.result import Translation

PLAIN = frozenset((str, float, int, bool, type(None)))  # what is JSON already: most values
LAZY_TYPES = {"FloatArray": FloatArray, "ReadAs": ReadAs, "Fault": Fault}  # that are imported to check types alone


def decode_translation(row: Any) -> Translation:
    """Returns the translation that `encode_value` has encoded.

    Raises TypeError, ValueError or RecursionError for anything else.
    """
    translation: Translation = decode_value(Translation, row)
    return translation


def encode_value(value: Any) -> Any:
    """Returns a value as JSON."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, tuple | frozenset):
        items = [encode_value(item) for item in (sorted(value) if isinstance(value, frozenset) else value)]
        name = type(value).__name__
        return items if name == "tuple" else {name: items}
    if isinstance(value, Mapping):
        return {"mapping": [[encode_value(key), encode_value(item)] for key, item in value.items()]}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, value.shape, b85encode(value.tobytes()).decode()]}
    return value.item() if isinstance(value, np.generic) else value


def decode_value(kind: Any, value: Any) -> Any:
    """Returns the value of a type that `encode_value` has encoded. Raises TypeError or ValueError if it is none."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is FloatArray or kind is range or origin in (frozenset, Mapping) or hasattr(kind, "_fields"):
        return decode_object(kind, value)
    if origin in (types.UnionType, typing.Union):
        return decode_union(parts, value)
    if origin is tuple:
        return decode_tuple(parts, value)
    is_number = kind is float and type(value) is int
    if not (is_number or type(value) is kind or (origin is Literal and isinstance(value, str) and value in parts)):
        refuse(kind, value)
    return value


def decode_object(kind: Any, value: Any) -> Any:
    """Returns a value whose kind is written beside it."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is FloatArray:
        return decode_array(*read_items("array", value, (str, tuple[int, ...], str)))
    if kind is range:
        return range(*read_items("range", value, (int, int, int)))
    if origin is frozenset:
        return frozenset(decode_tuple((parts[0], ...), open_object("frozenset", value)))
    if origin is Mapping:
        pair = types.GenericAlias(tuple, parts)
        return dict(decode_tuple((pair, ...), open_object("mapping", value)))
    return kind(*read_items(kind.__name__, value, tuple(list_field_types(kind).values())))


def decode_union(kinds: Sequence[Any], value: Any) -> Any:
    """Returns a value of a type, or None."""
    is_none = type(None) in kinds
    if not is_none:
        refuse(kinds, value)
    if value is None:
        return None
    (kind,) = (kind for kind in kinds if kind is not type(None))
    return decode_value(kind, value)


def decode_tuple(parts: Sequence[Any], value: Any) -> tuple[Any, ...]:
    """Returns a tuple of items of these types; of any number of the first, before an ellipsis."""
    if not isinstance(value, list):
        refuse(tuple, value)
    kinds = [parts[0]] * len(value) if parts[-1] is Ellipsis else parts
    return tuple(decode_value(kind, item) for kind, item in zip(kinds, value, strict=True))


def decode_array(kind: str, shape: tuple[int, ...], data: str) -> FloatArray:
    if np.dtype(kind).kind != "f" or len(shape) != 2 or min(shape) < 0:
        refuse(FloatArray, kind)
    return np.frombuffer(b85decode(data), kind).reshape(shape)


def read_items(name: str, value: Any, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns what stands under the only key of an object, as items of these types."""
    return decode_tuple(kinds, open_object(name, value))


def open_object(name: str, value: Any) -> Any:
    """Returns what stands under the only key of an object, which is `name`."""
    if not isinstance(value, dict) or list(value) != [name]:
        refuse(name, value)
    return value[name]


@cache
def list_field_types(kind: Any) -> dict[str, Any]:
    """Returns the types of the fields of a NamedTuple."""
    return typing.get_type_hints(kind, localns=LAZY_TYPES)


def refuse(kind: Any, value: Any) -> NoReturn:
    """Raises TypeError."""
    raise TypeError(f"{type(value).__name__} instead of {kind}")
