"""Writes the model directory of a finished run: weights, graphs in float32 and int8, confidence, tokenizers, card.

    model/weights.npz                    the best epoch's, or an average of the best if that scores better
    model/encoder.onnx, decoder.onnx     their graphs; encoder.int8.onnx, decoder.int8.onnx in 8 bits
    model/model.json                     the card: dev BLEU 24.1, in 8 bits 24.0, so 8 bits are the default

Vaswani et al. (2017), section 6.1, average the last checkpoints; here the development set chooses them. For 8 bits, the
float graphs translate a part of the development set to measure the ranges of their values. Both precisions then
translate all of it to compare their BLEU. The confidence model (`translation/checks/confidence.py`) is fitted to the
translations that `nmt translate` makes of it. Letters: N sentences, F features.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from onnx import load, save

from nmt_cli import __version__
from nmt_cli.arrays.types import FloatArray
from nmt_cli.corpus.dataset import MixedCorpus, PreparedCorpus, hash_sentences
from nmt_cli.evaluation.analysis.reliability import measure_reliability
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_bleu, compute_chrf
from nmt_cli.files import count_cores
from nmt_cli.runtime.model_directory import (
    FLOAT,
    FORMAT,
    INT8,
    TRAINED_SOURCES,
    WEIGHTS,
    ModelCard,
    name_graphs,
    publish_directory,
    write_card,
)
from nmt_cli.runtime.onnx_engine import OnnxEngine, optimise
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.tags import TagSet
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.checkpoints import Checkpoints, KeptEpoch, NamedArrays, assign_weights, read_arrays, save_weights
from nmt_cli.training.data.batches import read_vocabularies
from nmt_cli.training.export.graph import Graph, look_up_embeddings
from nmt_cli.training.export.quantise import RANGES, RangeRecorder, add_range_output, quantise_model
from nmt_cli.training.export.trace import export
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.validation import GREEDY, Validator
from nmt_cli.training.watcher import Int8Check, Validation
from nmt_cli.translation.checks.confidence import FEATURES, GOOD_CHRF, LOW_CONFIDENCE, ConfidenceModel, extract_features
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.lines import lay_out_lines
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.translator import LineTranslator


@dataclass(frozen=True)
class WeightChoice:
    """The exported weights: of one epoch, or the average of several."""

    epochs: tuple[int, ...]  # best first
    validation: Validation


def choose_weights(checkpoints: Checkpoints, validator: Validator, last_validated: KeptEpoch | None) -> WeightChoice:
    """Loads the best weights into the validator's network, and reports the choice.

    If no weights could be written during training, the network keeps its current ones, those of `last_validated`.
    """
    best = checkpoints.best
    if best is None:
        if last_validated is None:
            raise ValueError("no epoch was validated, so there are no weights to choose")
        return WeightChoice((last_validated.epoch,), last_validated.validation)
    if len(checkpoints.best_epochs) > 1:
        epochs = tuple(kept.epoch for kept in checkpoints.best_epochs)
        paths = [checkpoints.locate_weights(epoch) for epoch in epochs]
        assign_weights(validator.network, average_weights(paths), paths[0])
        validation = validator.measure()
        if checkpoints.is_better(validation):
            return WeightChoice(epochs, validation)
    checkpoints.restore_best(validator.network)
    return WeightChoice((best.epoch,), best.validation)


def average_weights(paths: Sequence[Path]) -> NamedArrays:
    """Returns the mean of each array over the files; at most two files are in memory."""
    total = read_arrays(paths[0])
    for path in paths[1:]:
        for name, array in read_arrays(path).items():
            total[name] = total[name] + array
    return {name: array / len(paths) for name, array in total.items()}


FEWEST_SENTENCES = 300  # of a development set that can tell good translations from others
FEWEST_OF_A_KIND = 30  # good ones, and others
RIDGE = 3.0  # weight of the squared weights, in sentences
STEPS = 50
FOLDS = 10
SURELY_GOOD_CHRF = 60.0  # chrF2 of a translation that should not be marked, 0-100
SHARE_MARKED = 0.03  # at most, of the translations that should not be
SEARCH = SearchOptions()


def fit_confidence(directory: Path, corpus: PreparedCorpus) -> dict[str, Any]:
    """Returns the card's entry for the model in `directory`: its confidence model, or why it has none."""
    sentences = corpus.read_references("dev")
    if len(sentences) < FEWEST_SENTENCES:
        size = format_count(len(sentences), "sentence")
        return {"refused": f"the development set has {size}, but confidence needs {FEWEST_SENTENCES}"}
    # 1. Translate the development set as `nmt translate` does.
    translator = TranslationRequest(directory).load().with_stored_pictures(corpus.load_pictures())
    sources, tags = [sentence.source for sentence in sentences], [sentence.tags for sentence in sentences]
    options = TranslateOptions(SEARCH, RepairOptions(), CheckOptions())
    translations = translator.translate(lay_out_lines(sources, tags), options)
    # 2. Score each sentence.  3. Fit.
    scoring = ScoreOptions(lowercase=corpus.target_tokenizer.settings.lowercase)
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
    """Returns the model fitted to features (N, F) and chrF values (N,), with its quality on held-out sentences."""
    good = values >= GOOD_CHRF
    if min(good.sum(), (~good).sum()) < FEWEST_OF_A_KIND:
        size = format_count(len(good), "development sentence")
        limits = f"confidence needs at least {FEWEST_OF_A_KIND} good ones, and as many others"
        return {"refused": f"good translations: {good.sum():,} of {size}; {limits}"}
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
    """Returns the highest threshold with at most `SHARE_MARKED` of these confidences of good translations below it.

    Returns LOW_CONFIDENCE if there are too few of them to tell.
    """
    if len(confidences) < FEWEST_OF_A_KIND:
        return LOW_CONFIDENCE
    highest = float(np.sort(confidences)[int(SHARE_MARKED * len(confidences))])
    return math.floor(1000 * highest) / 1000


