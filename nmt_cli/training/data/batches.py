"""The pairs of each epoch, and their batches of ids for the training step.

    10,000 pairs, --batch 64, --replay-share 0.2: epoch 1 has all of them and 2,500 old ones, in 196 batches

An epoch's pairs are chosen (`EpochRows`), sorted by length into batches, rewritten (`augmentation.py`), and shuffled.
Everything depends only on seed and epoch, and each pool of batches has its own random generator. A resumed run thus
gets the same batches as an uninterrupted one. Sources: Chu, Dabre, Kurohashi (2017), "An Empirical Comparison of Domain
Adaptation Methods", for old pairs, so that fine-tuning does not forget; Arivazhagan et al. (2019), "Massively
Multilingual Neural Machine Translation in the Wild", section 4.2, for the shares of languages.

Letters: B pairs of a batch or group, S source positions, T target positions, R regions of a picture, D features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import (
    BatchSize,
    Pool,
    PoolShape,
    Ragged,
    count_batches,
    order_by_length,
    pad_ragged,
    pool_batches,
)
from nmt_cli.arrays.types import END, PAD, START, IntArray, SourceArray
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.corpus.pairs import number_languages
from nmt_cli.model.config import Vocabularies
from nmt_cli.sources.source import Sentences
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.training.data.augmentation import Augmentation, make_rewrites
from nmt_cli.training.options import TrainOptions


@dataclass(frozen=True)
class Replayed:
    """An old corpus, and the rows of its training pairs that may be replayed."""

    corpus: PreparedCorpus
    rows: NDArray[np.int64]

    @property
    def left_out(self) -> int:
        """The number of training pairs that may not be replayed."""
        return self.corpus.manifest.counts.splits["train"] - len(self.rows)


class LanguageDraw(NamedTuple):
    """The pairs of one language, and how many of them each epoch uses."""

    rows: NDArray[np.int64]
    drawn: int

    def select_rows(self, epoch: int, seed: int) -> NDArray[np.int64]:
        """Returns the rows of an epoch (counted from 1): the next in an endless series of permutations of them all."""
        first, size = (epoch - 1) * self.drawn, len(self.rows)
        turns = range(first // size, -(-(first + self.drawn) // size))
        rows = [np.random.default_rng([seed, turn, size]).permutation(self.rows) for turn in turns]
        return np.concatenate(rows)[first - turns.start * size :][: self.drawn]


def plan_draws(languages: IntArray | None, temperature: float, total: int) -> list[LanguageDraw]:
    """Returns how many of an epoch's `total` pairs each language gets; empty if every pair is to be used once."""
    if languages is None or temperature == 1 or len(np.unique(languages)) < 2:
        return []
    rows = [np.flatnonzero(languages == language) for language in np.unique(languages)]
    shares = np.array([len(of_language) for of_language in rows]) ** (1 / temperature)
    counts = np.maximum(1, np.round(total * shares / shares.sum()).astype(int)).tolist()
    return [LanguageDraw(*draw) for draw in zip(rows, counts, strict=True)]


