"""Metrics by models: BERTScore, COMET, and the perplexity of the references under the model."""

from __future__ import annotations

import importlib
import math
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.errors import DataError, MissingExtraError, NmtError, NotFoundError, OptionError, explain_install
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.score import (
    Material,
    Score,
    Statistics,
    average_scores,
    check_pairing,
    make_ratio_statistics,
    read_version,
)
from nmt_cli.records import RecordError, build, parse_json

if TYPE_CHECKING:
    from nmt_cli.search.forced import ForcedTarget


# BERTScore (Zhang et al. 2020), and helpers for all metrics whose models are local files.
#
# The package is an extra, and nothing is ever downloaded.


BATCH = 16  # sentences per batch


def compute_bertscore(material: Material, config: ScoreOptions) -> Score:
    """Computes BERTScore F1 with the encoder at `config.bertscore_model`, times 100; the best reference counts.

    The score is not rescaled. Raises NotFoundError without the encoder, MissingExtraError without the package, and
    DataError for invalid input.
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
            f"--metric {metric} needs a model on this machine", hint=f"give {option}; nmt itself downloads nothing"
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
            f"{path} is not an encoder directory: its config.json has no num_hidden_layers",
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


# Perplexity and token accuracy: how well a model predicts the references. Must not know how they were scored.


def format_signature(material: Material) -> str:
    """Returns a signature that names the subwords: scores per token are comparable only if the tokens are the same."""
    return f"nrefs:1|forced:first-reference|tokens:{material.subwords or 'subwords'}+end"


def compute_perplexity(material: Material, config: ScoreOptions) -> Score:
    """Computes exp of the mean negative log-probability of the references' tokens; lower is better, 1 is certainty.

    This is perplexity per subword: use it only to compare models with the same subwords. Raises OptionError without the
    model's scores.
    """
    import numpy as np  # which `nmt --help` does not need

    forced = require_forced(material)
    losses = [-target.log_probability for target in forced]
    lengths = [float(len(target.tokens)) for target in forced]
    mean = make_ratio_statistics(losses, lengths)
    return Score(
        name="perplexity",
        value=math.exp(sum(losses) / max(1, sum(lengths))),
        signature=format_signature(material),
        sentence_values=tuple(
            math.exp(min(700, loss / max(1, length))) for loss, length in zip(losses, lengths, strict=True)
        ),
        statistics=Statistics(mean.counts, lambda sums: np.exp(mean.combine(sums))),
        lower_is_better=True,
    )


def compute_token_accuracy(material: Material, config: ScoreOptions) -> Score:
    """Computes the percentage of reference tokens that are the model's first choice, given the preceding tokens.

    Measures prediction, not translation: teacher forcing hides every error that follows from another. Raises
    OptionError without the model's scores.
    """
    forced = require_forced(material)
    hits = [float(sum(target.likeliest)) for target in forced]
    lengths = [float(len(target.likeliest)) for target in forced]
    return Score(
        name="accuracy",
        value=100 * sum(hits) / max(1, sum(lengths)),
        signature=format_signature(material),
        sentence_values=tuple(100 * hit / max(1, length) for hit, length in zip(hits, lengths, strict=True)),
        statistics=make_ratio_statistics(hits, lengths, scale=100),
    )


def require_forced(material: Material) -> Sequence[ForcedTarget]:
    """Returns the references as scored by the model. Raises OptionError if they were not scored."""
    if not material.forced:
        raise OptionError("perplexity and accuracy need a model and the sources", hint="leave --hypothesis out")
    return material.forced


# COMET (Rei et al. 2020), computed by the program `comet-score` in an environment of its own.
#
# Its package needs older versions of Protocol Buffers than SentencePiece, so both cannot be installed in one
# environment. Needs a checkpoint on this machine: nothing is ever downloaded.


PROGRAM = "comet-score"
VERSION = "import importlib.metadata as m; print(m.version('unbabel-comet'))"


class CometRow(NamedTuple):
    """A sentence to score."""

    source: str
    hypothesis: str
    reference: str


def compute_comet(material: Material, config: ScoreOptions) -> Score:
    """Computes COMET with the checkpoint at `config.comet_model`, times 100; the mean over a sentence's references.

    The scale is the checkpoint's own: compare only scores from the same checkpoint. Raises OptionError without sources,
    NotFoundError without the checkpoint, MissingExtraError without the program, NmtError if it fails, and DataError if
    hypotheses and references do not pair up.
    """
    if material.sources is None:
        raise OptionError("COMET needs the source sentences", hint="give them with --source")
    check_pairing(material.hypotheses, material.references)
    checkpoint = find_checkpoint(require_model_path(config.comet_model, "comet", "--comet-model FILE"))
    program = find_program()
    rows = [
        CometRow(source, hypothesis, reference)
        for source, hypothesis, alternatives in zip(
            material.sources, material.hypotheses, material.references, strict=True
        )
        for reference in alternatives
    ]
    scores = run_program(program, checkpoint, rows)
    count = len(material.references[0])
    values = [100 * sum(scores[first : first + count]) / count for first in range(0, len(scores), count)]
    version = read_program_version(program)
    signature = f"nrefs:{count}|model:{name_checkpoint(checkpoint)}|mean:sentences|comet:{version}"
    return average_scores("COMET", values, signature)


def find_program() -> Path:
    """Returns the path of `comet-score`. Raises MissingExtraError with the command that installs it."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise MissingExtraError(
            f"--metric comet needs the program {PROGRAM}, which is not installed",
            hint="install it in an environment of its own: `uv tool install unbabel-comet`, or with pipx",
        )
    return Path(path)


