"""What comes of a line: its translation, with one hypothesis or several. Values alone; nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmt_cli.inference.alignment import Words
from nmt_cli.inference.healing import Repair
from nmt_cli.inference.placing import Placed
from nmt_cli.inference.protocol import FloatArray


class Hypothesis(NamedTuple):
    """One translation of a line. T produced tokens, the end-of-sentence token included."""

    text: str
    tokens: tuple[int, ...]  # T
    pieces: tuple[str, ...]  # T
    log_probability: float  # natural logarithm of the whole, end included
    score: float  # what hypotheses are ranked by: the log-probability under the penalties
    token_log_probabilities: tuple[float, ...]  # T
    attentions: tuple[FloatArray, ...]  # of each piece that the line was cut into: (its tokens, its source positions)
    finished: bool  # false where the length limit cut it
    placed: tuple[Placed, ...] = ()  # the protected spans
    words: tuple[Words, ...] = ()  # of each piece of the line; none where it is one piece without spans
    unknown: tuple[str, ...] = ()  # source pieces that `text` has for unknown ones, in order, where they are replaced

    @property
    def attention(self) -> FloatArray:
        """(T, S): row t sums to 1. No piece of a line that was cut looks at another."""
        if len(self.attentions) == 1:
            return self.attentions[0]
        return block_diagonal(self.attentions)


class Translation(NamedTuple):
    """A line and its hypotheses, best first; a blank line has none and translates to an empty line."""

    source: str
    source_pieces: tuple[str, ...]  # S, the end-of-sentence token included
    hypotheses: tuple[Hypothesis, ...]
    unseen: frozenset[str]  # characters of the line that the subword model has never seen
    repairs: tuple[Repair, ...] = ()  # what was found wrong with its sentences at first, and what helped
    source_cut_from: int | None = None  # positions of its first sentence of which only the first ones were read
    source_read: int = 0  # and how many these were, its end aside; of no meaning where none was cut

    @property
    def text(self) -> str:
        return self.hypotheses[0].text if self.hypotheses else ""

    @property
    def placed(self) -> tuple[Placed, ...]:
        """The protected spans of the best hypothesis, and what put each in its place."""
        return self.hypotheses[0].placed if self.hypotheses else ()

    @property
    def cut(self) -> bool:
        """Whether the best hypothesis was cut by the length limit."""
        return bool(self.hypotheses) and not self.hypotheses[0].finished


def block_diagonal(blocks: Sequence[FloatArray]) -> FloatArray:
    """(sum of rows, sum of columns): the blocks along the diagonal, zeros elsewhere."""
    whole = np.zeros(np.sum([block.shape for block in blocks], axis=0), dtype=np.float32)
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole
