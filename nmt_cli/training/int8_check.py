"""int8 proved on the development set: measured ranges, graphs in 8 bits, and the translations of both precisions."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onnx import load, save

from nmt_cli.cores import count_cores
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.metrics.bleu import compute_bleu
from nmt_cli.runtime.model_directory import FLOAT, INT8, name_graphs
from nmt_cli.runtime.onnx_engine import OnnxEngine, optimise
from nmt_cli.training.export.embedding_tables import look_up_embeddings
from nmt_cli.training.export.graph import Graph
from nmt_cli.training.export.quantise import RANGES, Ranges, quantise_model, with_ranges
from nmt_cli.training.validation import GREEDY, Validator
from nmt_cli.translation.translator import Translator

TOLERATED = 0.2  # BLEU that int8 may cost to be the default
MEASURED = 1000  # sentences at most from which ranges are learnt


@dataclass(frozen=True)
class Int8Check:
    """Greedy BLEU (0-100) of the development set with the weights of each precision, and which is the default."""

    float_bleu: float
    int8_bleu: float
    signature: str
    int8_bytes: int  # of both graphs

    @property
    def cost(self) -> float:
        """BLEU lost by int8."""
        return self.float_bleu - self.int8_bleu

    @property
    def default(self) -> str:
        return INT8 if self.cost <= TOLERATED else FLOAT

    def to_mapping(self) -> dict[str, Any]:
        """As it stands in the card."""
        scores = {FLOAT: self.float_bleu, INT8: self.int8_bleu}
        return {"default": self.default, "decoding": "greedy", "bleu": scores, "signature": self.signature}


def quantise_and_check(corpus: PreparedCorpus, directory: Path, validate: Validator) -> Int8Check:
    """Writes the graphs in 8 bits beside the exported ones in `directory`, and measures both.

    `validate` has the development set as it was when training began, and knows whether the network has learnt to carry
    placeholders over.
    """
    sources, carries = validate.sources, validate.translator.carries
    quantise(corpus, directory, sources[:MEASURED], carries=carries)
    for name in (*name_graphs(FLOAT), *name_graphs(INT8)):
        optimise(directory / name)
    scores = {}
    for precision in (FLOAT, INT8):
        engine = OnnxEngine(directory, precision=precision)
        hypotheses = translate_dev(corpus, engine, sources, carries=carries)
        scores[precision] = compute_bleu(hypotheses, validate.references, validate.scoring)
    files = [file for name in name_graphs(INT8) for file in directory.glob(f"{name}*")]
    size = sum(file.stat().st_size for file in files)
    return Int8Check(scores[FLOAT].value, scores[INT8].value, scores[FLOAT].signature, size)


def quantise(corpus: PreparedCorpus, directory: Path, sources: Sequence[str], *, carries: bool) -> None:
    """Writes the graphs in 8 bits; translating `sources` shows the ranges of their values."""
    models = [load(directory / name) for name in name_graphs(FLOAT)]
    for model in models:
        look_up_embeddings(Graph(model.graph))
    with tempfile.TemporaryDirectory() as scratch:
        for name, model in zip(name_graphs(FLOAT), models, strict=True):
            save(with_ranges(model), Path(scratch) / name)
        engine = OnnxEngine(Path(scratch))
        engine.step_names.remove(RANGES)
        seen = [Ranges(session, model) for session, model in zip((engine.encoder, engine.decoder), models, strict=True)]
        engine.encoder, engine.decoder = seen
        translate_dev(corpus, engine, sources, carries=carries)
    for name, model, ranges in zip(name_graphs(INT8), models, seen, strict=True):
        save(quantise_model(model, ranges.map_ranges()), directory / name)


def translate_dev(corpus: PreparedCorpus, engine: OnnxEngine, sources: Sequence[str], *, carries: bool) -> list[str]:
    translator = Translator(engine, corpus.source, corpus.target_tokenizer, carries=carries, threads=count_cores())
    return [translation.text for translation in translator.translate(sources, GREEDY)]
