"""Doubts about the scores of a model: it may have been trained on the sentences, or for other languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.evaluation_request import EvaluationRequest
from nmt_cli.languages.codes import is_same_language
from nmt_cli.runtime.installed_models import name_model

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.runtime.model_directory import ModelCard


def list_doubts(
    request: EvaluationRequest, model: Path | str, card: ModelCard, corpus: PreparedCorpus | None
) -> list[str]:
    """Returns reasons why a model may have been trained on the sentences it is scored on."""
    is_split, name = not request.references, name_model(Path(model))
    warnings = list_other_languages(name, card, corpus) if corpus is not None and is_split else []
    if is_split and (corpus is None or card.dataset_fingerprint != corpus.fingerprint):
        warnings.append(
            f"{name} was trained on other data than {request.data}/: "
            f"these {request.split} sentences may be in its training data"
        )
    earlier = list_earlier_data(card)
    if earlier:
        warnings.append(
            f"{name} was trained on {' and '.join(earlier)} too: these sentences may be in that training data"
        )
    return warnings


def list_other_languages(name: str, card: ModelCard, corpus: PreparedCorpus) -> list[str]:
    """Returns a message if the model's languages differ from the corpus's."""
    ours, theirs = card.languages, corpus.languages
    if {"source", "target"} & {*ours, *theirs}:
        return []
    if all(is_same_language(code, other) for code, other in zip(ours, theirs, strict=True)):
        return []
    return [f"{name} translates {ours[0]} -> {ours[1]}, but the data is {theirs[0]} -> {theirs[1]}"]


def list_earlier_data(card: ModelCard) -> list[str]:
    """Returns a model's training data besides its corpus: the data of its initial model, and replayed pairs."""
    start, replayed = (card.training.get(name) for name in ("init_from", "replay"))
    return [*([f"what {start} was trained on"] if start else []), *([str(replayed)] if replayed else [])]
