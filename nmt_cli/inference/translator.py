"""Lines of text in, translations out: subwords, batches, search."""

from __future__ import annotations

from dataclasses import dataclass

from nmt_cli.inference.protocol import FloatArray


@dataclass(frozen=True)
class Hypothesis:
    """One translation of a line. T produced tokens, the end-of-sentence token included."""

    text: str
    pieces: tuple[str, ...]  # T
    log_probability: float  # natural logarithm of the whole, end included
    score: float  # log_probability divided by the length penalty: what hypotheses are ranked by
    token_log_probabilities: tuple[float, ...]  # T
    attention: FloatArray  # (T, S): row t sums to 1


@dataclass(frozen=True)
class Translation:
    """A line and its hypotheses, best first; a blank line has none and translates to an empty line."""

    source: str
    source_pieces: tuple[str, ...]  # S, the end-of-sentence token included
    hypotheses: tuple[Hypothesis, ...]

    @property
    def text(self) -> str:
        return self.hypotheses[0].text if self.hypotheses else ""
