"""The probability that a translation is good, estimated without a reference. Knows no network.

A translation is *good* if its chrF against a reference is at least `GOOD_CHRF`. Features of the best hypothesis, its
attention, the lengths, the words and the failed checks go into a logistic model, which is fitted to the development set
when a model is exported (`training/confidence_fitting.py`) and stored in its card. Every translation is rated, so no
feature needs more than the search has found anyway. Letters: N translations, F features.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from nmt_cli.errors import OptionError
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.checks.words import describe_unseen, find_unseen_words
from nmt_cli.translation.placement.word_alignment import group_by_blanks, spell_word
from nmt_cli.translation.result import DOUBT_MARK, FailedCheck

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.text.profile import CorpusProfile, TextProfile
    from nmt_cli.translation.config import CheckConfig, LowConfidence
    from nmt_cli.translation.result import Hypothesis, Translation

GOOD_CHRF = 50.0  # chrF2 of a good translation, 0-100
RARE_WORD_COUNT = 5  # a word that occurs less often in training is rare
UNLIKELY = math.log(0.25)  # log-probability of a token that the network hardly believed in
LOW_CONFIDENCE = 0.2  # below which a person should look at a translation, unless a card says otherwise
UNCOVERED = 0.2  # attention that a source position received in all, below which it was left out
COUNTED_ELSEWHERE = {"unseen words", "untranslated", "labels"}  # checks of what other features measure
FEATURES = (
    "mean log-probability",
    "lowest log-probability",
    "share of unlikely tokens",
    "total log-probability",
    "mean probability",
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
    """A logistic model of standardised features, and the confidence below which a translation fails a check."""

    means: tuple[float, ...]  # F
    scales: tuple[float, ...]  # F, positive
    weights: tuple[float, ...]  # F
    bias: float
    threshold: float = LOW_CONFIDENCE

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ConfidenceModel:
        """Returns the model in an entry of a card; a feature that is no longer computed counts as its mean.

        Raises KeyError or ValueError if it lacks features.
        """
        columns = [values["features"].index(name) for name in FEATURES]
        means, scales, weights = (
            tuple(float(values[name][column]) for column in columns) for name in ("means", "scales", "weights")
        )
        return cls(means, scales, weights, float(values["bias"]), float(values.get("threshold", LOW_CONFIDENCE)))

    def rate(self, features: FloatArray) -> FloatArray:
        """Returns the probabilities (N,) of features (N, F); an unknown feature (NaN) counts as its mean."""
        standard = np.nan_to_num((features - self.means) / np.asarray(self.scales))
        return np.asarray(1 / (1 + np.exp(-(np.clip(standard, -6, 6) @ np.asarray(self.weights) + self.bias))))


def load_confidence(card: ModelCard) -> ConfidenceModel:
    """Returns a card's confidence model. Raises OptionError, with the reason, if it has none."""
    entry = card.confidence
    again = "train it again with this nmt, with --dev 1000 or more when it is prepared"
    if not entry:
        raise OptionError(
            "this model cannot rate its confidence: it was trained without a confidence model", hint=again
        )
    if "refused" in entry:
        raise OptionError(f"this model cannot rate its confidence: {entry['refused']}", hint=again)
    try:
        return ConfidenceModel.from_mapping(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise OptionError(f"this model's confidence is of another version ({error})", hint=again) from error


def find_confidence(card: ModelCard) -> ConfidenceModel | None:
    """Returns a card's confidence model; None if it has none of this version."""
    try:
        return load_confidence(card)
    except OptionError:
        return None


def judge_translations(
    translations: Sequence[Translation], model: ConfidenceModel, context: CheckContext, checks: CheckConfig
) -> list[Translation]:
    """Rates translations, and adds a failed check to those below the threshold of `checks` or, by default, the model's.

    Only below a threshold that was asked for is the text replaced.
    """
    rated = rate_translations(translations, model, context)
    least = model.threshold if checks.min_confidence is None else checks.min_confidence
    instead = "keep" if checks.min_confidence is None else checks.on_low_confidence
    return [apply_threshold(translation, least, instead, context) for translation in rated]


def rate_translations(
    translations: Sequence[Translation], model: ConfidenceModel, context: CheckContext
) -> list[Translation]:
    """Returns the translations with their confidence: None for a blank line, 1 for text that was only kept."""
    rated = [index for index, translation in enumerate(translations) if translation.hypotheses]
    result = list(translations)
    if not rated:
        return result
    features = np.array([extract_features(translations[index], context) for index in rated])
    for index, probability in zip(rated, model.rate(features).tolist(), strict=True):
        certain = is_kept(translations[index])
        result[index] = translations[index]._replace(confidence=1.0 if certain else probability)
    return result


def apply_threshold(
    translation: Translation, least: float, on_low_confidence: Literal["keep"] | LowConfidence, context: CheckContext
) -> Translation:
    """Below the confidence `least`, adds a failed check and may replace the text; else changes nothing."""
    confidence = translation.confidence
    if confidence is None or confidence >= least:
        return translation
    reason = name_unseen_words(translation, context.profile) if context.profile is not None else ""
    failed = FailedCheck("confidence", f"confidence {confidence:.2f} is below {least:.2g}{reason}")
    texts = {"blank": "", "source": translation.source, "mark": f"{DOUBT_MARK} {translation.text}"}
    return translation._replace(checks=(*translation.checks, failed), replacement=texts.get(on_low_confidence))


def name_unseen_words(translation: Translation, profile: CorpusProfile) -> str:
    """Names the words that training never had: of the source as the network read it, or else of the translation."""
    if profile.source is None:
        return ""
    pieces = translation.source_pieces
    read = " ".join(spell_word(pieces, group) for group in group_by_blanks(pieces))
    unseen, _ = find_unseen_words(read, translation.text, profile.source)
    unseen = unseen or find_unseen_words(translation.text, read, profile.target)[0]
    return f"; {describe_unseen(unseen, profile.target)}" if unseen else ""


def is_kept(translation: Translation) -> bool:
    """Whether the network translated nothing of a line."""
    return translation.is_recalled or not any(translation.hypotheses[0].token_log_probabilities)


def extract_features(translation: Translation, context: CheckContext) -> list[float]:
    """Returns the features (F,) of a scored and checked translation; NaN where unknown."""
    best = drop_kept_pieces(translation.hypotheses[0])
    positions = sum(block.shape[1] for block in best.attentions) or len(translation.source_pieces)
    values = [
        *measure_probabilities(best),
        *measure_attention(best),
        measure_length(translation, context),
        math.log(positions) if positions else math.nan,
    ]
    profile = context.profile
    sides = ((translation.source, profile.source), (best.text, profile.target)) if profile is not None else ()
    for text, side in sides:
        values += measure_words(text, side) if side is not None else [math.nan, math.nan]
    values += [math.nan] * (len(FEATURES) - 2 - len(values))
    failed = [check for check in translation.checks if check.kind not in COUNTED_ELSEWHERE]
    return [*values, float(len(failed)), float(bool(translation.repairs))]


def drop_kept_pieces(hypothesis: Hypothesis) -> Hypothesis:
    """Returns a hypothesis without pieces that were only kept, such as list marks, since these are certain.

    A hypothesis that consists only of kept pieces is unchanged.
    """
    lengths = [len(block) for block in hypothesis.attentions]
    values = hypothesis.token_log_probabilities
    if len(lengths) < 2 or sum(lengths) != len(values):
        return hypothesis
    ends = list(accumulate(lengths))
    parts = [values[end - length : end] for length, end in zip(lengths, ends, strict=True)]
    pairs = [(part, block) for part, block in zip(parts, hypothesis.attentions, strict=True) if any(part)]
    if not pairs:
        return hypothesis
    return hypothesis._replace(
        token_log_probabilities=tuple(chain.from_iterable(part for part, _ in pairs)),
        attentions=tuple(block for _, block in pairs),
    )


def measure_probabilities(hypothesis: Hypothesis) -> list[float]:
    """Returns the log-probabilities' mean, minimum, share of unlikely tokens and sum, and the mean probability."""
    values = hypothesis.token_log_probabilities or (0.0,)
    count, total = len(values), sum(values)
    unlikely = len([value for value in values if value < UNLIKELY])
    return [total / count, min(values), unlikely / count, total, sum(map(math.exp, values)) / count]


def measure_attention(hypothesis: Hypothesis) -> list[float]:
    """Returns the mean entropy of attention in nats, and the share of source positions without attention."""
    blocks = [block for block in hypothesis.attentions if block.size and block.any()]
    if not blocks:
        return [math.nan, math.nan]
    entropy, uncovered, rows, positions = 0.0, 0, 0, 0
    for block in blocks:
        entropy -= float(np.vdot(block, np.log(np.maximum(block, 1e-9))))
        uncovered += int(np.count_nonzero(block.sum(axis=0)[:-1] < UNCOVERED))  # without the end of the sentence
        rows, positions = rows + block.shape[0], positions + block.shape[1] - 1
    return [entropy / rows, uncovered / max(1, positions)]


def measure_length(translation: Translation, context: CheckContext) -> float:
    """Returns the deviation of the length ratio from its mean, in standard deviations."""
    length, target_length = len(translation.source), len(translation.text)
    ratio = context.find_ratio(length) if context.reads_text else None
    if ratio is None or not length or not ratio.spread:
        return math.nan
    return abs(math.log(max(1, target_length) / length / ratio.mean)) / ratio.spread


def measure_words(text: str, profile: TextProfile) -> list[float]:
    """Returns the shares of words that are unseen, and rare, in training."""
    counts = profile.count_words(text)
    if not counts:
        return [0.0, 0.0]
    rare = len([count for count in counts if 0 < count < RARE_WORD_COUNT])
    return [counts.count(0) / len(counts), rare / len(counts)]
