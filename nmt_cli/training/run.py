"""`train`: from a prepared directory to a model directory. Silent; tells a `Watcher` what happens."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from typing import Any

import keras
import tensorflow as tf

from nmt_cli import __version__
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import Features
from nmt_cli.errors import DataError
from nmt_cli.inference.bundle import FORMAT, WEIGHTS, ModelCard, publishing, write_card
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.checkpoint import Best, Checkpoints, save_weights
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data import TrainingBatches
from nmt_cli.training.export import export
from nmt_cli.training.loop import Trainer, fit
from nmt_cli.training.precision import dtype_policy, policy_name
from nmt_cli.training.proof import Proof, quantise_and_prove
from nmt_cli.training.schedule import optimizer
from nmt_cli.training.validation import Validator
from nmt_cli.training.watch import EpochRecord, RunInfo, Validation, Watcher


@dataclass(frozen=True)
class TrainReport:
    """What came of a training."""

    best_epoch: int
    validation: Validation  # of the weights that were kept
    records: tuple[EpochRecord, ...]
    proof: Proof  # of the weights in 8 bits


def train(
    corpus: PreparedCorpus,
    directory: Path,
    network_config: ModelConfig,
    config: TrainConfig,
    *,
    watcher: Watcher | None = None,
) -> TrainReport:
    """Trains a network and leaves a complete model in `directory`, which `bundle.claim` has made sure of.

    Raises TrainingError if training diverges, KeyboardInterrupt if the watcher stops it before the first step.
    """
    watcher = watcher or Watcher()
    check_splits(corpus)
    keras.utils.set_random_seed(config.seed)
    vocabularies = vocabularies_of(corpus)
    policy = policy_name(config.mixed_precision)
    with dtype_policy(policy):
        network = Seq2Seq(network_config, vocabularies)
    twin = Seq2Seq(network_config, vocabularies)
    batches = TrainingBatches(corpus, config)
    trainer = Trainer(network, optimizer(config, batches.steps * config.epochs), config)
    watcher.started(run_info(network, batches, config, policy))
    checkpoints = Checkpoints(directory)
    fit(trainer, batches, Validator(twin, corpus, batch_size=config.batch), checkpoints, watcher)
    watcher.exporting()
    best, proof = publish(twin, corpus, directory, checkpoints, vocabularies, config)
    return TrainReport(best.epoch, best.validation, tuple(checkpoints.records), proof)


def vocabularies_of(corpus: PreparedCorpus) -> Vocabularies:
    target = corpus.target_tokenizer.vocabulary_size
    if isinstance(corpus.manifest.source, Features):
        return Vocabularies(source=0, target=target, joint=False, features=corpus.manifest.source.depth)
    return Vocabularies(source=corpus.source_tokenizer.vocabulary_size, target=target, joint=corpus.joint)


def check_splits(corpus: PreparedCorpus) -> None:
    for split in ("train", "dev"):
        if not len(corpus.encoded(split).source):
            raise DataError(f"{corpus.directory}/ has no {split} pairs", hint="prepare a corpus with more pairs")


def run_info(network: Seq2Seq, batches: TrainingBatches, config: TrainConfig, policy: str) -> RunInfo:
    gpus = len(tf.config.list_logical_devices("GPU"))
    return RunInfo(
        weights=network.count_params(),
        pairs=len(batches.split.source),
        steps_per_epoch=batches.steps,
        epochs=config.epochs,
        precision=policy,
        devices=f"{gpus} GPU" if gpus else f"CPU, {os.cpu_count()} threads",
    )


def publish(
    network: Seq2Seq,
    corpus: PreparedCorpus,
    directory: Path,
    checkpoints: Checkpoints,
    vocabularies: Vocabularies,
    config: TrainConfig,
) -> tuple[Best, Proof]:
    """Writes the best weights, the exported graphs, the tokenizers and the card; returns which weights they are.

    `network` is any of the right shape, in float32: it is given the best weights.
    """
    best = checkpoints.best
    if best is None:
        raise ValueError("nothing was validated, so nothing can be published")
    checkpoints.restore_best(network)
    with publishing(directory) as staged:
        save_weights(network, staged / WEIGHTS)
        export(network, staged)
        proof = quantise_and_prove(corpus, staged)
        names = [path.name for path in corpus.tokenizer_files.values()]
        for path in corpus.model_files:
            copyfile(path, staged / path.name)
        card = ModelCard(
            format=FORMAT,
            source_language=corpus.source_language,
            target_language=corpus.target_language,
            network=network.config.to_mapping(),
            vocabularies=asdict(vocabularies),
            training=asdict(config),
            tokenizer=asdict(corpus.tokenizer_settings),
            source_tokenizer=names[0],
            target_tokenizer=names[-1],
            dataset_fingerprint=corpus.fingerprint,
            epochs=best.epoch,
            development=development(best.validation),
            precision=proof.to_mapping(),
            versions=versions(),
            checksums={},
            source=corpus.source.to_mapping(),
        )
        write_card(staged, card)
    return best, proof


def development(validation: Validation) -> dict[str, Any]:
    """The scores on the development set as they stand in the card."""
    return {
        "decoding": "greedy",
        "bleu": {"value": validation.bleu, "signature": validation.bleu_signature},
        "chrf": {"value": validation.chrf, "signature": validation.chrf_signature},
        "loss": validation.loss,
        "accuracy": validation.accuracy,
    }


def versions() -> dict[str, str]:
    packages = ("tensorflow", "keras", "tf2onnx", "onnxruntime", "sentencepiece", "sacrebleu")
    return {"nmt": __version__, **{name: version(name) for name in packages}}
