"""An engine that also returns the vectors from which the network predicts the next token.

The decoders of all models compute them, none returns them. ONNX Runtime returns what the outputs of a graph name, and
two messages of protobuf that follow each other are one: a graph gets an output more by a few bytes behind its file. The
fields of ONNX that are read here have the numbers of `onnx.proto3`.
"""

from __future__ import annotations

import numpy as np

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.runtime.model_directory import report_damage
from nmt_cli.runtime.onnx_engine import BEST_TOKENS, OnnxEngine, OnnxState
from nmt_cli.runtime.protobuf import make_field, parse_message
from nmt_cli.search.step_model import Step

GRAPH = 7  # of a model
NODE, GRAPH_OUTPUT = 1, 12  # of a graph
INPUT, OUTPUT, OPERATION = 1, 2, 4  # of a node
VALUE_NAME = 1
PRODUCTS = (b"MatMul", b"MatMulIntegerToFloat", b"FusedMatMul", b"Gemm", b"DynamicQuantizeMatMul")
MIDDLE = 128  # the unsigned byte that stands for 0 (`training.export.quantise`)


class VectorEngine(OnnxEngine):
    """Implements `search.neighbours.VectorModel`: shares the encoder of another engine."""

    def __init__(self, engine: OnnxEngine) -> None:
        """Raises DamagedError if the vectors cannot be found."""
        vars(self).update(vars(engine))
        _, graph = self.graphs
        name = find_vectors(graph.content)
        if name is None:
            raise report_damage(graph.path, "has no product that predicts tokens")
        self.decoder = graph.open_session(make_output(name))
        self.step_names = [*engine.step_names, name.decode()]

    def step_with_vectors(
        self, tokens: IntArray, state: OnnxState, candidates: int, *, scored: bool = True
    ) -> tuple[Step[OnnxState], FloatArray]:
        """Returns a step, and the vectors (N, D), each of length 1."""
        values = self.run_decoder(tokens, state, candidates, scored=scored)
        vectors = values[self.step_names[-1]].reshape(len(tokens), -1)
        vectors = vectors.astype(np.float32) - (MIDDLE if vectors.dtype == np.uint8 else 0)
        return self.make_step(values, state), vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def open_vector_engine(engine: OnnxEngine) -> VectorEngine:
    """Returns the vector engine of an engine, which is opened once: its graph takes memory of its own."""
    with engine.lock:
        if not isinstance(engine.with_vectors, VectorEngine):
            engine.with_vectors = VectorEngine(engine)
        return engine.with_vectors


def find_vectors(model: bytes) -> bytes | None:
    """Returns the name of the value from which the best tokens are computed by a product; None if there is none."""
    graphs = map(parse_message, parse_message(model).get(GRAPH, ()))
    nodes = [parse_message(node) for graph in graphs for node in graph.get(NODE, ())]
    producers = {value: node for node in nodes for value in node.get(OUTPUT, ())}
    value: bytes | None = BEST_TOKENS.encode()
    while value in producers:
        node = producers.pop(value)
        value = next(iter(node.get(INPUT, ())), None)
        if node[OPERATION][0] in PRODUCTS:
            return value
    return None


def make_output(name: bytes) -> bytes:
    """Returns the bytes that give a model an output more if they follow it."""
    return make_field(GRAPH, make_field(GRAPH_OUTPUT, make_field(VALUE_NAME, name)))
