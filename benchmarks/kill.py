"""Kills a real training with SIGKILL at random moments and resumes it, then compares it with one that was left alone.

    python benchmarks/kill.py [--kills 20] [--seed 1]

Trains a toy language through the command line, with a checkpoint after every update. Three of four kills come up to
--pause seconds after the first new update, so into a step, a write, a validation or the export; the fourth on the way
there. The weights of both models must be equal, bit for bit, and so must their histories but for speed and time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SYLLABLES = ["ba", "de", "gi", "ko", "lu", "ma", "ne", "po"]
TRAIN = ["--epochs", "12", "--batch", "16", "--embedding", "16", "--units", "16", "--attention-units", "8"]
EXTRA = ["--ema", "0.9", "--average", "2", "--accumulate", "2", "--subword-sampling", "0.2", "--word-dropout", "0.1"]
QUIET = ["--checkpoint-minutes", "0", "--quiet"]
START = "epoch 1, 0 updates of it"
TIMES = ("tokens_per_second", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pause", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        prepare(place)
        started = time.monotonic()
        subprocess.run(command(place, "whole"), check=True)
        print(f"left alone: {time.monotonic() - started:.0f} s", flush=True)
        for number in range(1, arguments.kills + 1):
            early = number % 4 == 0
            print(f"kill {number}: {kill(place, chance.uniform(0, arguments.pause), early)}", flush=True)
        subprocess.run(command(place, "killed"), check=True)
        differences = compare(place / "whole", place / "killed")
    print(f"after {arguments.kills} kills: " + (", ".join(differences) or "equal weights and history"))
    sys.exit(bool(differences))


def prepare(place: Path) -> None:
    """Sentences of two to six words; a word is translated by spelling it backwards."""
    words = random.Random(1)
    sentences = {tuple(words.choices(SYLLABLES, k=words.randint(2, 6))) for _ in range(500)}
    pairs = [(" ".join(one), " ".join(word[::-1] for word in one)) for one in sorted(sentences)]
    (place / "toy.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
    arguments = ["prepare", str(place / "toy.tsv"), "--data", str(place / "prepared"), "--vocab-size", "300", "--quiet"]
    subprocess.run([sys.executable, "-m", "nmt_cli", *arguments], check=True)


def command(place: Path, model: str) -> list[str]:
    where = ["--data", str(place / "prepared"), "--model", str(place / model), "--resume"]
    return [sys.executable, "-m", "nmt_cli", "train", *where, *TRAIN, *EXTRA, *QUIET]


def kill(place: Path, pause: float, early: bool) -> str:
    """Runs the training until it is further than it was, and `pause` seconds more; says how far it is then.

    `early`: it does not get further, but is killed after four times the pause.
    """
    state = place / "killed" / "checkpoints" / "state.npz"
    before = reached(state)
    training = subprocess.Popen(command(place, "killed"))
    while not early and reached(state) == before and training.poll() is None:
        time.sleep(0.05)
    try:
        training.wait(timeout=4 * pause if early else pause)
        return "it was finished"
    except subprocess.TimeoutExpired:
        os.kill(training.pid, signal.SIGKILL)
        training.wait()
    return reached(state)


def reached(state: Path) -> str:
    """How far the checkpoint is."""
    if not state.exists():
        return START
    with np.load(state) as file:
        progress = json.loads(str(file["facts"]))["progress"]
    return f"epoch {progress['epoch']}, {progress['meter']['steps']} updates of it"


def compare(one: Path, other: Path) -> list[str]:
    """What differs; empty if nothing does."""
    first, second = (dict(np.load(place / "weights.npz")) for place in (one, other))
    names = [name for name in first if not np.array_equal(first[name], second[name])]
    histories = [[without_times(line) for line in (place / "history.jsonl").open()] for place in (one, other)]
    return names + ([] if histories[0] == histories[1] else ["history"])


def without_times(line: str) -> dict[str, object]:
    return {name: value for name, value in json.loads(line).items() if name not in TIMES}


if __name__ == "__main__":
    main()
