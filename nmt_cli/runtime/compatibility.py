"""Checks whether two exported models fit together, in an ensemble or to check each other's translations."""

from __future__ import annotations

from typing import Any

from nmt_cli.errors import OptionError
from nmt_cli.languages.codes import are_same_languages
from nmt_cli.runtime.model_directory import ModelCard, ModelDirectory


def require_same_sides(first: ModelDirectory, other: ModelDirectory) -> None:
    """Raises OptionError unless both models read the same rows and write the same ids."""
    for side, identify in (("source", identify_source), ("target", identify_target)):
        if identify(first.card) != identify(other.card):
            raise OptionError(
                f"{other.directory}/ cannot be ensembled with {first.directory}/: it has different {side} subwords",
                hint="train both on the same prepared corpus, or prepare with --tokenizer-from the other model",
            )


def require_reverse(model: ModelDirectory, other: ModelDirectory, option: str = "check-with") -> None:
    """Raises OptionError unless `other`, named by `option`, translates text back into the language `model` reads."""
    languages = model.card.languages
    others = (other.card.target_language, other.card.source_language)
    is_text = not (model.card.has_pictures or other.card.has_pictures)
    if not is_text or not are_same_languages(languages, others):
        raise OptionError(
            f"--{option} {other.directory} does not translate text from {languages[1]} to {languages[0]}",
            hint="name a model of the other direction: nmt train --reverse makes one from the same corpus",
        )


def identify_source(card: ModelCard) -> Any:
    """Returns a value shared by models that read the same rows: their subwords, or their kind of picture."""
    return card.side.find_identity((card.tokenizer, card.checksums[card.source_tokenizer]))


def identify_target(card: ModelCard) -> Any:
    """Returns a value shared by models that write the same ids: their target subwords."""
    return card.tokenizer, card.checksums[card.target_tokenizer]
