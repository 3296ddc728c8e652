"""Training that starts from the weights of another model, and the old pairs replayed with the new ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus, ReversedCorpus, reverse_corpus
from nmt_cli.errors import DataError, NotFoundError, OptionError
from nmt_cli.files import hash_file
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.runtime.model_directory import CARD, WEIGHTS, ModelDirectory
from nmt_cli.training.checkpoints.resume import list_changes
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import read_vocabularies
from nmt_cli.training.data.replay import Replayed, exclude_held_out

CHANGEABLE = {"dropout"}  # options that the shapes of the weights do not depend on


def find_parent(config: TrainConfig) -> Path | None:
    """Returns the directory of the --init-from model, which may be a name. Raises NotFoundError without weights."""
    if config.init_from is None:
        return None
    directory = find_model(Path(config.init_from))
    if (directory / CARD).is_file() and not (directory / WEIGHTS).is_file():
        raise NotFoundError(
            f"{directory}/ has no {WEIGHTS}, from which training could continue",
            hint="name a directory that `nmt train` wrote, or a package that has them",
        )
    return directory


def choose_network(
    corpus: PreparedCorpus, network: ModelConfig, config: TrainConfig, explicit: Collection[str]
) -> ModelConfig:
    """Returns the network to train: `network` or, with --init-from, the model's with explicit CHANGEABLE options.

    `explicit` holds the names of the options of `network` set by the user. Raises DataError if the model reads sources
    of another kind than the corpus has, OptionError if an explicit option contradicts the model.
    """
    model = load_initial_model(config)
    if model is None:
        return network
    check_same_sources(corpus, model)
    learned = ModelConfig.from_mapping(model.card.network, where=str(model.directory))
    left_out = {field.name for field in dataclasses.fields(network)} - set(explicit)
    changed = list(list_changes(learned.to_mapping(), network, free=CHANGEABLE | left_out))
    if changed:
        existing, requested = (", ".join(texts) for texts in zip(*changed, strict=True))
        raise OptionError(
            f"{model.directory}/ has {existing}; asked for: {requested}",
            hint="omit the network's options to use those of the model",
        )
    return dataclasses.replace(learned, **{name: getattr(network, name) for name in CHANGEABLE - left_out})


def load_initial_model(config: TrainConfig) -> ModelDirectory | None:
    """Returns the --init-from model; None without the option. Raises NotFoundError or DamagedError."""
    parent = find_parent(config)
    return None if parent is None else ModelDirectory.load(parent)


def check_same_sources(corpus: PreparedCorpus, model: ModelDirectory) -> None:
    """Raises DataError if sources are text in one and pictures in the other, or if their features differ."""
    depth, learned = read_vocabularies(corpus).features, model.card.vocabularies.get("features")
    if depth == learned:
        return
    if depth and learned:
        raise DataError(
            f"{corpus.directory}/ has other features than {model.directory}/ was trained on",
            hint="extract them with the same network",
        )
    kinds = ("pictures", "text") if depth else ("text", "pictures")
    raise DataError(
        f"the sources in {corpus.directory}/ are {kinds[0]}, but {model.directory}/ reads {kinds[1]}",
        hint="omit --init-from, or name a model that reads the same",
    )


def has_same_subwords(corpus: PreparedCorpus, model: ModelDirectory) -> bool:
    """Whether corpus and model have the same tokenizers."""
    names = dict.fromkeys((model.card.source_tokenizer, model.card.target_tokenizer))  # one name if they are joint
    settings = dataclasses.asdict(corpus.tokenizer_settings)
    return settings == model.card.tokenizer and hash_tokenizers(corpus) == [
        hash_file(model.directory / name) for name in names
    ]


def load_replayed_corpus(corpus: PreparedCorpus, config: TrainConfig) -> Replayed | None:
    """Returns the corpus of --replay, without pairs that would leak the development and test sets of `corpus`.

    Raises DataError if its subwords differ from the corpus's, or if no pair is left.
    """
    if config.replay is None:
        return None
    old = PreparedCorpus.load(Path(config.replay))
    if isinstance(corpus, ReversedCorpus):
        old = reverse_corpus(old)
    if not extends_subwords(corpus, old):
        raise DataError(
            f"{old.directory}/ has other subwords than {corpus.directory}/",
            hint=f"prepare the new pairs with the old subwords: `nmt prepare ... --tokenizer-from {old.directory}`",
        )
    replayed = Replayed(old, exclude_held_out(old, corpus))
    if not len(replayed.rows):
        raise DataError(
            f"{old.directory}/ has no training pairs to replay that are not held out in {corpus.directory}/",
            hint="omit --replay, or name another corpus with it",
        )
    return replayed


def extends_subwords(corpus: PreparedCorpus, old: PreparedCorpus) -> bool:
    """Whether the subwords of a corpus begin with those of an older one: those of tags may follow."""
    if old.tokenizer_settings != corpus.tokenizer_settings:
        return False
    ours, theirs = list(corpus.tokenizers.values()), list(old.tokenizers.values())
    return len(ours) == len(theirs) and all(
        tokenizer.vocabulary_size >= older.vocabulary_size
        and tokenizer.spell_pieces(range(older.vocabulary_size)) == older.spell_pieces(range(older.vocabulary_size))
        for tokenizer, older in zip(ours, theirs, strict=True)
    )


def hash_tokenizers(corpus: PreparedCorpus) -> list[str]:
    """Returns the SHA-256 of each subword model: the joint one, or source and target (only target for pictures)."""
    return [hash_file(path) for path in corpus.tokenizer_files.values()]
