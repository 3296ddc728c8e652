"""Guides a network by translations of similar sources: each step mixes in tokens of theirs (kNN-MT).

A token of such a translation is stored under the vector from which the network predicts it. The nearer the nearest
stored vector is to that of a step, the larger is the share of the stored tokens in its distribution. Sources:
Khandelwal et al. (2021), "Nearest Neighbor Machine Translation"; Dai et al. (2023), "Simple and Scalable Nearest
Neighbor Machine Translation", for a datastore per sentence and for the share. Knows no text and no network.

Letters: B sentences, N rows, K rows of a sentence, C candidates, D width of a vector, M stored tokens, U distinct ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol

import numpy as np

from nmt_cli.arrays.padding import pad_rows
from nmt_cli.arrays.special_ids import START
from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.search.step_model import StateT, Step, StepModel

REACH = 0.5  # squared distance, of vectors of length 1, from which on a stored token has no share
CONTINUED = 0.5  # factor of the distance of a token whose predecessor has just been written, as in words of several
TEMPERATURE = 0.05  # of squared distances: nearer tokens weigh more
MORE_CANDIDATES = 8  # of the network, whose probabilities are added to those of stored tokens


class VectorModel(StepModel[StateT], Protocol):
    """A step model that returns the vectors (N, D), of length 1, from which it predicts."""

    def step_with_vectors(
        self, tokens: IntArray, state: StateT, candidates: int, *, scored: bool = True
    ) -> tuple[Step[StateT], FloatArray]: ...

    def feed(self, tokens: IntArray, lengths: IntArray, state: StateT) -> StateT | None: ...


class StoredTokens(NamedTuple):
    """The tokens of translations, under the vectors that predict them."""

    vectors: FloatArray  # (M, D)
    tokens: IntArray  # (M,)

    @property
    def previous(self) -> IntArray:
        """The token (M,) before each."""
        return np.concatenate([[START], self.tokens[:-1]])


class Datastore(NamedTuple):
    """Stored tokens, those of equal ids together."""

    vectors: FloatArray  # (M, D)
    tokens: IntArray  # (U,) ascending
    starts: IntArray  # (U,) where in `vectors` those of each token begin
    previous: IntArray  # (M,) the token before; START before the first, which continues nothing

    @classmethod
    def join(cls, parts: Sequence[StoredTokens]) -> Datastore:
        """Returns the tokens of at least one translation."""
        vectors, tokens = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        previous = np.concatenate([part.previous for part in parts])
        order = np.argsort(tokens, kind="stable")
        different, starts = np.unique(tokens[order], return_index=True)
        return cls(
            vectors[order].astype(np.float32), different, starts, np.where(previous == START, -1, previous)[order]
        )

    def compute_distribution(self, vectors: FloatArray, written: IntArray) -> tuple[FloatArray, FloatArray]:
        """Returns the share (K,) of the stored tokens for each of the `vectors` (K, D), and their distribution."""
        distances = np.maximum(2 - 2 * vectors @ self.vectors.T, 0)  # (K, M), of vectors of length 1
        distances *= np.where(written[:, None] == self.previous, CONTINUED, 1)
        least = distances.min(axis=1, keepdims=True)
        weights = np.add.reduceat(np.exp((least - distances) / TEMPERATURE), self.starts, axis=1)
        return np.maximum(1 - least[:, 0] / REACH, 0), weights / weights.sum(axis=1, keepdims=True)


class GuidedState(NamedTuple, Generic[StateT]):
    """The state of a network, with the sentence (N,) of each row."""

    inner: StateT
    sentences: IntArray

    def select(self, rows: IntArray) -> GuidedState[StateT]:
        return GuidedState(self.inner.select(rows), self.sentences[rows])


class GuidedModel(Generic[StateT]):
    """Implements `StepModel`; a sentence without a datastore gets what the network predicts, bit by bit."""

    def __init__(self, model: VectorModel[StateT], stores: Sequence[Datastore | None], vocabulary: int) -> None:
        """`stores` has one of each sentence of a batch; `vocabulary` is the number of target ids."""
        self.model = model
        self.stores = stores
        self.vocabulary = vocabulary

    def encode(self, source: SourceArray) -> GuidedState[StateT]:
        return GuidedState(self.model.encode(source), np.arange(len(source)))

    def feed(self, tokens: IntArray, lengths: IntArray, state: GuidedState[StateT]) -> GuidedState[StateT] | None:
        inner = self.model.feed(tokens, lengths, state.inner)
        return None if inner is None else state._replace(inner=inner)

    def step(
        self, tokens: IntArray, state: GuidedState[StateT], candidates: int, *, scored: bool = True
    ) -> Step[GuidedState[StateT]]:
        """Makes a step; the network's probability of a stored token that it finds very unlikely counts as 0."""
        asked = min(candidates + MORE_CANDIDATES, self.vocabulary)
        step, vectors = self.model.step_with_vectors(tokens, state.inner, asked)
        best, values = step.tokens[:, :candidates].copy(), step.log_probabilities[:, :candidates].copy()
        for sentence in np.unique(state.sentences):
            store, rows = self.stores[sentence], np.flatnonzero(state.sentences == sentence)
            if store is None:
                continue
            shares, distribution = store.compute_distribution(vectors[rows], tokens[rows])
            is_near = shares > 0
            rows, shares, distribution = rows[is_near], shares[is_near, None], distribution[is_near]
            if len(rows):
                offered = mix(step.tokens[rows], step.log_probabilities[rows], store.tokens, shares, distribution)
                best[rows], values[rows] = (array[:, :candidates] for array in offered)
        return Step(best, values, step.attention, GuidedState(step.state, state.sentences))


