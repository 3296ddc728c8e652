"""Neural metrics: COMET (Rei et al. 2020) and BERTScore (Zhang et al. 2020).

Both packages are extras, and both need a model on this machine: nothing is ever downloaded.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, MissingExtraError, NotFoundError, OptionError
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.score import Score, average_scores, check_pairing, read_version

BATCH = 16  # sentences per batch


def compute_comet(material: Material, config: ScoreConfig) -> Score:
    """Computes COMET with the checkpoint at `config.comet_model`, times 100; the mean over a sentence's references.

    The scale is the checkpoint's own: compare only scores of the same checkpoint. Raises OptionError without sources,
    NotFoundError without the checkpoint, MissingExtraError, and DataError if hypotheses and references do not pair up.
    """
    if material.sources is None:
        raise OptionError("COMET needs the source sentences", hint="give them with --source")
    check_pairing(material.hypotheses, material.references)
    path = find_checkpoint(require_model_path(config.comet_model, "comet", "--comet-model FILE"))
    model = import_extra("comet", "comet").load_from_checkpoint(str(path), local_files_only=True)
    rows = [
        {"src": source, "mt": hypothesis, "ref": reference}
        for source, hypothesis, alternatives in zip(
            material.sources, material.hypotheses, material.references, strict=True
        )
        for reference in alternatives
    ]
    scores = model.predict(rows, batch_size=BATCH, gpus=0, progress_bar=False).scores
    count = len(material.references[0])
    values = [100 * float(sum(scores[first : first + count])) / count for first in range(0, len(scores), count)]
    signature = f"nrefs:{count}|model:{name_checkpoint(path)}|mean:sentences|comet:{read_version('unbabel-comet')}"
    return average_scores("COMET", values, signature)


def compute_bertscore(material: Material, config: ScoreConfig) -> Score:
    """Computes BERTScore F1 with the encoder at `config.bertscore_model`, times 100; the best reference counts.

    The score is not rescaled. Raises NotFoundError without the encoder, MissingExtraError, and DataError.
    """
    check_pairing(material.hypotheses, material.references)
    path = require_model_path(config.bertscore_model, "bertscore", "--bertscore-model DIRECTORY")
    layers = find_last_layer(path)
    scorer = import_extra("bert_score", "bertscore").BERTScorer(
        model_type=str(path), num_layers=layers, batch_size=BATCH
    )
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


def find_checkpoint(path: Path) -> Path:
    """Returns the checkpoint file, given its path or that of a directory as COMET downloads it."""
    if path.is_file():
        return path
    checkpoints = sorted(path.rglob("*.ckpt"))
    if len(checkpoints) != 1:
        raise NotFoundError(f"{path}/ holds {len(checkpoints)} checkpoints (*.ckpt); name the file itself")
    return checkpoints[0]


def name_checkpoint(path: Path) -> str:
    """Returns the name by which a checkpoint is known: that of its directory if the file is just `model.ckpt`."""
    if path.stem != "model":
        return path.stem
    return next((part for part in reversed(path.resolve().parts[:-1]) if part != "checkpoints"), path.stem)


def find_last_layer(path: Path) -> int:
    """Returns the number of layers of an encoder. Raises DataError if its directory does not say."""
    try:
        return int(json.loads((path / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is not the directory of an encoder: its config.json has no num_hidden_layers",
            hint="--bertscore-model takes a directory as written by `save_pretrained` of transformers",
        ) from error


def import_extra(module: str, name: str) -> Any:
    """Imports the module of an optional package. Raises MissingExtraError, which says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"--metric {name} needs a package that is not installed ({error.name})",
            hint=f"pip install 'nmt-cli[{name}]'",
        ) from error
