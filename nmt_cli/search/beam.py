"""Greedy and beam search over any step model. Does not depend on networks, texts or files.

An example: one sentence, K = 2, one requested hypothesis, at most 4 tokens, and scores that are means per token:

1. The model offers a (-0.4), END (-1.2) and b (-1.6). END makes the finished hypothesis "" with the score -1.2; "a" and
   "b" stay open.
2. After "a" it offers END (-0.3) and b (-1.1). "a" ends with (-0.4 - 0.3) / 2 = -0.35, which takes the place of "";
   "a b" (-1.5) and a continuation of "b" stay open.
3. Any continuation of "a b" has at most the score -1.5 / 4 = -0.375 (`Ranking.bound_score`), which is less than
   -0.35: the sentence is closed with "a".

Letters: B sentences, A sentences still searched, K beam size (1 at the first step), C candidates per row, N = A * K
rows, S source positions, T target tokens. Log-probabilities are natural logarithms; the length T of a hypothesis
includes its end-of-sentence token."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import END, START, FloatArray, IntArray, SourceArray
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import NEVER, Guide, Rows, limit_lengths
from nmt_cli.search.step_model import SearchResult, StateT, Step, StepModel

# The steps of a search, as pointers from every row to the row that it continues, and how hypotheses are traced back.
#
# Letters: N rows of a step, R rows traced back, T steps, S source positions.


class Steps(NamedTuple):
    """The T steps that led to each of R rows; after its last step, a row is filled with END, 0 and its own number."""

    tokens: IntArray  # (R, T)
    log_probabilities: FloatArray  # (R, T), of each token alone
    parents: IntArray  # (R, T), the rows that they continue


@dataclass
class Backpointers:
    """The token and the parent of every row at every step, for tracing back hypotheses."""

    tokens: list[IntArray]  # one array per step: (N,)
    log_probabilities: list[FloatArray]  # one array per step: (N,), of the token alone
    parents: list[IntArray]  # one array per step: (N,), the row of the step before
    attention: list[FloatArray]  # one array per step: (rows of the step before, S)

    def backtrace(self, rows: IntArray, lengths: IntArray) -> Steps:
        """Returns the first `lengths` steps that led to `rows`; the longest hypothesis must come first."""
        shape = len(rows), int(lengths.max(initial=0)) + 1
        tokens, log_probabilities = np.full(shape, END, dtype=np.int64), np.zeros(shape)
        parents = np.repeat(rows[:, np.newaxis], shape[1], axis=1)
        here = rows.copy()
        for step in reversed(range(shape[1] - 1)):
            reaching = np.searchsorted(-lengths, -step)  # the number of rows that have this step
            reached = here[:reaching]
            tokens[:reaching, step] = self.tokens[step][reached]
            log_probabilities[:reaching, step] = self.log_probabilities[step][reached]
            here[:reaching] = parents[:reaching, step] = self.parents[step][reached]
        return Steps(tokens, log_probabilities, parents)

    def gather_attention(self, parents: IntArray, lengths: IntArray) -> FloatArray:
        """Returns (R, T, S): the attention of the rows `parents` (R, T) in the first `lengths` steps of each."""
        attention = np.zeros((*parents.shape, self.attention[0].shape[1]), dtype=self.attention[0].dtype)
        for step in range(parents.shape[1]):
            reaching = np.searchsorted(-lengths, -step)
            attention[:reaching, step] = self.attention[step][parents[:reaching, step]]
        return attention

    def read_history(self, rows: int) -> IntArray:
        """Returns (N, T): the tokens of each of the `rows` open rows."""
        return self.backtrace(np.arange(rows), np.full(rows, len(self.tokens))).tokens[:, :-1]

    def sum_attention(self, latest: FloatArray) -> FloatArray:
        """Returns (N, S): the attention of each row, summed over its previous steps and `latest`, the current one."""
        total = latest.astype(np.float64)
        here: IntArray = np.arange(len(latest))
        for step in reversed(range(len(self.tokens))):
            here = self.parents[step][here]
            total += self.attention[step][here]
        return total

    def prune(self, rows: IntArray) -> None:
        """Drops all rows of the last step except `rows`."""
        self.tokens[-1] = self.tokens[-1][rows]
        self.log_probabilities[-1] = self.log_probabilities[-1][rows]
        self.parents[-1] = self.parents[-1][rows]


# Ranks hypotheses of different lengths by s(Y, X) = log P(Y | X) / lp(Y) + cp(X; Y). Does not depend on search.
#
# Source: Wu et al. (2016), equation 14. Letters: N rows, S source positions.


# Attention can underflow to 0 in 32 bits; the logarithm of 0 would make every score of the sentence -inf.
MIN_ATTENTION = 1e-6


class LengthPenalty(NamedTuple):
    """lp: length^alpha (at alpha 1, scores are means per token) or ((5 + length) / 6)^alpha (Wu et al.).

    Positive and non-decreasing in the number of tokens; `Ranking.bound_score` relies on that.
    """

    alpha: float
    averages: bool = True

    def __call__(self, length: int | IntArray) -> FloatArray:
        base = np.asarray(length, dtype=np.float64)
        return np.asarray((base if self.averages else (5.0 + base) / 6.0) ** self.alpha)


class CoveragePenalty(NamedTuple):
    """beta * sum over the source of log(min(a, 1)), where a is the attention of a position, summed over the target."""

    beta: float

    def __call__(self, attention_sum: FloatArray, is_real: NDArray[np.bool_]) -> FloatArray:
        """Returns (N,), at most 0. `attention_sum` (N, S) is summed over the target; `is_real` (N, S) excludes padding.

        The penalty is 0 if no position has attention, as in a network without attention.
        """
        is_real = is_real & attention_sum.any(axis=1, keepdims=True)
        share = np.log(np.clip(attention_sum, MIN_ATTENTION, 1.0))
        # A running sum adds from left to right, so padding changes no digit; `sum` adds in blocks.
        return np.asarray(self.beta * np.cumsum(np.where(is_real, share, 0.0), axis=1)[:, -1])


class Ranking(NamedTuple):
    """Computes the score by which finished hypotheses are ranked."""

    length: LengthPenalty
    coverage: CoveragePenalty

    @classmethod
    def from_config(cls, config: SearchOptions) -> Self:
        length = LengthPenalty(config.length_penalty, averages=config.length_normalisation == "average")
        return cls(length, CoveragePenalty(config.coverage_penalty))

    def score(self, log_probability: FloatArray, length: int | IntArray, coverage: FloatArray | float) -> FloatArray:
        """Returns the scores of hypotheses of `length` tokens with these coverage penalties."""
        return np.asarray(log_probability / self.length(length) + coverage)

    def bound_score(self, log_probability: FloatArray, limit: IntArray) -> FloatArray:
        """Returns an upper bound on the scores of all continuations of open hypotheses.

        Further tokens only lower a log-probability, which is at most 0, so the largest divisor, that of `limit` tokens,
        gives the highest quotient. Coverage adds at most 0.
        """
        return np.asarray(log_probability / self.length(limit))


class Extension(NamedTuple):
    """The candidates that one step offered to the open rows, and the chosen ones."""

    scores: FloatArray  # (A, K) log-probabilities of the rows so far; NEVER for a row without a hypothesis
    tokens: IntArray  # (N, C) the candidates of each row
    log_probabilities: FloatArray  # (N, C)
    chosen: IntArray  # (A * K,) indices into (N * C) of the candidates that became the next rows


class Observer:
    """Watches a search without changing it. This base class does nothing; `BeamTrace` collects a tree."""

    def watch_step(self, extension: Extension) -> None:
        """Called after each step."""


def find_real_positions(source: SourceArray) -> NDArray[np.bool_]:
    """Returns (B, S): False for padding, which is 0 among ids and NaN among features."""
    return np.asarray(source != 0 if source.ndim == 2 else ~np.isnan(source[:, :, 0]))


def compute_compacting_order(is_open: NDArray[np.bool_]) -> IntArray:
    """Returns the indices of the open entries, ordered so that the last ones fill the holes and no others move."""
    count = int(np.count_nonzero(is_open))
    order = np.arange(count)
    order[~is_open[:count]] = count + np.flatnonzero(is_open[count:])
    return order


# A finished hypothesis: the score by which it is ranked, its log-probability and that of END alone, its length (with
# END), and the row of the previous step, which END follows.
FINISHED = np.dtype(
    [
        ("score", np.float64),
        ("log_probability", np.float64),
        ("end_log_probability", np.float64),
        ("length", np.int64),
        ("row", np.int64),
    ]
)


class BeamSearch(Generic[StateT]):
    """One search over a batch of sentences.

    A beam of 1 is greedy search: it takes the likeliest token at every step, until that is END; its scores are NaN if
    `config.scored` is false. A wider beam loses no hypothesis that it could still reach: a sentence is searched until
    the best possible score of its open rows is worse than those of its finished hypotheses (`Ranking.bound_score`).
    The result of a sentence does not depend on the other sentences of its batch.
    """

    def __init__(
        self,
        model: StepModel[StateT],
        source: SourceArray,
        config: SearchOptions,
        observer: Observer | None = None,
        guide: Guide | None = None,
    ) -> None:
        """`source` (B, S, ...) is a batch of a source side (`sources.source`).

        `guide` holds the constraints; by default it is made from `config`, without those that need text. Raises
        ValueError for sampling without a guide.
        """
        self.model = model
        self.observer = observer or Observer()
        self.guide = guide = guide or Guide.from_config(config)
        self.source = source
        self.beam = config.rows
        self.candidates = 1 if guide.is_sampling or self.beam == 1 else self.beam + 1  # one may be END, and K stay open
        self.scored = config.scored or self.beam > 1 or guide.is_sampling
        self.score_offset = 0.0 if self.scored else math.nan  # added to every score that is returned
        self.ranking = Ranking.from_config(config)
        self.sentences = np.arange(len(source))  # (A,)
        self.limits = limit_lengths(source, config, guide.prefix_length, guide.target_prefix)  # (A,)
        rows = self.beam if guide.is_sampling else 1  # hypotheses differ from their first token on, samples need not
        self.scores = np.zeros((len(source), rows))  # (A, K) log-probabilities of the open rows
        pool = len(source), min(config.n_best, self.beam)
        self.finished = np.zeros(pool, dtype=FINISHED)  # (A, n_best), best first
        self.finished["score"] = NEVER  # where there is none yet
        # The sentences that each step closed, and their finished hypotheses.
        self.closed: list[tuple[IntArray, NDArray[np.void]]] = []
        self.backpointers = Backpointers([], [], [], [])
        self.results: list[list[SearchResult]] = [[] for _ in source]

    def run(self) -> list[list[SearchResult]]:
        """Returns at most `n_best` hypotheses of each sentence, best first."""
        # 0. Read the source, and feed what translations begin with, if the model can: search then starts behind it.
        state, target_prefix, rows = self.model.encode(self.source), self.guide.target_prefix, self.list_sentences()
        behind = None if target_prefix is None else target_prefix.feed(self.model, state)
        if target_prefix is None or behind is None:
            state, previous = state.select(rows), np.full(rows.shape, START)
        else:
            state, previous = behind.state.select(rows), behind.previous[rows]
            self.limits -= target_prefix.lengths
            self.guide = self.guide._replace(target_prefix=None)
        while self.sentences.size:
            # 1. Ask the model for the best next tokens of every open hypothesis; drop those that are not allowed.
            candidates = self.guide.count_candidates(self.candidates, self.length)
            step = self.model.step(previous, state, candidates, scored=self.scored)
            if self.guide.narrows:
                step = self.guide.narrow_step(step, self.describe_open_rows, self.candidates)
            if self.guide.target_prefix is not None:
                step = self.guide.target_prefix.force(step, self.list_sentences(), self.length)
            # 2. Offer every hypothesis that END may follow as a finished one; keep the best n.
            is_end = step.tokens == END
            if is_end.any():
                self.end_rows(step, is_end)
            # 3. Rank all other extensions of a sentence together; keep the best K open.
            self.extend_rows(step, is_end)
            # 4. Close the sentences whose best open hypothesis can no longer beat their worst finished one.
            self.close_sentences()
            previous = self.backpointers.tokens[-1]
            state = step.state.select(self.backpointers.parents[-1])
        # 5. Trace the finished hypotheses back to their tokens.
        self.read_finished()
        return self.results if self.guide.target_prefix is None else self.guide.target_prefix.remove(self.results)

    def describe_open_rows(self) -> Rows:
        """Returns the open rows in the form that constraints read."""
        history, sentences = self.backpointers.read_history(self.scores.size), self.list_sentences()
        return Rows(
            history=history if self.guide.target_prefix is None else self.guide.target_prefix.mask(history, sentences),
            sentences=sentences,
            ranks=np.tile(np.arange(self.scores.shape[1]), len(self.sentences)),
        )

    def list_sentences(self) -> IntArray:
        """Returns (N,): the sentence of each open row."""
        return np.repeat(self.sentences, self.scores.shape[1])

    @property
    def length(self) -> int:
        """The number of steps so far."""
        return len(self.backpointers.tokens)

    def measure_leads(self, sentences: IntArray) -> IntArray | int:
        """Returns the lengths of the target prefixes of these sentences; 0 if there are no prefixes."""
        return 0 if self.guide.target_prefix is None else self.guide.target_prefix.lengths[sentences]

    def end_rows(self, step: Step[StateT], is_end: NDArray[np.bool_]) -> None:
        """Offers each row with END among its candidates, `is_end` (N, C), as a finished hypothesis; keeps the best."""
        by_sentence = (*self.scores.shape, -1)  # (A, K, C)
        sentences = np.flatnonzero(is_end.reshape(len(self.scores), -1).any(axis=1))
        log_probabilities = step.log_probabilities.reshape(by_sentence)[sentences]
        end = np.where(is_end.reshape(by_sentence)[sentences], log_probabilities, NEVER).max(axis=2)
        total = self.scores[sentences] + end
        offered = np.empty(total.shape, dtype=FINISHED)  # one array of all five: sorted and selected at once
        length = self.length + 1 - self.measure_leads(self.sentences[sentences, None])  # END included
        offered["score"] = self.ranking.score(total, length, self.penalise_coverage(step, sentences))
        offered["log_probability"] = total
        offered["end_log_probability"] = end
        offered["length"] = self.length + 1
        offered["row"] = np.arange(self.scores.size).reshape(self.scores.shape)[sentences]
        rivals = np.concatenate([self.finished[sentences], offered], axis=1)  # the earlier one wins a tie
        order = np.argsort(-rivals["score"], axis=1, kind="stable")[:, : self.finished.shape[1]]
        self.finished[sentences] = np.take_along_axis(rivals, order, axis=1)

    def penalise_coverage(self, step: Step[StateT], sentences: IntArray) -> FloatArray | float:
        """Returns (R, K): the coverage penalty of the rows of R sentences if they ended here; 0 without one."""
        if not self.ranking.coverage.beta:
            return 0.0
        is_real = np.repeat(find_real_positions(self.source[self.sentences]), self.scores.shape[1], axis=0)
        penalties = self.ranking.coverage(self.backpointers.sum_attention(step.attention), is_real)
        return penalties.reshape(self.scores.shape)[sentences]

    def extend_rows(self, step: Step[StateT], is_end: NDArray[np.bool_]) -> None:
        """Makes the K best extensions of each sentence its new rows."""
        sentences = len(self.scores)
        target_prefix = self.guide.target_prefix
        width = (
            self.beam
            if target_prefix is None or target_prefix.is_over(self.sentences, self.length)
            else self.scores.shape[1]
        )
        totals = self.scores.reshape(-1, 1) + np.where(is_end, NEVER, step.log_probabilities)  # (N, C)
        by_sentence = totals.reshape(sentences, -1)  # (A, K * C)
        best = np.argsort(-by_sentence, axis=1, kind="stable")[
            :, :width
        ]  # (A, K), as many as before where target prefixes leave no choice
        best += np.arange(sentences)[:, np.newaxis] * by_sentence.shape[1]
        flat = best.ravel()  # indices into (N * C)
        self.observer.watch_step(Extension(self.scores, step.tokens, step.log_probabilities, flat))
        self.scores = totals.ravel()[best]
        self.backpointers.tokens.append(step.tokens.ravel()[flat])
        self.backpointers.log_probabilities.append(step.log_probabilities.ravel()[flat])
        self.backpointers.parents.append(flat // step.tokens.shape[1])
        self.backpointers.attention.append(step.attention)

    def close_sentences(self) -> None:
        """Closes the sentences that no open row can improve, and those at their limit."""
        bound = self.ranking.bound_score(self.scores[:, 0], self.limits - self.measure_leads(self.sentences))
        over = (self.finished["score"][:, -1] >= bound) | (self.limits <= self.length)
        if not over.any():
            return
        closing: IntArray = np.flatnonzero(over)
        self.closed.append((self.sentences[closing], self.finished[closing]))
        has_none = ~np.isfinite(self.finished["score"][closing, 0])
        for index in closing[has_none | self.guide.is_sampling].tolist():  # each sample is returned, finished or not
            self.results[self.sentences[index]] = self.read_open(index)
        keep = compute_compacting_order(~over)
        beam = self.scores.shape[1]
        rows = (keep[:, None] * beam + np.arange(beam)).ravel()
        self.backpointers.prune(rows)
        self.sentences, self.limits, self.scores = self.sentences[keep], self.limits[keep], self.scores[keep]
        self.finished = self.finished[keep]

    def read_finished(self) -> None:
        """Traces back the finished hypotheses of all sentences at once, through the steps of the longest."""
        if not self.closed:
            return
        sentences, finished = map(np.concatenate, zip(*self.closed, strict=True))
        indices, ranks = np.nonzero(np.isfinite(finished["score"]))
        hypotheses = finished[indices, ranks]
        order = np.argsort(-hypotheses["length"], kind="stable")  # backtracing starts with the longest
        lengths, rows = hypotheses["length"][order], hypotheses["row"][order]
        tokens, log_probabilities, parents = self.backpointers.backtrace(rows, lengths - 1)
        attention = self.backpointers.gather_attention(parents, lengths)
        log_probabilities[np.arange(len(order)), lengths - 1] = hypotheses["end_log_probability"][order]
        log_probabilities += self.score_offset
        totals, scores = ((hypotheses[name] + self.score_offset).tolist() for name in ("log_probability", "score"))
        results: dict[int, SearchResult] = {}
        for row, (index, length) in enumerate(zip(order.tolist(), lengths.tolist(), strict=True)):
            results[index] = SearchResult(
                tokens=tuple(tokens[row, :length].tolist()),
                log_probability=totals[index],
                score=scores[index],
                token_log_probabilities=tuple(log_probabilities[row, :length].tolist()),
                attention=attention[row, :length],
                finished=True,
            )
        for index, sentence in enumerate(sentences[indices].tolist()):
            self.results[sentence].append(results[index])
        if self.guide.is_sampling:
            for samples in self.results:
                samples.sort(key=lambda result: -result.score)

    def read_open(self, index: int) -> list[SearchResult]:
        """Returns the open hypotheses of a sentence that has reached its limit, best first."""
        ranks = np.flatnonzero(np.isfinite(self.scores[index]))
        lengths = np.full(len(ranks), self.length)
        tokens, log_probabilities, parents = self.backpointers.backtrace(index * self.scores.shape[1] + ranks, lengths)
        attention = self.backpointers.gather_attention(parents[:, :-1], lengths)
        coverage = self.ranking.coverage(
            attention.sum(axis=1), find_real_positions(self.source[self.sentences[index], None])
        )
        totals = self.scores[index, ranks]
        own_length = self.length - self.measure_leads(self.sentences[index])
        scores = self.ranking.score(totals, own_length, coverage)
        return [
            SearchResult(
                tokens=tuple(tokens[row, :-1].tolist()),
                log_probability=float(totals[row] + self.score_offset),
                score=float(scores[row] + self.score_offset),
                token_log_probabilities=tuple((log_probabilities[row, :-1] + self.score_offset).tolist()),
                attention=attention[row],
                finished=False,
            )
            for row in np.argsort(-scores, kind="stable")[: self.finished.shape[1]]
        ]


# Collects the tree of a beam search over one sentence: kept, ended and pruned nodes.
#
# Watches search as a `beam.Observer`. Letters: K beam size, C candidates per row.

Fate = Literal["kept", "ended", "pruned"]


class BeamNode(NamedTuple):
    """A token at its position in one or more hypotheses; node 0 is the start of the sentence."""

    parent: int  # the index of the node before
    depth: int  # tokens up to here
    token: int
    probability: float  # of the token alone, 0-1
    log_probability: float  # of all tokens up to here, natural
    fate: Fate
    best: bool = False  # whether it belongs to the returned translation


class BeamTrace(Observer):
    """Collects the tree of a search over one sentence."""

    def __init__(self) -> None:
        self.nodes = [BeamNode(parent=-1, depth=0, token=START, probability=1, log_probability=0, fate="kept")]
        self.rows = [0]  # the node of each open row

    def watch_step(self, extension: Extension) -> None:
        if len(extension.scores) != 1:
            raise ValueError("a beam can be traced for one sentence only")
        width = extension.tokens.shape[1]
        chosen = {index: row for row, index in enumerate(extension.chosen.tolist())}
        next_rows = [0] * len(chosen)
        for row, score in enumerate(extension.scores[0].tolist()):
            for candidate in range(width) if math.isfinite(score) else ():
                index = row * width + candidate
                ended = int(extension.tokens[row, candidate]) == END
                kept = index in chosen and not ended
                self.add_node(extension, row, candidate, "ended" if ended else "kept" if kept else "pruned")
                if kept:
                    next_rows[chosen[index]] = len(self.nodes) - 1
        self.rows = next_rows

    def add_node(self, extension: Extension, row: int, candidate: int, fate: Fate) -> None:
        parent = self.rows[row]
        log_probability = float(extension.log_probabilities[row, candidate])
        self.nodes.append(
            BeamNode(
                parent=parent,
                depth=self.nodes[parent].depth + 1,
                token=int(extension.tokens[row, candidate]),
                probability=math.exp(log_probability),
                log_probability=float(extension.scores[0, row]) + log_probability,
                fate=fate,
            )
        )

    def mark_best(self, result: SearchResult) -> list[BeamNode]:
        """Returns the nodes, with the path of the returned translation marked."""
        nodes, parent = list(self.nodes), 0
        for token in result.tokens:
            parent = next(
                index
                for index, node in enumerate(nodes)
                if node.parent == parent and node.token == token and node.fate != "pruned"
            )
            nodes[parent] = nodes[parent]._replace(best=True)
        return nodes
