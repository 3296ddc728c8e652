"""Runs an exported model with ONNX Runtime as a step model. Knows only the inputs and outputs of the graphs.

A sentence of 3 ids in a beam of 2: `encode` (1, 3) returns a state whose `memory` is (1, 4, D), padded to a block, and
whose `hidden` is (1, D). `step` with START returns 3 candidates; `select([0, 0])` of its state has two rows of that
sentence. For these, the next `step` takes `hidden` (2, D), and `memory` once if the decoder shares it, else twice.

Letters: B sentences of the batch, A of them with rows left, N rows, S source positions, D features, C candidates.

`encoder.onnx`: the source, ids (B, S) or features (B, S, D) -> the entries of the state. `decoder.onnx`: `tokens` (N,),
`candidates` (), `scored` (), the entries of the state -> `best_tokens` (N, C), `log_probabilities` (N, C), `attention`
(N, S), and `next.NAME` for every entry NAME that a step changes. Entries that no step changes belong to the sentence:
they are kept once per sentence, and repeated for its rows only when rows move to other sentences. If `scored` is false,
the log-probability of each row's best token is 0 and the others are lower; a small decoder, which always computes them,
has no such input. Apart from the first axis, only the axis of source positions has a free length.

Not a single bit of a sentence's result depends on the other sentences of its batch. One product would break
that: ONNX Runtime multiplies the attention (1, S) of a single row by the memory (S, D) in blocks of four positions, and
adds the last three of a width such as 7 in an order different from the first three of a block. The entries of the
sentences are therefore padded to whole blocks. `tests/unit/training/export/test_quantise.py` tests every network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import onnxruntime

from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.errors import NmtError
from nmt_cli.runtime.model_directory import FLOAT, check_file, name_graphs, name_weights, read_checked, report_damage
from nmt_cli.runtime.protobuf import make_field, parse_message
from nmt_cli.search.step_model import Step

# Opens and runs graphs with ONNX Runtime, and writes them optimised. Does not depend on their inputs and outputs.


INLINE_BYTES = 4096  # size of the largest constant that stays in the graph
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


@contextmanager
def explain_failure(graph: Path) -> Iterator[None]:
    """Raises DamagedError if ONNX Runtime cannot run the graph in the block, NmtError if memory runs out.

    A graph that loads can be run, unless it belongs to another model.
    """
    try:
        yield
    except Exception as error:  # ONNX Runtime has no base class for its errors
        if "alloc" in str(error):
            raise NmtError(
                "out of memory", hint="translate shorter lines, or use a machine with more memory"
            ) from error
        raise report_damage(graph, "cannot be run: it does not belong to this model") from error


def optimise(path: Path) -> None:
    """Replaces a graph by ONNX Runtime's optimised version, so that loading need not optimise again.

    The result is the same on every processor: only optimisations beyond the extended ones depend on it. Weights go to a
    file of their own, which is memory-mapped instead of read: that halves the loading time.
    """
    optimised = path.with_suffix(".optimised")
    level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    write_graph(path, optimised, level, weights=name_weights(path.name), inline_bytes=INLINE_BYTES)
    optimised.replace(path)


def write_graph(graph: Path, target: Path, level: Any, *, weights: str, inline_bytes: int) -> None:
    """Writes a graph anew, optimised up to `level`; constants of `inline_bytes` or more go to the file `weights`."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(target)
    entries = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{entries}_file_name", weights)
    options.add_session_config_entry(f"{entries}_min_size_in_bytes", str(inline_bytes))
    options.log_severity_level = 4  # what goes wrong is raised
    onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


