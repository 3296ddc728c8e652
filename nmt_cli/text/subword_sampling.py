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
from random import Random
from typing import Any, Protocol

WORD_PATTERN = re.compile("▁*[^▁]+|▁+")  # no piece extends across the space before a word
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

    def sample(self, sentences: Sequence[str], seed: int) -> list[list[int]]:
        """Returns the ids of sentences normalised by SentencePiece (`▁` for each space); `seed` decides."""


class MergeSampler:
    """Samples what is left of the merges of BPE when each is dropped with the probability `alpha`."""

    def __init__(self, pieces: PieceTable, alpha: float) -> None:
        self.pieces, self.alpha = pieces, alpha

    def sample(self, sentences: Sequence[str], seed: int) -> list[list[int]]:
        random = Random(seed)
        return [self.sample_sentence(sentence, random) for sentence in sentences]

    def sample_sentence(self, sentence: str, random: Random) -> list[int]:
        words = WORD_PATTERN.findall(sentence)
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
