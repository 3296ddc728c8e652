"""What a network sees of a corpus: the sizes of its vocabularies, batches of ids for the training step, the dev set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.batching import BatchSize, Pool, PoolShape, count_batches, order_by_length, pool_batches
from nmt_cli.arrays.padding import pad_ragged
from nmt_cli.arrays.special_ids import END, START, UNKNOWN
from nmt_cli.arrays.types import IntArray, SourceArray
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.corpus.manifest import PictureStatistics
from nmt_cli.model.config import Vocabularies
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.augmentation import previous_of, with_sampled_subwords, with_tokens_dropped
from nmt_cli.training.data.placeholders import with_placeholders
from nmt_cli.training.data.replay import EpochRows, Replayed
from nmt_cli.training.data.word_swaps import WordSwaps

AheadItem = TypeVar("AheadItem")
# What makes another pair of texts of a source and its target.
Rewrite = Callable[[str, str], tuple[str, str]]

# Tokens of a sentence from which on a batch has fewer sentences: 128 of 100 tokens each took 3.5 GB at a vocabulary
# of 8,000, and their gradient says as much as that of a third of them.
LONG = 32
# Where both lengths change, like ones are found among more: with drawn subwords 5 % of the cells are padding, 15 % with
# the usual shape; with swapped words 2 % and 8 %.
BOTH_VARY = PoolShape(batches_of_group=64, groups_of_pool=8)
PAIRS_FOR_SWAPS = 200_000  # from which is learned what stands for what: more take memory, and say little else
ROWS_AT_ONCE = 10_000  # of which the texts are made together


def vocabularies_of(corpus: PreparedCorpus) -> Vocabularies:
    """What the sizes of a network follow from."""
    target = corpus.target_tokenizer.vocabulary_size
    if isinstance(corpus.manifest.source, PictureStatistics):
        return Vocabularies(source=0, target=target, joint=False, features=corpus.manifest.source.depth)
    return Vocabularies(
        source=corpus.source_tokenizer.vocabulary_size, target=target, joint=corpus.has_joint_vocabulary
    )


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
        source=split.source.pad_rows(rows),
        previous=pad_ragged(split.target, rows, start=START),
        target=pad_ragged(split.target, rows, end=END),
    )


class TrainingBatches:
    """The batches of every epoch; their order and content follow from seed and epoch alone."""

    def __init__(self, corpus: PreparedCorpus, config: TrainConfig, replayed: Replayed | None = None) -> None:
        old, allowed = (None, None) if replayed is None else (replayed.corpus.load_encoded("train"), replayed.rows)
        self.epoch_rows = EpochRows(
            corpus.load_encoded("train"),
            old,
            share=config.replay_share,
            seed=config.seed,
            allowed=allowed,
            most=config.epoch_pairs,
        )
        self.split = self.epoch_rows.split
        self.source_tokenizer = None if corpus.has_pictures else corpus.source_tokenizer
        self.target_tokenizer = corpus.target_tokenizer
        self.size = batch_size(config)
        self.config = config
        self.swaps = self.learn_swaps(self.source_tokenizer) if config.swap_words and self.source_tokenizer else None
        # Batches in the first epoch; of a part of the pairs, or with a replay, another may have one more or less.
        self.steps = count_batches(*self.measure_rows(self.epoch_rows.select_rows(1)), size=self.size)
        self.updates = -(-self.steps // config.accumulate)  # of the weights in one epoch

    def learn_swaps(self, source_tokenizer: Tokenizer) -> WordSwaps:
        """From the texts of all pairs, or of many, evenly spread."""
        count = len(self.split.target)
        rows = np.linspace(0, count, min(count, PAIRS_FOR_SWAPS), endpoint=False).astype(np.int64)
        texts: tuple[list[str], list[str]] = [], []
        for start in range(0, len(rows), ROWS_AT_ONCE):
            batch = batch_of(self.split, rows[start : start + ROWS_AT_ONCE])
            for lines, tokenizer, side in zip(
                texts, (source_tokenizer, self.target_tokenizer), batch.sides, strict=True
            ):
                lines += tokenizer.decode_all(side.tolist())
        return WordSwaps(*texts)

    def updates_of(self, number: int, *, skip: int = 0) -> Iterator[list[Batch]]:
        """The batches of an epoch by the updates that they make, but for the first `skip` updates."""
        batches = self.make_epoch(number, skip=skip * self.config.accumulate)
        while group := list(islice(batches, self.config.accumulate)):
            yield group

    def make_epoch(self, number: int, *, skip: int = 0) -> Iterator[Batch]:
        """The batches of an epoch, from 1, but for the first `skip`; the others are what they would be with those."""
        for pool in make_ahead(self.make_pools(number, skip)):
            yield from pool

    def make_pools(self, number: int, skip: int) -> Iterator[list[Batch]]:
        """The same, pool by pool."""
        rows, seed = self.epoch_rows.select_rows(number), self.config.seed
        pools = pool_batches(*self.measure_rows(rows), size=self.size, shape=self.shape, seed=seed, epoch=number)
        for index, pool in enumerate(pools):
            batches = sum(map(len, pool))
            if skip < batches:
                generator = np.random.default_rng([seed, number, index])
                yield self.vary_pool([[rows[batch] for batch in group] for group in pool], generator)[skip:]
            skip = max(0, skip - batches)

    def vary_pool(self, pool: Pool, generator: np.random.Generator) -> list[Batch]:
        """The batches of a pool in random order. What varies changes lengths: each group is cut into batches anew."""
        batches: list[Batch] = []
        for group in pool:
            varied = self.vary_batch(batch_of(self.split, np.concatenate(group)), generator)
            batches += cut_batch(varied, list(map(len, group)), generator)
        return [batches[number] for number in generator.permutation(len(batches))]

    @property
    def shape(self) -> PoolShape:
        if self.source_tokenizer is None:
            return PoolShape(1, 1)  # pictures are large, and stay so
        return BOTH_VARY if self.config.sample_target or self.swaps is not None else PoolShape()

    def measure_rows(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Returns the lengths of these rows on both sides, by which they are batched; pictures are all alike."""
        target = self.split.target.lengths[rows]
        return target if self.source_tokenizer is None else self.split.source.lengths[rows], target

    def vary_batch(self, batch: Batch, generator: np.random.Generator) -> Batch:
        """The batch as it is learned this time. What is dropped is dropped last, or it could not be spelled."""
        config = self.config
        if self.source_tokenizer is not None:  # nobody types a picture, and it has no words
            batch = self.vary_text(batch, self.source_tokenizer, generator)
        source, previous, target = batch.source, batch.previous, batch.target
        if config.subword_sampling is not None and config.sample_target:
            target = with_sampled_subwords(target, self.target_tokenizer, config.subword_sampling, generator)
            previous = previous_of(target)
        if config.word_dropout:
            source = with_tokens_dropped(source, config.word_dropout, generator) if source.ndim == 2 else source
            previous = with_tokens_dropped(previous, config.word_dropout, generator)
        return Batch(source, previous, target)

    def vary_text(self, batch: Batch, tokenizer: Tokenizer, generator: np.random.Generator) -> Batch:
        """With other words and other spellings of the source."""
        config = self.config
        carried, careless = generator.random((2, len(batch.source))) < [[config.placeholders], [config.careless]]
        tokenizers = tokenizer, self.target_tokenizer
        if self.swaps is not None:
            swapped = generator.random(len(batch.source)) < config.swap_words
            batch = rewrite_batch(batch, swapped, tokenizers, partial(self.swaps.swap_words, generator=generator))
        batch = rewrite_batch(batch, carried, tokenizers, partial(with_placeholders, generator=generator))
        source = with_careless(batch.source, careless, tokenizer)
        if config.subword_sampling is not None:
            source = with_sampled_subwords(source, tokenizer, config.subword_sampling, generator)
        return Batch(source, batch.previous, batch.target)