class KeptGraph:
    """A graph and its weights as they were when they were read, whatever others write to their files afterwards.

    ONNX Runtime maps weights into memory, and a mapping follows its file: if that is overwritten, the model returns
    nonsense; if it is shortened, the process ends. So it maps a copy that has no name.
    """

    def __init__(self, path: Path, checksums: Mapping[str, str] | None = None, *, is_private: bool = False) -> None:
        """`checksums` are those that the files must have, by name; nobody else writes to private files.

        Raises DamagedError if the graph is missing or has changed.
        """
        self.path, self.checksums, self.is_private = path, checksums, is_private
        self.content = read_checked(path, self.find_checksum(path))
        self.copy: mmap | None = None  # of the weights, once they are there; it takes no memory before it is read

    def find_checksum(self, file: Path) -> str | None:
        return None if self.checksums is None else self.checksums.get(file.name, "")

    @property
    def weights(self) -> Path | None:
        """The file of the weights; None for a graph that has them inside."""
        path = self.path.with_name(name_weights(self.path.name))
        is_there = path.exists() if self.checksums is None else path.name in self.checksums
        return path if is_there else None

    def open_session(self, behind: bytes = b"") -> onnxruntime.InferenceSession:
        """Loads the graph, with the bytes `behind` appended to those of its file.

        Raises DamagedError if ONNX Runtime cannot load it, and if the weights are missing or have changed.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more cores run more batches: a step is too short to be split
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # done by `optimise`
        options.enable_mem_pattern = False  # it keeps a plan of memory for every shape, and few batches share a shape
        options.log_severity_level = 4  # what goes wrong is said once, and in other words
        try:
            with self.place_weights() as folder:
                options.add_session_config_entry(WEIGHTS_FOLDER, str(folder))
                return onnxruntime.InferenceSession(self.content + behind, options, providers=["CPUExecutionProvider"])
        except (OSError, NmtError):
            raise
        except Exception as error:  # ONNX Runtime has no base class for the errors of reading a file
            raise report_damage(self.path, "is not a graph that the installed ONNX Runtime can run") from error

    @contextmanager
    def place_weights(self) -> Iterator[Path]:
        """Yields a folder from which the weights can be mapped while the block runs; mapped weights stay mapped.

        If no copy can be written, it is their own folder, in which they may only be replaced as a whole.
        """
        weights = self.weights
        if weights is None or self.is_private:
            yield self.path.parent
            return
        with ExitStack() as folders:
            try:
                folder = Path(folders.enter_context(TemporaryDirectory(prefix="nmt-", ignore_cleanup_errors=True)))
                self.write_copy(weights, folder / weights.name)
            except OSError:
                check_file(weights, self.find_checksum(weights))
                folder = weights.parent
            yield folder

    def write_copy(self, weights: Path, target: Path) -> None:
        """Writes the weights as they are now or, once they have been read, as they were then."""
        if self.copy is not None:
            target.write_bytes(self.copy)
            return
        if not weights.is_file():
            raise report_damage(weights, "is missing")
        copyfile(weights, target)
        check_file(target, self.find_checksum(weights), name=weights)
        with target.open("rb") as file:
            self.copy = mmap(file.fileno(), 0, access=ACCESS_READ)


Arrays = dict[str, FloatArray]
TYPES = {"tensor(int32)": np.int32, "tensor(float)": np.float32}  # of the encoder's input
TOKENS, CANDIDATES, SCORED = "tokens", "candidates", "scored"  # inputs of the decoder beside the state
STEP_OUTPUTS = BEST_TOKENS, LOG_PROBABILITIES, ATTENTION = "best_tokens", "log_probabilities", "attention"
NEXT = "next."  # prefix of the outputs that replace entries of the state
SHARED = "rows_share_sentences"  # metadata of a decoder that reads the entries of A sentences for N = A * K rows
MEMORY = "memory"  # entry of the state (B, S, D): what attention attends to
BIAS = "bias"  # entry of the state (B, S): 0 at true positions
MASKED = -1e9  # the bias of a padded position
BLOCK = 4  # source positions that a product with one row adds at a time
SUMMARY = "summary"  # entry of the state (B, D) of a network without attention


class OnnxState(NamedTuple):
    """The entries of the state: those that each step changes, per row, and the constant ones, per sentence."""

    sentences: Arrays  # axis 0: A
    rows: Arrays  # axis 0: N
    sentence_of_row: IntArray  # (N,): the index of each row's sentence among the A
    shared: bool  # whether the decoder takes the entries of a sentence once for all its rows
    feeds: Arrays  # `sentences` as the decoder takes them
    positions: int | None  # S, without the padding to whole blocks; None if there is none

    @classmethod
    def from_entries(
        cls, sentences: Arrays, rows: Arrays, sentence_of_row: IntArray, *, shared: bool, positions: int | None = None
    ) -> OnnxState:
        feeds = make_sentence_feeds(sentences, sentence_of_row, shared=shared)
        return cls(sentences, rows, sentence_of_row, shared, feeds, positions)

    @property
    def has_single_rows(self) -> bool:
        """Whether every sentence has one row, as in greedy search."""
        return not self.sentence_of_row.size or len(self.sentence_of_row) == self.sentence_of_row[-1] + 1

    def select(self, rows: IntArray) -> OnnxState:
        """Returns the state of these rows, in this order, repeats included. May reuse this state's memory."""
        if np.array_equal(rows, np.arange(len(self.sentence_of_row))):  # no row has moved, as in most greedy steps
            return self
        # 1. Take the entries of the rows; with one row per sentence, in their own memory.
        row_entries = move_rows(self.rows, rows) if self.has_single_rows else select_rows(self.rows, rows)
        # 2. As long as every row keeps its sentence, the entries of the sentences stay as they are.
        sentence_ids = self.sentence_of_row[rows]
        if np.array_equal(sentence_ids, self.sentence_of_row):
            return self._replace(rows=row_entries)
        # 3. Drop the sentences that have no row left, and number the others again.
        is_first = np.diff(sentence_ids, prepend=-1) != 0  # the rows of a sentence are adjacent
        remaining, sentence_of_row = sentence_ids[is_first], np.cumsum(is_first) - 1
        sentences = move_rows(self.sentences, remaining)
        return OnnxState.from_entries(
            sentences, row_entries, sentence_of_row, shared=self.shared, positions=self.positions
        )


