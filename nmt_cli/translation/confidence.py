"""The probability that a translation is good, from what is known of it without a reference. Knows no network.

A translation is *good* if its chrF against a reference is at least `BAR`. Features of the search, of the attention, of
lengths and words and of the failed checks go into a logistic model, which is fitted to the development set when a model
is exported (`training/confidence_fitting.py`) and stored in its card. Letters: N translations, F features.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nmt_cli.translation.checks import CheckContext, find_words

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.text.profile import TextProfile
    from nmt_cli.translation.result import Hypothesis, Translation

BAR = 50.0  # chrF2 of a good translation, 0-100
CANDIDATES = 5  # hypotheses that the features of search compare
RARE = 5  # a word that occurs less often in training is rare
UNLIKELY = math.log(0.25)  # log-probability of a token that the network hardly believed in
UNCOVERED = 0.2  # attention that a source position received in all, below which it was left out
FEATURES = (
    "mean log-probability",
    "lowest log-probability",
    "share of unlikely tokens",
    "total log-probability",
    "margin",
    "entropy of candidates",
    "dispersion of attention",
    "uncovered source",
    "length ratio",
    "source length",
    "unseen source words",
    "rare source words",
    "unseen target words",
    "rare target words",
    "failed checks",
    "repairs",
)


class ConfidenceModel(NamedTuple):
    """A logistic model of standardised features."""

    means: tuple[float, ...]  # F
    scales: tuple[float, ...]  # F, positive
    weights: tuple[float, ...]  # F
    bias: float

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ConfidenceModel:
        """Returns the model in an entry of a card. Raises KeyError or ValueError for one with other features."""
        if tuple(values["features"]) != FEATURES:
            raise ValueError("the features are those of another version")
        return cls(tuple(values["means"]), tuple(values["scales"]), tuple(values["weights"]), float(values["bias"]))

    def predict(self, features: FloatArray) -> FloatArray:
        """Returns the probabilities (N,) of features (N, F); an unknown feature (NaN) counts as its mean."""
        standard = np.nan_to_num((features - self.means) / np.asarray(self.scales))
        return np.asarray(1 / (1 + np.exp(-(np.clip(standard, -6, 6) @ np.asarray(self.weights) + self.bias))))


def rate_translations(
    translations: Sequence[Translation], model: ConfidenceModel, context: CheckContext
) -> list[Translation]:
    """Returns the translations with their confidence; a blank line has none, and what was only kept is certain."""
    rated = [index for index, translation in enumerate(translations) if translation.hypotheses]
    result = list(translations)
    if not rated:
        return result
    features = np.array([extract_features(translations[index], context) for index in rated])
    for index, probability in zip(rated, model.predict(features).tolist(), strict=True):
        certain = is_kept(translations[index])
        result[index] = translations[index]._replace(confidence=1.0 if certain else probability)
    return result


def is_kept(translation: Translation) -> bool:
    """Whether nothing of a line was translated."""
    return not any(translation.hypotheses[0].token_log_probabilities)


def extract_features(translation: Translation, context: CheckContext) -> list[float]:
    """Returns the features (F,) of a translation that was searched with scores, and checked; NaN for what is unknown."""
    best = translation.hypotheses[0]
    values = [
        *measure_probabilities(best),
        *measure_rivals(translation.hypotheses),
        *measure_attention(best),
        measure_length(translation, context),
        math.log(len(translation.source_pieces)) if translation.source_pieces else math.nan,
    ]
    profile = context.profile
    sides = ((translation.source, profile.source), (best.text, profile.target)) if profile is not None else ()
    for text, side in sides:
        values += measure_words(text, side) if side is not None else [math.nan, math.nan]
    values += [math.nan] * (len(FEATURES) - 2 - len(values))
    failed = [check for check in translation.checks if check.kind != "unseen words"]
    return [*values, float(len(failed)), float(bool(translation.repairs))]


def measure_probabilities(hypothesis: Hypothesis) -> list[float]:
    """Returns the mean and the lowest log-probability of a token, the share of unlikely ones, and the sum."""
    values = np.array(hypothesis.token_log_probabilities or (0.0,))
    return [float(values.mean()), float(values.min()), float((values < UNLIKELY).mean()), float(values.sum())]


def measure_rivals(hypotheses: Sequence[Hypothesis]) -> list[float]:
    """Returns by how much the best score exceeds the next, and the entropy of the candidates in nats."""
    if len(hypotheses) < 2:
        return [math.nan, math.nan]
    scores = [hypothesis.score for hypothesis in hypotheses[:CANDIDATES]]
    logits = np.array([hypothesis.log_probability for hypothesis in hypotheses[:CANDIDATES]])
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    return [scores[0] - scores[1], float(-(shares * np.log(np.maximum(shares, 1e-12))).sum())]


def measure_attention(hypothesis: Hypothesis) -> list[float]:
    """Returns the mean entropy of attention in nats, and the share of the source positions that it left out."""
    blocks = [block for block in hypothesis.attentions if block.size and block.any()]
    if not blocks:
        return [math.nan, math.nan]
    entropies = np.concatenate([-(block * np.log(np.maximum(block, 1e-9))).sum(axis=1) for block in blocks])
    covered = np.concatenate([block.sum(axis=0)[:-1] for block in blocks])  # without the end of the sentence
    return [float(entropies.mean()), float((covered < UNCOVERED).mean()) if covered.size else 0.0]


def measure_length(translation: Translation, context: CheckContext) -> float:
    """Returns how unusual the ratio of the lengths is: its distance from the mean of training in standard deviations."""
    length, target_length = len(translation.source), len(translation.text)
    ratio = context.profile.find_ratio(length) if context.profile is not None and context.reads_text else None
    if ratio is None or not length or not ratio.spread:
        return math.nan
    return abs(math.log(max(1, target_length) / length / ratio.mean)) / ratio.spread


def measure_words(text: str, profile: TextProfile) -> list[float]:
    """Returns the shares of the words that training never had, and that it seldom had."""
    counts = [profile.count_word(word) for word in find_words(text)]
    if not counts:
        return [0.0, 0.0]
    return [sum(not count for count in counts) / len(counts), sum(0 < count < RARE for count in counts) / len(counts)]