def make_ahead(items: Iterator[AheadItem]) -> Iterator[AheadItem]:
    """The items, each made in another thread, all but the first while the one before it is in use."""
    maker = ThreadPoolExecutor(1, thread_name_prefix="batches")
    try:
        coming = maker.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = maker.submit(next, items, None)
            yield item
    finally:  # whoever does not want the rest need not wait for the one that is being made
        maker.shutdown(wait=False, cancel_futures=True)


def cut_batch(batch: Batch, rows: Sequence[int], generator: np.random.Generator) -> list[Batch]:
    """A batch as several of so many `rows`, shortest first, each no wider than it must be."""
    if len(rows) == 1:
        return [batch]
    lengths = (batch.source != 0).sum(axis=1), (batch.target != 0).sum(axis=1)  # each (B,)
    order = order_by_length(*lengths, generator)
    parts = np.split(order, np.cumsum(rows)[:-1])
    return [narrow_batch(batch, part, *(int(side[part].max()) for side in lengths)) for part in parts]


def narrow_batch(batch: Batch, rows: IntArray, source: int, target: int) -> Batch:
    """Some rows of a batch, as wide as given."""
    return Batch(batch.source[rows, :source], batch.previous[rows, :target], batch.target[rows, :target])


def batch_size(config: TrainConfig) -> BatchSize:
    """What bounds a batch: its tokens if so asked, or else sentences, and in long ones tokens too, for the memory."""
    if config.batch_tokens is not None:
        return BatchSize(cells=config.batch_tokens)
    return BatchSize(rows=config.batch, cells=config.batch * LONG)


