"""Constraints of a search: prefixes, banned n-grams, limits on copies and lengths, sampling; `Guide` joins them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import pad_rows
from nmt_cli.arrays.types import START, FloatArray, IntArray, SourceArray
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.search.step_model import ALL, FedModel, SearchResult, StateT, Step, StepModel
from nmt_cli.sources.source import LENGTH_MARGIN

# Restricts the tokens that may follow a hypothesis: a forced prefix, a ban on repeated n-grams, a limit on copies.
#
# Does not depend on networks or texts. A constraint bars candidates; search requests enough of them for some to remain.
# A sampler (`Sampler`) is a constraint that leaves one. Letters: N rows, C candidates, T tokens so far.


NEVER = -np.inf


class Rows(NamedTuple):
    """The open hypotheses that a step extends."""

    history: IntArray  # (N, T) tokens so far; those of a target prefix are negative, and all different
    sentences: IntArray  # (N,) the sentence of each row, by its index in the batch
    ranks: IntArray  # (N,) the rank of each row among those of its sentence


class Constraint(Protocol):
    """Bars candidates. Stateless: everything it may look at is passed to it."""

    def count_candidates(self, needed: int, length: int) -> int:
        """Returns how many candidates a step needs, after `length` tokens, to keep `needed` or all allowed ones."""

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        """Returns (N, C): which candidates are allowed; those already barred have a log-probability of NEVER."""


class Prefix(NamedTuple):
    """Forces the target to begin with these tokens."""

    tokens: tuple[int, ...]

    def count_candidates(self, needed: int, length: int) -> int:
        return ALL if length < len(self.tokens) else needed

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        length = rows.history.shape[1]
        if length >= len(self.tokens):
            return np.ones(tokens.shape, dtype=bool)
        return np.asarray(tokens == self.tokens[length])


class NgramBan(NamedTuple):
    """Forbids any n-gram of `size` tokens from occurring twice; the first `after` tokens are forced and exempt."""

    size: int
    after: int = 0

    def count_candidates(self, needed: int, length: int) -> int:
        return needed + max(0, length - self.size + 1)  # each earlier n-gram bars at most one token

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        history, before = rows.history, self.size - 1
        starts = history.shape[1] - before  # positions at which an earlier n-gram may begin
        if starts <= 0 or history.shape[1] < self.after:
            return np.ones(tokens.shape, dtype=bool)
        is_repeated = np.ones((len(history), starts), dtype=bool)  # whether its first tokens are the latest ones
        for offset in range(before):
            is_repeated &= history[:, offset : offset + starts] == history[:, starts + offset, None]
        barred = np.where(is_repeated, history[:, before:], -1)  # (N, starts)
        return np.asarray(~(tokens[:, :, None] == barred[:, None, :]).any(axis=2))


class CopyLimit(NamedTuple):
    """Allows certain tokens only as often as they occur in the source. Letters: B sentences, P tokens."""

    tokens: IntArray  # (P,)
    counts: IntArray  # (B, P) how often each may be written

    def count_candidates(self, needed: int, length: int) -> int:
        return needed + len(self.tokens)

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        written = (rows.history[:, :, None] == self.tokens).sum(axis=1)  # (N, P)
        is_used_up = written >= self.counts[rows.sentences]  # (N, P)
        is_barred = (tokens[:, :, None] == self.tokens) & is_used_up[:, None, :]  # (N, C, P)
        return np.asarray(~is_barred.any(axis=2))


# Samples the next token of each row: a constraint that leaves one candidate. Does not depend on search.
#
# Letters: B sentences, K rows per sentence, N rows of a step, C candidates, T tokens.


class TextId(NamedTuple):
    """The position of an independently translated text in the whole input; both numbers count from 0."""

    line: int
    piece: int


class Sampler(NamedTuple):
    """Draws one candidate per row. Each sentence has its own random numbers, whatever else is in its batch."""

    config: SamplingOptions
    draws: FloatArray  # (B, T, K), 0 to 1: one for each token of each sample

    @classmethod
    def from_config(cls, config: SamplingOptions, text_ids: Sequence[TextId], *, rows: int, steps: int) -> Self:
        """Returns the sampler of a batch; a text id always gives the same random numbers."""
        draws = [np.random.default_rng([config.seed, *text_id]).random((steps, rows)) for text_id in text_ids]
        return cls(config, np.stack(draws))

    def count_candidates(self, needed: int, length: int) -> int:
        return self.config.top_k or ALL

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        draws = self.draws[rows.sentences, rows.history.shape[1], rows.ranks]
        columns = draw_columns(log_probabilities, draws, self.config)
        return np.asarray(np.arange(tokens.shape[1]) == columns[:, None])


def draw_columns(log_probabilities: FloatArray, draws: FloatArray, config: SamplingOptions) -> IntArray:
    """Returns (N,): the column of `log_probabilities` (N, C), best first, that each of `draws` (N,) selects."""
    # 1. Divide the log-probabilities by the temperature.
    scaled = log_probabilities.astype(np.float64) / config.temperature
    weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    # 2. Keep the `top_k` best of the allowed candidates.
    if config.top_k:
        weights[np.cumsum(weights > 0, axis=1) > config.top_k] = 0.0
    # 3. Of these, keep the nucleus: the smallest set that reaches `top_p`, and at least the best.
    cumulative = np.cumsum(weights, axis=1)
    nucleus = cumulative - weights < config.top_p * cumulative[:, -1:]
    # 4. Select the column in which the draw falls.
    cumulative = np.cumsum(np.where(nucleus, weights, 0.0), axis=1)
    return np.asarray((cumulative <= draws[:, None] * cumulative[:, -1:]).sum(axis=1))


# A target prefix: given tokens with which a target begins, such as the translation of the sentence before.
#
# They are no part of a hypothesis: they count towards no score, no limit and no constraint. Letters: B sentences, P
# tokens, N rows, C candidates, T tokens so far.


class FedTargets(NamedTuple, Generic[StateT]):
    """The state of sentences after their target prefixes, and the token (B,) to feed next."""

    state: StateT
    previous: IntArray


@dataclass(frozen=True)
class TargetPrefix:
    """The target prefixes of a batch, which may be empty, and the source positions that they translate."""

    tokens: IntArray  # (B, P)
    lengths: IntArray  # (B,)
    source_lengths: IntArray  # (B,)

    @classmethod
    def from_tokens(cls, target_prefixes: Sequence[Sequence[int]], source_lengths: Sequence[int]) -> Self | None:
        """Returns the target prefixes of a batch; None if all are empty."""
        if not any(target_prefixes):
            return None
        lengths = np.array([len(target_prefix) for target_prefix in target_prefixes])
        return cls(pad_rows([*target_prefixes]), lengths, np.where(lengths, source_lengths, 0))

    def feed(self, model: StepModel[StateT], state: StateT) -> FedTargets[StateT] | None:
        """Feeds the target prefixes to a model that accepts them before the search; returns None for any other."""
        tokens = np.pad(self.tokens, ((0, 0), (1, 0)), constant_values=START)
        behind = model.feed(tokens, self.lengths, state) if isinstance(model, FedModel) else None
        return None if behind is None else FedTargets(behind, tokens[np.arange(len(tokens)), self.lengths])

    def is_over(self, sentences: IntArray, length: int) -> bool:
        """Whether any of the `sentences` has finished its target prefix after `length` tokens."""
        return bool((self.lengths[sentences] <= length).any())

    def force(self, step: Step[StateT], sentences: IntArray, length: int) -> Step[StateT]:
        """Returns a step after `length` tokens in which rows still in their target prefix can only continue it."""
        rows = np.flatnonzero(self.lengths[sentences] > length)
        if not len(rows):
            return step
        tokens, log_probabilities = step.tokens.copy(), step.log_probabilities.copy()
        tokens[rows] = self.tokens[sentences[rows], length][:, np.newaxis]
        log_probabilities[rows], log_probabilities[rows, 0] = NEVER, 0.0
        return step._replace(tokens=tokens, log_probabilities=log_probabilities)

    def mask(self, history: IntArray, sentences: IntArray) -> IntArray:
        """Returns the tokens so far (N, T) of rows, with a number of its own for each token of a target prefix."""
        positions = np.arange(history.shape[1])
        return np.where(positions < self.lengths[sentences, np.newaxis], -1 - positions, history)

    def remove(self, results: Sequence[Sequence[SearchResult]]) -> list[list[SearchResult]]:
        """Returns the hypotheses of each sentence without its target prefix."""
        return [
            [
                result._replace(
                    tokens=result.tokens[length:],
                    token_log_probabilities=result.token_log_probabilities[length:],
                    attention=result.attention[length:],
                )
                for result in group
            ]
            for group, length in zip(results, self.lengths.tolist(), strict=True)
        ]


# Combines the constraints of one search. Does not depend on networks or texts. Letters: N rows, C candidates.


class Guide(NamedTuple):
    """All constraints of one search, in the order in which they apply."""

    constraints: tuple[Constraint, ...] = ()
    prefix_length: int = 0  # forced tokens, which do not count towards the length limit
    vocabulary: int = ALL  # maximum number of candidates of a step
    is_sampling: bool = False  # whether a sampler leaves each row one candidate
    barred: int | None = None  # a token that is never written, except in a target prefix
    target_prefix: TargetPrefix | None = None  # what targets begin with

    @classmethod
    def from_config(
        cls,
        config: SearchOptions,
        *,
        prefix: Sequence[int] = (),
        text_ids: Sequence[TextId] = (),
        steps: int = 0,
        vocabulary: int = ALL,
        copy_limit: CopyLimit | None = None,
        barred: int | None = None,
        target_prefix: TargetPrefix | None = None,
    ) -> Self:
        """Returns the constraints requested by `config`, and the `copy_limit` if given; `prefix` is in ids.

        The token `barred` is never written, except in a `target_prefix`. Sampling needs the ids of the texts, on which
        their random numbers depend, and `steps`, the maximum number of steps. Raises ValueError for sampling without
        text ids.
        """
        constraints: list[Constraint] = []
        if prefix:
            constraints.append(Prefix(tuple(prefix)))
        if config.no_repeat_ngram:
            constraints.append(NgramBan(config.no_repeat_ngram, after=len(prefix)))
        if copy_limit is not None:
            constraints.append(copy_limit)
        if config.sampling.sample:
            if not text_ids:
                raise ValueError("sampling needs the ids of the texts")
            constraints.append(Sampler.from_config(config.sampling, text_ids, rows=config.rows, steps=steps))
        return cls(tuple(constraints), len(prefix), vocabulary, config.sampling.sample, barred, target_prefix)

    def count_candidates(self, needed: int, length: int) -> int:
        """Returns the number of candidates a step needs after `length` tokens so that `needed` remain."""
        needed += self.barred is not None
        for constraint in reversed(self.constraints):
            needed = min(ALL, constraint.count_candidates(needed, length))
        return min(needed, self.vocabulary)

    @property
    def narrows(self) -> bool:
        """Whether it bars any candidate."""
        return bool(self.constraints) or self.barred is not None

    def narrow_step(self, step: Step[StateT], describe_rows: Callable[[], Rows], needed: int) -> Step[StateT]:
        """Returns `step` with the `needed` best allowed candidates of each row; `describe_rows` is slow."""
        values = step.log_probabilities
        if self.barred is not None:
            values = np.where(step.tokens == self.barred, NEVER, values)
        if self.constraints:
            rows = describe_rows()
            for constraint in self.constraints:
                values = np.where(constraint.find_allowed(step.tokens, values, rows), values, NEVER)
        order = np.argsort(values == NEVER, axis=1, kind="stable")[:, :needed]
        return step._replace(
            tokens=np.take_along_axis(step.tokens, order, axis=1),
            log_probabilities=np.take_along_axis(values, order, axis=1),
        )


# How long targets may become. Does not depend on networks. Letters: B sentences, S source positions.


def limit_lengths(
    source: SourceArray, config: SearchOptions, prefix_length: int = 0, target_prefix: TargetPrefix | None = None
) -> NDArray[np.int64]:
    """Returns (B,): the maximum number of target tokens of each sentence; a forced prefix adds `prefix_length`.

    The tokens of a `target_prefix` are added, and the source positions that it translates are not counted.

    A limit depends only on the length of its own sentence, never on its neighbours'.
    """
    led, read = (0, 0) if target_prefix is None else (target_prefix.lengths, target_prefix.source_lengths)
    if config.length_factor is None:
        return np.full(len(source), config.max_length, dtype=np.int64) + led
    lengths = np.count_nonzero(source, axis=1) - read
    most = np.ceil(config.length_factor * lengths) + LENGTH_MARGIN + prefix_length
    return np.asarray(np.minimum(config.max_length, most), dtype=np.int64) + led
