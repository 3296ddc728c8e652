"""What a check is. Three kinds: of a text, which can mend it; of a pair alone; of a pair among all others.

A check is a small class in a file beside this one and a line in `checks/__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.manifest import Action
from nmt_cli.corpus.pairs import BoolArray, Pairs


class Check(ABC):
    """`name` is what `--keep` takes, `problem` goes on from "the pair has ...", `action` is what is done by default."""

    name: ClassVar[str]
    problem: ClassVar[str]
    action: ClassVar[Action] = "dropped"
    can_be_kept: ClassVar[bool] = True
    looks_at_all: ClassVar[bool] = False  # or only at the corpus, and not at dev and test data that were given


class TextCheck(Check):
    """Mends a text by itself."""

    action = "mended"
    looks_at_all = True

    @abstractmethod
    def repair_text(self, text: str) -> str:
        """The text without the problem; the text itself if it has none."""


class PairCheck(Check):
    """Looks at a normalised pair by itself."""

    @abstractmethod
    def has_problem(self, source: str, target: str) -> bool:
        """Whether the pair has the problem."""


@dataclass(frozen=True)
class Found:
    """The pairs with the problem, and what was learnt on the way."""

    rows: BoolArray  # (N,)
    note: str = ""


class CorpusCheck(Check):
    """Looks at a pair among all others."""

    @abstractmethod
    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        """The pairs with the problem, of those `among` which to look."""