def run_program(program: Path, checkpoint: Path, rows: Sequence[CometRow]) -> list[float]:
    """Returns the score of each row. Raises NmtError, with the last line of the program's output, if it fails."""
    with tempfile.TemporaryDirectory(prefix="nmt.") as folder:
        paths = {name: Path(folder, f"{name}.txt") for name in CometRow._fields}
        for name, path in paths.items():
            lines = (" ".join(getattr(row, name).split()) + "\n" for row in rows)
            path.write_text("".join(lines), encoding="utf-8")
        result = Path(folder, "scores.json")
        command = [program, "-s", paths["source"], "-t", paths["hypothesis"], "-r", paths["reference"]]
        options = ["--model", checkpoint, "--to_json", result, "--batch_size", BATCH, "--gpus", 0, "--quiet"]
        done = subprocess.run(list(map(str, [*command, *options])), capture_output=True, text=True)
        scores = read_scores(result) if done.returncode == 0 else []
        if len(scores) != len(rows):
            last = ([line for line in done.stderr.splitlines() if line.strip()] or ["the program gave no reason"])[-1]
            raise NmtError(f"{PROGRAM} failed: {last.strip()}", hint=f"try it alone: `{PROGRAM} --help`")
    return scores


def read_scores(path: Path) -> list[float]:
    """Returns the scores that the program wrote, an object listing the sentences of one file; empty otherwise."""
    try:
        ((_, sentences),) = build(dict[str, list[dict[str, Any]]], parse_json(path.read_text(encoding="utf-8"))).items()
        return [build(float, sentence.get("COMET"), "COMET") for sentence in sentences]
    except (OSError, RecordError, ValueError):
        return []


def read_program_version(program: Path) -> str:
    """Returns the version of the program's package, as known to the Python interpreter in its first line."""
    try:
        interpreter = program.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!").strip()
        done = subprocess.run([interpreter, "-c", VERSION], capture_output=True, text=True, timeout=60)
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip() or "unknown"


def find_checkpoint(path: Path) -> Path:
    """Returns the checkpoint file, given its path or that of its directory as downloaded by COMET."""
    if path.is_file():
        return path
    checkpoints = sorted(path.rglob("*.ckpt"))
    if len(checkpoints) != 1:
        raise NotFoundError(f"{path}/ contains {len(checkpoints)} checkpoints (*.ckpt)", hint="name the file itself")
    return checkpoints[0]


def name_checkpoint(path: Path) -> str:
    """Returns a checkpoint's name: its directory's name if the file is just `model.ckpt`."""
    if path.stem != "model":
        return path.stem
    return next((part for part in reversed(path.resolve().parts[:-1]) if part != "checkpoints"), path.stem)
