"""Reads and writes messages of Protocol Buffers: only what SentencePiece and ONNX models need."""

from __future__ import annotations

from typing import Any

BYTES = 2  # the type of a field that has a length

Fields = dict[int, list[Any]]  # the values of each field of a message of Protocol Buffers


def parse_message(data: bytes) -> Fields:
    """Returns the fields of a message: numbers, 4 or 8 bytes, or the bytes of a field with a length."""
    fields: Fields = {}
    position = 0

    def read_number() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(data):
        number, wire = divmod(read_number(), 8)
        if wire == 0:
            value: Any = read_number()
        else:
            size = {1: 8, 5: 4}.get(wire) or read_number()
            value = data[position : position + size]
            position += size
        fields.setdefault(number, []).append(value)
    return fields


def make_field(number: int, value: bytes) -> bytes:
    """Returns a field of a message that holds bytes."""
    return write_number(number << 3 | BYTES) + write_number(len(value)) + value


def write_number(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])
