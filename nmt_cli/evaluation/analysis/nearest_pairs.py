"""Finds the training pairs whose sources are, to the encoder, nearest to a sentence.

1. `encode_lines` represents a sentence by the mean of its encoder states.
2. `build_index` does so for all training sentences, subtracts their mean and scales each vector to length 1.
3. `open_index` keeps the index in a cache, never in the model's directory; it is built once.
4. `NearestIndex.find_nearest` ranks the training sentences by cosine similarity.

Letters: N training sentences, B sentences, D dimensions of a state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import SentencePair
from nmt_cli.errors import OptionError
from nmt_cli.files import stage_file
from nmt_cli.runtime.model_directory import ENCODER
from nmt_cli.translation.translator import LineTranslator

BATCH = 128  # sentences per batch
EncodingReporter = Callable[[int], None]


@dataclass(frozen=True)
class Neighbour:
    """A training pair near to a sentence."""

    pair: SentencePair
    similarity: float  # cosine: 1 if the sources are the same to the encoder, 0 if they have nothing in common
    line: int  # of train.tsv, from 1


@dataclass(frozen=True)
class NearestIndex:
    """The vectors of all training sentences."""

    vectors: FloatArray  # (N + 1, D): row 0 is the mean; the others are the sentences minus the mean, of length 1

    def find_nearest(self, vectors: FloatArray, pairs: Sequence[SentencePair], number: int) -> list[list[Neighbour]]:
        """Returns the `number` nearest of `pairs` for each row of `vectors` (B, D), nearest first."""
        centred = normalise_rows(vectors - self.vectors[0].astype(np.float32))
        similarities = centred @ self.vectors[1:].astype(np.float32).T
        neighbours = []
        for row in similarities:
            order = np.argsort(-row, kind="stable")[:number]
            neighbours.append([Neighbour(pairs[index], float(row[index]), index + 1) for index in order.tolist()])
        return neighbours


def normalise_rows(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


def encode_lines(
    translator: LineTranslator, lines: Sequence[str], progress: EncodingReporter | None = None
) -> FloatArray:
    """Returns the vectors (N, D) of the lines, in order; `progress` receives the number of lines done.

    Raises OptionError if the engine does not return encoder states.
    """
    encoder = translator.engine
    if not hasattr(encoder, "embed_sentences"):
        raise OptionError("the engine of this model does not return encoder states")
    rows = translator.source.make_rows(lines)
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    batches: list[FloatArray] = []
    for first in range(0, len(order), BATCH):
        batch = translator.source.make_batch([rows[row] for row in order[first : first + BATCH]])
        batches.append(encoder.embed_sentences(batch))
        if progress is not None:
            progress(min(len(order), first + BATCH))
    vectors = np.concatenate(batches)
    result = np.empty_like(vectors)
    result[order] = vectors
    return result


def make_index_path(translator: LineTranslator, corpus: PreparedCorpus, cache: Path) -> Path:
    """Returns the path of the index, whose name changes with the encoder and with the training data."""
    encoder = translator.card.checksums[ENCODER]
    return cache / f"{encoder[:16]}.{corpus.fingerprint[:16]}.npy"


def open_index(
    translator: LineTranslator, corpus: PreparedCorpus, cache: Path, progress: EncodingReporter | None = None
) -> NearestIndex:
    """Opens the index in the directory `cache`, or builds it and saves it there if possible."""
    path = make_index_path(translator, corpus, cache)
    index = load_index(path)
    if index is None:
        index = build_index([pair.source for pair in corpus.read_pairs("train")], translator, progress)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with stage_file(path, suffix=".npy") as temporary:
                np.save(temporary, index.vectors, allow_pickle=False)
    return index


def load_index(path: Path) -> NearestIndex | None:
    """Loads the index in this file; None if it is missing or damaged."""
    try:
        return NearestIndex(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError):
        return None


def build_index(
    sources: Sequence[str], translator: LineTranslator, progress: EncodingReporter | None = None
) -> NearestIndex:
    vectors = encode_lines(translator, sources, progress)
    mean = vectors.mean(axis=0, keepdims=True)
    return NearestIndex(np.concatenate([mean, normalise_rows(vectors - mean)]).astype(np.float16))
