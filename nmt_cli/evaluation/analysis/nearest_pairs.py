"""The training pairs whose sources are, to the encoder, most like a sentence. The index is made once and kept.

A sentence is the mean of its encoder states, less the mean of all sentences, of length 1; nearness is the cosine.
Letters: N training sentences, D numbers of a state.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.corpus.dataset import PreparedCorpus, SentencePair
from nmt_cli.errors import OptionError
from nmt_cli.files import atomic_path
from nmt_cli.runtime.model_directory import ENCODER
from nmt_cli.translation.translator import Translator

BATCH = 128  # sentences encoded at once
EncodingReporter = Callable[[int], None]


@dataclass(frozen=True)
class Neighbour:
    """A training pair and how near its source is: 1 is the same to the encoder, 0 has nothing in common."""

    pair: SentencePair
    similarity: float
    line: int  # of train.tsv, from 1


@dataclass(frozen=True)
class NearestIndex:
    vectors: FloatArray  # (N + 1, D); row 0 is the mean of all, the others are less it and of length 1

    def find_nearest(self, vectors: FloatArray, pairs: Sequence[SentencePair], number: int) -> list[list[Neighbour]]:
        """The `number` nearest of `pairs` for each row of `vectors` (B, D), nearest first."""
        centred = normalise_rows(vectors - self.vectors[0].astype(np.float32))
        similarities = centred @ self.vectors[1:].astype(np.float32).T
        neighbours = []
        for row in similarities:
            order = np.argsort(-row, kind="stable")[:number]
            neighbours.append([Neighbour(pairs[index], float(row[index]), index + 1) for index in order.tolist()])
        return neighbours


def normalise_rows(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


def encode_lines(translator: Translator, lines: Sequence[str], progress: EncodingReporter | None = None) -> FloatArray:
    """(N, D): a vector for each line, in order; `progress` is told how many are done."""
    encoder = translator.engine
    if not hasattr(encoder, "embed_sentences"):
        raise OptionError("this model's engine gives no encoder states")
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


def make_index_path(translator: Translator, corpus: PreparedCorpus, model: Path) -> Path:
    """Where the index of this encoder and these data is kept: its name changes with either."""
    encoder = translator.card.checksums[ENCODER]
    return model / f"nearest.{encoder[:8]}.{corpus.fingerprint[:8]}.npy"


def open_index(
    translator: Translator, corpus: PreparedCorpus, model: Path, progress: EncodingReporter | None = None
) -> NearestIndex:
    """The index, made and kept beside the model if it is not there yet; not kept where nothing may be written."""
    path = make_index_path(translator, corpus, model)
    if path.is_file():
        return NearestIndex(np.load(path, mmap_mode="r", allow_pickle=False))
    index = build_index([pair.source for pair in corpus.read_pairs("train")], translator, progress)
    if os.access(model, os.W_OK):
        with atomic_path(path, suffix=".npy") as temporary:
            np.save(temporary, index.vectors, allow_pickle=False)
    return index


def build_index(
    sources: Sequence[str], translator: Translator, progress: EncodingReporter | None = None
) -> NearestIndex:
    vectors = encode_lines(translator, sources, progress)
    mean = vectors.mean(axis=0, keepdims=True)
    return NearestIndex(np.concatenate([mean, normalise_rows(vectors - mean)]).astype(np.float16))