def make_sentence_feeds(sentences: Arrays, sentence_of_row: IntArray, *, shared: bool) -> Arrays:
    """Returns the entries of the sentences in the form that the decoder takes.

    They come once per sentence if all have the same number of rows and the decoder can share them, else once per row.
    """
    count = int(sentence_of_row[-1]) + 1 if sentence_of_row.size else 0
    rows_per_sentence = len(sentence_of_row) // count if shared and count else 1
    if np.array_equal(sentence_of_row, np.repeat(np.arange(count), rows_per_sentence)):
        return sentences
    return {name: array[sentence_of_row] for name, array in sentences.items()}


def pad_positions(entry: FloatArray, axis: int | None, count: int, *, value: float) -> FloatArray:
    """Pads an entry of the sentences by `count` source positions; `axis` is None for an entry without them."""
    if axis is None or not count:
        return entry
    shape = [length + count if number == axis else length for number, length in enumerate(entry.shape)]
    padded = np.full(shape, value, dtype=entry.dtype)  # `np.pad` takes ten times as long for a single sentence
    padded[tuple(map(slice, entry.shape))] = entry
    return padded


def find_position_axis(shape: list[int | str | None]) -> int | None:
    """Returns the axis of a decoder input with the source positions, whose length is free; None without one."""
    return next((axis for axis, length in enumerate(shape) if axis and not isinstance(length, int)), None)


def select_rows(arrays: Arrays, row_ids: IntArray) -> Arrays:
    return {name: array.take(row_ids, axis=0) for name, array in arrays.items()}


def move_rows(arrays: Arrays, row_ids: IntArray) -> Arrays:
    """Returns `array[row_ids]` of each array; reuses its memory if rows only move from the end into holes."""
    count = len(row_ids)
    holes = np.flatnonzero(row_ids != np.arange(count))
    fillers = row_ids[holes]
    if np.any(fillers < count):
        return select_rows(arrays, row_ids)
    for array in arrays.values():
        array[holes] = array[fillers]
    return {name: array[:count] for name, array in arrays.items()}


