"""An engine that also returns the vectors from which the network predicts the next token.

The decoders of all models compute them, none returns them. ONNX Runtime returns what the outputs of a graph name, and
two messages of protobuf that follow each other are one: a graph gets an output more by a few bytes behind its file. The
fields of ONNX that are read here have the numbers of `onnx.proto3`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.runtime.model_directory import report_damage
from nmt_cli.runtime.onnx_engine import BEST_TOKENS, OnnxEngine, OnnxState
from nmt_cli.runtime.sessions import open_session
from nmt_cli.search.step_model import Step

GRAPH = 7  # of a model
NODE, GRAPH_OUTPUT = 1, 12  # of a graph
INPUT, OUTPUT, OPERATION = 1, 2, 4  # of a node
VALUE_NAME = 1
PRODUCTS = (b"MatMul", b"MatMulIntegerToFloat", b"FusedMatMul", b"Gemm", b"DynamicQuantizeMatMul")
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # types of fields
MIDDLE = 128  # the unsigned byte that stands for 0 (`training.export.quantise`)


class VectorEngine(OnnxEngine):
    """Implements `search.neighbours.VectorModel`: shares the encoder of another engine."""

    def __init__(self, engine: OnnxEngine) -> None:
        """Raises DamagedError if the vectors cannot be found."""
        vars(self).update(vars(engine))
        path = self.paths[1]
        name = find_vectors(path.read_bytes())
        if name is None:
            raise report_damage(path, "has no product that predicts tokens")
        self.decoder = open_session(path, make_output(name))
        self.step_names = [*engine.step_names, name.decode()]

    def step_with_vectors(
        self, tokens: IntArray, state: OnnxState, candidates: int, *, scored: bool = True
    ) -> tuple[Step[OnnxState], FloatArray]:
        """Returns a step, and the vectors (N, D), each of length 1."""
        values = self.run_decoder(tokens, state, candidates, scored=scored)
        vectors = values[self.step_names[-1]].reshape(len(tokens), -1)
        vectors = vectors.astype(np.float32) - (MIDDLE if vectors.dtype == np.uint8 else 0)
        return self.make_step(values, state), vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def find_vectors(model: bytes) -> bytes | None:
    """Returns the name of the value from which the best tokens are computed by a product; None if there is none."""
    producers: dict[bytes, list[tuple[int, bytes]]] = {}
    for number, graph in read_fields(model):
        for part, node in read_fields(graph) if number == GRAPH else ():
            if part == NODE:
                fields = list(read_fields(node))
                producers |= {value: fields for field, value in fields if field == OUTPUT}
    value: bytes | None = BEST_TOKENS.encode()
    while value in producers:
        fields = producers.pop(value)
        value = next((name for field, name in fields if field == INPUT), None)
        if any(field == OPERATION and kind in PRODUCTS for field, kind in fields):
            return value
    return None


def make_output(name: bytes) -> bytes:
    """Returns the bytes that give a model an output more if they follow it."""
    return make_field(GRAPH, make_field(GRAPH_OUTPUT, make_field(VALUE_NAME, name)))


def make_field(number: int, value: bytes) -> bytes:
    return write_varint(number << 3 | BYTES) + write_varint(len(value)) + value


def write_varint(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def read_fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the fields of a message that hold bytes, with their numbers."""
    position = 0

    def read_varint() -> int:
        nonlocal position
        number = shift = 0
        while True:
            byte = message[position]
            position += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while position < len(message):
        tag = read_varint()
        kind = tag & 7
        if kind == VARINT:
            read_varint()
        elif kind == BYTES:
            length = read_varint()
            yield tag >> 3, message[position : position + length]
            position += length
        else:
            position += {FIXED64: 8, FIXED32: 4}[kind]
