"""What comes of a line: its translation, with one hypothesis or several. Values alone; nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.faults import Fault

How = Literal["network", "attention", "position", "unchanged"]


class Placed(NamedTuple):
    """A span in a translation, and what put it there."""

    text: str
    how: How
    dropped: bool  # the network was given a placeholder for it and lost it

    @property
    def doubtful(self) -> bool:
        """Whether a person should look: the place is not the network's own, or nothing spoke for it."""
        return self.dropped or self.how == "position"


Link = tuple[int, int]  # source word, target word, from 0


class Words(NamedTuple):
    """The words of a line that were translated on their own, and those that they became."""

    source: range
    target: range
    links: tuple[Link, ...] | None = None  # counted from the first of each; None: those that the pieces tell

    @classmethod
    def from_texts(cls, source: str, target: str, links: tuple[Link, ...] | None = None) -> Words:
        return cls(range(len(source.split())), range(len(target.split())), links)


class Repair(NamedTuple):
    """What was found wrong with a translation, and the remedy that helped; None if none did."""

    fault: Fault
    remedy: str | None


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
    placed_spans: tuple[Placed, ...] = ()  # the protected spans
    words: tuple[Words, ...] = ()  # of each piece of the line; none where it is one piece without spans
    unknown: tuple[str, ...] = ()  # source pieces that `text` has for unknown ones, in order, where they are replaced

    @property
    def attention(self) -> FloatArray:
        """(T, S): row t sums to 1. No piece of a line that was cut looks at another."""
        if len(self.attentions) == 1:
            return self.attentions[0]
        return stack_diagonally(self.attentions)


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
        return self.hypotheses[0].placed_spans if self.hypotheses else ()

    @property
    def cut(self) -> bool:
        """Whether the best hypothesis was cut by the length limit."""
        return bool(self.hypotheses) and not self.hypotheses[0].finished


def stack_diagonally(blocks: Sequence[FloatArray]) -> FloatArray:
    """(sum of rows, sum of columns): the blocks along the diagonal, zeros elsewhere."""
    import numpy as np  # the command line reads this module for `nmt --help`

    whole = np.zeros(np.sum([block.shape for block in blocks], axis=0), dtype=np.float32)
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole
