"""An exported model as a step model, run by ONNX Runtime. Knows the names in the graphs and nothing of their inside.

Letters: B sentences, N rows, S source positions, C candidates.

`encoder.onnx`: the source, ids (B, S) or features (B, S, D) -> the entries of the state. `decoder.onnx`: `tokens` (N,),
`candidates` (), the entries of the state -> `best_tokens` (N, C), `log_probabilities` (N, C), `attention` (N, S), and
`next.NAME` for every entry NAME that a step changes. Entries that no step changes belong to the sentence: they are kept
once a sentence and repeated for its rows only when the rows change hands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import onnxruntime

from nmt_cli.corpus.source import SourceArray
from nmt_cli.errors import DamagedError
from nmt_cli.inference.bundle import DECODER, ENCODER
from nmt_cli.inference.protocol import FloatArray, IntArray, Step

Arrays = dict[str, FloatArray]
TYPES = {"tensor(int32)": np.int32, "tensor(float)": np.float32}  # of the encoder's input
NEXT = "next."
MEMORY = "memory"  # the state's entry (B, S, D) that attention looks at
BIAS = "bias"  # the state's entry (B, S): 0 at true positions
SUMMARY = "summary"  # the state's entry (B, D) of a network without attention


@dataclass(frozen=True)
class OnnxState:
    """`sentences` (axis 0: B) is what no step changes, `rows` (axis 0: N) what each does; row i is of `owner[i]`."""

    sentences: Arrays
    rows: Arrays
    owner: IntArray  # (N,)

    @cached_property
    def repeated(self) -> Arrays:
        """The entries of the sentences, one for each row (axis 0: N)."""
        return {name: array[self.owner] for name, array in self.sentences.items()}

    def select(self, rows: IntArray) -> OnnxState:
        owner = self.owner[rows]
        chosen = OnnxState(self.sentences, {name: array[rows] for name, array in self.rows.items()}, owner)
        if np.array_equal(owner, self.owner):
            chosen.__dict__["repeated"] = self.repeated  # as long as rows stay with their sentences nothing is copied
        return chosen


class OnnxEngine:
    """Implements `protocol.StepModel` for the two graphs of a model directory."""

    def __init__(self, directory: Path, *, threads: int | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or 0  # 0: all cores
        options.log_severity_level = 3
        self.encoder = session(directory / ENCODER, options)
        self.decoder = session(directory / DECODER, options)
        (self.source,) = self.encoder.get_inputs()
        self.state_names = [output.name for output in self.encoder.get_outputs()]
        self.step_names = [output.name for output in self.decoder.get_outputs()]
        self.changing = [name.removeprefix(NEXT) for name in self.step_names if name.startswith(NEXT)]

    def encode(self, source: SourceArray) -> OnnxState:
        values = self.encoder.run(self.state_names, {self.source.name: source.astype(TYPES[self.source.type])})
        state = dict(zip(self.state_names, values, strict=True))
        rows = {name: state.pop(name) for name in self.changing}
        return OnnxState(sentences=state, rows=rows, owner=np.arange(len(source)))

    def sentence_vectors(self, source: SourceArray) -> FloatArray:
        """(B, D): the mean of the encoder's states over the true positions of each sentence.

        Of a network without attention, whose encoder gives out no others, its last state.
        """
        state = self.encode(source).sentences
        if MEMORY not in state:
            return np.asarray(state[SUMMARY], dtype=np.float32)
        true = (state[BIAS] == 0)[:, :, None]
        return np.asarray((state[MEMORY] * true).sum(axis=1) / true.sum(axis=1), dtype=np.float32)

    def step(self, tokens: IntArray, state: OnnxState, candidates: int) -> Step[OnnxState]:
        feed = {
            "tokens": tokens.astype(np.int32),
            "candidates": np.array(candidates, dtype=np.int32),
            **state.repeated,
            **state.rows,
        }
        values = dict(zip(self.step_names, self.decoder.run(self.step_names, feed), strict=True))
        after = replace(state, rows={name: values[NEXT + name] for name in self.changing})
        after.__dict__["repeated"] = state.repeated
        return Step(
            tokens=values["best_tokens"],
            log_probabilities=values["log_probabilities"],
            attention=values["attention"],
            state=after,
        )


def session(path: Path, options: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has no base class of its own for a file that it cannot read
        raise DamagedError(f"{path} cannot be loaded: {str(error).splitlines()[0]}") from error
