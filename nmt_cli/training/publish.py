"""What makes a model directory of a finished training: weights, graphs, tokenizers, card."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from shutil import copyfile
from typing import Any

from nmt_cli import __version__
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.runtime.model_directory import FORMAT, WEIGHTS, ModelCard, publish_directory, write_card
from nmt_cli.training.averaging import Chosen, choose_weights
from nmt_cli.training.checkpoints.checkpoint import save_weights
from nmt_cli.training.data.batches import vocabularies_of
from nmt_cli.training.export.export import export
from nmt_cli.training.int8_check import Int8Check, quantise_and_check
from nmt_cli.training.loop import TrainingRun


def publish(run: TrainingRun, corpus: PreparedCorpus) -> tuple[Chosen, Int8Check]:
    """Writes the best weights, the exported graphs, the tokenizers and the card; returns which weights they are."""
    chosen = choose_weights(run.checkpoints, run.validate, run.latest)
    network = run.validate.network
    with publish_directory(run.checkpoints.directory) as staged:
        save_weights(network, staged / WEIGHTS)
        export(network, staged)
        proof = quantise_and_check(corpus, staged, run.validate)
        names = list(corpus.tokenizers)
        for name, tokenizer in corpus.tokenizers.items():
            (staged / name).write_bytes(tokenizer.model)
        if corpus.picture_weights is not None:
            copyfile(corpus.picture_weights, staged / corpus.picture_weights.name)
        card = ModelCard(
            format=FORMAT,
            source_language=corpus.source_language,
            target_language=corpus.target_language,
            network=network.config.to_mapping(),
            vocabularies=asdict(vocabularies_of(corpus)),
            training=asdict(run.trainer.config),
            tokenizer=asdict(corpus.tokenizer_settings),
            source_tokenizer=names[0],
            target_tokenizer=names[-1],
            dataset_fingerprint=corpus.fingerprint,
            epochs=chosen.epochs[0],
            development=describe_development(chosen),
            precision=proof.to_mapping(),
            versions=read_versions(),
            checksums={},
            source=corpus.source.to_mapping(),
        )
        write_card(staged, card)
    return chosen, proof


def describe_development(chosen: Chosen) -> dict[str, Any]:
    """The scores on the development set as they stand in the card."""
    validation = chosen.validation
    averaged = {"averaged_epochs": list(chosen.epochs)} if len(chosen.epochs) > 1 else {}
    return {
        **averaged,
        "decoding": "greedy",
        "bleu": {"value": validation.bleu, "signature": validation.bleu_signature},
        "chrf": {"value": validation.chrf, "signature": validation.chrf_signature},
        "loss": validation.loss,
        "accuracy": validation.accuracy,
    }


def read_versions() -> dict[str, str]:
    packages = ("tensorflow", "keras", "tf2onnx", "onnxruntime", "sentencepiece", "sacrebleu")
    return {"nmt": __version__, **{name: version(name) for name in packages}}
