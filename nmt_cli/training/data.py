"""Batches of ids for the training step, and the development set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nmt_cli.corpus.batching import bucketed_batches, pad
from nmt_cli.corpus.dataset import EncodedSplit
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.inference.protocol import IntArray


@dataclass(frozen=True)
class Batch:
    """Ids of B sentence pairs, padded with 0."""

    source: IntArray  # (B, S), ends with END
    previous: IntArray  # (B, T), starts with START
    target: IntArray  # (B, T), ends with END


def batch_of(split: EncodedSplit, rows: IntArray) -> Batch:
    return Batch(
        source=pad(split.source, rows, end=Tokenizer.END),
        previous=pad(split.target, rows, start=Tokenizer.START),
        target=pad(split.target, rows, end=Tokenizer.END),
    )


class TrainingBatches:
    """The batches of every epoch, in an order that follows from seed and epoch alone."""

    def __init__(self, split: EncodedSplit, *, batch_size: int, seed: int) -> None:
        self.split = split
        self.batch_size = batch_size
        self.seed = seed
        self.steps = -(-len(split.source) // batch_size)  # in one epoch

    def epoch(self, number: int) -> Iterator[Batch]:
        source, target = self.split.source.lengths, self.split.target.lengths
        for rows in bucketed_batches(source, target, batch_size=self.batch_size, seed=self.seed, epoch=number):
            yield batch_of(self.split, rows)
