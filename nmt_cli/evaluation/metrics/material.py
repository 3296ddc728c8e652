"""All that a metric may be given. Must not know any metric. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt_cli.evaluation.metrics.score import Hypotheses, References

if TYPE_CHECKING:
    from nmt_cli.search.forced import Forced


@dataclass(frozen=True)
class Material:
    """The sentences, and what is known of them beside; sequences are in the order of the hypotheses."""

    hypotheses: Hypotheses
    references: References
    sources: Sequence[str] | None = None
    forced: Sequence[Forced] | None = None  # the first references under the model
    subwords: str = ""  # of `forced`: what tells the target subwords of one model from those of another
