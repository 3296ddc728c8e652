"""The interface of a metric: what it takes, and the score that it returns. Must not know any metric, model or file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nmt_cli.errors import DataError
from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.text.tags import TagSet
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.search.forced import ForcedTarget


# The interface of a metric. Must not know any metric, model or file.
#
# Letters: N sentences, K counts per sentence, R resamples of the sentences.


Hypotheses = Sequence[str]
References = Sequence[Sequence[str]]  # sentence-major: one inner sequence per hypothesis


@dataclass(frozen=True)
class Statistics:
    """Sufficient statistics of a score: `combine` maps summed rows of `counts` to the score of those sentences."""

    counts: FloatArray  # (N, K)
    combine: Callable[[FloatArray], FloatArray]  # sums (R, K) -> values (R,)

    def score_sentences(self, rows: Sequence[int]) -> float:
        """Returns the score of these sentences."""
        return float(self.combine(self.counts[list(rows)].sum(axis=0, keepdims=True))[0])


@dataclass(frozen=True)
class Score:
    """The value of one metric over all sentences.

    `signature` says how it was computed, so that another program can reproduce it.
    """

    name: str  # as it is printed, such as BLEU-4
    value: float  # 0-100; perplexity and error rates may be greater
    signature: str
    sentence_values: tuple[float, ...] = field(repr=False)  # on the same scale, one per hypothesis, in order
    parts: Mapping[str, float] = field(default_factory=dict, repr=False)  # such as precision and recall, 0-100
    statistics: Statistics | None = field(default=None, repr=False)
    lower_is_better: bool = field(default=False, repr=False)
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)  # such as the precisions of BLEU
    detail_text: str = field(default="", repr=False)  # the same as it is printed


class MetricFunction(Protocol):
    """A metric that needs only the sentences. Raises DataError if hypotheses and references do not pair up."""

    def __call__(self, hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /) -> Score: ...


def average_scores(
    name: str, values: Sequence[float], signature: str, parts: Mapping[str, float] | None = None
) -> Score:
    """Returns the mean of the sentences' values (0-100) as a score."""
    return Score(
        name=name,
        value=sum(values) / len(values),
        signature=signature,
        sentence_values=tuple(values),
        parts=parts or {},
        statistics=make_ratio_statistics(values, [1.0] * len(values)),
    )


def make_ratio_statistics(numerators: Sequence[float], denominators: Sequence[float], scale: float = 1.0) -> Statistics:
    """Returns the statistics of a score that is `scale` times a ratio of sums."""
    import numpy as np  # which `nmt --help` does not need

    counts = np.stack([np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)], axis=1)
    return Statistics(counts, lambda sums: scale * sums[:, 0] / np.maximum(sums[:, 1], 1))


def check_pairing(hypotheses: Hypotheses, references: References) -> None:
    """Raises DataError unless there are sentences, and every hypothesis has as many references as the first.

    sacreBLEU itself silently truncates to the shorter of two sequences.
    """
    if len(hypotheses) != len(references):
        raise DataError(
            f"{format_count(len(hypotheses), 'hypothesis', 'hypotheses')} cannot be scored against the references of "
            f"{format_count(len(references), 'sentence')}",
            hint="each hypothesis needs its own references, in the same order",
        )
    if not hypotheses:
        raise DataError("there is no sentence to score")
    counts = [len(of_sentence) for of_sentence in references]
    if counts[0] < 1:
        raise DataError("sentence 1 has no reference")
    for number, count in enumerate(counts, start=1):
        if count != counts[0]:
            amount = format_count(count, "reference")
            raise DataError(f"sentence {number:,} has {amount}, but those before it have {counts[0]}")


def transpose_references(references: References) -> list[list[str]]:
    """Returns one list of all sentences per reference, the order that sacreBLEU expects."""
    return [list(stream) for stream in zip(*references, strict=True)]


def read_version(package: str) -> str:
    """Returns the version of an installed package, for signatures."""
    from importlib import metadata  # takes a tenth of the time in which `nmt evaluate --help` must answer

    return metadata.version(package)


# The input of all metrics. Must not know any metric. Standard library only.


@dataclass(frozen=True)
class Material:
    """The sentences and all known facts about them; sequences are in the order of the hypotheses."""

    hypotheses: Hypotheses
    references: References
    sources: Sequence[str] | None = None
    forced: Sequence[ForcedTarget] | None = None  # the first references, scored by the model
    subwords: str = ""  # fingerprint of the target subwords in which `forced` is scored
    tags: Sequence[TagSet] = ()  # of each sentence; empty if none has any
