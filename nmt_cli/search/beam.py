"""Greedy and beam search over any step model. Knows no network, no text and no files.

Letters: B sentences, A sentences still searched, K beam size (1 at the first step), C candidates a row, N = A * K rows,
S source positions, T produced tokens. Log-probabilities are natural; a hypothesis of length T counts its
end-of-sentence token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.special_ids import END, START
from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.constraints import NEVER, Rows
from nmt_cli.search.guide import Guide
from nmt_cli.search.ranking import Ranking
from nmt_cli.search.step_model import StateT, Step, StepModel
from nmt_cli.sources.source import ADDED


class Found(NamedTuple):
    """A hypothesis in ids; its last token is END where the network ended it (`finished`)."""

    tokens: tuple[int, ...]  # T
    log_probability: float
    score: float  # what hypotheses are ranked by (`penalties.Ranking`)
    token_log_probabilities: tuple[float, ...]  # T
    attention: FloatArray  # (T, S)
    finished: bool


class Extension(NamedTuple):
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

    `guide` is what constrains them; without one it is what `config` asks for, less what needs text. Samples need one:
    raises ValueError.

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


# An ended hypothesis: what it is ranked by, its log-probability and that of END alone, its length (END counted), and
# the row, of the step before the last, that END followed.
ENDED = np.dtype(
    [
        ("score", np.float64),
        ("log_probability", np.float64),
        ("end_log_probability", np.float64),
        ("length", np.int64),
        ("row", np.int64),
    ]
)


class Steps(NamedTuple):
    """What R rows were made of: the T steps to each, and behind the last of them END, 0, and the row itself."""

    tokens: IntArray  # (R, T)
    log_probabilities: FloatArray  # (R, T), of each token
    parents: IntArray  # (R, T), the rows that chose them


@dataclass
class Trail:
    """What every row chose at every step, so that hypotheses can be read backwards from their last rows."""

    tokens: list[IntArray]  # a step: (N,)
    log_probabilities: list[FloatArray]  # a step: (N,), of the token alone
    parents: list[IntArray]  # a step: (N,), the row of the step before
    attention: list[FloatArray]  # a step: (rows of the step before, S)

    def read(self, rows: IntArray, lengths: IntArray) -> Steps:
        """The first `lengths` steps to `rows`, of which the longest must come first."""
        shape = len(rows), int(lengths.max(initial=0)) + 1
        tokens, log_probabilities = np.full(shape, END, dtype=np.int64), np.zeros(shape)
        parents = np.repeat(rows[:, np.newaxis], shape[1], axis=1)
        here = rows.copy()
        for step in reversed(range(shape[1] - 1)):
            reaching = np.searchsorted(-lengths, -step)  # so many of them have this step
            own = here[:reaching]
            tokens[:reaching, step] = self.tokens[step][own]
            log_probabilities[:reaching, step] = self.log_probabilities[step][own]
            here[:reaching] = parents[:reaching, step] = self.parents[step][own]
        return Steps(tokens, log_probabilities, parents)

    def attention_of(self, parents: IntArray, lengths: IntArray) -> FloatArray:
        """(R, T, S): what the rows `parents` (R, T) looked at, in as many steps as each of `lengths` says."""
        found = np.zeros((*parents.shape, self.attention[0].shape[1]), dtype=self.attention[0].dtype)
        for step in range(parents.shape[1]):
            reaching = np.searchsorted(-lengths, -step)
            found[:reaching, step] = self.attention[step][parents[:reaching, step]]
        return found

    def history(self, rows: int) -> IntArray:
        """(N, T): the tokens of each of the `rows` open rows."""
        return self.read(np.arange(rows), np.full(rows, len(self.tokens)))[0][:, :-1]

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
        self.pool = np.zeros((len(source), min(config.n_best, self.beam)), dtype=ENDED)  # (A, n_best), best first
        self.pool["score"] = NEVER  # where there is none yet
        self.closed: list[tuple[IntArray, NDArray[np.void]]] = []  # at each step: sentences (B,), pools (B, n_best)
        self.trail = Trail([], [], [], [])
        self.results: list[list[Found]] = [[] for _ in source]

    def run(self) -> list[list[Found]]:
        state = self.model.encode(self.source).select(np.repeat(self.sentences, self.scores.shape[1]))
        previous: IntArray = np.full(self.scores.size, START)
        while self.sentences.size:
            candidates = self.guide.candidates(self.candidates, self.length)
            step = self.model.step(previous, state, candidates, scored=self.scored)
            if self.guide.constraints:
                step = self.guide.narrowed(step, self.open_rows(), self.candidates)
            is_end = step.tokens == END
            if is_end.any():
                self.end_rows(step, is_end)
            self.extend_rows(step, is_end)
            self.close_sentences()
            previous = self.trail.tokens[-1]
            state = step.state.select(self.trail.parents[-1])
        self.read_ended()
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

    def end_rows(self, step: Step[StateT], is_end: NDArray[np.bool_]) -> None:
        """Offers every row to the pool as ended here, where END is among its candidates (N, C)."""
        by_sentence = (*self.scores.shape, -1)  # (A, K, C)
        sentences = np.flatnonzero(is_end.reshape(len(self.scores), -1).any(axis=1))
        log_probabilities = step.log_probabilities.reshape(by_sentence)[sentences]
        end = np.where(is_end.reshape(by_sentence)[sentences], log_probabilities, NEVER).max(axis=2)
        total = self.scores[sentences] + end
        offered = np.empty(total.shape, dtype=ENDED)
        offered["score"] = self.ranking.score(total, self.length + 1, self.coverage(step, sentences))
        offered["log_probability"] = total
        offered["end_log_probability"] = end
        offered["length"] = self.length + 1
        offered["row"] = np.arange(self.scores.size).reshape(self.scores.shape)[sentences]
        both = np.concatenate([self.pool[sentences], offered], axis=1)  # of equal ones the earlier stay in front
        order = np.argsort(-both["score"], axis=1, kind="stable")[:, : self.pool.shape[1]]
        self.pool[sentences] = np.take_along_axis(both, order, axis=1)

    def coverage(self, step: Step[StateT], sentences: IntArray) -> FloatArray | float:
        """(R, K): the coverage penalty of every row of R of the sentences, if it ended here."""
        if not self.ranking.coverage.beta:
            return 0.0
        true = np.repeat(true_positions(self.source[self.sentences]), self.scores.shape[1], axis=0)
        penalties = self.ranking.coverage(self.trail.looked(step.attention), true)
        return penalties.reshape(self.scores.shape)[sentences]

    def extend_rows(self, step: Step[StateT], is_end: NDArray[np.bool_]) -> None:
        """Of all open continuations of a sentence, the K best become its rows."""
        sentences = len(self.scores)
        totals = self.scores.reshape(-1, 1) + np.where(is_end, NEVER, step.log_probabilities)  # (N, C)
        by_sentence = totals.reshape(sentences, -1)  # (A, K * C)
        best = np.argsort(-by_sentence, axis=1, kind="stable")[:, : self.beam]  # (A, K)
        best += np.arange(sentences)[:, np.newaxis] * by_sentence.shape[1]
        flat = best.ravel()  # into (N * C)
        self.observer.extended(Extension(self.scores, step.tokens, step.log_probabilities, flat))
        self.scores = totals.ravel()[best]
        self.trail.tokens.append(step.tokens.ravel()[flat])
        self.trail.log_probabilities.append(step.log_probabilities.ravel()[flat])
        self.trail.parents.append(flat // step.tokens.shape[1])
        self.trail.attention.append(step.attention)

    def close_sentences(self) -> None:
        """Goes on without the sentences that no open row can improve."""
        reachable = self.ranking.reachable(self.scores[:, 0], self.limits)
        over = (self.pool["score"][:, -1] >= reachable) | (self.limits <= self.length)
        if not over.any():
            return
        closing: IntArray = np.flatnonzero(over)
        self.closed.append((self.sentences[closing], self.pool[closing]))
        none_ended = ~np.isfinite(self.pool["score"][closing, 0])
        for index in closing[none_ended | self.guide.draws].tolist():  # every sample is given, ended or not
            self.results[self.sentences[index]] = self.cut(index)
        keep = filled(~over)
        beam = self.scores.shape[1]
        rows = (keep[:, None] * beam + np.arange(beam)).ravel()
        self.trail.keep(rows)
        self.sentences, self.limits, self.scores = self.sentences[keep], self.limits[keep], self.scores[keep]
        self.pool = self.pool[keep]

    def read_ended(self) -> None:
        """Writes down the ended hypotheses of all sentences: all at once, which takes as few steps as those of one."""
        if not self.closed:
            return
        sentences, pools = map(np.concatenate, zip(*self.closed, strict=True))
        places, ranks = np.nonzero(np.isfinite(pools["score"]))
        ended = pools[places, ranks]
        order = np.argsort(-ended["length"], kind="stable")
        lengths, rows = ended["length"][order], ended["row"][order]
        tokens, log_probabilities, parents = self.trail.read(rows, lengths - 1)
        attention = self.trail.attention_of(parents, lengths)
        log_probabilities[np.arange(len(order)), lengths - 1] = ended["end_log_probability"][order]
        log_probabilities += self.unknown
        totals, scores = ((ended[name] + self.unknown).tolist() for name in ("log_probability", "score"))
        found: dict[int, Found] = {}
        for row, (place, length) in enumerate(zip(order.tolist(), lengths.tolist(), strict=True)):
            found[place] = Found(
                tokens=tuple(tokens[row, :length].tolist()),
                log_probability=totals[place],
                score=scores[place],
                token_log_probabilities=tuple(log_probabilities[row, :length].tolist()),
                attention=attention[row, :length],
                finished=True,
            )
        for place, sentence in enumerate(sentences[places].tolist()):
            self.results[sentence].append(found[place])
        if self.guide.draws:
            for own in self.results:
                own.sort(key=lambda one: -one.score)

    def cut(self, index: int) -> list[Found]:
        """The open hypotheses of a sentence at its limit, best first."""
        places = np.flatnonzero(np.isfinite(self.scores[index]))
        lengths = np.full(len(places), self.length)
        tokens, log_probabilities, parents = self.trail.read(index * self.scores.shape[1] + places, lengths)
        attention = self.trail.attention_of(parents[:, :-1], lengths)
        coverage = self.ranking.coverage(
            attention.sum(axis=1), true_positions(self.source[self.sentences[index], None])
        )
        totals = self.scores[index, places]
        scores = self.ranking.score(totals, self.length, coverage)
        return [
            Found(
                tokens=tuple(tokens[row, :-1].tolist()),
                log_probability=float(totals[row] + self.unknown),
                score=float(scores[row] + self.unknown),
                token_log_probabilities=tuple((log_probabilities[row, :-1] + self.unknown).tolist()),
                attention=attention[row],
                finished=False,
            )
            for row in np.argsort(-scores, kind="stable")[: self.pool.shape[1]]
        ]
