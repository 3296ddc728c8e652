"""Subwords that another model, prepared corpus or SentencePiece file has already, for `--tokenizer-from`.

Reads the card of a model directory for the names of its files; knows nothing else of models.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.manifest import JOINT
from nmt_cli.errors import DamagedError, DataError, NotFoundError, OptionError
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings

CARDS = ("model.json", "dataset.json")


@dataclass(frozen=True)
class Borrowed:
    """The files of a source and of a target vocabulary, which may be the same, and how they are used."""

    settings: TokenizerSettings
    source: Path
    target: Path

    @property
    def files(self) -> dict[str, Path]:
        """By role: "joint", to which "target" may be added, or "source" and "target"."""
        if self.source == self.target:
            return {"joint": self.source}
        return {"joint" if self.source.name == JOINT else "source": self.source, "target": self.target}

    @property
    def are_separate(self) -> bool:
        return self.source != self.target and self.source.name != JOINT

    def refuse_others(self, config: PrepareConfig) -> None:
        """Raises OptionError for options, not at their defaults, that ask for other subwords than these."""
        usual = PrepareConfig()
        for name, asked, given, used in (
            ("tokenizer", config.tokenizer, usual.tokenizer, self.settings.kind),
            ("lowercase", config.lowercase, usual.lowercase, self.settings.lowercase),
            ("separate-vocabularies", config.separate_vocabularies, False, self.are_separate),
        ):
            if asked not in (given, used):
                raise OptionError(
                    f"--{name} asks for other subwords than those of --tokenizer-from {config.tokenizer_from}",
                    hint="leave out one of them",
                )

    def files_of(self, sides: Sequence[str]) -> dict[str, Path]:
        """By role, for these sides alone. Raises OptionError for the target's part alone, for both."""
        if len(sides) == 1:
            return {side: getattr(self, side) for side in sides}
        if self.source == self.target:
            refuse_part(self.source)
        return self.files


def borrow(place: Path, settings: TokenizerSettings) -> Borrowed:
    """The subwords of a model directory, a prepared directory, or a single file.

    A file is used as a card beside it says, else with `settings`.

    Raises NotFoundError, DamagedError, or DataError for a model that is none of ours.
    """
    if not place.exists():
        raise NotFoundError(
            f"{place} does not exist", hint="--tokenizer-from takes a model, a prepared corpus or a .spm file"
        )
    card = card_of(place)
    if place.is_dir() and card is None:
        raise NotFoundError(f"{place}/ holds neither a model nor a prepared corpus")
    borrowed = single_file(place, settings) if card is None else read_card(card)
    for path in {borrowed.source, borrowed.target}:
        try:
            Tokenizer.load(path, borrowed.settings)
        except DamagedError as error:
            raise DataError(f"{error.message}, made by nmt", hint="name a model or corpus that nmt made") from error
    return borrowed


def single_file(file: Path, settings: TokenizerSettings) -> Borrowed:
    card = card_of(file.parent)
    beside = read_card(card) if card is not None else None
    known = beside is not None and file in (beside.source, beside.target)
    return Borrowed(beside.settings if beside is not None and known else settings, file, file)


def card_of(directory: Path) -> Path | None:
    """The file in which a model or prepared directory says what it holds; None where it is neither."""
    return next((directory / name for name in CARDS if (directory / name).is_file()), None)


def refuse_part(file: Path) -> None:
    """Raises OptionError if a card beside `file` knows it for the target's part of a joint vocabulary."""
    card = card_of(file.parent)
    whole = read_card(card) if card is not None else None
    if whole is not None and whole.source.name == JOINT and file == whole.target != whole.source:
        raise OptionError(
            f"{file} has the target's subwords alone, and would have to cut both sides",
            hint=f"take {whole.source}, or {file.parent}/, which has both",
        )


def read_card(card: Path) -> Borrowed:
    """What model.json or dataset.json says of the subwords."""
    try:
        values: dict[str, Any] = json.loads(card.read_text(encoding="utf-8"))
        if card.name == "model.json":
            names = [values["source_tokenizer"], values["target_tokenizer"]]
        else:
            names = [values[side].get("file", values["target"]["file"]) for side in ("source", "target")]
        settings = TokenizerSettings(**values["tokenizer"])
        source, target = (card.parent / Path(name).name for name in names)
    except (ValueError, KeyError, TypeError, OptionError) as error:
        raise DamagedError(f"{card} is damaged: {error}") from error
    return Borrowed(settings, source, target)
