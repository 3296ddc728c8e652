"""Samples the segmentations of many sentences at once from a unigram model. Knows pieces, not sentences of a corpus.

Each position of each word is a node, and each piece that may end there an edge to the node where the piece begins. A
segmentation is a way from the end of a word to its beginning; all words of a call take their next step together.
Letters: W words, N nodes, E edges, K drawn edges, I ids of all edges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.text.subword_sampling import PieceTable

MOST_WORDS = 1 << 16  # whose edges are remembered, in some 40 MB
BEGINNING = -1  # stands for the node before a word


class Edges(NamedTuple):
    """The edges of the known words, node by node."""

    shares: FloatArray  # (E,) the node's number, plus the cumulative probability of the edges up to this one
    next_nodes: IntArray  # (E,)
    starts: IntArray  # (E,) where the ids of the piece begin in `ids`
    sizes: IntArray  # (E,) how many they are: several only for what is spelled in bytes
    ids: IntArray  # (I,)


NO_EDGES = Edges(np.zeros(0), *(np.zeros(0, np.int32) for _ in range(4)))


class UnigramSampler:
    """Samples segmentations, each with its unigram probability to the power of `alpha`.

    Forward filtering, backward sampling. Source: Kudo (2018), "Subword Regularization", section 3.2.
    """

    def __init__(self, pieces: PieceTable, alpha: float) -> None:
        self.pieces, self.alpha = pieces, alpha
        self.last_nodes: dict[str, int] = {}  # by word
        self.nodes = 0
        self.edges = NO_EDGES

    def sample(self, sentences: Sequence[Sequence[str]], seed: int) -> Ragged:
        """Returns the ids of sentences, given their words, by the generator that `seed` starts."""
        words = list(chain.from_iterable(sentences))
        edges, owners = self.draw_edges(self.find_nodes(words), np.random.default_rng(seed))
        # 1. Join the ids of the drawn pieces.
        sizes = self.edges.sizes[edges]
        places = np.repeat(self.edges.starts[edges] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        # 2. Cut them into sentences.
        sentence_of_word = np.repeat(np.arange(len(sentences)), list(map(len, sentences)))
        lengths = np.bincount(sentence_of_word[owners], sizes, minlength=len(sentences)).astype(np.int64)
        return Ragged(self.edges.ids[places], np.concatenate([[0], np.cumsum(lengths)]))

    def draw_edges(self, nodes: IntArray, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draws a segmentation of each word, whose last nodes are given (W,): (K,) edges and their words, in order."""
        owners: list[IntArray] = [np.zeros(0, np.int64)]
        drawn: list[IntArray] = [np.zeros(0, np.int64)]
        active = np.arange(len(nodes))
        while len(active):
            edges = np.searchsorted(self.edges.shares, nodes + generator.random(len(nodes)), side="right")
            drawn.append(edges)
            owners.append(active)
            nodes = self.edges.next_nodes[edges]
            active, nodes = active[nodes != BEGINNING], nodes[nodes != BEGINNING]
        # The last pieces of the words were drawn first.
        words = np.concatenate(owners[::-1])
        order = np.argsort(words, kind="stable")
        return np.concatenate(drawn[::-1])[order], words[order]

    def find_nodes(self, words: Sequence[str]) -> IntArray:
        """Returns (W,) the last node of each word."""
        try:
            return np.fromiter(map(self.last_nodes.__getitem__, words), np.int64, count=len(words))
        except KeyError:
            self.learn(list(dict.fromkeys(words)))
            return self.find_nodes(words)

    def learn(self, words: Sequence[str]) -> None:
        """Finds the edges of these words; forgets all others if they become too many."""
        new = [word for word in words if word not in self.last_nodes]
        if len(self.last_nodes) + len(new) > MOST_WORDS:
            self.last_nodes, self.nodes, self.edges, new = {}, 0, NO_EDGES, list(words)
        shares: list[float] = []
        next_nodes: list[int] = []
        pieces: list[list[int]] = []
        for word in new:
            first = self.nodes
            for end, (starts, node_shares) in enumerate(filter_forward(word, self.pieces, self.alpha), 1):
                shares += [self.nodes + share for share in (*node_shares, 1.0)]
                next_nodes += [first + start - 1 if start else BEGINNING for start in starts]
                pieces += [self.pieces.spell(word[start:end]) for start in starts]
                self.nodes += 1
            self.last_nodes[word] = self.nodes - 1
        if new:
            self.edges = join_edges(self.edges, shares, next_nodes, pieces)


def join_edges(edges: Edges, shares: list[float], next_nodes: list[int], pieces: list[list[int]]) -> Edges:
    """Returns the edges with more of them."""
    sizes = np.fromiter(map(len, pieces), np.int64, count=len(pieces))
    starts = len(edges.ids) + np.cumsum(sizes) - sizes
    ids = np.fromiter(chain.from_iterable(pieces), np.int64)
    more = (np.array(shares), *(np.asarray(part, np.int32) for part in (next_nodes, starts, sizes, ids)))
    return Edges(*(np.concatenate(both) for both in zip(edges, more, strict=True)))


def filter_forward(word: str, pieces: PieceTable, alpha: float) -> list[tuple[list[int], list[float]]]:
    """For each position from 1 to the end of `word`, returns the possible starts of the piece ending there.

    Each list of starts comes with their cumulative probabilities, without the last one, which is 1.
    """
    log_sums = [0.0]  # for each position, the logarithm of the sum over all segmentations of the text before it
    starts_and_shares = []
    for end in range(1, len(word) + 1):
        earliest = max(0, end - pieces.longest)
        starts = [start for start in range(earliest, end) if start == end - 1 or word[start:end] in pieces.scores]
        scores = (pieces.scores.get(word[start:end], pieces.unknown_score) for start in starts)
        logs = [log_sums[start] + alpha * score for start, score in zip(starts, scores, strict=True)]
        highest = max(logs)
        weights = [math.exp(log - highest) for log in logs]
        total = sum(weights)
        log_sums.append(highest + math.log(total))
        starts_and_shares.append((starts, [share / total for share in accumulate(weights[:-1])]))
    return starts_and_shares
