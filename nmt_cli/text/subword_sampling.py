"""Sentences cut into subwords that are drawn, from the vocabulary of a SentencePiece model.

SentencePiece can draw cuts itself, but since its release 0.2.2 what a seed gives differs from process to process, so
that a training could not be resumed as if it had never stopped. Here all follows from the generator handed in.
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

WORD = re.compile("▁*[^▁]+|▁+")  # no piece reaches over the blank before a word
LONG = 30  # characters from which on a word is hardly met again: in scripts without blanks it is a sentence
UNKNOWN_PENALTY = 10.0  # what a character without a piece scores below the worst piece, as in SentencePiece

Cut = Callable[[str, "Pieces", float, Random], list[str]]


@dataclass(frozen=True, eq=False)
class Pieces:
    """What a SentencePiece model spells text with."""

    ids: dict[str, int]
    scores: dict[str, float]
    byte_ids: dict[int, int]  # empty without byte pieces
    unknown: int

    @classmethod
    def from_model(cls, processor: Any, *, without: Collection[int]) -> Pieces:
        """Returns the pieces of a SentencePieceProcessor, without its marks and the ids in `without`."""
        marks = (i for i in range(processor.get_piece_size()) if processor.is_control(i) or processor.is_unknown(i))
        left_out = {*without, *marks}
        usual = {i: processor.id_to_piece(i) for i in range(processor.get_piece_size()) if i not in left_out}
        texts = {text: i for i, text in usual.items() if not (processor.is_byte(i) or processor.is_unused(i))}
        scores = {text: float(processor.get_score(i)) for text, i in texts.items()}
        in_bytes = {int(text[1:-1], 16): i for i, text in usual.items() if processor.is_byte(i)}
        return cls(texts, scores, in_bytes, processor.unk_id())

    @cached_property
    def longest(self) -> int:
        return max(map(len, self.ids), default=1)

    @cached_property
    def unknown_score(self) -> float:
        return min(self.scores.values(), default=0.0) - UNKNOWN_PENALTY

    def spell(self, part: str) -> list[int]:
        """The ids of a part: one, or one for each byte of what has no piece."""
        if part in self.ids:
            return [self.ids[part]]
        return [self.byte_ids.get(byte, self.unknown) for byte in part.encode()] if self.byte_ids else [self.unknown]


def draw(normalised: str, pieces: Pieces, cut: Cut, alpha: float, random: Random) -> list[int]:
    """Ids of a sentence that SentencePiece normalised (`▁` for each blank), its words cut by `cut`."""
    parts = (part for word in WORD.findall(normalised) for part in cut(word, pieces, alpha, random))
    return [piece for part in parts for piece in pieces.spell(part)]


def cut_by_probability(word: str, pieces: Pieces, alpha: float, random: Random) -> list[str]:
    """One of all possible cuts, each drawn with its unigram probability to the power of `alpha`.

    Forward filtering, backward sampling. Source: Kudo (2018), "Subword Regularization", section 3.2.
    """
    leading = (find_leads if len(word) <= LONG else find_leads.__wrapped__)(word, pieces, alpha)
    parts, end = list[str](), len(word)
    while end:
        starts, shares = leading[end - 1]
        start = starts[bisect_right(shares, random.random())] if len(starts) > 1 else starts[0]
        parts.append(word[start:end])
        end = start
    return parts[::-1]


@lru_cache(maxsize=1 << 15)
def find_leads(word: str, pieces: Pieces, alpha: float) -> list[tuple[list[int], list[float]]]:
    """To each position, 1 to the word's end: where the last part before it may begin, and the shares up to each."""
    summed = [0.0]  # logarithm of the sum over all cuts of what stands before a position
    leads = []
    for end in range(1, len(word) + 1):
        earliest = max(0, end - pieces.longest)
        starts = [start for start in range(earliest, end) if start == end - 1 or word[start:end] in pieces.scores]
        scores = (pieces.scores.get(word[start:end], pieces.unknown_score) for start in starts)
        logs = [summed[start] + alpha * score for start, score in zip(starts, scores, strict=True)]
        top = max(logs)
        weights = [math.exp(log - top) for log in logs]
        total = sum(weights)
        summed.append(top + math.log(total))
        leads.append((starts, [share / total for share in accumulate(weights[:-1])]))
    return leads


def cut_by_merges(word: str, pieces: Pieces, alpha: float, random: Random) -> list[str]:
    """The characters merged as BPE does, where in each step each possible merge is left out with probability `alpha`.

    Source: Provilkov, Emelianenko, Voita (2020), "BPE-Dropout", algorithm 1.
    """
    parts = list(word)
    while True:
        merged = (parts[i] + parts[i + 1] for i in range(len(parts) - 1))
        possible = [(pieces.scores[text], -i) for i, text in enumerate(merged) if text in pieces.scores]
        left = [merge for merge in possible if random.random() >= alpha]
        if not left:
            return parts
        at = -max(left)[1]  # of the earliest learnt merge the leftmost
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
