"""Subword regularisation: randomly sampled segmentations from the vocabulary of a SentencePiece model.

SentencePiece can sample segmentations itself, but since its release 0.2.2 the same seed gives different samples in
another process, so that resumed and uninterrupted training would differ. Here, the generator alone decides. Knows
pieces, not sentences of a corpus.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import Any, Protocol

import numpy as np

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.special_ids import END, PAD, START
from nmt_cli.arrays.types import IntArray
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