CALIBRATION_SENTENCES = 1000  # maximum number of sentences that the ranges are measured on


def quantise_and_check(corpus: PreparedCorpus, directory: Path, validator: Validator) -> Int8Check:
    """Writes 8-bit graphs beside the float graphs in `directory`, and measures both.

    `validator` has the development set from the start of training, and knows whether the network has learned to copy
    placeholders.
    """
    sources, tags, copies_placeholders = validator.sources, validator.tags, validator.translator.copies_placeholders
    some = slice(CALIBRATION_SENTENCES)
    quantise(corpus, directory, sources[some], copies_placeholders=copies_placeholders, tags=tags[some])
    for name in (*name_graphs(FLOAT), *name_graphs(INT8)):
        optimise(directory / name)
    scores = {}
    for precision in (FLOAT, INT8):
        engine = OnnxEngine(directory, precision=precision)
        hypotheses = translate_dev(corpus, engine, sources, tags, copies_placeholders=copies_placeholders)
        scores[precision] = compute_bleu(hypotheses, validator.references, validator.scoring)
    files = [file for name in name_graphs(INT8) for file in directory.glob(f"{name}*")]
    size = sum(file.stat().st_size for file in files)
    return Int8Check(scores[FLOAT].value, scores[INT8].value, scores[FLOAT].signature, size)


def quantise(
    corpus: PreparedCorpus,
    directory: Path,
    sources: Sequence[str],
    *,
    copies_placeholders: bool,
    look_up: bool = True,
    tags: Sequence[TagSet] = (),
) -> None:
    """Writes the 8-bit graphs; translates `sources`, each after its `tags`, to measure the ranges of their values.

    Without `look_up`, products with embeddings are computed: the graphs are less than half the size, but up to a tenth
    slower.
    """
    # 1. Have the float graphs return the ranges of their values.
    models = [load(directory / name) for name in name_graphs(FLOAT)]
    for model in models if look_up else ():
        look_up_embeddings(Graph(model.graph))
    with tempfile.TemporaryDirectory() as scratch:
        for name, model in zip(name_graphs(FLOAT), models, strict=True):
            save(add_range_output(model), Path(scratch) / name)
        engine = OnnxEngine(Path(scratch))
        engine.step_names.remove(RANGES)
        # 2. Translate, with a recorder of these ranges in place of each session.
        sessions = (engine.encoder, engine.decoder)
        recorders = [RangeRecorder(session, model) for session, model in zip(sessions, models, strict=True)]
        engine.encoder, engine.decoder = recorders
        translate_dev(corpus, engine, sources, tags, copies_placeholders=copies_placeholders)
    # 3. Quantise with them.
    for name, model, ranges in zip(name_graphs(INT8), models, recorders, strict=True):
        save(quantise_model(model, ranges.map_ranges()), directory / name)


def translate_dev(
    corpus: PreparedCorpus,
    engine: OnnxEngine,
    sources: Sequence[str],
    tags: Sequence[TagSet],
    *,
    copies_placeholders: bool,
) -> list[str]:
    """Returns the greedy translations of `sources`."""
    translator = LineTranslator(
        engine, corpus.source, corpus.target_tokenizer, copies_placeholders=copies_placeholders, threads=count_cores()
    )
    return [
        translation.text for translation in translator.translate(lay_out_lines(sources, tags), TranslateOptions(GREEDY))
    ]


