"""The gate that a model must pass which has learned corrections, before it replaces the one that has not.

1. The development set is not translated worse by more than MOST_LOST.
2. Two models that learn half of the corrections each translate the other half better.

The p-values are those of a paired bootstrap (Koehn 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.corpus.sides import TaggedPair
from nmt_cli.evaluation.analysis.system_tests import compare_pairs
from nmt_cli.evaluation.config import DEFAULT
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.by_tags import translate_tagged
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

    development: Change
    corrections: Change | None = None  # each by a model that has not learned it; None if not tried

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
        if self.has_lost:
            return f"it loses {self.lost:.1f} BLEU on the development set"
        if self.corrections is not None and self.corrections.after > self.corrections.before:
            return None
        return "models that learn half of the corrections translate the other half no better"

    def to_mapping(self) -> dict[str, Any]:
        """Returns the verdict in the form of `--json`."""
        changes = {name: change and change._asdict() for name, change in self._asdict().items()}
        return {**changes, "objection": self.objection}


@dataclass(frozen=True)
class Gate:
    """The old model, and the development set on which new ones are compared with it."""

    old: Path
    dev: Sequence[TaggedPair]

    @cached_property
    def before(self) -> list[str]:
        """The translations of the old model, which are the same for every new one."""
        return self.translate(self.old)

    def judge(self, new: Path) -> Verdict:
        """Translates the development set with a new model, and returns the verdict so far."""
        return Verdict(compare("bleu", self.before, self.translate(new), self.dev))

    def translate(self, model: Path) -> list[str]:
        """Returns the translations of a model, searched for and repaired as `nmt translate` does."""
        sources, tags = [pair.source for pair in self.dev], [pair.tags for pair in self.dev]
        translator = Translator.load(ModelRequest(model))
        translations = translate_tagged(translator, sources, tags, SearchConfig(), repair=RepairConfig())
        return [translation.text for translation in translations]


def compare(metric: str, before: Sequence[str], after: Sequence[str], pairs: Sequence[TaggedPair]) -> Change:
    """Scores the translations of two models."""
    references = [[pair.target] for pair in pairs]
    scores = [METRICS[metric](hypotheses, references) for hypotheses in (before, after)]
    tests = compare_pairs(scores, DEFAULT.resamples)
    p = tests[0].p if tests else None
    return Change(scores[0].name, len(pairs), scores[0].value, scores[1].value, p)
