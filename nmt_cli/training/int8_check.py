"""Quantises the exported graphs, and measures the cost of 8 bits on the development set.

1. Translate a part of the development set with the float graphs, and record the ranges of their values.
2. Write graphs in 8 bits with these ranges.
3. Translate the whole development set with both, and compare their BLEU.
"""

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
from nmt_cli.runtime.onnx_engine import OnnxEngine
from nmt_cli.runtime.sessions import optimise
from nmt_cli.text.tags import TagSet
from nmt_cli.training.export.embedding_tables import look_up_embeddings
from nmt_cli.training.export.graph import Graph
from nmt_cli.training.export.quantise import RANGES, RangeRecorder, add_range_output, quantise_model
from nmt_cli.training.validation import GREEDY, Validator
from nmt_cli.translation.by_tags import translate_tagged
from nmt_cli.translation.translator import Translator

TOLERATED_COST = 0.2  # BLEU that int8 may lose and still be the default
CALIBRATION_SENTENCES = 1000  # maximum number of sentences that the ranges are measured on


@dataclass(frozen=True)
class Int8Check:
    """Greedy BLEU (0-100) on the development set in each precision, and the default precision."""

    float_bleu: float
    int8_bleu: float
    signature: str
    int8_bytes: int  # of both graphs

    @property
    def cost(self) -> float:
        """The BLEU that int8 loses; negative if it gains."""
        return self.float_bleu - self.int8_bleu

    @property
    def default(self) -> str:
        """The precision that translates unless the user sets one."""
        return INT8 if self.cost <= TOLERATED_COST else FLOAT

    def to_mapping(self) -> dict[str, Any]:
        """Returns the check in the form of the card."""
        scores = {FLOAT: self.float_bleu, INT8: self.int8_bleu}
        return {"default": self.default, "decoding": "greedy", "bleu": scores, "signature": self.signature}


def quantise_and_check(corpus: PreparedCorpus, directory: Path, validator: Validator) -> Int8Check:
    """Writes graphs in 8 bits beside the float graphs in `directory`, and measures both.

    `validator` has the development set from the start of training, and knows whether the network has learned to copy
    placeholders.
    """
    sources, tags, carries = validator.sources, validator.tags, validator.translator.carries
    some = slice(CALIBRATION_SENTENCES)
    quantise(corpus, directory, sources[some], carries=carries, tags=tags[some])
    for name in (*name_graphs(FLOAT), *name_graphs(INT8)):
        optimise(directory / name)
    scores = {}
    for precision in (FLOAT, INT8):
        engine = OnnxEngine(directory, precision=precision)
        hypotheses = translate_dev(corpus, engine, sources, tags, carries=carries)
        scores[precision] = compute_bleu(hypotheses, validator.references, validator.scoring)
    files = [file for name in name_graphs(INT8) for file in directory.glob(f"{name}*")]
    size = sum(file.stat().st_size for file in files)
    return Int8Check(scores[FLOAT].value, scores[INT8].value, scores[FLOAT].signature, size)


def quantise(
    corpus: PreparedCorpus,
    directory: Path,
    sources: Sequence[str],
    *,
    carries: bool,
    look_up: bool = True,
    tags: Sequence[TagSet] = (),
) -> None:
    """Writes the graphs in 8 bits, measuring the ranges of their values by translating `sources`, behind their `tags`.

    Without `look_up`, products with embeddings are computed: less than half the size, and up to a tenth slower.
    """
    # 1. Have the float graphs return the ranges of their values.
    models = [load(directory / name) for name in name_graphs(FLOAT)]
    for model in models if look_up else ():
        look_up_embeddings(Graph(model.graph))
    with tempfile.TemporaryDirectory() as scratch:
        for name, model in zip(name_graphs(FLOAT), models, strict=True):
            save(add_range_output(model), Path(scratch) / name)
        engine = OnnxEngine(Path(scratch))
        engine.step_names.remove(RANGES)
        # 2. Translate, with a recorder of these ranges in place of each session.
        sessions = (engine.encoder, engine.decoder)
        recorders = [RangeRecorder(session, model) for session, model in zip(sessions, models, strict=True)]
        engine.encoder, engine.decoder = recorders
        translate_dev(corpus, engine, sources, tags, carries=carries)
    # 3. Quantise with them.
    for name, model, ranges in zip(name_graphs(INT8), models, recorders, strict=True):
        save(quantise_model(model, ranges.map_ranges()), directory / name)


def translate_dev(
    corpus: PreparedCorpus, engine: OnnxEngine, sources: Sequence[str], tags: Sequence[TagSet], *, carries: bool
) -> list[str]:
    """Returns the greedy translations of `sources`."""
    translator = Translator(engine, corpus.source, corpus.target_tokenizer, carries=carries, threads=count_cores())
    return [translation.text for translation in translate_tagged(translator, sources, tags, GREEDY)]
