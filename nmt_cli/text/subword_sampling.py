"""Subword regularisation: randomly sampled segmentations from the vocabulary of a SentencePiece model.

SentencePiece can sample segmentations itself, but since its release 0.2.2 the same seed gives different samples in
another process, so that resumed and uninterrupted training would differ. Here, the generator alone decides. Knows
pieces, not sentences of a corpus.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from random import Random
from typing import Any

from nmt_cli.text.tokenizer_settings import TokenizerKind

WORD_PATTERN = re.compile("▁*[^▁]+|▁+")  # no piece extends across the space before a word
LONGEST_CACHED = 30  # characters; longer words hardly recur: in scripts without spaces they are sentences
UNKNOWN_PENALTY = 10.0  # nats below the worst piece, for a character without a piece; as in SentencePiece

WordSampler = Callable[[str, "PieceTable", float, Random], list[str]]


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


def sample_ids(normalised: str, pieces: PieceTable, sample: WordSampler, alpha: float, random: Random) -> list[int]:
    """Returns the ids of a sentence normalised by SentencePiece (`▁` for each space); `sample` segments each word."""
    parts = (part for word in WORD_PATTERN.findall(normalised) for part in sample(word, pieces, alpha, random))
    return [piece for part in parts for piece in pieces.spell(part)]


def sample_segmentation(word: str, pieces: PieceTable, alpha: float, random: Random) -> list[str]:
    """Samples a segmentation of a word, with its unigram probability to the power of `alpha`.

    Forward filtering, backward sampling. Source: Kudo (2018), "Subword Regularization", section 3.2.
    """
    # 1. For each position, the distribution of where the part that ends there begins; cached for words that recur.
    starts_and_shares = (filter_forward if len(word) <= LONGEST_CACHED else filter_forward.__wrapped__)(
        word, pieces, alpha
    )
    # 2. From the end of the word to its beginning, sample the part that ends at each position.
    parts, end = list[str](), len(word)
    while end:
        starts, shares = starts_and_shares[end - 1]
        start = starts[bisect_right(shares, random.random())] if len(starts) > 1 else starts[0]
        parts.append(word[start:end])
        end = start
    return parts[::-1]


@lru_cache(maxsize=1 << 15)
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


WORD_SAMPLERS: dict[TokenizerKind, WordSampler] = {"unigram": sample_segmentation, "bpe": merge_with_dropout}
