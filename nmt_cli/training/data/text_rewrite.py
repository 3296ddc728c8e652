"""The interface of a rewrite of training texts: sentence pairs in, equally many out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from nmt_cli.corpus.sides import SentencePair


class TextRewrite(Protocol):
    """Changes the texts of training pairs. `augmentation.py` lists the rewrites of a training and applies them."""

    @property
    def share(self) -> float:
        """The share of the training pairs, 0 to 1, given to `rewrite_pairs`."""

    def rewrite_pairs(self, pairs: Sequence[SentencePair], generator: np.random.Generator) -> list[SentencePair]:
        """Returns as many pairs in the same order; a pair with nothing to change is unchanged.

        All random choices follow from `generator`.
        """
