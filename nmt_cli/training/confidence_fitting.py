"""Fits a network's confidence model to its development set (`translation/checks/confidence.py`).

Letters: N sentences, F features.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.analysis.reliability import measure_reliability
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.chrf import compute_chrf
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.by_tags import translate_tagged
from nmt_cli.translation.checks.confidence import (
    FEATURES,
    GOOD_CHRF,
    LOW_CONFIDENCE,
    ConfidenceModel,
    extract_features,
)
from nmt_cli.translation.config import CheckConfig, ModelRequest, RepairConfig
from nmt_cli.translation.translator import Translator

FEWEST_SENTENCES = 300  # of a development set that can tell good translations from others
FEWEST_OF_A_KIND = 30  # good ones, and others
RIDGE = 3.0  # weight of the squared weights, in sentences
STEPS = 50
FOLDS = 10
SURELY_GOOD_CHRF = 60.0  # chrF2 of a translation that should not be marked, 0-100
SHARE_MARKED = 0.03  # at most, of the translations that should not be
SEARCH = SearchConfig()


def fit_confidence(directory: Path, corpus: PreparedCorpus) -> dict[str, Any]:
    """Returns the card's entry for the model in `directory`: its confidence model, or why it has none."""
    sentences = corpus.read_references("dev")
    if len(sentences) < FEWEST_SENTENCES:
        size = format_count(len(sentences), "sentence")
        return {"refused": f"the development set has {size}; {FEWEST_SENTENCES} are needed"}
    # 1. Translate the development set as `nmt translate` does.
    translator = Translator.load(ModelRequest(directory)).with_stored_pictures(corpus.load_pictures())
    sources, tags = [sentence.source for sentence in sentences], [sentence.tags for sentence in sentences]
    translations = translate_tagged(translator, sources, tags, SEARCH, repair=RepairConfig(), checks=CheckConfig())
    # 2. Score each sentence.  3. Fit.
    scoring = ScoreConfig(lowercase=corpus.target_tokenizer.settings.lowercase)
    references = [sentence.references for sentence in sentences]
    chrf = compute_chrf([translation.text for translation in translations], references, scoring)
    features = [
        extract_features(translation, translator.check_context)
        for translation in translations
        if translation.hypotheses
    ]
    values = [value for value, text in zip(chrf.sentence_values, translations, strict=True) if text.hypotheses]
    entry = describe_fit(np.array(features), np.array(values))
    return entry if "refused" in entry else {"decoding": SEARCH.summary, "metric": chrf.signature, **entry}


def describe_fit(features: FloatArray, values: FloatArray) -> dict[str, Any]:
    """Returns the model of features (N, F) and chrF values (N,), with its quality on held-out sentences."""
    good = values >= GOOD_CHRF
    if min(good.sum(), (~good).sum()) < FEWEST_OF_A_KIND:
        size = format_count(len(good), "development sentence")
        return {"refused": f"good are {good.sum():,} of {size}, too few or too many"}
    model = fit_logistic(features, good)
    held_out = cross_validate(features, good)
    quality = measure_reliability(held_out.tolist(), features[:, 0].tolist(), values.tolist(), GOOD_CHRF)
    model = model._replace(threshold=choose_threshold(held_out[values >= SURELY_GOOD_CHRF]))
    return {
        "bar": GOOD_CHRF,
        "sentences": len(good),
        "features": list(FEATURES),
        **model._asdict(),
        "quality": {
            "share_good": round(quality.good, 4),
            "ece": round(quality.calibration_error, 4),
            "auc": round(quality.auc, 4),
            "auc_mean_log_probability": round(quality.plain_auc, 4),
        },
    }


def fit_logistic(features: FloatArray, good: NDArray[np.bool_]) -> ConfidenceModel:
    """Returns the maximum-likelihood logistic model, with a penalty on large weights (Newton's method)."""
    is_known = np.isfinite(features)
    counts = np.maximum(is_known.sum(axis=0), 1)
    means = np.where(is_known, features, 0.0).sum(axis=0) / counts
    scales = np.sqrt((np.where(is_known, features - means, 0.0) ** 2).sum(axis=0) / counts)
    scales = np.where(scales > 1e-9, scales, 1.0)  # a feature that is always the same, or never known
    standard = np.clip(np.nan_to_num((features - means) / scales), -6, 6)
    design = np.column_stack([standard, np.ones(len(standard))])  # (N, F + 1), the last for the bias
    penalty = np.diag([RIDGE] * standard.shape[1] + [0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        probabilities = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (good - probabilities) - penalty @ weights
        curvature = (design * (probabilities * (1 - probabilities))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature + 1e-9 * np.eye(len(weights)), gradient)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    rounded = (tuple(np.round(array, 6).tolist()) for array in (means, scales, weights[:-1]))
    return ConfidenceModel(next(rounded), next(rounded), next(rounded), float(weights[-1]))


def cross_validate(features: FloatArray, good: NDArray[np.bool_]) -> FloatArray:
    """Returns the probability (N,) of each sentence by a model fitted without it."""
    result = np.zeros(len(good))
    for fold in range(FOLDS):
        left_out = np.arange(len(good)) % FOLDS == fold
        result[left_out] = fit_logistic(features[~left_out], good[~left_out]).rate(features[left_out])
    return result


def choose_threshold(confidences: FloatArray) -> float:
    """Returns the highest threshold below which at most `SHARE_MARKED` of these confidences of good translations lie.

    Too few of them say nothing: LOW_CONFIDENCE.
    """
    if len(confidences) < FEWEST_OF_A_KIND:
        return LOW_CONFIDENCE
    highest = float(np.sort(confidences)[int(SHARE_MARKED * len(confidences))])
    return math.floor(1000 * highest) / 1000
