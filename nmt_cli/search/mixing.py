"""Step models made from others: an ensemble, and a network guided by translations of similar sources (kNN-MT)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol

import numpy as np

from nmt_cli.arrays.rows import pad_rows
from nmt_cli.arrays.types import START, BoolArray, FloatArray, IntArray, SourceArray
from nmt_cli.search.step_model import StateT, Step, StepModel

# Makes one step model of several: averages their probabilities. Does not depend on files or texts.
#
# Letters: N rows, S source positions, C candidates, V tokens of the vocabulary.


LISTED = 64  # tokens that each model of an ensemble names; the others count as 0
REPEATED = -1.0  # below all probabilities: of a token whose sum stands in another column


class EnsembleState(NamedTuple):
    """The state of each model, for the same rows."""

    members: tuple[Any, ...]

    def select(self, rows: IntArray) -> EnsembleState:
        return EnsembleState(tuple(member.select(rows) for member in self.members))


class Ensemble:
    """Implements `StepModel`. All models use the same ids; `vocabulary` is the number of target ids."""

    def __init__(self, models: Sequence[StepModel[Any]], vocabulary: int) -> None:
        self.models = tuple(models)
        self.vocabulary = vocabulary

    def encode(self, source: SourceArray) -> EnsembleState:
        return EnsembleState(tuple(model.encode(source) for model in self.models))

    def step(
        self, tokens: IntArray, state: EnsembleState, candidates: int, *, scored: bool = True
    ) -> Step[EnsembleState]:
        """Extends each row by the best tokens of the models; a probability that a model does not list counts as 0."""
        listed = min(self.vocabulary, max(LISTED, candidates))
        steps = [model.step(tokens, member, listed) for model, member in zip(self.models, state.members, strict=True)]
        all_tokens = np.concatenate([step.tokens for step in steps], axis=1)
        order = np.argsort(all_tokens, axis=1, kind="stable")
        all_tokens = np.take_along_axis(all_tokens, order, axis=1)  # equal ones side by side
        values = np.exp(np.concatenate([step.log_probabilities for step in steps], axis=1), dtype=np.float64)
        values = np.take_along_axis(values, order, axis=1)
        total = values.copy()
        for shift in range(1, len(steps)):
            is_same = all_tokens[:, shift:] == all_tokens[:, :-shift]
            total[:, :-shift] += np.where(is_same, values[:, shift:], 0)
        total[:, 1:][all_tokens[:, 1:] == all_tokens[:, :-1]] = REPEATED  # the first of equal ones has their sum
        best = np.argsort(-total, axis=1, kind="stable")[:, : min(candidates, listed)]
        with np.errstate(divide="ignore"):  # a probability of 0 in all models is -inf
            log_probabilities = np.log(np.take_along_axis(total, best, axis=1) / len(steps))
        return Step(
            tokens=np.take_along_axis(all_tokens, best, axis=1),
            log_probabilities=log_probabilities,
            attention=average_attention([step.attention for step in steps]),
            state=EnsembleState(tuple(step.state for step in steps)),
        )


def average_attention(attentions: Sequence[FloatArray]) -> FloatArray:
    """Returns (N, S): the mean over the models with attention; 0 everywhere if no model has attention."""
    with_attention = [attention for attention in attentions if attention.any()]
    return np.asarray(np.mean(with_attention or attentions, axis=0))


# Guides a network by translations of similar sources: each step mixes in tokens of theirs (kNN-MT).
#
# A token of such a translation is stored under the vector from which the network predicts it. The nearer the nearest
# stored vector is to that of a step, the larger is the share of the stored tokens in its distribution. A token counts
# only for a source that has what it translates, by attention: *nicht* of an entry about what is wrong says nothing
# about what is right. Sources: Khandelwal et al. (2021), "Nearest Neighbor Machine Translation"; Dai et al. (2023),
# "Simple and Scalable Nearest Neighbor Machine Translation", for a datastore per sentence and for the share. Does
# not depend on texts or networks.
#
# Letters: B sentences, N rows, K rows of a sentence, C candidates, D width of a vector, M stored tokens, U distinct
# ones, S source positions.


REACH = 0.5  # squared distance, of vectors of length 1, from which on a stored token has no share
CONTINUED = 0.5  # factor of the distance of a token that continues the word of the token that has just been written
TEMPERATURE = 0.05  # of squared distances: nearer tokens weigh more
MORE_CANDIDATES = 8  # of the network, whose probabilities are added to those of stored tokens


class VectorModel(StepModel[StateT], Protocol):
    """A step model that also returns the vectors (N, D), of length 1, from which it predicts."""

    def step_with_vectors(
        self, tokens: IntArray, state: StateT, candidates: int, *, scored: bool = True
    ) -> tuple[Step[StateT], FloatArray]: ...

    def feed(self, tokens: IntArray, lengths: IntArray, state: StateT) -> StateT | None: ...


class StoredTokens(NamedTuple):
    """The tokens of a translation, stored with the vectors that predict them."""

    vectors: FloatArray  # (M, D)
    tokens: IntArray  # (M,)
    begins: BoolArray  # (M,) whether it begins a word
    attended: IntArray  # (M,) the position of the source that it attends to most
    source: IntArray  # (S,) ids

    @property
    def continued(self) -> IntArray:
        """The token (M,) that precedes each token within its word; -1 for one that begins a word."""
        return np.where(self.begins, -1, np.concatenate([[-1], self.tokens[:-1]]))

    def is_supported(self, source: IntArray) -> BoolArray:
        """Returns (M,): whether each token translates something that another source (S,) has, too."""
        return np.isin(self.source[self.attended], source)


class Datastore(NamedTuple):
    """Stored tokens, grouped by id."""

    vectors: FloatArray  # (M, D)
    tokens: IntArray  # (U,) ascending
    starts: IntArray  # (U,) where in `vectors` those of each token begin
    continued: IntArray  # (M,) the token before each within its word; -1 if it begins a word

    @classmethod
    def join(cls, parts: Sequence[StoredTokens], source: IntArray) -> Datastore | None:
        """Returns the tokens that guide the translation of a source (S,), or None if none does."""
        rows = [(part, np.flatnonzero(part.is_supported(source))) for part in parts]
        if not any(len(some) for _, some in rows):
            return None
        vectors = np.concatenate([part.vectors[some] for part, some in rows])
        tokens = np.concatenate([part.tokens[some] for part, some in rows])
        continued = np.concatenate([part.continued[some] for part, some in rows])
        order = np.argsort(tokens, kind="stable")
        different, starts = np.unique(tokens[order], return_index=True)
        return cls(vectors[order].astype(np.float32), different, starts, continued[order])

    def compute_distribution(self, vectors: FloatArray, written: IntArray) -> tuple[FloatArray, FloatArray]:
        """Returns the share (K,) of the stored tokens for each of the `vectors` (K, D), and their distribution."""
        distances = np.maximum(2 - 2 * vectors @ self.vectors.T, 0)  # (K, M), of vectors of length 1
        distances *= np.where(written[:, None] == self.continued, CONTINUED, 1)
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
    """Implements `StepModel`; a sentence without a datastore gets exactly the network's prediction."""

    def __init__(self, model: VectorModel[StateT], parts: Sequence[Sequence[StoredTokens]], vocabulary: int) -> None:
        """`parts` holds what may guide each sentence of a batch; `vocabulary` is the number of target ids."""
        self.model = model
        self.parts = parts
        self.stores: list[Datastore | None] = []  # of each sentence
        self.vocabulary = vocabulary

    def encode(self, source: SourceArray) -> GuidedState[StateT]:
        self.stores = [Datastore.join(some, row) for some, row in zip(self.parts, source, strict=True)]
        return GuidedState(self.model.encode(source), np.arange(len(source)))

    def feed(self, tokens: IntArray, lengths: IntArray, state: GuidedState[StateT]) -> GuidedState[StateT] | None:
        inner = self.model.feed(tokens, lengths, state.inner)
        return None if inner is None else state._replace(inner=inner)

    def step(
        self, tokens: IntArray, state: GuidedState[StateT], candidates: int, *, scored: bool = True
    ) -> Step[GuidedState[StateT]]:
        """Takes a step; the network's probability of a stored token that it finds very unlikely counts as 0."""
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

    `shares` (K, 1) are the weights of the `distribution` (K, U) of the stored tokens.
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


