"""A model directory without training: the smallest network, exported."""

import random
from dataclasses import asdict
from pathlib import Path
from shutil import copyfile

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.files import hash_file
from nmt_cli.model.config import Architecture, ModelConfig, Vocabularies

SYLLABLES = ["ba", "de", "gi", "ko", "lu", "ma", "ne", "po"]
KINDS: list[dict[str, object]] = [  # networks of every kind, by their settings
    {"attention": "additive"},
    {"attention": "additive", "layers": 2, "tied": False},
    {"cell": "lstm", "attention": "none"},
    {"cell": "lstm", "layers": 2, "bidirectional": False, "attention": "dot"},
    {"attention": "general", "input_feeding": True},
    {"attention": "concat"},
    {"attention": "scaled-dot"},
    {"attention": "scaled-dot", "heads": 2},
    {"attention": "scaled-dot", "heads": 2, "input_feeding": True},
    {"attention": "scaled-dot", "attend_embeddings": True},
    {"attention": "scaled-dot", "attend_embeddings": True, "heads": 2, "encoder_units": 12},
    {"attention": "additive", "attend_embeddings": True},
    {"attention": "additive", "fixed_norm": True},
    {"attention": "additive", "fixed_norm": True, "tied": False},
    {"attention": "additive", "encoder_units": 4, "readout_units": 10, "readout_activation": "relu", "tied": False},
    {"encoder_units": 12, "attention": "none"},
    {"encoder_units": 12, "attention": "general", "input_feeding": True, "readout_units": 10, "tied": False},
    {"architecture": "transformer"},
    {"architecture": "transformer", "fixed_norm": True},
    {"architecture": "transformer", "positions": "learned", "max_positions": 6},
]
USUAL_KINDS = (3, 4, 10, 17)  # their numbers; in `make test` they stand for the others
WORDS = [first + second for first in SYLLABLES for second in SYLLABLES]


def toy_pairs(count: int) -> list[tuple[str, str]]:
    """Sentences of two to five of 64 words, all different, each with its translation.

    A word is translated by spelling it backwards, and the first word of a sentence comes last.
    """
    generator = random.Random(1)
    sentences: dict[tuple[str, ...], None] = {}
    while len(sentences) < count:
        sentences[tuple(generator.choices(WORDS, k=generator.randint(2, 5)))] = None
    return [(" ".join(words) + ".", " ".join(translated(words)) + ".") for words in sentences]


def translated(words: tuple[str, ...]) -> list[str]:
    return [word[::-1] for word in (*words[1:], words[0])]


def write_pairs(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def prepare_toy(directory: Path, count: int = 600, **options: object) -> PreparedCorpus:
    """A prepared toy corpus in `directory`/prepared."""
    corpus = write_pairs(directory / "toy.tsv", toy_pairs(count))
    config = PrepareOptions(**{"vocab_size": 330, **options})
    prepare(corpus, directory / "prepared", config)
    return PreparedCorpus.load(directory / "prepared")


def list_state(directory: Path) -> dict[str, tuple[int, str]]:
    """The files and folders below a directory: when each was changed, in nanoseconds, and its checksum.

    A folder changes with each file that appears in it, also with one that is removed again.
    """
    paths = [directory, *directory.rglob("*")]
    return {str(path): (path.stat().st_mtime_ns, "" if path.is_dir() else hash_file(path)) for path in paths}


# What keeps a network of each architecture tiny.
TINY: dict[str, dict[str, int]] = {
    "rnn": {"units": 8, "attention_units": 4},
    "transformer": {"feed_forward": 12, "layers": 2, "heads": 2},
}


def tiny_config(architecture: Architecture = "rnn", **options: object) -> ModelConfig:
    """Settings of a network of a few hundred weights, and beside those the `options`."""
    return ModelConfig.from_options(architecture=architecture, **{"embedding": 8, **TINY[architecture], **options})


def export_untrained(corpus: PreparedCorpus, directory: Path, *, precision: str = "float", **options: object) -> Path:
    """A complete model directory whose network, with these settings beside tiny widths, has its initial weights."""
    import keras

    from nmt_cli.model.seq2seq import Seq2Seq
    from nmt_cli.runtime.model_directory import FORMAT, ModelCard, name_graphs, publish_directory, write_card
    from nmt_cli.runtime.onnx_engine import optimise
    from nmt_cli.text.profile import PROFILE_NAME
    from nmt_cli.training.export.publish import quantise
    from nmt_cli.training.export.trace import export

    keras.utils.set_random_seed(4)
    size = corpus.source_tokenizer.vocabulary_size
    vocabularies = Vocabularies(source=size, target=size, joint=True)
    network = Seq2Seq(tiny_config(**options), vocabularies)
    with publish_directory(directory) as staged:
        export(network, staged)
        quantise(corpus, staged, [each.source for each in corpus.read_references("dev")], copies_placeholders=True)
        for name in (*name_graphs("float"), *name_graphs("int8")):
            optimise(staged / name)
        for path in corpus.tokenizer_files.values():
            copyfile(path, staged / path.name)
        (staged / PROFILE_NAME).write_text(corpus.profile, encoding="utf-8")
        card = ModelCard(
            format=FORMAT,
            source_language="xx",
            target_language="yy",
            network=network.config.to_mapping(),
            vocabularies=asdict(vocabularies),
            training={},
            tokenizer=asdict(corpus.tokenizer_settings),
            source_tokenizer="joint.spm",
            target_tokenizer="joint.spm",
            dataset_fingerprint=corpus.fingerprint,
            epochs=0,
            development={},
            precision={"default": precision},
            versions={},
            checksums={},
            source={"type": "text"},
            tags={tag: counts["train"] for tag, counts in corpus.manifest.tags.items()},
        )
        write_card(staged, card)
    return directory
