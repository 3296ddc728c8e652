"""COMET (Rei et al. 2020), computed by the program `comet-score` in an environment of its own.

Its package needs older versions of Protocol Buffers than SentencePiece, so both cannot be installed in one environment.
Needs a checkpoint on this machine: nothing is ever downloaded.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.errors import MissingExtraError, NmtError, NotFoundError, OptionError
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.neural import BATCH, require_model_path
from nmt_cli.evaluation.metrics.score import Score, average_scores, check_pairing
from nmt_cli.records import RecordError, build, parse_json

PROGRAM = "comet-score"
VERSION = "import importlib.metadata as m; print(m.version('unbabel-comet'))"


class CometRow(NamedTuple):
    """A sentence to score."""

    source: str
    hypothesis: str
    reference: str


def compute_comet(material: Material, config: ScoreConfig) -> Score:
    """Computes COMET with the checkpoint at `config.comet_model`, times 100; the mean over a sentence's references.

    The scale is the checkpoint's own: compare only scores of the same checkpoint. Raises OptionError without sources,
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
            last = ([line for line in done.stderr.splitlines() if line.strip()] or ["it gave no reason"])[-1]
            raise NmtError(f"{PROGRAM} failed: {last.strip()}", hint=f"try it alone: {PROGRAM} --help")
    return scores


def read_scores(path: Path) -> list[float]:
    """Returns the scores written by the program, an object with a list of sentences for its one file; else empty."""
    try:
        ((_, sentences),) = build(dict[str, list[dict[str, Any]]], parse_json(path.read_text(encoding="utf-8"))).items()
        return [build(float, sentence.get("COMET"), "COMET") for sentence in sentences]
    except (OSError, RecordError, ValueError):
        return []


def read_program_version(program: Path) -> str:
    """Returns the version of the program's package, as known to the Python in its first line."""
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
        raise NotFoundError(f"{path}/ holds {len(checkpoints)} checkpoints (*.ckpt); name the file itself")
    return checkpoints[0]


def name_checkpoint(path: Path) -> str:
    """Returns a checkpoint's name: its directory's name if the file is just `model.ckpt`."""
    if path.stem != "model":
        return path.stem
    return next((part for part in reversed(path.resolve().parts[:-1]) if part != "checkpoints"), path.stem)
