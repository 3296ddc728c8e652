"""Subword regularisation: randomly sampled segmentations from the vocabulary of a SentencePiece model.

SentencePiece can sample segmentations itself, but since its release 0.2.2 the same seed gives different samples in
another process, so that resumed and uninterrupted training would differ. Here, the generator alone decides. Knows
pieces, not sentences of a corpus."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, pairwise
from random import Random
from typing import Any, NamedTuple, Protocol

import numpy as np

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.types import END, PAD, START, FloatArray, IntArray
from nmt_cli.text.symbols import BLANK

WORD_PATTERN = re.compile("▁*[^▁]+|▁+")  # no piece extends across the space before a word
MOST_IDS = 2**31  # of any vocabulary
MOST_SPELLED = 1 << 17  # that are remembered by their ids
UNKNOWN_PENALTY = 10.0  # nats below the worst piece, for a character without a piece; as in SentencePiece


@dataclass(frozen=True, eq=False)
class PieceTable:
    """The pieces of a SentencePiece model, which spell text."""

    ids: dict[str, int]
    scores: dict[str, float]  # log probabilities of a unigram model, ranks of merges of a BPE model
    byte_ids: dict[int, int]  # empty if the model has no byte pieces
    unknown_id: int

    @classmethod
    def from_model(cls, processor: Any, *, excluded_ids: Collection[int]) -> PieceTable:
        """Reads the pieces of a SentencePieceProcessor, except control pieces and `excluded_ids`."""
        control = (i for i in range(processor.get_piece_size()) if processor.is_control(i) or processor.is_unknown(i))
        excluded = {*excluded_ids, *control}
        texts = {i: processor.id_to_piece(i) for i in range(processor.get_piece_size()) if i not in excluded}
        ids = {text: i for i, text in texts.items() if not (processor.is_byte(i) or processor.is_unused(i))}
        scores = {text: float(processor.get_score(i)) for text, i in ids.items()}
        byte_ids = {int(text[1:-1], 16): i for i, text in texts.items() if processor.is_byte(i)}
        return cls(ids, scores, byte_ids, processor.unk_id())

    @cached_property
    def longest(self) -> int:
        """The length of the longest piece, in characters."""
        return max(map(len, self.ids), default=1)

    @cached_property
    def unknown_score(self) -> float:
        return min(self.scores.values(), default=0.0) - UNKNOWN_PENALTY

    def spell(self, part: str) -> list[int]:
        """Returns the id of a part of a word, or the ids of its bytes if it is not a piece."""
        if part in self.ids:
            return [self.ids[part]]
        if not self.byte_ids:
            return [self.unknown_id]
        return [self.byte_ids.get(byte, self.unknown_id) for byte in part.encode()]


class SubwordSampler(Protocol):
    """Samples the segmentations of sentences."""

    def sample(self, sentences: Sequence[Sequence[str]], seed: int) -> Ragged:
        """Returns the ids of sentences, given their words as SentencePiece spells them; `seed` decides."""


class MergeSampler:
    """Samples what is left of the merges of BPE when each is dropped with the probability `alpha`."""

    def __init__(self, pieces: PieceTable, alpha: float) -> None:
        self.pieces, self.alpha = pieces, alpha

    def sample(self, sentences: Sequence[Sequence[str]], seed: int) -> Ragged:
        random = Random(seed)
        ids = [self.sample_words(words, random) for words in sentences]
        return Ragged.from_sequences([ids], vocabulary_size=MOST_IDS)

    def sample_words(self, words: Sequence[str], random: Random) -> list[int]:
        parts = (part for word in words for part in merge_with_dropout(word, self.pieces, self.alpha, random))
        return [piece for part in parts for piece in self.pieces.spell(part)]


def merge_with_dropout(word: str, pieces: PieceTable, alpha: float, random: Random) -> list[str]:
    """Merges the characters of a word as BPE does, but in each step drops each merge with the probability `alpha`.

    Source: Provilkov, Emelianenko, Voita (2020), "BPE-Dropout", algorithm 1.
    """
    parts = list(word)
    while True:
        merged = (parts[i] + parts[i + 1] for i in range(len(parts) - 1))
        possible = [(pieces.scores[text], -i) for i, text in enumerate(merged) if text in pieces.scores]
        remaining = [merge for merge in possible if random.random() >= alpha]
        if not remaining:
            return parts
        index = -max(remaining)[1]  # the leftmost place of the merge that was learned first
        parts[index : index + 2] = [parts[index] + parts[index + 1]]


class WordsOfIds:
    """Splits ids into the words that they spell, without spelling the whole sentence."""

    def __init__(self, pieces: PieceTable, silent: Collection[int], vocabulary_size: int) -> None:
        self.texts = {piece_id: text for text, piece_id in pieces.ids.items()}
        self.is_silent = np.zeros(vocabulary_size, np.bool_)  # not part of the text
        self.is_silent[[PAD, START, END, *silent]] = True
        self.begins_word, self.is_readable = np.zeros_like(self.is_silent), self.is_silent.copy()
        self.is_readable[list(self.texts)] = True
        self.begins_word[[piece_id for piece_id, text in self.texts.items() if text[0] == BLANK]] = True
        self.words: dict[bytes, str] = {}  # by the bytes of their ids

    def split(self, ids: IntArray) -> list[list[str] | None]:
        """Returns the words of each row of `ids` (C, S); None for one with other ids than those of pieces with text."""
        is_text = ~self.is_silent[ids]  # (C, S)
        flat, counts = ids[is_text].astype(np.int32), is_text.sum(axis=1)
        ends = np.cumsum(counts)
        begins = self.begins_word[flat]
        firsts = (ends - counts)[counts > 0]
        is_whole = self.is_readable[ids].all(axis=1) & (counts > 0)  # (C,)
        is_whole[counts > 0] &= begins[firsts]
        begins[firsts] = True
        # 1. Look up all words by their ids.
        starts = np.flatnonzero(begins)
        content, bounds = flat.tobytes(), [*(starts * flat.itemsize).tolist(), flat.nbytes]
        words = [self.words.get(key) or self.spell(key) for key in (content[a:b] for a, b in pairwise(bounds))]
        # 2. Cut them into rows.
        cuts = np.searchsorted(starts, ends).tolist()
        return [
            words[start:end] if whole else None
            for whole, (start, end) in zip(is_whole.tolist(), pairwise([0, *cuts]), strict=True)
        ]

    def spell(self, key: bytes) -> str:
        """Returns the word with these ids, and remembers it."""
        if len(self.words) >= MOST_SPELLED:
            self.words.clear()
        word = "".join(self.texts.get(piece_id, "") for piece_id in np.frombuffer(key, np.int32).tolist())
        self.words[key] = word
        return word


# Samples the segmentations of many sentences at once from a unigram model. Knows pieces, not sentences of a corpus.
#
# Each position of each word is a node, and each piece that may end there an edge to the node where the piece begins. A
# segmentation is a way from the end of a word to its beginning; all words of a call take their next step together.
# Letters: W words, N nodes, E edges, K drawn edges, I ids of all edges.


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
