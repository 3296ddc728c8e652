"""Batches of ids for the training step, and the development set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.batching import bucketed_batches, pad
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.corpus.source import SourceArray
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.inference.protocol import IntArray
from nmt_cli.training.config import TrainConfig


@dataclass(frozen=True)
class Batch:
    """B pairs; ids are padded with 0."""

    source: SourceArray  # (B, S) ids that end with END, or (B, R, D) features
    previous: IntArray  # (B, T), starts with START
    target: IntArray  # (B, T), ends with END


def batch_of(split: EncodedSplit, rows: IntArray) -> Batch:
    return Batch(
        source=split.source.padded(rows),
        previous=pad(split.target, rows, start=Tokenizer.START),
        target=pad(split.target, rows, end=Tokenizer.END),
    )


class TrainingBatches:
    """The batches of every epoch; their order and content follow from seed and epoch alone."""

    def __init__(self, corpus: PreparedCorpus, config: TrainConfig) -> None:
        self.split = corpus.encoded("train")
        self.tokenizer = None if corpus.has_pictures else corpus.source_tokenizer
        self.config = config
        self.steps = -(-len(self.split.source) // config.batch)  # in one epoch

    def epoch(self, number: int) -> Iterator[Batch]:
        source, target = self.split.source.lengths, self.split.target.lengths
        seed = self.config.seed
        generator = np.random.default_rng([seed, number])
        for rows in bucketed_batches(source, target, batch_size=self.config.batch, seed=seed, epoch=number):
            batch = batch_of(self.split, rows)
            if self.tokenizer is None:  # nobody types a picture
                yield batch
                continue
            careless = generator.random(len(rows)) < self.config.careless
            yield replace(batch, source=with_careless(batch.source, careless, self.tokenizer))


def with_careless(source: IntArray, chosen: NDArray[np.bool_], tokenizer: Tokenizer) -> IntArray:
    """`source` (B, S) with the rows `chosen` (B,) as a person types who is in a hurry (`carelessly`)."""
    if not chosen.any():
        return source
    texts = [carelessly(tokenizer.decode(row)) for row in source[chosen]]
    typed = [[*ids, Tokenizer.END] for ids in tokenizer.encode_all(texts)]
    wider = np.zeros((len(source), max(source.shape[1], *map(len, typed))), dtype=source.dtype)
    wider[:, : source.shape[1]] = source
    for row, ids in zip(np.flatnonzero(chosen), typed, strict=True):
        wider[row] = 0
        wider[row, : len(ids)] = ids
    return wider


def carelessly(text: str) -> str:
    """In lower case and without the final mark, as people type into a translator; a mark alone stays."""
    return text.lower().rstrip(".!?。！？ ") or text