class EpochRows:
    """The pairs of each epoch: all new pairs, or at most `most` of them in turn, plus old pairs.

    Old pairs make up `share` (0 to 1) of an epoch. `allowed` are the usable rows of the old pairs; None: all. If the
    new pairs (N,) have several `languages`, each language's share is raised to the power of 1 / `temperature`. Source:
    Arivazhagan et al. (2019), "Massively Multilingual Neural Machine Translation in the Wild", section 4.2.
    """

    def __init__(
        self,
        new: EncodedSplit,
        old: EncodedSplit | None,
        *,
        share: float,
        seed: int,
        allowed: NDArray[np.int64] | None = None,
        most: int | None = None,
        languages: IntArray | None = None,
        temperature: float = 1.0,
    ) -> None:
        self.new_rows = len(new.source)
        self.allowed = np.arange(0 if old is None else len(old.source)) if allowed is None else allowed
        self.split = new if old is None else join_splits(new, old)
        self.share = share if len(self.allowed) else 0.0
        self.seed = seed
        self.parts = -(-self.new_rows // most) if most else 1  # epochs in which every new pair occurs once
        self.draws = plan_draws(languages, temperature, min(most or self.new_rows, self.new_rows))

    def select_rows(self, epoch: int) -> NDArray[np.int64]:
        """Returns the rows of `split` for an epoch (from 1). Old pairs recur only after all others have occurred."""
        new = self.select_part(epoch)
        replayed = round(len(new) * self.share / (1 - self.share))
        if not replayed:
            return new
        generator = np.random.default_rng([self.seed, epoch, len(self.allowed)])
        rounds = -(-replayed // len(self.allowed))
        old = np.concatenate([generator.permutation(self.allowed) for _ in range(rounds)])[:replayed]
        return np.concatenate([new, self.new_rows + old])

    @property
    def pairs(self) -> int:
        """The number of all new pairs plus the old pairs of the first epoch."""
        return self.new_rows + len(self.select_rows(1)) - len(self.select_part(1))

    def select_part(self, epoch: int) -> NDArray[np.int64]:
        """Returns the rows of the new pairs of an epoch; `parts` epochs cover all of them, then the cycle restarts."""
        if self.draws:
            return np.sort(np.concatenate([draw.select_rows(epoch, self.seed) for draw in self.draws]))
        if self.parts <= 1:
            return np.arange(self.new_rows)
        turn, part = divmod(epoch - 1, self.parts)
        order = np.random.default_rng([self.seed, turn, self.parts]).permutation(self.new_rows)
        return np.sort(np.array_split(order, self.parts)[part])


def exclude_held_out(old: PreparedCorpus, new: PreparedCorpus) -> NDArray[np.int64]:
    """Returns the rows of the training pairs of `old` that share no sentence with the dev and test splits of `new`."""
    held_out = [pair for split in ("dev", "test") for pair in new.read_pairs(split)]
    sources, targets = ({make_sentence_key(pair[side]) for pair in held_out} for side in (0, 1))
    is_allowed = [
        make_sentence_key(pair.source) not in sources and make_sentence_key(pair.target) not in targets
        for pair in old.read_pairs("train")
    ]
    return np.flatnonzero(is_allowed)


def join_splits(new: EncodedSplit, old: EncodedSplit) -> EncodedSplit:
    """Concatenates both splits. Raises OptionError if sources are pictures."""
    sources = (
        split.source.require_sentences("--replay works only with text", "leave --replay out") for split in (new, old)
    )
    return EncodedSplit(Sentences(*join_ragged(*sources)), Ragged(*join_ragged(new.target, old.target)))


def join_ragged(first: Ragged, second: Ragged) -> tuple[IntArray, NDArray[np.int64]]:
    """Returns the ids and offsets of both, concatenated."""
    offsets = np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]])
    return np.concatenate([first.ids, second.ids]), offsets


def drop_tags(ids: IntArray, share: float, generator: np.random.Generator, tag_ids: Sequence[int]) -> IntArray:
    """Returns `ids` (B, S) with this share of tags dropped; the ids after them move up, and padding fills the end."""
    is_dropped = (generator.random(ids.shape) < share) & np.isin(ids, tag_ids)
    order = np.argsort(is_dropped, axis=1, kind="stable")
    return np.take_along_axis(np.where(is_dropped, np.asarray(PAD, ids.dtype), ids), order, axis=1)


AheadItem = TypeVar("AheadItem")

# Batches of longer sentences have fewer of them: 128 sentences of 100 tokens took 3.5 GB with a vocabulary of 8,000,
# and their gradient says as much as that of a third of them.
LONG_SENTENCE = 32  # tokens


def read_vocabularies(corpus: PreparedCorpus) -> Vocabularies:
    """Returns the vocabulary sizes, which determine the sizes of a network."""
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
    """The batch size that applies until the end of an epoch that began before the size changed."""

    epoch: int
    batch: int
    batch_tokens: int | None


