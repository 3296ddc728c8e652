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
from nmt_cli.training.carrying import with_placeholders
from nmt_cli.training.config import TrainConfig


@dataclass(frozen=True)
class Batch:
    """B pairs; ids are padded with 0."""

    source: SourceArray  # (B, S) ids that end with END, or (B, R, D) features
    previous: IntArray  # (B, T), starts with START
    target: IntArray  # (B, T), ends with END

    @property
    def sides(self) -> tuple[IntArray, IntArray]:
        return self.source, self.target


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
        self.tokenizers = None if corpus.has_pictures else (corpus.source_tokenizer, corpus.target_tokenizer)
        self.config = config
        self.steps = -(-len(self.split.source) // config.batch)  # in one epoch

    def epoch(self, number: int) -> Iterator[Batch]:
        source, target = self.split.source.lengths, self.split.target.lengths
        seed = self.config.seed
        generator = np.random.default_rng([seed, number])
        for rows in bucketed_batches(source, target, batch_size=self.config.batch, seed=seed, epoch=number):
            batch = batch_of(self.split, rows)
            if self.tokenizers is None:  # nobody types a picture
                yield batch
                continue
            chosen = generator.random((2, len(rows))) < [[self.config.placeholders], [self.config.careless]]
            batch = with_carried(batch, chosen[0], self.tokenizers, generator)
            yield replace(batch, source=with_careless(batch.source, chosen[1], self.tokenizers[0]))


def with_carried(
    batch: Batch, chosen: NDArray[np.bool_], tokenizers: tuple[Tokenizer, Tokenizer], generator: np.random.Generator
) -> Batch:
    """`batch` with words of the rows `chosen` (B,) replaced by placeholders on both sides (`with_placeholders`)."""
    chosen = (
        chosen & ~(batch.source == Tokenizer.UNKNOWN).any(axis=1) & ~(batch.target == Tokenizer.UNKNOWN).any(axis=1)
    )
    if not chosen.any():
        return batch
    texts = (map(tokenizer.decode, side[chosen]) for tokenizer, side in zip(tokenizers, batch.sides, strict=True))
    pairs = [with_placeholders(source, target, generator) for source, target in zip(*texts, strict=True)]
    sides = [
        with_rows(side, chosen, [[*ids, Tokenizer.END] for ids in tokenizer.encode_all(own)])
        for side, tokenizer, own in zip(batch.sides, tokenizers, zip(*pairs, strict=True), strict=True)
    ]
    return Batch(sides[0], previous_of(sides[1]), sides[1])


def previous_of(target: IntArray) -> IntArray:
    """(B, T): what stands before each token of `target` (B, T), START before the first."""
    previous = np.roll(np.where(target == Tokenizer.END, 0, target), 1, axis=1)
    previous[:, 0] = Tokenizer.START
    return previous


def with_careless(source: IntArray, chosen: NDArray[np.bool_], tokenizer: Tokenizer) -> IntArray:
    """`source` (B, S) with the rows `chosen` (B,) as a person types who is in a hurry (`carelessly`)."""
    if not chosen.any():
        return source
    texts = [carelessly(tokenizer.decode(row)) for row in source[chosen]]
    return with_rows(source, chosen, [[*ids, Tokenizer.END] for ids in tokenizer.encode_all(texts)])


def with_rows(array: IntArray, chosen: NDArray[np.bool_], sequences: list[list[int]]) -> IntArray:
    """`array` (B, S) in which the rows `chosen` (B,) are these sequences, made wider where one is longer."""
    wider = np.zeros((len(array), max(array.shape[1], *map(len, sequences))), dtype=array.dtype)
    wider[:, : array.shape[1]] = array
    for row, ids in zip(np.flatnonzero(chosen), sequences, strict=True):
        wider[row] = 0
        wider[row, : len(ids)] = ids
    return wider


def carelessly(text: str) -> str:
    """In lower case and without the final mark, as people type into a translator; a mark alone stays."""
    return text.lower().rstrip(".!?。！？ ") or text
