"""What the nearest corrections bring while a model translates, without training (kNN-MT: Khandelwal et al. 2021).

    python benchmarks/nearest.py eng-deu.ui.tsv --model MODEL --data PREPARED

Each target token of a correction is stored under the vector from which the network predicts it; a step mixes what was
stored under the nearest vectors into the network's distribution, the more the nearer they are. Segments and corrections
are drawn as in `post_editing.py`. MODEL is a recurrent one, with graphs in 8 bits.

Letters: N rows, V pieces, D width of a vector, M stored tokens.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import onnxruntime
from bench import make_parser, read_pairs
from post_editing import draw_segments

from nmt_cli.arrays.special_ids import END, START
from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.runtime.model_directory import INT8
from nmt_cli.runtime.onnx_engine import OnnxEngine, OnnxState
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.step_model import Step
from nmt_cli.translation.config import ModelRequest, RepairConfig
from nmt_cli.translation.translator import Translator

NEIGHBOURS = 8
TEMPERATURE = 0.03  # of the squared distances of neighbours
REACH = 0.25  # squared distance at which the share of the neighbours is 1 / e


class NearestEngine(OnnxEngine):
    """An engine that mixes stored tokens into the network's distribution."""

    def __init__(self, directory: Path, *, precision: str = INT8) -> None:
        import onnx

        super().__init__(directory, precision=precision)
        graph = onnx.load(self.paths[1], load_external_data=False)
        product = [node for node in graph.graph.node if node.op_type == "MatMulIntegerToFloat"][-1]
        constants = {one.name: one for one in graph.graph.initializer}
        self.vector, self.logits = product.input[0], product.output[0]
        scale, zero = (onnx.numpy_helper.to_array(constants[product.input[index]]) for index in (2, 4))
        self.scale, self.zero = float(scale), float(zero)
        graph.graph.output.extend(map(onnx.helper.make_empty_tensor_value_info, (self.vector, self.logits)))
        with TemporaryDirectory(dir=directory) as scratch:  # beside the weights, which the graph names
            path = Path(scratch) / self.paths[1].name
            onnx.save(graph, path)
            for weights in directory.glob(f"{path.name}.data"):
                path.with_name(weights.name).hardlink_to(weights)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            self.decoder = onnxruntime.InferenceSession(str(path), options)
        self.keys, self.tokens = np.zeros((0, 0), np.float32), np.zeros(0, np.int64)  # (M, D), (M,)

    def run(self, tokens: IntArray, state: OnnxState) -> tuple[dict[str, Any], FloatArray]:
        """Runs a step; returns the outputs of the decoder by name, and the vectors (N, D)."""
        feed = {"tokens": tokens.astype(np.int32), "candidates": np.array(1, np.int32), "scored": np.array(True)}
        names = [*self.step_names, self.logits, self.vector]
        values = dict(zip(names, self.decoder.run(names, {**feed, **state.feeds, **state.rows}), strict=True))
        values["state"] = state._replace(rows={name: values[f"next.{name}"] for name in self.row_names})
        vectors = values[self.vector].reshape(len(tokens), -1).astype(np.float32)
        return values, (vectors - self.zero) * self.scale

    def store(self, sources: Sequence[SourceArray], targets: Sequence[Sequence[int]]) -> None:
        """Stores the tokens of targets under the vectors that predict them."""
        keys = []
        for source, target in zip(sources, targets, strict=True):
            state = self.encode(source)
            for previous in [START, *target[:-1]]:
                values, vectors = self.run(np.array([previous]), state)
                keys.append(vectors[0])
                state = values["state"]
        self.keys, self.tokens = np.array(keys), np.concatenate([np.array(target) for target in targets])

    def step(self, tokens: IntArray, state: OnnxState, candidates: int, *, scored: bool = True) -> Step[OnnxState]:
        values, vectors = self.run(tokens, state)
        logits = values[self.logits].reshape(len(tokens), -1)
        mixed = np.exp(logits - logits.max(axis=1, keepdims=True))  # (N, V)
        mixed /= mixed.sum(axis=1, keepdims=True)
        if len(self.keys):
            self.mix(mixed, vectors)
        best = np.argsort(-mixed, axis=1, kind="stable")[:, :candidates]
        scores = np.log(np.take_along_axis(mixed, best, axis=1) + 1e-30)
        attention = values["attention"][:, : state.positions]
        return Step(best.astype(np.int32), scores.astype(np.float32), attention, values["state"])

    def mix(self, distribution: FloatArray, vectors: FloatArray) -> None:
        """Mixes the tokens of the nearest vectors into the distribution (N, V) of each row, in place."""
        squares = (vectors**2).sum(axis=1, keepdims=True) + (self.keys**2).sum(axis=1)
        distances = np.maximum(squares - 2 * vectors @ self.keys.T, 0)  # (N, M)
        near = np.argpartition(distances, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        distances = np.take_along_axis(distances, near, axis=1)
        least = distances.min(axis=1, keepdims=True)
        weights, share = np.exp((least - distances) / TEMPERATURE), np.exp(-least / REACH)
        distribution *= 1 - share
        rows = np.arange(len(near))[:, None]
        np.add.at(distribution, (rows, self.tokens[near]), share * weights / weights.sum(axis=1, keepdims=True))


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "seed")
    parser.add_argument("pairs", type=Path, metavar="PAIRS")
    parser.add_argument("--sentences", type=int, default=1_000, help="of the test split")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--counts", type=int, nargs="+", default=[0, 100, 200, 300, 400, 500, 600])
    options = parser.parse_args()
    with mock.patch("nmt_cli.runtime.onnx_engine.OnnxEngine", NearestEngine):
        translator = Translator.load(ModelRequest(options.model, precision=INT8))
    corrected, rest = draw_segments(read_pairs(options.pairs), 1_600, max(options.counts), options.seed)
    sets = {"rest": rest, "old": read_pairs(options.data / "test.tsv")[: options.sentences]}
    for count in options.counts:
        learned = corrected[:count]
        if learned:
            rows = translator.source.make_rows([source for source, _ in learned])
            sources = [translator.source.make_batch([row]) for row in rows]
            translator.engine.store(sources, [[*translator.target.encode(target), END] for _, target in learned])
        for part, pairs in sets.items():
            started = time.process_time()
            sources, references = zip(*pairs, strict=True)
            search = SearchConfig(beam_size=options.beam)
            hypotheses = [one.text for one in translator.translate(sources, search, repair=RepairConfig())]
            seconds = time.process_time() - started
            scores = [METRICS[name](hypotheses, [[one] for one in references]) for name in ("bleu", "chrf")]
            print(count, part, *(f"{score.name} {score.value:.2f}" for score in scores), f"{seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