class TrainingBatches:
    """The batches of every epoch; their order and content depend only on seed and epoch.

    Batches up to the epoch of `earlier` have another size.
    """

    def __init__(
        self,
        corpus: PreparedCorpus,
        config: TrainOptions,
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
        self.augmentation = Augmentation(
            source_tokenizer=corpus.source.subwords,
            target_tokenizer=corpus.target_tokenizer,
            rewrites=self.split.source.select_rewrites(make_rewrites(config)),
        )
        # The batches of the first epoch; with a part of the pairs, or a replay, other epochs may have one more or less.
        self.steps = self.count_steps(self.size)
        self.updates = -(-self.steps // config.accumulate)  # of the weights, in one epoch

    def count_steps(self, size: BatchSize) -> int:
        """Returns the number of batches of this size in the first epoch."""
        return count_batches(*self.measure_rows(self.epoch_rows.select_rows(1)), size=size)

    def count_updates_of(self, config: TrainOptions) -> int:
        """Returns the number of updates in an epoch with the batch settings of `config`."""
        return -(-self.count_steps(choose_batch_size(config)) // config.accumulate)

    def choose_config(self, epoch: int) -> TrainOptions:
        """Returns the settings for an epoch's batches."""
        if self.earlier is None or epoch > self.earlier.epoch:
            return self.config
        return replace(self.config, batch=self.earlier.batch, batch_tokens=self.earlier.batch_tokens)

    def count_updates(self, epoch: int) -> int:
        """Returns the number of updates in an epoch (counted from 1)."""
        config = self.choose_config(epoch)
        return self.updates if config is self.config else self.count_updates_of(config)

    def make_updates(self, epoch: int, *, skip: int = 0) -> Iterator[list[Batch]]:
        """Yields the batches of each update of an epoch (counted from 1), except the first `skip` updates."""
        batches = self.make_epoch(epoch, skip=skip * self.config.accumulate)
        while group := list(islice(batches, self.config.accumulate)):
            yield group

    def make_epoch(self, epoch: int, *, skip: int = 0) -> Iterator[Batch]:
        """Yields the batches of an epoch (counted from 1) after the first `skip`, which do not affect the others."""
        for pool in make_ahead(self.make_pools(epoch, skip)):
            yield from pool

    def make_pools(self, epoch: int, skip: int) -> Iterator[list[Batch]]:
        """Yields the batches of `make_epoch` pool by pool.

        Each pool has its own random generator, so that skipping pools does not change the others.
        """
        rows, seed = self.epoch_rows.select_rows(epoch), self.config.seed
        size = choose_batch_size(self.choose_config(epoch))
        shape = self.split.source.limit_pools(PoolShape())
        pools = pool_batches(*self.measure_rows(rows), size=size, shape=shape, seed=seed, epoch=epoch)
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

    def measure_rows(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Returns the lengths of these rows on both sides, by which they are batched."""
        target = self.split.target.lengths[rows]
        return self.split.source.measure_rows(rows, target), target

    def augment_batch(self, batch: Batch, generator: np.random.Generator) -> Batch:
        """Returns a batch as augmented this time."""
        # 1. Rewrite texts.
        source, target = self.augmentation.augment_group(batch.source, batch.target, generator)
        previous = batch.previous if target is batch.target else shift_right(target)
        # 2. Drop tags, so that none is needed. This comes last, since a tag has no text.
        if self.tag_ids and self.config.tag_dropout:
            source = drop_tags(source, self.config.tag_dropout, generator, self.tag_ids)
        return Batch(source, previous, target)


def make_ahead(items: Iterator[AheadItem]) -> Iterator[AheadItem]:
    """Yields the items; another thread makes the next one while the current one is in use."""
    maker = ThreadPoolExecutor(1, thread_name_prefix="batches")
    try:
        coming = maker.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = maker.submit(next, items, None)
            yield item
    finally:  # a consumer that stops early does not wait for the item that is being made
        maker.shutdown(wait=False, cancel_futures=True)


def shift_right(target: IntArray) -> IntArray:
    """Returns the token before each token of `target` (B, T), whose rows end with END; START before the first."""
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


def choose_batch_size(config: TrainOptions) -> BatchSize:
    """Returns the size limit of a batch: in tokens if requested, else in sentences, and in tokens if these are long."""
    if config.batch_tokens is not None:
        return BatchSize(cells=config.batch_tokens)
    return BatchSize(rows=config.batch, cells=config.batch * LONG_SENTENCE)