def store_targets(
    model: VectorModel[Any], source: SourceArray, targets: Sequence[Sequence[int]], begins: Sequence[Sequence[bool]]
) -> list[StoredTokens]:
    """Stores the tokens of `targets` (ids that end with END), one for each row of `source` (B, S).

    `begins` says which tokens begin a word.
    """
    rows, target_ids, lengths = np.arange(len(targets)), pad_rows(targets), np.array([len(ids) for ids in targets])
    state, previous = model.encode(source), np.full(len(targets), START)
    vectors: list[list[FloatArray]] = [[] for _ in targets]
    attended: list[list[int]] = [[] for _ in targets]
    for length in range(target_ids.shape[1]):
        open_rows = np.flatnonzero(lengths[rows] > length)
        if len(open_rows) < len(rows):
            rows, state, previous = rows[open_rows], state.select(open_rows), previous[open_rows]
        step, of_rows = model.step_with_vectors(previous, state, 1, scored=False)
        for row, vector, position in zip(rows.tolist(), of_rows, step.attention.argmax(axis=1).tolist(), strict=True):
            vectors[row].append(vector)
            attended[row].append(position)
        state, previous = step.state, target_ids[rows, length]
    entries = zip(vectors, targets, begins, attended, source, strict=True)
    return [
        StoredTokens(np.array(some, np.float16), np.array(ids), np.array(of_words), np.array(positions), row)
        for some, ids, of_words, positions, row in entries
    ]
