"""The gate that a model must pass which has learned corrections, before it replaces the one that has not.

1. The corrections that were held back are translated better.
2. The development set is not translated worse by more than MOST_LOST.

The p-values are those of a paired bootstrap (Koehn 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.corpus.sides import SentencePair
from nmt_cli.evaluation.analysis.system_tests import compare_pairs
from nmt_cli.evaluation.config import DEFAULT
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.config import ModelRequest, RepairConfig
from nmt_cli.translation.translator import Translator

MOST_LOST = 0.3  # BLEU on the development set


class Change(NamedTuple):
    """The scores of the old and the new model on the same sentences."""

    metric: str  # as it is printed, such as chrF2
    sentences: int
    before: float  # 0-100
    after: float
    p: float | None  # None for too few sentences

    def __str__(self) -> str:
        p = "" if self.p is None else f" (p {self.p:.3f})"
        return f"{self.metric} {self.before:.1f} -> {self.after:.1f}{p}"


class Verdict(NamedTuple):
    """What a model gained and lost by learning corrections."""

    corrections: Change  # on those that were held back
    development: Change

    @property
    def lost(self) -> float:
        """The BLEU by which the development set is translated worse."""
        return self.development.before - self.development.after

    @property
    def has_lost(self) -> bool:
        """Whether that is more than MOST_LOST."""
        return self.lost > MOST_LOST

    @property
    def objection(self) -> str | None:
        """Why the new model must not replace the old one; None if it may."""
        gained = self.corrections.after - self.corrections.before
        if gained <= 0:
            return f"it translates {format_count(self.corrections.sentences, 'held-back correction')} no better"
        return f"it loses {self.lost:.1f} BLEU on the development set" if self.has_lost else None

    def to_mapping(self) -> dict[str, Any]:
        """Returns the verdict in the form of `--json`."""
        changes = {name: change._asdict() for name, change in self._asdict().items()}
        return {**changes, "objection": self.objection}


@dataclass(frozen=True)
class Gate:
    """The old model, and the sentences on which new ones are compared with it."""

    old: Path
    held_back: Sequence[SentencePair]
    dev: Sequence[SentencePair]

    @cached_property
    def before(self) -> list[str]:
        """The translations of the old model, which are the same for every new one."""
        return self.translate(self.old)

    def judge(self, new: Path) -> Verdict:
        """Translates both sets with a new model, and returns the verdict."""
        after, count = self.translate(new), len(self.held_back)
        return Verdict(
            compare("chrf", self.before[:count], after[:count], self.held_back),
            compare("bleu", self.before[count:], after[count:], self.dev),
        )

    def translate(self, model: Path) -> list[str]:
        """Returns the translations of a model, searched for and repaired as `nmt translate` does."""
        sources = [pair.source for pair in (*self.held_back, *self.dev)]
        translations = Translator.load(ModelRequest(model)).translate(sources, SearchConfig(), repair=RepairConfig())
        return [translation.text for translation in translations]


def compare(metric: str, before: Sequence[str], after: Sequence[str], pairs: Sequence[SentencePair]) -> Change:
    """Scores the translations of two models."""
    references = [[pair.target] for pair in pairs]
    scores = [METRICS[metric](hypotheses, references) for hypotheses in (before, after)]
    tests = compare_pairs(scores, DEFAULT.resamples)
    p = tests[0].p if tests else None
    return Change(scores[0].name, len(pairs), scores[0].value, scores[1].value, p)
