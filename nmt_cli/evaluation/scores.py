"""What a metric takes and returns. Must not know any metric, model or file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nmt_cli.errors import DataError

Hypotheses = Sequence[str]
References = Sequence[Sequence[str]]  # sentence-major: one inner sequence a hypothesis


@dataclass(frozen=True)
class Score:
    """The value of one metric over all sentences.

    `signature` says how it was counted, so that another program can count it again.
    """

    name: str  # as it is printed, such as BLEU-4
    value: float  # 0-100
    signature: str
    sentence_values: tuple[float, ...]  # 0-100, one a hypothesis, in their order


Metric = Callable[[Hypotheses, References], Score]


def check_pairing(hypotheses: Hypotheses, references: References) -> None:
    """Raises DataError unless there is something to score and every hypothesis has as many references as the first.

    sacreBLEU itself stops at the shorter of two sequences without a word.
    """
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses):,} hypotheses cannot be scored against the references of {len(references):,} sentences",
            hint="each hypothesis needs its own references, in the same order",
        )
    if not hypotheses:
        raise DataError("there is no sentence to score")
    counts = [len(of_sentence) for of_sentence in references]
    if counts[0] < 1:
        raise DataError("sentence 1 has no reference")
    for number, count in enumerate(counts, start=1):
        if count != counts[0]:
            raise DataError(f"sentence {number:,} has {count} references, the sentences before it {counts[0]}")


def streams(references: References) -> list[list[str]]:
    """The transpose: one list of all sentences for each reference, which is the order sacreBLEU wants."""
    return [list(stream) for stream in zip(*references, strict=True)]


def percent(value: float) -> float:
    """`value` at most 100: sacreBLEU's logarithms make 100.00000000000004 of a perfect translation."""
    return min(value, 100.0)