def mix(
    tokens: IntArray, log_probabilities: FloatArray, stored: IntArray, shares: FloatArray, distribution: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Returns the best C of candidates (K, C) and `stored` tokens (U,), with the log-probabilities of their mixture.

    The `distribution` (K, U) of the stored tokens has these `shares` (K, 1).
    """
    is_stored = tokens[:, :, None] == stored  # (K, C, U)
    of_stored = shares * distribution
    of_candidates = (1 - shares) * np.exp(log_probabilities) + np.where(is_stored, of_stored[:, None], 0).sum(axis=2)
    of_others = np.where(is_stored.any(axis=1), 0, of_stored)
    with np.errstate(divide="ignore"):  # a probability of 0 is -inf
        values = np.log(np.concatenate([of_candidates, of_others], axis=1)).astype(log_probabilities.dtype)
    all_tokens = np.concatenate([tokens, np.broadcast_to(stored, of_others.shape)], axis=1)
    order = np.argsort(-values, axis=1, kind="stable")[:, : tokens.shape[1]]
    return np.take_along_axis(all_tokens, order, axis=1), np.take_along_axis(values, order, axis=1)


def store_targets(model: VectorModel[Any], source: SourceArray, targets: Sequence[Sequence[int]]) -> list[StoredTokens]:
    """Stores the tokens of `targets` (ids that end with END), one for each row of `source` (B, S, ...)."""
    rows, target_ids, lengths = np.arange(len(targets)), pad_rows(targets), np.array([len(ids) for ids in targets])
    state, previous = model.encode(source), np.full(len(targets), START)
    vectors: list[list[FloatArray]] = [[] for _ in targets]
    for position in range(target_ids.shape[1]):
        open_rows = np.flatnonzero(lengths[rows] > position)
        if len(open_rows) < len(rows):
            rows, state, previous = rows[open_rows], state.select(open_rows), previous[open_rows]
        step, of_rows = model.step_with_vectors(previous, state, 1, scored=False)
        for row, vector in zip(rows.tolist(), of_rows, strict=True):
            vectors[row].append(vector)
        state, previous = step.state, target_ids[rows, position]
    return [
        StoredTokens(np.array(of_target, dtype=np.float16), np.array(target))
        for of_target, target in zip(vectors, targets, strict=True)
    ]