def rewrite_batch(
    batch: Batch, chosen: NDArray[np.bool_], tokenizers: tuple[Tokenizer, Tokenizer], rewrite: Rewrite
) -> Batch:
    """`batch` with the texts of the rows `chosen` (B,) as `rewrite` has them; what cannot be spelled stays."""
    chosen = chosen & ~(batch.source == UNKNOWN).any(axis=1) & ~(batch.target == UNKNOWN).any(axis=1)
    if not chosen.any():
        return batch
    texts = (
        tokenizer.decode_all(side[chosen].tolist()) for tokenizer, side in zip(tokenizers, batch.sides, strict=True)
    )
    pairs = [rewrite(source, target) for source, target in zip(*texts, strict=True)]
    sides = [
        with_rows(side, chosen, [[*ids, END] for ids in tokenizer.encode_all(rewritten)])
        for side, tokenizer, rewritten in zip(batch.sides, tokenizers, zip(*pairs, strict=True), strict=True)
    ]
    return Batch(sides[0], previous_of(sides[1]), sides[1])


def with_careless(source: IntArray, chosen: NDArray[np.bool_], tokenizer: Tokenizer) -> IntArray:
    """`source` (B, S) with the rows `chosen` (B,) as a person types who is in a hurry (`carelessly`)."""
    if not chosen.any():
        return source
    texts = map(write_carelessly, tokenizer.decode_all(source[chosen].tolist()))
    return with_rows(source, chosen, [[*ids, END] for ids in tokenizer.encode_all(texts)])


def with_rows(array: IntArray, chosen: NDArray[np.bool_], sequences: list[list[int]]) -> IntArray:
    """`array` (B, S) in which the rows `chosen` (B,) are these sequences, made wider where one is longer."""
    wider = np.zeros((len(array), max(array.shape[1], *map(len, sequences))), dtype=array.dtype)
    wider[:, : array.shape[1]] = array
    for row, ids in zip(np.flatnonzero(chosen), sequences, strict=True):
        wider[row] = 0
        wider[row, : len(ids)] = ids
    return wider


def write_carelessly(text: str) -> str:
    """In lower case and without the final mark, as people type into a translator; a mark alone stays."""
    return text.lower().rstrip(".!?。！？ ") or text
