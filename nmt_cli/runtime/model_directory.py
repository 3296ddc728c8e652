"""The model directory: what stands in it, its card, and how it is written and checked.

A directory is complete when `model.json` is there: it is written last, and lists the checksum of every other file.
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

from nmt_cli.errors import DamagedError, NotFoundError
from nmt_cli.files import hash_file, write_json
from nmt_cli.sources.source import Source, TextSource
from nmt_cli.text.tokenizer import Tokenizer, TokenizerSettings

FORMAT = 2
CARD = "model.json"
ENCODER = "encoder.onnx"
DECODER = "decoder.onnx"
FLOAT, INT8 = "float", "int8"  # precisions of the weights
WEIGHTS = "weights.npz"
HISTORY = "history.jsonl"
CHECKPOINTS = "checkpoints"  # what training keeps for itself
STAGED = ".publishing."  # begins the name of what is not yet complete


class ModelCard(NamedTuple):
    """What a model says of itself."""

    format: int
    source_language: str
    target_language: str
    network: dict[str, Any]  # model.config.ModelConfig
    vocabularies: dict[str, Any]  # model.config.Vocabularies
    training: dict[str, Any]  # training.config.TrainConfig
    tokenizer: dict[str, Any]  # corpus.tokenizer.TokenizerSettings
    source_tokenizer: str  # file name
    target_tokenizer: str
    dataset_fingerprint: str
    epochs: int  # of which the weights are
    development: dict[str, Any]  # scores on the development set, with their signatures
    precision: dict[str, Any]  # which one is the default, and the BLEU of each on the development set
    versions: dict[str, str]
    checksums: dict[str, str]  # file name to SHA-256
    source: dict[str, Any]  # what beside the tokenizer makes its rows

    @property
    def default_precision(self) -> str:
        return str(self.precision.get("default", FLOAT))

    @property
    def development_bleu(self) -> float | None:
        """BLEU (0-100) of greedy translations of the development set; None if training was stopped before any."""
        score = self.development.get("bleu")
        return None if score is None else float(score["value"])


class ModelDirectory(NamedTuple):
    """A model directory in which what translation reads was found complete and undamaged."""

    directory: Path
    card: ModelCard
    precision: str  # of the weights: FLOAT or INT8

    @classmethod
    def load(cls, directory: Path, precision: str | None = None) -> ModelDirectory:
        """Checks the card, the tokenizers and the graphs of one precision (the card's default where none is named).

        Raises NotFoundError where there is no model, DamagedError where a file is missing or was changed.
        """
        card = read_card(directory)
        bundle = cls(directory=directory, card=card, precision=precision or card.default_precision)
        for name in bundle.files:
            check_file(directory / name, card.checksums.get(name, ""))
        return bundle

    @property
    def files(self) -> tuple[str, ...]:
        """Names of what text is translated with, beside the card."""
        graphs = name_graphs(self.precision)
        weights = [name for name in map(name_weights, graphs) if name in self.card.checksums]
        return tuple(dict.fromkeys((*graphs, *weights, self.card.source_tokenizer, self.card.target_tokenizer)))

    def load_source(self) -> Source:
        """The source side as it was in training."""
        values = dict(self.card.source)
        kind = values.pop("type", "text")
        try:
            if kind == "text":
                return TextSource(self.load_tokenizer(self.card.source_tokenizer), **values)
            from nmt_cli.sources.images import GridSource  # which text needs nothing of

            return GridSource(kind, **values)
        except TypeError as error:
            raise report_damage(self.directory / CARD, f"does not describe a source ({error})") from error

    def load_target_tokenizer(self) -> Tokenizer:
        return self.load_tokenizer(self.card.target_tokenizer)

    def load_tokenizer(self, name: str) -> Tokenizer:
        return Tokenizer.load(self.directory / name, TokenizerSettings(**self.card.tokenizer))


def name_graphs(precision: str) -> tuple[str, str]:
    """Names of the graphs of the encoder and of the decoder."""
    return (ENCODER, DECODER) if precision == FLOAT else (f"encoder.{precision}.onnx", f"decoder.{precision}.onnx")


def name_weights(graph: str) -> str:
    """Name of the file with the weights of a graph, where they are too large to stand in the graph."""
    return f"{graph}.data"


def read_card(directory: Path) -> ModelCard:
    path = directory / CARD
    if not path.is_file():
        raise NotFoundError(
            f"there is no model in {directory}/",
            hint="make one with `nmt train`, or name the directory where it is",
        )
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise report_damage(path, f"is not valid JSON ({error})") from error
    written = values.get("format") if isinstance(values, dict) else None
    if isinstance(written, int) and written != FORMAT:
        raise DamagedError(
            f"{path} has format {written}; this nmt reads format {FORMAT}", hint="train it anew with this nmt"
        )
    if not is_card(values):
        raise report_damage(path, "does not have the entries of a model card")
    return ModelCard(**values)


def is_card(values: Any) -> bool:
    """Whether these are the entries of a card, each of its type."""
    kinds = get_type_hints(ModelCard)
    if not isinstance(values, dict) or values.keys() != kinds.keys():
        return False
    return all(isinstance(values[name], get_origin(kind) or kind) for name, kind in kinds.items())


def check_file(path: Path, checksum: str) -> None:
    if not path.is_file():
        raise report_damage(path, "is missing")
    if hash_file(path) != checksum:
        raise report_damage(path, "is damaged: its checksum is not the one in model.json")


def report_damage(path: Path, what: str) -> DamagedError:
    return DamagedError(
        f"{path} {what}", hint="copy the whole directory again, or make it anew with `nmt train --force`"
    )


@contextmanager
def publish_directory(directory: Path) -> Iterator[Path]:
    """A staging directory inside `directory`; its files take their places when the block ends well.

    The card goes last, so that a process killed before it leaves either the old model or one that is told damaged.
    """
    directory.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=STAGED, dir=directory))
    try:
        yield staged
        for path in sorted(staged.iterdir(), key=lambda path: path.name == CARD):
            os.replace(path, directory / path.name)
    except OSError as error:  # told of the place that the user knows
        staged_name = Path(str(error.filename or staged)).name
        error.filename = str(directory if staged_name == staged.name else directory / staged_name)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def write_card(directory: Path, card: ModelCard) -> None:
    """Writes `card` with the checksums of all files that stand in `directory`."""
    checksums = {path.name: hash_file(path) for path in sorted(directory.iterdir()) if path.name != CARD}
    write_json(directory / CARD, card._replace(checksums=checksums)._asdict())
