"""Greedy and beam search over any step model. Knows no network, no text and no files.

Letters: B sentences, A sentences still searched, K beam size (1 at the first step), C candidates a row, N = A * K rows,
S source positions, T produced tokens. Log-probabilities are natural; a hypothesis of length T counts its
end-of-sentence token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.source import ADDED, SourceArray
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.constraints import NEVER, Guide, Rows
from nmt_cli.inference.penalties import Ranking
from nmt_cli.inference.protocol import FloatArray, IntArray, StateT, Step, StepModel


@dataclass(frozen=True)
class Found:
    """A hypothesis in ids; its last token is END where the network ended it (`finished`)."""

    tokens: tuple[int, ...]  # T
    log_probability: float
    score: float  # what hypotheses are ranked by (`penalties.Ranking`)
    token_log_probabilities: tuple[float, ...]  # T
    attention: FloatArray  # (T, S)
    finished: bool


@dataclass(frozen=True)
class Extension:
    """What one step offered to the open rows, and what was taken of it."""

    scores: FloatArray  # (A, K) log-probabilities of the rows before; NEVER for a row that is none yet
    tokens: IntArray  # (N, C) offered to each row
    log_probabilities: FloatArray  # (N, C)
    chosen: IntArray  # (A * K,) places in (N * C) of what became the next rows


class Observer:
    """Is told what search does and cannot change it. This one pays no heed; `beam_trace.BeamTrace` draws a tree."""

    def extended(self, extension: Extension) -> None:
        """After each step."""


def search(
    model: StepModel[StateT],
    source: SourceArray,
    config: SearchConfig,
    observer: Observer | None = None,
    guide: Guide | None = None,
) -> list[list[Found]]:
    """At most `n_best` hypotheses of each sentence, best first; `source` (B, S, ...) is what `corpus.source` batches.

    `guide` is what constrains them; without one it is what `config` asks for, less what needs text or a line's number.

    With a beam of 1 this is greedy search: the likeliest token at every step, until it is END; its scores are NaN where
    none are wanted (`config.scored`). With a wider beam no hypothesis that the beam could still reach is lost: a
    sentence is searched until the best that its open rows can become is worse than what it has
    (`penalties.Ranking.reachable`). A sentence's result does not depend on the others of its batch.
    """
    return BeamSearch(model, source, config, observer or Observer(), guide or Guide.of(config)).run()


def length_limits(source: SourceArray, config: SearchConfig, forced: int = 0) -> NDArray[np.int64]:
    """(B,): how many tokens each sentence may have, `forced` of them given.

    Follows from its own length, never from its neighbours'.
    """
    if config.length_factor is None:
        return np.full(len(source), config.max_length, dtype=np.int64)
    lengths = np.count_nonzero(source, axis=1)
    most = np.ceil(config.length_factor * lengths) + ADDED + forced
    return np.asarray(np.minimum(config.max_length, most), dtype=np.int64)


def true_positions(source: SourceArray) -> NDArray[np.bool_]:
    """(B, S): what is no padding, which is 0 among ids and NaN among features."""
    return np.asarray(source != 0 if source.ndim == 2 else ~np.isnan(source[:, :, 0]))


def filled(is_open: NDArray[np.bool_]) -> IntArray:
    """The places of what is open, in such an order that the last ones fill the holes, and nothing else moves."""
    count = int(np.count_nonzero(is_open))
    places = np.arange(count)
    places[~is_open[:count]] = count + np.flatnonzero(is_open[count:])
    return places


@dataclass
class Trail:
    """What every row chose at every step, so that a hypothesis can be read backwards from its last row."""

    tokens: list[IntArray]  # a step: (N,)
    log_probabilities: list[FloatArray]  # a step: (N,), of the token alone
    parents: list[IntArray]  # a step: (N,), the row of the step before
    attention: list[FloatArray]  # a step: (rows of the step before, S)

    def read(self, length: int, rows: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
        """(R, T) each, of the `length` steps to R rows: tokens, log-probabilities, and the rows that chose them."""
        tokens, parents = (np.empty((len(rows), length), dtype=np.int64) for _ in range(2))
        log_probabilities = np.empty((len(rows), length))
        for step in reversed(range(length)):
            tokens[:, step] = self.tokens[step][rows]
            log_probabilities[:, step] = self.log_probabilities[step][rows]
            rows = self.parents[step][rows]
            parents[:, step] = rows
        return tokens, log_probabilities, parents

    def attention_of(self, parents: IntArray) -> FloatArray:
        """(R, T, S): what the rows `parents` (R, T) looked at, one a step from the first on."""
        return np.stack([self.attention[step][rows] for step, rows in enumerate(parents.T)], axis=1)

    def history(self, rows: int) -> IntArray:
        """(N, T): the tokens of each of the `rows` open rows."""
        return self.read(len(self.tokens), np.arange(rows))[0]

    def looked(self, latest: FloatArray) -> FloatArray:
        """(N, S): the attention of each row, summed over its steps and the one under way, whose own is `latest`."""
        total = latest.astype(np.float64)
        here: IntArray = np.arange(len(latest))
        for step in reversed(range(len(self.tokens))):
            here = self.parents[step][here]
            total += self.attention[step][here]
        return total

    def keep(self, rows: IntArray) -> None:
        """Forgets the other rows of the last step."""
        self.tokens[-1] = self.tokens[-1][rows]
        self.log_probabilities[-1] = self.log_probabilities[-1][rows]
        self.parents[-1] = self.parents[-1][rows]


@dataclass(frozen=True)
class Pool:
    """The best ended hypotheses of each sentence still searched, (A, n_best), best first."""

    score: FloatArray  # NEVER where there is none yet
    log_probability: FloatArray
    end_log_probability: FloatArray
    length: IntArray  # END counted
    row: IntArray  # the row, of the step before the last, that END followed

    @classmethod
    def empty(cls, sentences: int, n_best: int) -> Pool:
        shape = (sentences, n_best)
        none, zero = np.full(shape, NEVER), np.zeros(shape, dtype=np.int64)
        return cls(score=none, log_probability=none, end_log_probability=none, length=zero, row=zero)

    def merged(self, offered: Pool) -> Pool:
        """The best of both, as many as there were; earlier ones first where scores are equal."""
        order = np.argsort(-np.concatenate([self.score, offered.score], axis=1), axis=1, kind="stable")
        order = order[:, : self.score.shape[1]]
        best = {
            field.name: np.take_along_axis(
                np.concatenate([getattr(self, field.name), getattr(offered, field.name)], axis=1), order, axis=1
            )
            for field in fields(self)
        }
        return replace(self, **best)

    def keep(self, sentences: IntArray) -> Pool:
        return replace(self, **{field.name: getattr(self, field.name)[sentences] for field in fields(self)})


class BeamSearch(Generic[StateT]):
    """One search under way over a batch of sentences."""

    def __init__(
        self, model: StepModel[StateT], source: SourceArray, config: SearchConfig, observer: Observer, guide: Guide
    ) -> None:
        self.model = model
        self.observer = observer
        self.guide = guide
        self.source = source
        self.beam = config.rows
        self.candidates = 1 if guide.draws or self.beam == 1 else self.beam + 1  # one may be END, and K are to go on
        self.scored = config.scored or self.beam > 1 or guide.draws
        self.unknown = 0.0 if self.scored else math.nan  # is added to what is told of scores
        self.ranking = Ranking.of(config)
        self.sentences = np.arange(len(source))  # (A,)
        self.limits = length_limits(source, config, guide.forced)  # (A,)
        first = self.beam if guide.draws else 1  # hypotheses part at their first token, samples have theirs drawn apart
        self.scores = np.zeros((len(source), first))  # (A, K) log-probabilities of the open rows
        self.pool = Pool.empty(len(source), min(config.n_best, self.beam))
        self.trail = Trail([], [], [], [])
        self.results: list[list[Found]] = [[] for _ in source]

    def run(self) -> list[list[Found]]:
        state = self.model.encode(self.source).select(np.repeat(self.sentences, self.scores.shape[1]))
        previous: IntArray = np.full(self.scores.size, Tokenizer.START)
        while self.sentences.size:
            candidates = self.guide.candidates(self.candidates, self.length)
            step = self.model.step(previous, state, candidates, scored=self.scored)
            if self.guide.constraints:
                step = self.guide.narrowed(step, self.open_rows(), self.candidates)
            self.end_rows(step)
            self.extend_rows(step)
            self.close_sentences()
            previous = self.trail.tokens[-1]
            state = step.state.select(self.trail.parents[-1])
        return self.results

    def open_rows(self) -> Rows:
        return Rows(
            history=self.trail.history(self.scores.size),
            sentences=np.repeat(self.sentences, self.scores.shape[1]),
            places=np.tile(np.arange(self.scores.shape[1]), len(self.sentences)),
        )

    @property
    def length(self) -> int:
        """Steps done."""
        return len(self.trail.tokens)

    def end_rows(self, step: Step[StateT]) -> None:
        """Offers every row to the pool as ended here, where END is among its candidates."""
        is_end = step.tokens == Tokenizer.END
        if not is_end.any():
            return
        end = np.where(is_end, step.log_probabilities, NEVER).max(axis=1).reshape(self.scores.shape)
        total = self.scores + end
        length = self.length + 1
        offered = Pool(
            score=self.ranking.score(total, length, self.coverage(step)),
            log_probability=total,
            end_log_probability=end,
            length=np.full(total.shape, length),
            row=np.arange(total.size).reshape(total.shape),
        )
        self.pool = self.pool.merged(offered)

    def coverage(self, step: Step[StateT]) -> FloatArray | float:
        """(A, K): the coverage penalty of every row, if it ended here."""
        if not self.ranking.coverage.beta:
            return 0.0
        true = np.repeat(true_positions(self.source[self.sentences]), self.scores.shape[1], axis=0)
        return self.ranking.coverage(self.trail.looked(step.attention), true).reshape(self.scores.shape)

    def extend_rows(self, step: Step[StateT]) -> None:
        """Of all open continuations of a sentence, the K best become its rows."""
        sentences = len(self.scores)
        ended = step.tokens == Tokenizer.END
        totals = self.scores.reshape(-1, 1) + np.where(ended, NEVER, step.log_probabilities)
        totals = totals.reshape(sentences, -1)  # (A, K * C)
        best = np.argsort(-totals, axis=1, kind="stable")[:, : self.beam]  # (A, K)
        flat = (best + np.arange(sentences)[:, None] * totals.shape[1]).ravel()  # into (N * C)
        self.observer.extended(Extension(self.scores, step.tokens, step.log_probabilities, flat))
        self.scores = np.take_along_axis(totals, best, axis=1)
        self.trail.tokens.append(step.tokens.ravel()[flat])
        self.trail.log_probabilities.append(step.log_probabilities.ravel()[flat])
        self.trail.parents.append(flat // step.tokens.shape[1])
        self.trail.attention.append(step.attention)

    def close_sentences(self) -> None:
        """Writes down the results of sentences that no open row can improve, and goes on with the others."""
        reachable = self.ranking.reachable(self.scores[:, 0], self.limits)
        over = (self.pool.score[:, -1] >= reachable) | (self.limits <= self.length)
        closing: IntArray = np.flatnonzero(over)
        for index, found in self.ended(closing):
            self.results[self.sentences[index]].append(found)
        for index in closing[~np.isfinite(self.pool.score[closing, 0])].tolist():  # none ended
            self.results[self.sentences[index]] = self.cut(index)
        keep = filled(~over)
        beam = self.scores.shape[1]
        rows = (keep[:, None] * beam + np.arange(beam)).ravel()
        self.trail.keep(rows)
        self.sentences, self.limits, self.scores = self.sentences[keep], self.limits[keep], self.scores[keep]
        self.pool = self.pool.keep(keep)

    def ended(self, closing: IntArray) -> list[tuple[int, Found]]:
        """The hypotheses in the pools of the sentences at these places, each with its place, best first."""
        sentences, ranks = np.nonzero(np.isfinite(self.pool.score[closing]))
        own = (closing[sentences], ranks)
        lengths, rows = self.pool.length[own], self.pool.row[own]
        told = (self.pool.score, self.pool.log_probability, self.pool.end_log_probability)
        scores, totals, ends = ((values[own] + self.unknown).tolist() for values in told)
        found: dict[int, Found] = {}
        for length in sorted(set(lengths.tolist())):  # those of one length are read together
            group = np.flatnonzero(lengths == length)
            tokens, log_probabilities, parents = self.trail.read(length - 1, rows[group])
            log_probabilities += self.unknown
            attention = self.trail.attention_of(np.column_stack([parents, rows[group]]))
            for row, place in enumerate(group.tolist()):
                found[place] = Found(
                    tokens=(*tokens[row].tolist(), Tokenizer.END),
                    log_probability=totals[place],
                    score=scores[place],
                    token_log_probabilities=(*log_probabilities[row].tolist(), ends[place]),
                    attention=attention[row],
                    finished=True,
                )
        return [(sentence, found[place]) for place, sentence in enumerate(own[0].tolist())]

    def cut(self, index: int) -> list[Found]:
        """The open hypotheses of a sentence that reached its limit before any ended, best first."""
        places = np.flatnonzero(np.isfinite(self.scores[index]))
        tokens, log_probabilities, parents = self.trail.read(self.length, index * self.scores.shape[1] + places)
        attention = self.trail.attention_of(parents)
        coverage = self.ranking.coverage(
            attention.sum(axis=1), true_positions(self.source[self.sentences[index], None])
        )
        totals = self.scores[index, places]
        scores = self.ranking.score(totals, self.length, coverage)
        return [
            Found(
                tokens=tuple(tokens[row].tolist()),
                log_probability=float(totals[row] + self.unknown),
                score=float(scores[row] + self.unknown),
                token_log_probabilities=tuple((log_probabilities[row] + self.unknown).tolist()),
                attention=attention[row],
                finished=False,
            )
            for row in np.argsort(-scores, kind="stable")[: self.pool.score.shape[1]]
        ]
