"""Turns a corpus into a network's input: the sizes of its vocabularies, and batches of ids for the train step.

Letters: B pairs of a batch or group, S source positions, T target positions, R regions of a picture, D features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np

from nmt_cli.arrays.rows import BatchSize, Pool, PoolShape, count_batches, order_by_length, pad_ragged, pool_batches
from nmt_cli.arrays.types import END, PAD, START, UNKNOWN, IntArray, SourceArray
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.corpus.pairs import number_languages
from nmt_cli.model.config import Vocabularies
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.augmentation import Augmentation, learn_word_swaps, make_rewrites
from nmt_cli.training.data.replay import EpochRows, Replayed

# Word dropout: hides tokens from the network. Works on ids, since an unknown token or a tag has no text.


UNDROPPED = (PAD, START, END)


def drop_tokens(
    ids: IntArray, share: float, generator: np.random.Generator, control_ids: Sequence[int] = ()
) -> IntArray:
    """Returns `ids` (B, S) with this share of the tokens replaced by the unknown token.

    Padding, start, end and control pieces are kept. Sources: Bowman et al. (2016), "Generating Sentences from a
    Continuous Space", section 3.1, for the decoder's input; Sennrich and Zhang (2019), "Revisiting Low-Resource Neural
    Machine Translation", for both sides (0.1). They set the embedding to zero; the embedding of the unknown token is
    learned, and serves rare characters later.
    """
    is_dropped = (generator.random(ids.shape) < share) & ~np.isin(ids, (*UNDROPPED, *control_ids))
    return np.where(is_dropped, np.asarray(UNKNOWN, ids.dtype), ids)


def drop_tags(ids: IntArray, share: float, generator: np.random.Generator, tag_ids: Sequence[int]) -> IntArray:
    """Returns `ids` (B, S) without this share of the tags; what follows moves up, and padding fills the end."""
    is_dropped = (generator.random(ids.shape) < share) & np.isin(ids, tag_ids)
    order = np.argsort(is_dropped, axis=1, kind="stable")
    return np.take_along_axis(np.where(is_dropped, np.asarray(PAD, ids.dtype), ids), order, axis=1)


AheadItem = TypeVar("AheadItem")

# Batches of longer sentences have fewer of them: 128 sentences of 100 tokens took 3.5 GB with a vocabulary of 8,000,
# and their gradient says as much as that of a third of them.
LONG_SENTENCE = 32  # tokens
# Where the lengths of both sides change, more rows are sorted together: with word swaps 2 % of the cells are padding,
# 8 % with the usual shape.
BOTH_SIDES_VARY = PoolShape(batches_of_group=64, groups_of_pool=8)


def read_vocabularies(corpus: PreparedCorpus) -> Vocabularies:
    """Returns the sizes that determine those of a network."""
    source, target = corpus.source, corpus.target_tokenizer
    return Vocabularies(
        source=source.vocabulary_size,
        target=target.vocabulary_size,
        joint=corpus.has_joint_vocabulary,
        features=source.depth,
    )


@dataclass(frozen=True)
class Batch:
    """B pairs; ids are padded with 0."""

    source: SourceArray  # (B, S) ids that end with END, or (B, R, D) features
    previous: IntArray  # (B, T), starts with START
    target: IntArray  # (B, T), ends with END

    @property
    def sides(self) -> tuple[IntArray, IntArray]:
        """Source and target."""
        return self.source, self.target


def make_batch(split: EncodedSplit, rows: IntArray) -> Batch:
    """Returns the pairs `rows` (B,) of a split, unchanged."""
    return Batch(
        source=split.source.pad_rows(rows),
        previous=pad_ragged(split.target, rows, start=START),
        target=pad_ragged(split.target, rows, end=END),
    )


@dataclass(frozen=True)
class EarlierBatches:
    """The size of the batches up to the end of an epoch that began before the size changed."""

    epoch: int
    batch: int
    batch_tokens: int | None


class TrainingBatches:
    """The batches of every epoch; their order and content follow only from seed and epoch.

    The epoch of `earlier` has batches of another size.
    """

    def __init__(
        self,
        corpus: PreparedCorpus,
        config: TrainConfig,
        replayed: Replayed | None = None,
        earlier: EarlierBatches | None = None,
    ) -> None:
        old, allowed = (None, None) if replayed is None else (replayed.corpus.load_encoded("train"), replayed.rows)
        self.epoch_rows = EpochRows(
            corpus.load_encoded("train"),
            old,
            share=config.replay_share,
            seed=config.seed,
            allowed=allowed,
            most=config.epoch_pairs,
            languages=number_languages(corpus.read_tags("train")),
            temperature=config.sampling_temperature,
        )
        self.split = self.epoch_rows.split
        self.config, self.size = config, choose_batch_size(config)
        self.earlier = earlier
        subwords = corpus.source.subwords
        self.tag_ids = list(subwords.tag_ids.values()) if subwords is not None else []
        self.control_ids = [
            [] if tokenizer is None else list(tokenizer.control_ids.values())
            for tokenizer in (subwords, corpus.target_tokenizer)
        ]
        self.swaps = None
        if config.swap_words:
            self.swaps = learn_word_swaps(self.split, corpus.source_tokenizer, corpus.target_tokenizer)
        self.augmentation = Augmentation(
            source_tokenizer=corpus.source.subwords,
            target_tokenizer=corpus.target_tokenizer,
            rewrites=self.split.source.select_rewrites(make_rewrites(config, self.swaps)),
        )
        # The batches of the first epoch; with a part of the pairs, or a replay, other epochs may have one more or less.
        self.steps = self.count_steps(self.size)
        self.updates = -(-self.steps // config.accumulate)  # of the weights, in one epoch

    def count_steps(self, size: BatchSize) -> int:
        """Returns the number of batches of this size in the first epoch."""
        return count_batches(*self.measure_rows(self.epoch_rows.select_rows(1)), size=size)

    def count_updates_of(self, config: TrainConfig) -> int:
        """Returns the number of updates of an epoch with the batches of `config`."""
        return -(-self.count_steps(choose_batch_size(config)) // config.accumulate)

    def choose_config(self, epoch: int) -> TrainConfig:
        """Returns the settings for an epoch's batches."""
        if self.earlier is None or epoch > self.earlier.epoch:
            return self.config
        return replace(self.config, batch=self.earlier.batch, batch_tokens=self.earlier.batch_tokens)

    def count_updates(self, epoch: int) -> int:
        """Returns the number of updates of an epoch, from 1."""
        config = self.choose_config(epoch)
        return self.updates if config is self.config else self.count_updates_of(config)

    def make_updates(self, epoch: int, *, skip: int = 0) -> Iterator[list[Batch]]:
        """Yields the batches of each update of an epoch, from 1, without the first `skip` updates."""
        batches = self.make_epoch(epoch, skip=skip * self.config.accumulate)
        while group := list(islice(batches, self.config.accumulate)):
            yield group

    def make_epoch(self, epoch: int, *, skip: int = 0) -> Iterator[Batch]:
        """Yields the batches of an epoch, from 1, without the first `skip`, on which the others do not depend."""
        for pool in make_ahead(self.make_pools(epoch, skip)):
            yield from pool

    def make_pools(self, epoch: int, skip: int) -> Iterator[list[Batch]]:
        """Yields the batches of `make_epoch` pool by pool.

        Each pool has a random generator of its own, so that skipping pools does not change the others.
        """
        rows, seed = self.epoch_rows.select_rows(epoch), self.config.seed
        size = choose_batch_size(self.choose_config(epoch))
        pools = pool_batches(*self.measure_rows(rows), size=size, shape=self.shape, seed=seed, epoch=epoch)
        for index, pool in enumerate(pools):
            batches = sum(map(len, pool))
            if skip < batches:
                generator = np.random.default_rng([seed, epoch, index])
                yield self.augment_pool([[rows[batch] for batch in group] for group in pool], generator)[skip:]
            skip = max(0, skip - batches)

    def augment_pool(self, pool: Pool, generator: np.random.Generator) -> list[Batch]:
        """Returns the augmented batches of a pool in random order."""
        batches: list[Batch] = []
        for group in pool:
            # 1. Augment the batches of a group together.
            augmented = self.augment_batch(make_batch(self.split, np.concatenate(group)), generator)
            # 2. Their rows have other lengths now: cut the group into batches anew.
            batches += cut_batch(augmented, list(map(len, group)), generator)
        # 3. Shuffle the batches of all groups.
        return [batches[index] for index in generator.permutation(len(batches))]

    @property
    def shape(self) -> PoolShape:
        """The amount of data augmented together."""
        return self.split.source.limit_pools(PoolShape() if self.swaps is None else BOTH_SIDES_VARY)

    def measure_rows(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Returns the lengths of these rows on both sides, by which they are batched."""
        target = self.split.target.lengths[rows]
        return self.split.source.measure_rows(rows, target), target

    def augment_batch(self, batch: Batch, generator: np.random.Generator) -> Batch:
        """Returns a batch as learned this time."""
        # 1. Rewrite texts.
        source, target = self.augmentation.augment_group(batch.source, batch.target, generator)
        previous = batch.previous if target is batch.target else shift_right(target)
        # 2. Drop tags and tokens. This comes last, since an unknown token has no text. The target keeps them: the
        #    network has to predict what its input lacks.
        if self.tag_ids and self.config.tag_dropout:
            drop = partial(drop_tags, share=self.config.tag_dropout, generator=generator, tag_ids=self.tag_ids)
            source = self.split.source.change_ids(source, drop)
        if self.config.word_dropout:
            drops = [
                partial(drop_tokens, share=self.config.word_dropout, generator=generator, control_ids=ids)
                for ids in self.control_ids
            ]
            source, previous = self.split.source.change_ids(source, drops[0]), drops[1](previous)
        return Batch(source, previous, target)


def make_ahead(items: Iterator[AheadItem]) -> Iterator[AheadItem]:
    """Yields the items; another thread makes the next while one is in use."""
    maker = ThreadPoolExecutor(1, thread_name_prefix="batches")
    try:
        coming = maker.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = maker.submit(next, items, None)
            yield item
    finally:  # a consumer that stops early does not wait for the item that is being made
        maker.shutdown(wait=False, cancel_futures=True)


def shift_right(target: IntArray) -> IntArray:
    """Returns the token before each of `target` (B, T), which ends with END; START before the first."""
    previous = np.roll(np.where(target == END, PAD, target), 1, axis=1)
    previous[:, 0] = START
    return previous


def cut_batch(batch: Batch, sizes: Sequence[int], generator: np.random.Generator) -> list[Batch]:
    """Cuts a batch into batches of these sizes, shortest rows first, each no wider than its longest row."""
    if len(sizes) == 1:
        return [batch]
    lengths = (batch.source != PAD).sum(axis=1), (batch.target != PAD).sum(axis=1)  # each (B,)
    order = order_by_length(*lengths, generator)
    parts = np.split(order, np.cumsum(sizes)[:-1])
    return [narrow_batch(batch, part, *(int(side[part].max()) for side in lengths)) for part in parts]


def narrow_batch(batch: Batch, rows: IntArray, source_width: int, target_width: int) -> Batch:
    """Returns some rows of a batch, cut to these widths."""
    return Batch(
        batch.source[rows, :source_width], batch.previous[rows, :target_width], batch.target[rows, :target_width]
    )


def choose_batch_size(config: TrainConfig) -> BatchSize:
    """Returns the limit of a batch: its tokens if requested, else its sentences, and tokens if these are long."""
    if config.batch_tokens is not None:
        return BatchSize(cells=config.batch_tokens)
    return BatchSize(rows=config.batch, cells=config.batch * LONG_SENTENCE)
