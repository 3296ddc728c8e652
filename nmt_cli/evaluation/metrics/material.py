"""The input of all metrics. Must not know any metric. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt_cli.evaluation.metrics.score import Hypotheses, References
from nmt_cli.text.tags import TagSet

if TYPE_CHECKING:
    from nmt_cli.search.forced import ForcedTarget


@dataclass(frozen=True)
class Material:
    """The sentences and all known facts about them; sequences are in the order of the hypotheses."""

    hypotheses: Hypotheses
    references: References
    sources: Sequence[str] | None = None
    forced: Sequence[ForcedTarget] | None = None  # the first references, scored by the model
    subwords: str = ""  # fingerprint of the target subwords in which `forced` is scored
    tags: Sequence[TagSet] = ()  # of each sentence; empty if none has any
