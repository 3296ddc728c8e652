"""Translations as JSON and back, without loss: each value that is not JSON is an object with its kind as the key."""

from __future__ import annotations

from base64 import b85decode, b85encode
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.translation.result import FailedCheck, Hypothesis, LeastSure, Placed, Repair, Translation, WordLinks

RECORDS: Mapping[str, Any] = {
    kind.__name__: kind for kind in (Translation, Hypothesis, Placed, WordLinks, Repair, FailedCheck, ReadAs, LeastSure)
}
PLAIN = frozenset((str, float, int, bool, type(None)))  # what is JSON already: most values
# What makes a value of what stands under its kind.
DECODERS: Mapping[str, Callable[..., Any]] = {
    **{name: lambda *fields, kind=kind: kind(*fields) for name, kind in RECORDS.items()},
    "range": range,
    "frozenset": lambda *items: frozenset(items),
    "mapping": lambda *items: dict(items),
    "array": lambda kind, shape, data: np.frombuffer(b85decode(data), kind).reshape(shape),
}


def decode_translation(row: Any) -> Translation:
    """Returns the translation that `encode_value` has encoded.

    Raises KeyError, TypeError, ValueError or RecursionError for anything else.
    """
    translation = decode_value(row)
    if not isinstance(translation, Translation):
        raise TypeError("no translation")
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


def decode_value(value: Any) -> Any:
    """Returns the value that `encode_value` has encoded; lists become tuples."""
    if isinstance(value, list):
        return tuple(map(decode_value, value))
    if isinstance(value, dict):
        ((kind, items),) = value.items()
        return DECODERS[kind](*map(decode_value, items))
    return value
