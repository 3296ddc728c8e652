"""Reliability of the confidence in translations: calibration, ranking, and the gain from dropping uncertain ones.

Knows only numbers: `confidences` (N,) are probabilities that a translation is good, `good` (N,) says whether it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray

BINS = 10
LEFT_OUT = (0.0, 0.1, 0.2, 0.5)  # shares of the least sure translations


@dataclass(frozen=True)
class ReliabilityBin:
    """A tenth of the translations, by confidence."""

    confidence: float  # mean
    good: float  # the share of good translations
    sentences: int


@dataclass(frozen=True)
class Reliability:
    """The reliability of the confidence on a set of sentences."""

    bar: float  # chrF from which a translation counts as good, 0-100
    sentences: int
    good: float  # the share of good translations
    calibration_error: float  # expected, over bins of equal mass, 0-1
    auc: float  # area under the ROC curve
    plain_auc: float  # that of the mean log-probability of a token
    bins: tuple[ReliabilityBin, ...]
    coverage: tuple[tuple[float, float], ...]  # share of the least sure that is left out, and chrF of the others

    def to_mapping(self) -> dict[str, Any]:
        """Returns the numbers for `--json`."""
        return {
            "good": f"chrF2 of at least {self.bar:g}",
            "sentences": self.sentences,
            "share_good": self.good,
            "ece": self.calibration_error,
            "auc": self.auc,
            "auc_mean_log_probability": self.plain_auc,
            "bins": [[part.confidence, part.good, part.sentences] for part in self.bins],
            "chrf_without_least_sure": [[share, value] for share, value in self.coverage],
        }

    def format_lines(self) -> list[str]:
        """Returns the lines to print."""
        kept = ", ".join(f"{share:.0%} {value:.1f}" for share, value in self.coverage[1:])
        return [
            f"confidence  ECE {self.calibration_error:.3f}  AUC {self.auc:.3f} (mean log-probability "
            f"{self.plain_auc:.3f})  good: chrF2 of at least {self.bar:g}, {self.good:.0%} of them",
            f"            mean chrF2 {self.coverage[0][1]:.1f}; without the least confident {kept}",
        ]


def measure_reliability(
    confidences: Sequence[float], plain: Sequence[float], values: Sequence[float], bar: float
) -> Reliability:
    """Measures confidences, and the `plain` mean log-probabilities, against the chrF of each sentence.

    Here, the chrF of several sentences is the mean of their chrF scores.
    """
    scores, sure = np.asarray(values, dtype=float), np.asarray(confidences, dtype=float)
    good = scores >= bar
    bins = split_bins(sure, good)
    return Reliability(
        bar=bar,
        sentences=len(scores),
        good=float(good.mean()),
        calibration_error=compute_calibration_error(bins),
        auc=compute_auc(sure, good),
        plain_auc=compute_auc(np.asarray(plain, dtype=float), good),
        bins=tuple(bins),
        coverage=tuple((share, score_surest(sure, scores, share)) for share in LEFT_OUT),
    )


def split_bins(confidences: FloatArray, good: NDArray[np.bool_]) -> list[ReliabilityBin]:
    """Splits the translations into up to `BINS` bins of equal size, least confident first."""
    order = np.argsort(confidences, kind="stable")
    return [
        ReliabilityBin(float(confidences[rows].mean()), float(good[rows].mean()), len(rows))
        for rows in np.array_split(order, BINS)
        if len(rows)
    ]


def compute_calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Computes the expected calibration error: the mean gap, by sentence, between confidence and share of good ones."""
    total = sum(part.sentences for part in bins)
    return sum(abs(part.confidence - part.good) * part.sentences for part in bins) / max(1, total)


def compute_auc(scores: FloatArray, good: NDArray[np.bool_]) -> float:
    """Computes the probability that a good translation has a higher score than a bad one; ties count half.

    This is the Mann-Whitney statistic, from mean ranks; 0.5 if all translations are good, or all bad.
    """
    positives = int(good.sum())
    negatives = len(good) - positives
    if not positives or not negatives:
        return 0.5
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[good.astype(bool)].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def score_surest(confidences: FloatArray, values: FloatArray, share: float) -> float:
    """Returns the mean value after dropping this share of translations, least confident first; keeps at least one."""
    order = np.argsort(confidences, kind="stable")
    return float(values[order[min(round(share * len(order)), len(order) - 1) :]].mean())
