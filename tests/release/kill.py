"""Kills a real training with SIGKILL at random moments and resumes it, then compares it with one that was left alone.

    python tests/release/kill.py [--kills 20] [--seed 1] [--synthetic back]

Trains a toy language through the command line, with a checkpoint after every update. Three of four kills come up to
--pause seconds after the first new update, so in a step, a write, a validation or the export; the fourth on the way
there. The weights of both models must be equal, bit for bit, and so must their histories but for speed and time. With
--synthetic, a helper model and its translations are stages of the training.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

NMT = (sys.executable, "-m", "nmt_cli")
FINISHED = "it was finished"
TEXTS = 9_000  # without translations: three blocks, after each of which a training that is killed may continue
SYLLABLES = ["ba", "de", "gi", "ko", "lu", "ma", "ne", "po"]
TRAIN = """--epochs 12 --embedding 16 --units 16 --set attention-units=8 --set ema=0.9
    --set average=2 --set accumulate=2 --subword-sampling 0.2 --word-dropout 0.1
    --set checkpoint-minutes=0 --quiet --resume""".split()


def prepare(folder: Path) -> None:
    """Prepares sentences of two to six words; a word is translated by spelling it backwards."""
    generator = random.Random(1)
    sentences = {tuple(generator.choices(SYLLABLES, k=generator.randint(2, 6))) for _ in range(500)}
    pairs = [f"{' '.join(words)}\t{' '.join(word[::-1] for word in words)}" for words in sorted(sentences)]
    corpus, text = folder / "toy.tsv", folder / "text.txt"
    corpus.write_text("\n".join(pairs), encoding="utf-8")
    more = [" ".join(generator.choices(SYLLABLES, k=7))[::-1] for _ in range(TEXTS)]
    text.write_text("\n".join(more), encoding="utf-8")
    options = ("--data", str(folder / "prepared"), "--vocab-size", "300", "--quiet", "--monolingual-target", str(text))
    subprocess.run([*NMT, "prepare", str(corpus), *options], check=True)


def make_command(folder: Path, model: str, options: Sequence[str]) -> list[str]:
    return [*NMT, "train", "--data", str(folder / "prepared"), "--model", str(folder / model), *TRAIN, *options]


def kill(folder: Path, options: Sequence[str], pause: float, early: bool) -> str:
    """Runs the training until it is further than it was, and `pause` seconds more; returns how far it is then.

    `early`: it does not get further, but is killed after four times the pause.
    """
    before = describe(folder / "killed")
    training = subprocess.Popen(make_command(folder, "killed", options))
    while not early and describe(folder / "killed") == before and training.poll() is None:
        time.sleep(0.05)
    try:
        training.wait(timeout=4 * pause if early else pause)
        return FINISHED
    except subprocess.TimeoutExpired:
        training.kill()
        training.wait()
    return describe(folder / "killed")


def describe(model: Path) -> str:
    """Returns how far the newest checkpoint of a model or of its stages is, or the journal of its translations."""
    try:
        files = [path for name in ("state.npz", "*.journal") for path in model.rglob(name)]
        newest = max(files, key=lambda path: path.stat().st_mtime)
        if newest.suffix == ".journal":
            return f"{newest.name}: {newest.stat().st_size:,} bytes"
        with np.load(newest) as file:
            progress = json.loads(str(file["facts"]))["progress"]
    except (FileNotFoundError, ValueError):  # there is none, or a stage ends and removes its own
        return "no checkpoint"
    return f"{newest.parents[1].name}: epoch {progress['epoch']}, {progress['meter']['steps']} updates of it"


def find_differences(one: Path, other: Path) -> list[str]:
    """Returns the names of the weights that differ, and "history" if that does."""
    first, second = (dict(np.load(model / "weights.npz")) for model in (one, other))
    names = [name for name in first if not np.array_equal(first[name], second[name])]
    histories = [
        [drop_times(json.loads(line)) for line in (model / "history.jsonl").read_text(encoding="utf-8").splitlines()]
        for model in (one, other)
    ]
    return names + ([] if histories[0] == histories[1] else ["history"])


def drop_times(epoch: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in epoch.items() if name not in ("tokens_per_second", "seconds")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pause", type=float, default=2.0)
    parser.add_argument("--synthetic", choices=("none", "back", "diversify", "both", "distil"), default="none")
    options = parser.parse_args()
    typed = ["--synthetic", options.synthetic, "--batch", "16" if options.synthetic == "none" else "64"]
    generator = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        subprocess.run(make_command(folder, "whole", typed), check=True)
        for number in range(1, options.kills + 1):
            progress = kill(folder, typed, generator.uniform(0, options.pause), early=number % 4 == 0)
            print(f"kill {number}: {progress}", flush=True)
            if progress == FINISHED:  # its stages are gone, so it cannot be resumed
                break
        else:
            subprocess.run(make_command(folder, "killed", typed), check=True)
        differences = find_differences(folder / "whole", folder / "killed")
    print(f"after {number} kills: " + (", ".join(differences) or "equal weights and history"))
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
