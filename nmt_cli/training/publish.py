"""Writes the model directory of a finished training: weights, graphs, tokenizers and card."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import tensorflow as tf

from nmt_cli import __version__
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.mixture import MixedCorpus, hash_sentences
from nmt_cli.runtime.model_directory import FORMAT, TRAINED_SOURCES, WEIGHTS, ModelCard, publish_directory, write_card
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.training.averaging import WeightChoice, choose_weights
from nmt_cli.training.checkpoints.checkpoint import save_weights
from nmt_cli.training.confidence_fitting import fit_confidence
from nmt_cli.training.data.batches import read_vocabularies
from nmt_cli.training.export.export import export
from nmt_cli.training.int8_check import Int8Check, quantise_and_check
from nmt_cli.training.loop import TrainingRun


def publish(run: TrainingRun, corpus: PreparedCorpus) -> tuple[WeightChoice, Int8Check]:
    """Writes the model and returns its choice of weights and the cost of 8 bits.

    The directory gets the whole model at once or, on failure, nothing.
    """
    # 1. Choose the best weights, or an average; the network of the validator gets them.
    choice = choose_weights(run.checkpoints, run.validator, run.last_validated)
    network = run.validator.network
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
        parent={} if run.parent is None else run.parent.to_mapping(),
        tags={**({} if run.parent is None else run.parent.tags), **count_trained_tags(corpus)},
        context=max(0 if run.parent is None else run.parent.context, int(corpus.manifest.context.pairs > 0)),
    )


def count_trained_tags(corpus: PreparedCorpus) -> dict[str, int]:
    """Returns the number of training pairs by tag, most frequent tags first."""
    return dict(Counter(str(tag) for tags in corpus.read_tags("train") for tag in tags).most_common())


def add_reading(directory: Path, corpus: PreparedCorpus, profile: str) -> None:
    """Writes the files that read text or pictures: the training text's profile, tokenizers, picture weights.

    After training with synthetic pairs, also writes the keys of all sources, which record what was learned from.
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
    """Returns the scores on the development set in the form of the card."""
    validation = choice.validation
    averaged = {"averaged_epochs": list(choice.epochs)} if len(choice.epochs) > 1 else {}
    return {
        **averaged,
        "decoding": "greedy",
        "bleu": {"value": validation.bleu, "signature": validation.bleu_signature},
        "chrf": {"value": validation.chrf, "signature": validation.chrf_signature},
        "loss": validation.loss,
        "accuracy": validation.accuracy,
    }


def read_versions() -> dict[str, str]:
    """Returns the versions of this program and of the packages that the model depends on."""
    packages = ("keras", "tf2onnx", "onnxruntime", "sentencepiece", "sacrebleu")
    # TensorFlow comes from one of several packages: with CUDA, for processors alone, built by a vendor.
    return {"nmt": __version__, "tensorflow": tf.__version__, **{name: version(name) for name in packages}}
