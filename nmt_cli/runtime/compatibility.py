"""Whether two exported models can be ensembled: they must read the same rows and write the same ids."""

from __future__ import annotations

from typing import Any

from nmt_cli.errors import OptionError
from nmt_cli.runtime.model_directory import ModelCard, ModelDirectory


def require_same_sides(first: ModelDirectory, other: ModelDirectory) -> None:
    """Raises OptionError unless both models read the same rows and write the same ids."""
    for side, kind in (("source", describe_source), ("target", describe_target)):
        if kind(first.card) != kind(other.card):
            raise OptionError(
                f"{other.directory}/ cannot join {first.directory}/: its subwords of the {side} are others",
                hint="train both on one prepared corpus, or prepare with --tokenizer-from the other model",
            )


def describe_source(card: ModelCard) -> Any:
    """What two models that read the same rows have in common: bytes of the subwords, or the kind of picture."""
    if card.source.get("type", "text") != "text":
        return card.source
    return card.tokenizer, card.checksums[card.source_tokenizer]


def describe_target(card: ModelCard) -> Any:
    return card.tokenizer, card.checksums[card.target_tokenizer]
