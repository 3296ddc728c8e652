"""The interfaces of checks: those that repair a single text, judge a pair, or compare a pair with all others.

A check is a small class in a neighbouring file and an entry in `CHECKS` in `checks/__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from nmt_cli.arrays.types import BoolArray
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import Action
from nmt_cli.corpus.pairs import Pairs


class Check(ABC):
    """A problem that pairs can have, and how to find it.

    `name` is the value that `--keep` takes, `problem` describes the pairs in messages, `action` is the default action.
    """

    name: ClassVar[str]
    problem: ClassVar[str]
    action: ClassVar[Action] = "dropped"
    can_be_kept: ClassVar[bool] = True
    least_share: ClassVar[float] = 0.0  # of the pairs, below which it is chance, and nothing to tell
    covers_every_role: ClassVar[bool] = False  # or training pairs only, not dev and test data from files


class TextCheck(Check):
    """Repairs a single text."""

    action = "mended"
    covers_every_role = True

    @abstractmethod
    def mend_text(self, text: str) -> str:
        """Returns the text with the problem repaired, or the same text if it has none."""


class PairCheck(Check):
    """Looks at one normalised pair at a time."""

    @abstractmethod
    def has_problem(self, source: str, target: str) -> bool:
        """Whether the pair has the problem."""


@dataclass(frozen=True)
class CheckResult:
    """The pairs with the problem, and the facts that the check learned from the corpus."""

    rows: BoolArray  # (N,)
    note: str = ""


class CorpusCheck(Check):
    """Compares pairs with all others or, if tags name several languages, with those in the same languages."""

    crosses_languages: ClassVar[bool] = False  # whether pairs of other languages count, too

    @abstractmethod
    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        """Returns the `candidates` (N,) that have the problem."""
