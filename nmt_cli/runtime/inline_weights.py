"""Moves a graph's weights from their own file into the graph, in memory.

ONNX Runtime refuses weights in a file with a second name, as every file has in a tree copied with `cp -al` or `rsync
--link-dest`. A graph that contains its weights needs no such file. Knows only the necessary parts of ONNX: the fields
of a Protocol Buffers message that lead from a model to its tensors, and those of a tensor. The package `onnx` would do
the same, but is not installed where models only translate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED_64, DELIMITED, FIXED_32 = 0, 1, 2, 5  # wire types of Protocol Buffers
WIDTHS = {FIXED_64: 8, FIXED_32: 4}
# The fields that lead from a ModelProto to its tensors, by kind of message: the field's number and the kind it holds.
PATHS: dict[str, dict[int, str]] = {
    "model": {7: "graph"},
    "graph": {1: "node", 5: "tensor"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph"},
}
RAW_DATA, EXTERNAL_DATA, DATA_LOCATION = 9, 13, 14  # fields of a TensorProto
KEY, VALUE = 1, 2  # fields of an entry of EXTERNAL_DATA


class Field(NamedTuple):
    """A field of a message: all its bytes, and the bytes of its value."""

    number: int
    whole: bytes
    value: bytes


def inline_weights(message: bytes, weights: bytes, kind: str = "model") -> bytes:
    """Returns a message of a `kind` whose tensors contain their data instead of a location in `weights`.

    Raises ValueError for an invalid message, and for a location outside `weights`.
    """
    if kind == "tensor":
        return inline_tensor(message, weights)
    parts: list[bytes] = []
    for field in read_fields(message):
        inner = PATHS[kind].get(field.number)
        parts.append(
            field.whole if inner is None else make_field(field.number, inline_weights(field.value, weights, inner))
        )
    return b"".join(parts)


def inline_tensor(message: bytes, weights: bytes) -> bytes:
    """Returns a tensor with its data; unchanged if it already contains them."""
    fields = list(read_fields(message))
    location = dict(read_entry(field.value) for field in fields if field.number == EXTERNAL_DATA)
    if not location:
        return message
    start = int(location.get(b"offset", 0))
    end = start + int(location.get(b"length", len(weights) - start))
    if not 0 <= start <= end <= len(weights):
        raise ValueError("the data of a tensor do not lie in the file of the weights")
    others = [field.whole for field in fields if field.number not in (EXTERNAL_DATA, DATA_LOCATION)]
    return b"".join([*others, make_field(RAW_DATA, weights[start:end])])


def read_entry(message: bytes) -> tuple[bytes, bytes]:
    """Returns the key and the value of an entry of EXTERNAL_DATA."""
    values = {field.number: field.value for field in read_fields(message)}
    return values.get(KEY, b""), values.get(VALUE, b"")


def read_fields(message: bytes) -> Iterator[Field]:
    """Yields the fields of a message in order. Raises ValueError for an invalid message."""
    position = 0
    while position < len(message):
        tag, start = read_varint(message, position)
        wire_type, end = tag & 7, start
        if wire_type == VARINT:
            _, end = read_varint(message, start)
        elif wire_type == DELIMITED:
            length, start = read_varint(message, start)
            end = start + length
        elif wire_type in WIDTHS:
            end = start + WIDTHS[wire_type]
        else:
            raise ValueError(f"there is no wire type {wire_type}")
        if end > len(message):
            raise ValueError("a field ends after its message")
        yield Field(tag >> 3, message[position:end], message[start:end])
        position = end


def read_varint(message: bytes, position: int) -> tuple[int, int]:
    """Returns the number that begins at `position`, and its end."""
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(message):
            break
        byte = message[position]
        number |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return number, position
    raise ValueError("a number does not end")


def make_field(number: int, value: bytes) -> bytes:
    """Returns a length-delimited field, such as a nested message."""
    return make_varint(number << 3 | DELIMITED) + make_varint(len(value)) + value


def make_varint(number: int) -> bytes:
    digits = bytearray()
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)
