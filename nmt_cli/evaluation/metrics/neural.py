"""BERTScore (Zhang et al. 2020), and helpers for all metrics whose models are local files.

The package is an extra, and nothing is ever downloaded.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, MissingExtraError, NotFoundError, OptionError, explain_install
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.score import Score, average_scores, check_pairing, read_version
from nmt_cli.records import parse_json

BATCH = 16  # sentences per batch


def compute_bertscore(material: Material, config: ScoreConfig) -> Score:
    """Computes BERTScore F1 with the encoder at `config.bertscore_model`, times 100; the best reference counts.

    The score is not rescaled. Raises NotFoundError without the encoder, MissingExtraError, and DataError.
    """
    check_pairing(material.hypotheses, material.references)
    path = require_model_path(config.bertscore_model, "bertscore", "--bertscore-model DIRECTORY")
    layers = find_last_layer(path)
    scorer = import_bert_score().BERTScorer(model_type=str(path), num_layers=layers, batch_size=BATCH)
    precision, recall, f1 = scorer.score(
        list(material.hypotheses), [list(alternatives) for alternatives in material.references]
    )
    signature = (
        f"nrefs:{len(material.references[0])}|model:{path.name}|layer:{layers}|idf:no|rescaled:no|mean:sentences"
        f"|bert-score:{read_version('bert-score')}"
    )
    values = [100 * float(value) for value in f1]
    parts = {
        "precision": 100 * sum(map(float, precision)) / len(values),
        "recall": 100 * sum(map(float, recall)) / len(values),
    }
    return average_scores("BERTScore", values, signature, parts)


def require_model_path(value: str | None, metric: str, option: str) -> Path:
    """Returns the path of a metric's model. Raises OptionError if none is given, NotFoundError if it does not exist."""
    if value is None:
        raise OptionError(
            f"--metric {metric} needs a model on this machine",
            hint=f"give {option}; nmt itself downloads nothing",
        )
    path = Path(value)
    if not path.exists():
        raise NotFoundError(f"{path} does not exist", hint=f"{option} takes a model on this machine")
    return path


def find_last_layer(path: Path) -> int:
    """Returns the number of layers of an encoder. Raises DataError if its directory does not say."""
    try:
        return int(parse_json((path / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is not the directory of an encoder: its config.json has no num_hidden_layers",
            hint="--bertscore-model takes a directory as written by `save_pretrained` of transformers",
        ) from error


def import_bert_score() -> Any:
    """Imports the optional package. Raises MissingExtraError with the command that installs it."""
    try:
        return importlib.import_module("bert_score")
    except ImportError as error:
        raise MissingExtraError(
            f"--metric bertscore needs a package that is not installed ({error.name})",
            hint=explain_install("bertscore"),
        ) from error