def publish(run: TrainingRun) -> tuple[WeightChoice, Int8Check]:
    """Writes the model and returns its choice of weights and the cost of 8-bit weights.

    The directory gets the whole model at once or, on failure, nothing.
    """
    # 1. Choose the best weights, or an average; the network of the validator gets them.
    choice = choose_weights(run.checkpoints, run.validator, run.last_validated)
    network, corpus = run.validator.network, run.request.corpus
    with publish_directory(run.checkpoints.directory) as staged:
        # 2. Save them, and export them as graphs.
        save_weights(network, staged / WEIGHTS)
        export(network, staged)
        # 3. Quantise the graphs, and measure both precisions on the development set.
        int8_check = quantise_and_check(corpus, staged, run.validator)
        # 4. Add what else translates.
        add_reading(staged, corpus, run.profile)
        # 5. Describe it all in the card.
        card = make_card(run, corpus, choice, int8_check)
        write_card(staged, card)
        # 6. Fit the model of confidence, with all of this in place.
        write_card(staged, card._replace(confidence=fit_confidence(staged, corpus)))
    return choice, int8_check


def make_card(run: TrainingRun, corpus: PreparedCorpus, choice: WeightChoice, int8_check: Int8Check) -> ModelCard:
    """Returns the card of a model, without the checksums and the confidence model, which need its files."""
    names = list(corpus.tokenizers)
    return ModelCard(
        format=FORMAT,
        source_language=corpus.source_language,
        target_language=corpus.target_language,
        network=run.validator.network.config.to_mapping(),
        vocabularies=asdict(read_vocabularies(corpus)),
        training=asdict(run.trainer.config),
        synthetic=corpus.synthetic if isinstance(corpus, MixedCorpus) else {},
        tokenizer=asdict(corpus.tokenizer_settings),
        source_tokenizer=names[0],
        target_tokenizer=names[-1],
        dataset_fingerprint=corpus.fingerprint,
        epochs=choice.epochs[0],
        development=describe_development(choice),
        precision=int8_check.to_mapping(),
        versions=read_versions(),
        checksums={},
        source=corpus.source.to_mapping(),
        date=datetime.now(UTC).date().isoformat(),
        parent={} if run.parent is None else asdict(run.parent),
        tags={**({} if run.parent is None else run.parent.tags), **count_trained_tags(corpus)},
        context=max(0 if run.parent is None else run.parent.context, int(corpus.manifest.context.pairs > 0)),
    )


def count_trained_tags(corpus: PreparedCorpus) -> dict[str, int]:
    """Returns the number of training pairs by tag, most frequent tags first."""
    return dict(Counter(str(tag) for tags in corpus.read_tags("train") for tag in tags).most_common())


def add_reading(directory: Path, corpus: PreparedCorpus, profile: str) -> None:
    """Writes the files needed to read text or pictures: the training text's profile, tokenizers, picture weights.

    After training with synthetic pairs, also writes the keys of all sources, which record what the model learned from.
    """
    (directory / PROFILE_NAME).write_text(profile, encoding="utf-8", newline="\n")
    for name, tokenizer in corpus.tokenizers.items():
        (directory / name).write_bytes(tokenizer.model)
    if corpus.picture_weights is not None:
        copyfile(corpus.picture_weights, directory / corpus.picture_weights.name)
    if isinstance(corpus, MixedCorpus):
        keys = np.unique(hash_sentences([pair.source for pair in corpus.read_pairs("train")]))
        np.save(directory / TRAINED_SOURCES, keys)


def describe_development(choice: WeightChoice) -> dict[str, Any]:
    """Returns the scores on the development set in the card's format."""
    validation = choice.validation
    averaged = {"averaged_epochs": list(choice.epochs)} if len(choice.epochs) > 1 else {}
    return {
        **averaged,
        "decoding": "greedy",
        "bleu": {"value": validation.bleu, "signature": validation.bleu_signature},
        "chrf": {"value": validation.chrf, "chance": validation.chance_chrf, "signature": validation.chrf_signature},
        "loss": validation.loss,
        "accuracy": validation.accuracy,
    }


def read_versions() -> dict[str, str]:
    """Returns the versions of this program and of the packages that the model depends on."""
    packages = ("keras", "tf2onnx", "onnxruntime", "sentencepiece", "sacrebleu")
    # TensorFlow comes from one of several packages: with CUDA, for processors alone, built by a vendor.
    return {"nmt": __version__, "tensorflow": tf.__version__, **{name: version(name) for name in packages}}
