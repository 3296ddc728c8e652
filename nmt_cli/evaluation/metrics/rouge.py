"""ROUGE (Lin 2004), computed by Google's rouge-score. Must not know where the sentences come from.

rouge-score finds the longest common subsequence by a table of all words by all words, which the memory of a machine
does not hold for long lines; ROUGE-L is counted here, with equal results. Of texts that are longer still, ROUGE-Lsum is
ROUGE-L, and the signature says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from typing import Any

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.characters import map_positions
from nmt_cli.evaluation.metrics.score import (
    Hypotheses,
    MetricFunction,
    References,
    Score,
    average_scores,
    check_pairing,
    read_version,
)
from nmt_cli.text.characters import ELLIPSES, SOLID_FINAL_MARKS, SPACED_FINAL_MARKS
from nmt_cli.text.normalise import split_unspaced

LONGEST_SPLIT = 1_500  # words of a text whose sentences are compared with each other: a few seconds
SENTENCE_END = rf"(?<=[{SPACED_FINAL_MARKS}{ELLIPSES}])\s+|(?<=[{SOLID_FINAL_MARKS}])\s*"


class UnicodeTokenizer:
    """Splits text of any script into words in lower case: runs of letters, marks and digits.

    In scripts without spaces, each character is a word. The tokenizer of rouge-score itself keeps only a-z and 0-9: it
    finds no word in "Привет". On ASCII text, the two agree.
    """

    name = "unicode-words"

    def tokenize(self, text: str) -> list[str]:
        lowered = unicodedata.normalize("NFC", text.lower())
        visible = (character for character in lowered if unicodedata.category(character) != "Cf")
        return [
            word for run, letters in groupby(visible, is_of_word) if run for word in split_unspaced("".join(letters))
        ]


@cache
def is_of_word(character: str) -> bool:
    """Whether it is a letter, a mark or a digit. `\\w` would break Indic words at their vowel signs."""
    return unicodedata.category(character)[0] in "LMN"


def compute_rouge(
    hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /, *, kind: str
) -> Score:
    """Computes the mean over the sentences of ROUGE's F-score, each with its best reference.

    `kind` is rouge-score's name: rouge1, rouge2 (n-grams), rougeL (longest common subsequence), rougeLsum (the union
    of the common subsequences of each pair of sentences of a text).
    """
    check_pairing(hypotheses, references)
    scorer = RougeCounter(kind)
    matches = [
        find_best_match([scorer.score(reference, hypothesis) for reference in alternatives], config.beta)
        for hypothesis, alternatives in zip(hypotheses, references, strict=True)
    ]
    whole = f"|not-split:{scorer.long}>{LONGEST_SPLIT}words" if scorer.long else ""
    signature = (
        f"nrefs:{len(references[0])}|case:lc|tok:{UnicodeTokenizer.name}|stem:no|measure:F{config.beta:g}"
        f"|mean:sentences{'|split:.!?' if kind == 'rougeLsum' else ''}{whole}"
        f"|rouge-score:{read_version('rouge-score')}"
    )
    parts = {
        "precision": 100 * sum(match.precision for match in matches) / len(matches),
        "recall": 100 * sum(match.recall for match in matches) / len(matches),
    }
    values = [100 * match.f for match in matches]
    return average_scores(f"ROUGE-{kind.removeprefix('rouge')}", values, signature, parts)


class RougeCounter:
    """Scores pairs by one kind of ROUGE; `long` counts the texts whose sentences are not compared by themselves."""

    def __init__(self, kind: str) -> None:
        from rouge_score.rouge_scorer import RougeScorer  # imports nltk: half a second

        self.kind, self.tokenizer, self.long = kind, UnicodeTokenizer(), 0
        self.scorer = RougeScorer([kind], tokenizer=self.tokenizer)

    def score(self, reference: str, hypothesis: str) -> Any:
        """Returns the precision and the recall of a hypothesis, 0-1."""
        if self.kind not in ("rougeL", "rougeLsum"):
            return self.scorer.score(reference, hypothesis)[self.kind]
        words, others = self.tokenizer.tokenize(reference), self.tokenizer.tokenize(hypothesis)
        is_long = max(len(words), len(others)) > LONGEST_SPLIT
        if self.kind == "rougeLsum" and not is_long:
            return self.scorer.score(split_lines(reference), split_lines(hypothesis))[self.kind]
        self.long += self.kind == "rougeLsum"
        common = count_common(words, others)
        return Match(0.0, common / max(1, len(others)), common / max(1, len(words)))


def count_common(words: Sequence[str], others: Sequence[str]) -> int:
    """Returns the length of the longest common subsequence, by whole numbers with a bit for each word (Hyyrö 2004)."""
    positions, whole = map_positions(words), (1 << len(words)) - 1
    unmatched = whole
    for word in others:
        at = unmatched & positions.get(word, 0)
        unmatched = ((unmatched + at) | (unmatched - at)) & whole
    return len(words) - unmatched.bit_count()


@dataclass(frozen=True)
class Match:
    """How well a hypothesis and one reference agree, 0-1."""

    f: float
    precision: float
    recall: float


def find_best_match(of_references: Sequence[Any], beta: float) -> Match:
    """Returns the match with the highest F-score among rouge-score's results for the references."""
    matches = (
        Match(compute_f_score(result.precision, result.recall, beta), result.precision, result.recall)
        for result in of_references
    )
    return max(matches, key=lambda match: match.f)


def compute_f_score(precision: float, recall: float, beta: float) -> float:
    """Computes (1 + beta²) P R / (beta² P + R): recall counts beta times as much as precision."""
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0


def split_lines(text: str) -> str:
    """Returns the text with one sentence per line, as rougeLsum expects it."""
    return re.sub(SENTENCE_END, "\n", text)


def make_rouge(kind: str) -> MetricFunction:
    """Returns ROUGE of this kind as a metric for the registry."""
    return partial(compute_rouge, kind=kind)