class OnnxEngine:
    """Implements `search.step_model.StepModel` for the graphs of one precision in a model directory."""

    def __init__(
        self,
        directory: Path,
        *,
        precision: str = FLOAT,
        checksums: Mapping[str, str] | None = None,
        is_private: bool = False,
    ) -> None:
        """`checksums` and `is_private` are as in `KeptGraph`; raises the same errors."""
        paths = [directory / name for name in name_graphs(precision)]
        self.graphs = [KeptGraph(path, checksums, is_private=is_private) for path in paths]
        self.encoder, self.decoder = (graph.open_session() for graph in self.graphs)
        self.check_interface()
        self.shared = self.decoder.get_modelmeta().custom_metadata_map.get(SHARED) == "1"
        (self.source,) = self.encoder.get_inputs()
        self.step_names = [output.name for output in self.decoder.get_outputs()]
        self.row_names = [name.removeprefix(NEXT) for name in self.step_names if name.startswith(NEXT)]
        self.axes = {node.name: find_position_axis(node.shape) for node in self.decoder.get_inputs()}
        names = list(self.axes)
        self.state_names = [name for name in names if name not in (TOKENS, CANDIDATES, SCORED)]
        self.has_scored_input = SCORED in names
        self.with_vectors: OnnxEngine | None = None  # the `VectorEngine` that shares the encoder, once there is one
        self.lock = Lock()  # held while that is opened

    def check_interface(self) -> None:
        """Raises DamagedError unless the graphs are an encoder and a decoder that belong together."""
        encoder, decoder = (graph.path for graph in self.graphs)
        inputs, outputs = (
            {node.name for node in nodes} for nodes in (self.decoder.get_inputs(), self.decoder.get_outputs())
        )
        if not inputs >= {TOKENS, CANDIDATES} or not outputs >= set(STEP_OUTPUTS):
            raise report_damage(decoder, "is not the graph of a decoder")
        entries = inputs - {TOKENS, CANDIDATES, SCORED}
        sources = self.encoder.get_inputs()
        if len(sources) != 1 or sources[0].type not in TYPES:
            raise report_damage(encoder, "is not the graph of an encoder")
        if not entries <= {node.name for node in self.encoder.get_outputs()}:
            raise report_damage(encoder, f"does not belong to {decoder.name}")

    def encode(self, source: SourceArray) -> OnnxState:
        with explain_failure(self.graphs[0].path):
            outputs = self.encoder.run(self.state_names, self.make_encoder_feed(source))
        state = dict(zip(self.state_names, outputs, strict=True))
        rows = {name: state.pop(name) for name in self.row_names}
        positions = source.shape[1]
        sentences = {
            name: pad_positions(entry, self.axes[name], -positions % BLOCK, value=MASKED if name == BIAS else 0.0)
            for name, entry in state.items()
        }
        return OnnxState.from_entries(sentences, rows, np.arange(len(source)), shared=self.shared, positions=positions)

    def feed(self, tokens: IntArray, lengths: IntArray, state: OnnxState) -> OnnxState | None:
        """Feeds the tokens of sentences with one row each, the longest first, so that finished ones drop out."""
        if any(self.axes[name] is not None for name in self.row_names):
            return None  # the entries of a row have a position per token
        order = np.argsort(-lengths, kind="stable")
        rows, sentences = select_rows(state.rows, order), select_rows(state.sentences, order)
        for position in range(int(lengths.max(initial=0))):
            count = np.count_nonzero(lengths > position)
            facts, hidden = ({name: array[:count] for name, array in part.items()} for part in (sentences, rows))
            numbers = np.arange(count)
            part = OnnxState.from_entries(facts, hidden, numbers, shared=state.shared, positions=state.positions)
            after = self.step(tokens[order[:count], position], part, 1, scored=False).state
            for name, array in after.rows.items():
                rows[name][:count] = array
        return state._replace(rows=select_rows(rows, np.argsort(order)))

    def make_encoder_feed(self, source: SourceArray) -> dict[str, SourceArray]:
        return {self.source.name: source.astype(TYPES[self.source.type])}

    def embed_sentences(self, source: SourceArray) -> FloatArray:
        """Returns a vector (B, D) per sentence: the mean of its encoder states over the true positions.

        A network without attention has only one state per sentence, which is returned instead.
        """
        has_memory = MEMORY in [output.name for output in self.encoder.get_outputs()]
        names = [MEMORY, BIAS] if has_memory else [SUMMARY]
        with explain_failure(self.graphs[0].path):
            vectors, *biases = self.encoder.run(names, self.make_encoder_feed(source))
        if not has_memory:
            return np.asarray(vectors, dtype=np.float32)
        true = (biases[0] == 0)[:, :, None]
        return np.asarray((vectors * true).sum(axis=1) / true.sum(axis=1), dtype=np.float32)

    def step(self, tokens: IntArray, state: OnnxState, candidates: int, *, scored: bool = True) -> Step[OnnxState]:
        feed = self.make_feed(tokens, state, candidates, scored=scored)
        with explain_failure(self.graphs[1].path):  # no function of its own: nothing is called as often as this
            outputs = self.decoder.run(self.step_names, feed)
        return self.make_step(outputs, state)

    def make_feed(self, tokens: IntArray, state: OnnxState, candidates: int, *, scored: bool) -> dict[str, Any]:
        """Returns the inputs of the decoder."""
        return {
            TOKENS: tokens.astype(np.int32),
            CANDIDATES: np.array(candidates, dtype=np.int32),
            **({SCORED: np.array(scored)} if self.has_scored_input else {}),
            **state.feeds,
            **state.rows,
        }

    def make_step(self, outputs: list[Any], state: OnnxState) -> Step[OnnxState]:
        """Returns the step from `state` that these outputs of the decoder describe."""
        values = dict(zip(self.step_names, outputs, strict=True))
        return Step(
            tokens=values[BEST_TOKENS],
            log_probabilities=values[LOG_PROBABILITIES],
            attention=values[ATTENTION][:, : state.positions],
            state=state._replace(rows={name: values[NEXT + name] for name in self.row_names}),
        )


