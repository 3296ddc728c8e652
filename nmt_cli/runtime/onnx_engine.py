"""An exported model as a step model, run by ONNX Runtime. Knows the names in the graphs and nothing of their inside.

Letters: B sentences, N rows, S source positions, C candidates.

`encoder.onnx`: the source, ids (B, S) or features (B, S, D) -> the entries of the state. `decoder.onnx`: `tokens` (N,),
`candidates` (), `scored` (), the entries of the state -> `best_tokens` (N, C), `log_probabilities` (N, C), `attention`
(N, S), and `next.NAME` for every entry NAME that a step changes. Entries that no step changes belong to the sentence:
they are kept once a sentence and repeated for its rows only when the rows change hands. Where not `scored`, the best
token of each row has 0 for its log-probability, and the others less; a small decoder, which always scores, has no such
input.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime

from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.errors import DamagedError
from nmt_cli.runtime.model_directory import FLOAT, name_graphs, name_weights
from nmt_cli.search.step_model import Step

Arrays = dict[str, FloatArray]
TYPES = {"tensor(int32)": np.int32, "tensor(float)": np.float32}  # of the encoder's input
TOKENS, CANDIDATES, SCORED = "tokens", "candidates", "scored"  # inputs of the decoder beside the state
NEXT = "next."
SMALL = 4096  # bytes of a constant that stays in the graph
SHARED = "rows_share_sentences"  # metadata of a decoder that reads the entries of A sentences for N = A * K rows
MEMORY = "memory"  # the state's entry (B, S, D) that attention looks at
BIAS = "bias"  # the state's entry (B, S): 0 at true positions
SUMMARY = "summary"  # the state's entry (B, D) of a network without attention


class OnnxState(NamedTuple):
    """`rows` (axis 0: N) is what each step changes, `sentences` (axis 0: A, those that have rows) what none does."""

    sentences: Arrays
    rows: Arrays
    owner: IntArray  # (N,): the place of each row's sentence among the A
    shared: bool  # whether the decoder takes the entries of a sentence once for all its rows
    feeds: Arrays  # `sentences` as the decoder takes them

    @classmethod
    def from_encoder(cls, sentences: Arrays, rows: Arrays, owner: IntArray, *, shared: bool) -> OnnxState:
        return cls(sentences, rows, owner, shared, share_sentences(sentences, owner, shared=shared))

    @property
    def has_single_rows(self) -> bool:
        """Whether no sentence has several rows, as in greedy search."""
        return not self.owner.size or len(self.owner) == self.owner[-1] + 1

    def select(self, rows: IntArray) -> OnnxState:
        of_rows = self.owner[rows]
        changing = move_rows(self.rows, rows) if self.has_single_rows else take_rows(self.rows, rows)
        if np.array_equal(of_rows, self.owner):  # as long as rows stay with their sentences those stay as they are
            return self._replace(rows=changing)
        is_first = np.diff(of_rows, prepend=-1) != 0  # the rows of a sentence stand together
        kept, owner = of_rows[is_first], np.cumsum(is_first) - 1
        return OnnxState.from_encoder(move_rows(self.sentences, kept), changing, owner, shared=self.shared)


def share_sentences(sentences: Arrays, owner: IntArray, *, shared: bool) -> Arrays:
    """The entries of the sentences, each once where all have equally many rows and the decoder can share them.

    Else once for each row.
    """
    count = int(owner[-1]) + 1 if owner.size else 0
    rows_per_sentence = len(owner) // count if shared and count else 1
    if np.array_equal(owner, np.repeat(np.arange(count), rows_per_sentence)):
        return sentences
    return {name: array[owner] for name, array in sentences.items()}


def take_rows(arrays: Arrays, kept: IntArray) -> Arrays:
    return {name: array.take(kept, axis=0) for name, array in arrays.items()}


def move_rows(arrays: Arrays, kept: IntArray) -> Arrays:
    """`array[kept]` of each; where holes are filled from behind and all else stays in its place, in its own memory."""
    count = len(kept)
    holes = np.flatnonzero(kept != np.arange(count))
    fillers = kept[holes]
    if np.any(fillers < count):
        return take_rows(arrays, kept)
    for array in arrays.values():
        array[holes] = array[fillers]
    return {name: array[:count] for name, array in arrays.items()}


class OnnxEngine:
    """Implements `protocol.StepModel` for the graphs of one precision in a model directory."""

    def __init__(self, directory: Path, *, precision: str = FLOAT) -> None:
        self.encoder, self.decoder = (open_session(directory / name) for name in name_graphs(precision))
        self.shared = self.decoder.get_modelmeta().custom_metadata_map.get(SHARED) == "1"
        (self.source,) = self.encoder.get_inputs()
        self.step_names = [output.name for output in self.decoder.get_outputs()]
        self.changing = [name.removeprefix(NEXT) for name in self.step_names if name.startswith(NEXT)]
        names = [node.name for node in self.decoder.get_inputs()]
        self.state_names = [name for name in names if name not in (TOKENS, CANDIDATES, SCORED)]
        self.asks_if_scored = SCORED in names

    def encode(self, source: SourceArray) -> OnnxState:
        state = self.run_encoder(source, self.state_names)
        rows = {name: state.pop(name) for name in self.changing}
        return OnnxState.from_encoder(state, rows, np.arange(len(source)), shared=self.shared)

    def run_encoder(self, source: SourceArray, names: list[str]) -> Arrays:
        values = self.encoder.run(names, {self.source.name: source.astype(TYPES[self.source.type])})
        return dict(zip(names, values, strict=True))

    def embed_sentences(self, source: SourceArray) -> FloatArray:
        """(B, D): the mean of the encoder's states over the true positions of each sentence.

        Of a network without attention, whose encoder gives out no others, its last state.
        """
        if MEMORY not in [output.name for output in self.encoder.get_outputs()]:
            return np.asarray(self.run_encoder(source, [SUMMARY])[SUMMARY], dtype=np.float32)
        state = self.run_encoder(source, [MEMORY, BIAS])
        true = (state[BIAS] == 0)[:, :, None]
        return np.asarray((state[MEMORY] * true).sum(axis=1) / true.sum(axis=1), dtype=np.float32)

    def step(self, tokens: IntArray, state: OnnxState, candidates: int, *, scored: bool = True) -> Step[OnnxState]:
        feed = {
            TOKENS: tokens.astype(np.int32),
            CANDIDATES: np.array(candidates, dtype=np.int32),
            **({SCORED: np.array(scored)} if self.asks_if_scored else {}),
            **state.feeds,
            **state.rows,
        }
        values = dict(zip(self.step_names, self.decoder.run(self.step_names, feed), strict=True))
        return Step(
            tokens=values["best_tokens"],
            log_probabilities=values["log_probabilities"],
            attention=values["attention"],
            state=state._replace(rows={name: values[NEXT + name] for name in self.changing}),
        )


def optimise(path: Path) -> None:
    """Exchanges a graph for the one that ONNX Runtime makes of it, so that loading need not do it again.

    The same on every processor: what depends on one comes after the extended optimisations. Weights go to a file of
    their own, which is mapped into memory instead of read: half of the time that loading takes.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path.with_suffix(".optimised"))
    weights = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{weights}_file_name", name_weights(path.name))
    options.add_session_config_entry(f"{weights}_min_size_in_bytes", str(SMALL))
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    path.with_suffix(".optimised").replace(path)


def open_session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more cores serve more batches: steps are too short to be shared
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # `optimise` did it
    options.log_severity_level = 3
    try:
        with resolve_links(path) as resolved:
            return onnxruntime.InferenceSession(str(resolved), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has no base class of its own for a file that it cannot read
        raise DamagedError(f"{path} cannot be loaded: {str(error).splitlines()[0]}") from error


@contextmanager
def resolve_links(path: Path) -> Iterator[Path]:
    """A graph and its weights as files: ONNX Runtime takes no weights from behind a symbolic link."""
    files = path, path.with_name(name_weights(path.name))
    if not any(file.is_symlink() for file in files):
        yield path
        return
    with tempfile.TemporaryDirectory() as directory:
        for file in files:
            if file.exists():
                shutil.copyfile(file, Path(directory, file.name))
        yield Path(directory, path.name)
