"""How far sentences are from the training data, and what a memory of that data alone would score.

The distance of a source is the share of words that it has in common, in order, with the training source nearest to it.
The memory answers each source with the translation of that one. Must not know models or files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_bleu
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.text.words import split_words
from nmt_cli.translation.memory.lookup import LONGEST, compare_words

COMPARED = 10  # training sources that share most words with a sentence, rare ones counting more
COMMON = 2_000  # training sources that are looked up by a word


class Nearest(NamedTuple):
    """The training pair nearest to a sentence, by its row, and the share of their words in common (0-1)."""

    row: int | None
    share: float


@dataclass(frozen=True)
class MemoryScore:
    """The BLEU of a memory of the training data alone, beside that of a system."""

    memory: float
    system: float

    def __str__(self) -> str:
        gained = self.system - self.memory
        verb = "adds" if gained >= 0 else "loses"
        return f"a memory of the training data alone has {self.memory:.1f} BLEU; the model {verb} {abs(gained):.1f}"


class TrainingIndex:
    """The training sources by their words."""

    def __init__(self, sources: Sequence[str]) -> None:
        self.words = [split_words(source) for source in sources]

        self.rows_by_words = {tuple(words): row for row, words in enumerate(self.words)}
        self.rows_by_word: dict[str, list[int]] = defaultdict(list)
        for row, words in enumerate(self.words):
            for word in set(words) if len(words) <= LONGEST else ():
                self.rows_by_word[word].append(row)

    def find_nearest(self, source: str) -> Nearest:
        """Returns the nearest training source, with the same words or with those of its words that are rarest."""
        words = split_words(source)
        same = self.rows_by_words.get(tuple(words))
        if same is not None:
            return Nearest(same, 1.0)
        shared: Counter[int] = Counter()
        for word in set(words) if len(words) <= LONGEST else ():
            rows = self.rows_by_word.get(word, [])[:COMMON]
            shared.update(dict.fromkeys(rows, COMMON // max(1, len(rows)) + 1))
        shares = [(compare_words(words, self.words[row]), row) for row, _ in shared.most_common(COMPARED)]
        best = max(shares, key=lambda share: (share[0], -share[1]), default=None)
        return Nearest(None, 0.0) if best is None else Nearest(best[1], best[0])


def score_memory(
    material: Material, nearest: Sequence[Nearest], targets: Sequence[str], config: ScoreConfig
) -> MemoryScore:
    """Returns the BLEU of the nearest pairs' translations of the sources, and that of the hypotheses."""
    recalled = ["" if near.row is None else targets[near.row] for near in nearest]
    scores = [compute_bleu(texts, material.references, config) for texts in (recalled, material.hypotheses)]
    return MemoryScore(*(score.value for score in scores))
