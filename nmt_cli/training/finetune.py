"""Training that begins with the weights of another model, and the old pairs that go with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import hash_file
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import ModelDirectory
from nmt_cli.training.checkpoints.resume import list_changes
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import vocabularies_of
from nmt_cli.training.data.replay import Replayed, clear_of

FREE = {"dropout"}  # weights do not depend on it


def choose_network(
    corpus: PreparedCorpus, network: ModelConfig, config: TrainConfig, asked: Collection[str]
) -> ModelConfig:
    """The network to train: without `--init-from` as it is, else that of the model, with what is asked for and free.

    `asked` are the names of the options of `network` that were asked for. Raises DataError if that model has other
    subwords than the corpus, OptionError if another network is asked for.
    """
    if config.init_from is None:
        return network
    model = ModelDirectory.load(Path(config.init_from))
    check_same_subwords(corpus, model)
    if dataclasses.asdict(vocabularies_of(corpus)) != model.card.vocabularies:
        raise DataError(
            f"{corpus.directory}/ has other features than {model.directory}/ was trained with",
            hint="make them with the network that made those",
        )
    learned = ModelConfig.from_mapping(model.card.network, where=str(model.directory))
    left_out = {field.name for field in dataclasses.fields(network)} - set(asked)
    changed = list(list_changes(learned.to_mapping(), network, free=FREE | left_out))
    if changed:
        had, requested = (", ".join(texts) for texts in zip(*changed, strict=True))
        raise OptionError(
            f"{model.directory}/ has {had}; asked for: {requested}",
            hint="leave the network's options out, and those of the model are taken",
        )
    return dataclasses.replace(learned, **{name: getattr(network, name) for name in FREE - left_out})


def check_same_subwords(corpus: PreparedCorpus, model: ModelDirectory) -> None:
    names = dict.fromkeys((model.card.source_tokenizer, model.card.target_tokenizer))  # one name where they are joint
    settings = dataclasses.asdict(corpus.tokenizer_settings)
    if settings != model.card.tokenizer or hash_tokenizers(corpus) != [
        hash_file(model.directory / name) for name in names
    ]:
        raise DataError(
            f"{corpus.directory}/ has other subwords than {model.directory}/",
            hint=f"prepare it with those: `nmt prepare ... --tokenizer-from {model.directory}`",
        )


def load_replayed(corpus: PreparedCorpus, config: TrainConfig) -> Replayed | None:
    """The corpus of `--replay`, less the pairs that would give away what is held out of `corpus`.

    Raises DataError if its subwords are not those of the corpus, or if no pair is left.
    """
    if config.replay is None:
        return None
    old = PreparedCorpus.load(Path(config.replay))
    if old.tokenizer_settings != corpus.tokenizer_settings or hash_tokenizers(old) != hash_tokenizers(corpus):
        raise DataError(
            f"{old.directory}/ has other subwords than {corpus.directory}/",
            hint=f"prepare the new pairs with those: `nmt prepare ... --tokenizer-from {old.directory}`",
        )
    replayed = Replayed(old, clear_of(old, corpus))
    if not len(replayed.rows):
        raise DataError(
            f"{old.directory}/ has no train pairs to replay, or all are held out of {corpus.directory}/",
            hint="leave out --replay, or name another corpus by it",
        )
    return replayed


def hash_tokenizers(corpus: PreparedCorpus) -> list[str]:
    """SHA-256 of each subword model: the joint one, or those of source and target (of the target, behind pictures)."""
    return [hash_file(path) for path in corpus.tokenizer_files.values()]
