"""Metrics that are networks themselves: COMET (Rei et al. 2020) and BERTScore (Zhang et al. 2020).

Both packages are extras, and both are given a model that lies on this machine: nothing is ever downloaded.
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

BATCH = 16  # sentences at once


def compute_comet(material: Material, config: ScoreConfig) -> Score:
    """COMET by the checkpoint at `config.comet_model`, times 100; the mean over a sentence's references.

    Needs the sources. The scale is the checkpoint's own: compare only scores of the same one.
    """
    if material.sources is None:
        raise OptionError("COMET needs the source sentences", hint="name them with --source")
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
    """BERTScore F1 by the encoder at `config.bertscore_model`, times 100, not rescaled; the best reference counts."""
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
    """The path that was given for a metric's model. Raises OptionError for none, NotFoundError if nothing is there."""
    if value is None:
        raise OptionError(
            f"--metric {metric} needs a model that is on this machine",
            hint=f"give {option}; nmt downloads nothing itself",
        )
    path = Path(value)
    if not path.exists():
        raise NotFoundError(f"{path} does not exist", hint=f"{option} names a model that is on this machine")
    return path


def find_checkpoint(path: Path) -> Path:
    """The checkpoint file itself, also where its directory (as COMET downloads it) was named."""
    if path.is_file():
        return path
    checkpoints = sorted(path.rglob("*.ckpt"))
    if len(checkpoints) != 1:
        raise NotFoundError(f"{path}/ holds {len(checkpoints)} checkpoints (*.ckpt); name the file itself")
    return checkpoints[0]


def name_checkpoint(path: Path) -> str:
    """The name by which a checkpoint is known: that of its directory, where the file is just `model.ckpt`."""
    if path.stem != "model":
        return path.stem
    return next((part for part in reversed(path.resolve().parts[:-1]) if part != "checkpoints"), path.stem)


def find_last_layer(path: Path) -> int:
    try:
        return int(json.loads((path / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is no directory of an encoder: its config.json does not tell num_hidden_layers",
            hint="--bertscore-model takes a directory as `save_pretrained` of transformers writes it",
        ) from error


def import_extra(module: str, name: str) -> Any:
    """The module of an optional package. Raises MissingExtraError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"--metric {name} needs a package that is not installed ({error.name})",
            hint=f"pip install 'nmt-cli[{name}]'",
        ) from error
