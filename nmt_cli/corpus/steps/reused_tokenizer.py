"""Finds the subwords of another model, prepared corpus or SentencePiece file, for `--tokenizer-from`.

Reads file names from the card of a model directory; knows nothing else about models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.sides import JOINT_NAME
from nmt_cli.errors import DamagedError, DataError, NotFoundError, OptionError
from nmt_cli.records import FileName, build, parse_json
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings

CARDS = ("model.json", "dataset.json")


@dataclass(frozen=True)
class ReusedSubwords:
    """The files of a source and a target vocabulary, which may be the same, and their settings."""

    settings: TokenizerSettings
    source: Path
    target: Path

    @property
    def files(self) -> dict[str, Path]:
        """The subword models by role: "joint", optionally with "target", or "source" and "target"."""
        if self.source == self.target:
            return {"joint": self.source}
        return {"joint" if self.source.name == JOINT_NAME else "source": self.source, "target": self.target}

    @property
    def are_separate(self) -> bool:
        """Whether each language has a vocabulary of its own."""
        return self.source != self.target and self.source.name != JOINT_NAME

    def refuse_conflicts(self, config: PrepareConfig) -> None:
        """Raises OptionError for options that contradict these subwords; options at their defaults never do."""
        defaults = PrepareConfig()
        for name, option, default, reused in (
            ("tokenizer", config.tokenizer, defaults.tokenizer, self.settings.kind),
            ("lowercase", config.lowercase, defaults.lowercase, self.settings.lowercase),
            ("separate-vocabularies", config.separate_vocabularies, None, self.are_separate),
        ):
            if option not in (default, reused):
                raise OptionError(
                    f"--{name} contradicts the subwords of --tokenizer-from {config.tokenizer_from}",
                    hint="leave out one of them",
                )

    def select_files(self, sides: Sequence[str]) -> dict[str, Path]:
        """Returns the files of these sides, by role.

        Raises OptionError if both sides would use the target's part of a joint vocabulary.
        """
        if len(sides) == 1:
            return {side: getattr(self, side) for side in sides}
        if self.source == self.target:
            refuse_target_part(self.source)
        return self.files


def find_reused_subwords(path: Path, settings: TokenizerSettings) -> ReusedSubwords:
    """Returns the subwords of a model directory, a prepared directory, or a single file.

    A single file is used with the settings of a card in its folder that names it, else with `settings`.

    Raises NotFoundError, DamagedError, or DataError for a subword model not made by nmt.
    """
    if not path.exists():
        raise NotFoundError(
            f"{path} does not exist", hint="--tokenizer-from takes a model, a prepared corpus or a .spm file"
        )
    card = find_card(path)
    if path.is_dir() and card is None:
        raise NotFoundError(f"{path}/ holds neither a model nor a prepared corpus")
    reused = use_single_file(path, settings) if card is None else read_subword_card(card)
    for file in {reused.source, reused.target}:
        try:
            Tokenizer.load(file, reused.settings)
        except DamagedError as error:
            raise DataError(
                f"{error.message}; --tokenizer-from needs the subwords of nmt",
                hint="name a model or corpus that nmt made",
            ) from error
    return reused


def use_single_file(file: Path, settings: TokenizerSettings) -> ReusedSubwords:
    """Returns one file as the subwords of both sides; see `find_reused_subwords` for its settings."""
    card = find_card(file.parent)
    described = read_subword_card(card) if card is not None else None
    if described is not None and file in (described.source, described.target):
        settings = described.settings
    return ReusedSubwords(settings, file, file)


def find_card(directory: Path) -> Path | None:
    """Returns the file that describes a model or prepared directory; None for any other directory."""
    return next((directory / name for name in CARDS if (directory / name).is_file()), None)


def refuse_target_part(file: Path) -> None:
    """Raises OptionError if the neighbouring card says that `file` is the target's part of a joint vocabulary."""
    card = find_card(file.parent)
    joint = read_subword_card(card) if card is not None else None
    if joint is not None and joint.source.name == JOINT_NAME and file == joint.target != joint.source:
        raise OptionError(
            f"{file} has only the target's subwords, but both sides need subwords",
            hint=f"use {joint.source}, or {file.parent}/, which has both",
        )


def read_subword_card(card: Path) -> ReusedSubwords:
    """Reads the subwords described by model.json or dataset.json. Raises DamagedError if there are none."""
    try:
        values = build(dict, parse_json(card.read_text(encoding="utf-8")))
        if card.name == "model.json":
            names = [values["source_tokenizer"], values["target_tokenizer"]]
        else:
            names = [values[side].get("file", values["target"]["file"]) for side in ("source", "target")]
        settings = build(TokenizerSettings, values["tokenizer"], "tokenizer")
        source, target = (card.parent / build(FileName, name, "tokenizer") for name in names)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"{card} is damaged: {error}") from error
    return ReusedSubwords(settings, source, target)
