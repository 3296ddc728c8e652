"""The model directory: its files, its card, and how both are written and checked.

A directory is complete as soon as `model.json` exists: it is written last, and lists the checksum of every other file.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, get_origin, get_type_hints

from nmt_cli.errors import DamagedError
from nmt_cli.files import hash_file, write_json
from nmt_cli.runtime.installed_models import CARD as CARD
from nmt_cli.runtime.installed_models import explain_missing_model
from nmt_cli.sources.source import Source, TextSource
from nmt_cli.text.profile import PROFILE_NAME, CorpusProfile
from nmt_cli.text.tokenizer import Tokenizer, TokenizerSettings

FORMAT = 3
READABLE_FORMATS = (2, 3)  # models of format 2 have no profile of their training text
ENCODER = "encoder.onnx"
DECODER = "decoder.onnx"
FLOAT, INT8 = "float", "int8"  # precisions of the weights
WEIGHTS = "weights.npz"
HISTORY = "history.jsonl"
TRAINED_SOURCES = "sources.npy"  # keys of the sources of real and synthetic pairs, where there are synthetic ones
STAGES = "stages"  # the directory of helper models and synthetic pairs, while a training makes them
CHECKPOINTS = "checkpoints"  # the directory that only training reads
STAGED = ".publishing."  # prefix of the directory in which files wait for publication


class ModelCard(NamedTuple):
    """The entries of `model.json`: all that a model says about itself."""

    format: int
    source_language: str
    target_language: str
    network: dict[str, Any]  # model.config.ModelConfig
    vocabularies: dict[str, Any]  # model.config.Vocabularies
    training: dict[str, Any]  # training.config.TrainConfig
    tokenizer: dict[str, Any]  # text.tokenizer_settings.TokenizerSettings
    source_tokenizer: str  # file name
    target_tokenizer: str
    dataset_fingerprint: str
    epochs: int  # trained when the weights were saved
    development: dict[str, Any]  # scores on the development set, with their signatures
    precision: dict[str, Any]  # the default one, and the BLEU of each on the development set
    versions: dict[str, str]
    checksums: dict[str, str]  # file name to SHA-256
    source: dict[str, Any]  # how rows are made, beside the tokenizer
    synthetic: dict[str, Any] = {}  # noqa: RUF012 - never changed; the synthetic pairs it was trained on, if any

    @property
    def default_precision(self) -> str:
        return str(self.precision.get("default", FLOAT))

    @property
    def development_bleu(self) -> float | None:
        """BLEU (0-100) of greedy translations of the development set; None if training stopped before the first."""
        score = self.development.get("bleu")
        return None if score is None else float(score["value"])


class ModelDirectory(NamedTuple):
    """A model directory whose files for translation have been checked: none is missing, none is damaged."""

    directory: Path
    card: ModelCard
    precision: str  # of the weights: FLOAT or INT8

    @classmethod
    def load(cls, directory: Path, precision: str | None = None) -> ModelDirectory:
        """Reads the card and checks the tokenizers and the graphs of one precision; None: the card's default.

        Raises NotFoundError if there is no model, and DamagedError if a file is missing or has changed.
        """
        card = read_card(directory)
        model = cls(directory=directory, card=card, precision=precision or card.default_precision)
        for name in model.files:
            check_file(directory / name, card.checksums.get(name, ""))
        return model

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that translation of text reads, beside the card."""
        graphs = name_graphs(self.precision)
        weights = [name for name in map(name_weights, graphs) if name in self.card.checksums]
        profile = [PROFILE_NAME] if PROFILE_NAME in self.card.checksums else []
        tokenizers = (self.card.source_tokenizer, self.card.target_tokenizer)
        return tuple(dict.fromkeys((*graphs, *weights, *tokenizers, *profile)))

    def load_source(self) -> Source:
        """Returns the source side as it was in training. Raises DamagedError if the card does not describe one."""
        values = dict(self.card.source)
        kind = values.pop("type", "text")
        try:
            if kind == "text":
                return TextSource(self.load_tokenizer(self.card.source_tokenizer), **values)
            from nmt_cli.sources.images import GridSource  # text does not need it

            return GridSource(kind, **values)
        except TypeError as error:
            raise report_damage(self.directory / CARD, f"does not describe a source ({error})") from error

    def load_profile(self) -> CorpusProfile | None:
        """Returns what the training text looked like; None for a model of format 2. Raises DamagedError."""
        if PROFILE_NAME not in self.card.checksums:
            return None
        path = self.directory / PROFILE_NAME
        try:
            return CorpusProfile.load(path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise report_damage(path, f"cannot be read ({error})") from error

    def load_target_tokenizer(self) -> Tokenizer:
        return self.load_tokenizer(self.card.target_tokenizer)

    def load_tokenizer(self, name: str) -> Tokenizer:
        return Tokenizer.load(self.directory / name, TokenizerSettings(**self.card.tokenizer))


def name_graphs(precision: str) -> tuple[str, str]:
    """Returns the file names of the encoder's graph and the decoder's."""
    return (ENCODER, DECODER) if precision == FLOAT else (f"encoder.{precision}.onnx", f"decoder.{precision}.onnx")


def name_weights(graph: str) -> str:
    """Returns the name of the file with the weights of a graph; it exists if they are too large for the graph."""
    return f"{graph}.data"


def read_card(directory: Path) -> ModelCard:
    """Reads `model.json`. Raises NotFoundError if there is none, DamagedError if it is not a card of this format."""
    path = directory / CARD
    if not path.is_file():
        raise explain_missing_model(directory)
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise report_damage(path, f"is not valid JSON ({error})") from error
    written = values.get("format") if isinstance(values, dict) else None
    if isinstance(written, int) and written not in READABLE_FORMATS:
        formats = " and ".join(map(str, READABLE_FORMATS))
        raise DamagedError(
            f"{path} has format {written}; this nmt reads formats {formats}", hint="train it again with this nmt"
        )
    if not is_card(values):
        raise report_damage(path, "does not have the entries of a model card")
    return ModelCard(**values)


def is_card(values: Any) -> bool:
    """Whether these are all the entries of a card, each with a value of its type."""
    kinds = get_type_hints(ModelCard)
    optional = ModelCard._field_defaults.keys()
    if not isinstance(values, dict) or not kinds.keys() - optional <= values.keys() <= kinds.keys():
        return False
    return all(isinstance(values[name], get_origin(kind) or kind) for name, kind in kinds.items() if name in values)


def check_file(path: Path, checksum: str) -> None:
    """Raises DamagedError if the file is missing or does not have this checksum."""
    if not path.is_file():
        raise report_damage(path, "is missing")
    if hash_file(path) != checksum:
        raise report_damage(path, "is damaged: its checksum is not the one in model.json")


def report_damage(path: Path, problem: str) -> DamagedError:
    """Returns the error for a damaged file; `problem` continues a sentence that begins with its path."""
    return DamagedError(
        f"{path} {problem}", hint="copy the whole directory again, or train it again with `nmt train --force`"
    )


@contextmanager
def publish_directory(directory: Path) -> Iterator[Path]:
    """Yields a staging directory inside `directory`; its files are moved into place when the block succeeds.

    The card is moved last: a process that is killed before leaves either the old model, or one that is reported as
    damaged.
    """
    directory.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=STAGED, dir=directory))
    try:
        yield staged
        for path in sorted(staged.iterdir(), key=lambda path: path.name == CARD):
            os.replace(path, directory / path.name)
    except OSError as error:  # name the path that the user knows, not the one of the staging directory
        staged_name = Path(str(error.filename or staged)).name
        error.filename = str(directory if staged_name == staged.name else directory / staged_name)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def write_card(directory: Path, card: ModelCard) -> None:
    """Writes `card` with the checksums of all other files in `directory`."""
    checksums = {path.name: hash_file(path) for path in sorted(directory.iterdir()) if path.name != CARD}
    write_json(directory / CARD, card._replace(checksums=checksums)._asdict())