# An engine that also returns the vectors from which the network predicts the next token.
#
# The decoders of all models compute them, none returns them. ONNX Runtime returns what the outputs of a graph name, and
# two messages of protobuf that follow each other are one: a graph gets an output more by a few bytes behind its file.
# The fields of ONNX that are read here have the numbers of `onnx.proto3`.


GRAPH = 7  # of a model
NODE, GRAPH_OUTPUT = 1, 12  # of a graph
INPUT, OUTPUT, OPERATION = 1, 2, 4  # of a node
VALUE_NAME = 1
PRODUCTS = (b"MatMul", b"MatMulIntegerToFloat", b"FusedMatMul", b"Gemm", b"DynamicQuantizeMatMul")
MIDDLE = 128  # the unsigned byte that stands for 0 (`training.export.quantise`)


class VectorEngine(OnnxEngine):
    """Implements `search.mixing.VectorModel`: shares the encoder of another engine."""

    def __init__(self, engine: OnnxEngine) -> None:
        """Raises DamagedError if the vectors cannot be found."""
        vars(self).update(vars(engine))
        _, graph = self.graphs
        name = find_vectors(graph.content)
        if name is None:
            raise report_damage(graph.path, "has no matrix product that predicts tokens")
        self.decoder = graph.open_session(make_output(name))
        self.step_names = [*engine.step_names, name.decode()]

    def step_with_vectors(
        self, tokens: IntArray, state: OnnxState, candidates: int, *, scored: bool = True
    ) -> tuple[Step[OnnxState], FloatArray]:
        """Returns a step, and the vectors (N, D), each of length 1."""
        feed = self.make_feed(tokens, state, candidates, scored=scored)
        with explain_failure(self.graphs[1].path):
            outputs = self.decoder.run(self.step_names, feed)
        vectors = outputs[-1].reshape(len(tokens), -1)
        vectors = vectors.astype(np.float32) - (MIDDLE if vectors.dtype == np.uint8 else 0)
        return self.make_step(outputs, state), vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def open_vector_engine(engine: OnnxEngine) -> VectorEngine:
    """Returns the vector engine of an engine; opens it only once, because its graph takes memory of its own."""
    with engine.lock:
        if not isinstance(engine.with_vectors, VectorEngine):
            engine.with_vectors = VectorEngine(engine)
        return engine.with_vectors


def find_vectors(model: bytes) -> bytes | None:
    """Returns the name of the value from which a product computes the best tokens; None if there is none."""
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
    """Returns the bytes that add an output to a model if they are appended to it."""
    return make_field(GRAPH, make_field(GRAPH_OUTPUT, make_field(VALUE_NAME, name)))
