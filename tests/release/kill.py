"""Kills a real training with SIGKILL at random moments and resumes it, then compares it with one that was left alone.

    python tests/release/kill.py [--kills 20] [--seed 1] [--synthetic back]
    python tests/release/kill.py --each 10

Trains a toy language through the command line, with a checkpoint after every update. Three of four kills come up to
--pause seconds after the first new update, so in a step, a write, a validation or the export; the fourth on the way
there. The weights of both models must be equal, bit for bit, and so must their histories but for speed and time. With
--synthetic, a helper model and its translations are stages of the training. With --each, so many kills come in each
stage of a back-translation: in its start, behind an update, a block or a selection, and in the export.
"""

import argparse
import json
import os
import random
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

NMT = (sys.executable, "-m", "nmt_cli")
FINISHED = "it was finished"
TEXTS = 9_000  # without translations: three blocks, after each of which a training that is killed may continue
SYLLABLES = ["ba", "de", "gi", "ko", "lu", "ma", "ne", "po"]
TRAIN = """--epochs 12 --embedding 16 --units 16 --attention-units 8 --ema 0.9
    --average 2 --accumulate 2
    --checkpoint-minutes 0 --quiet --resume""".split()


class Moment(NamedTuple):
    """What a training says before it is killed, up to so many seconds later; None: it has come further than it was."""

    says: str | None
    pause: float


EACH_EPOCHS, EACH_TEXTS, EACH_BLOCK = 4, 6_000, 25
LAST_EPOCH = rf"^ +{EACH_EPOCHS} "
MOMENTS = {  # by what a training says when a stage begins; one after the other, until there are enough kills
    "stage 1 of 3": [Moment("stage 1 of 3", 30), Moment(None, 1.5), Moment(LAST_EPOCH, 15)],
    "stage 2 of 3": [Moment("stage 2 of 3", 1), Moment(None, 0.3)],
    "synthetic pairs;": [Moment("synthetic pairs;", 0.03)],
    "stage 3 of 3": [Moment("stage 3 of 3", 30), Moment(None, 1.5), Moment(LAST_EPOCH, 15)],
}


def prepare(folder: Path, texts: int = TEXTS) -> None:
    """Prepares sentences of two to six words; a word is translated by spelling it backwards."""
    generator = random.Random(1)
    sentences = {tuple(generator.choices(SYLLABLES, k=generator.randint(2, 6))) for _ in range(500)}
    pairs = [f"{' '.join(words)}\t{' '.join(word[::-1] for word in words)}" for words in sorted(sentences)]
    corpus, text = folder / "toy.tsv", folder / "text.txt"
    corpus.write_text("\n".join(pairs), encoding="utf-8")
    more = [" ".join(generator.choices(SYLLABLES, k=7))[::-1] for _ in range(texts)]
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


def start(command: Sequence[str], output: Path) -> int:
    """Runs a command of `make_command` in a fork of this process, which has loaded TensorFlow; returns its id."""
    output.write_text("", encoding="utf-8")
    if process := os.fork():
        return process
    os.dup2(os.open(output, os.O_WRONLY), 2)
    sys.argv = list(command[2:])  # without the interpreter and -m
    code: object = 1
    try:
        runpy.run_module("nmt_cli", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    finally:
        os._exit(code if isinstance(code, int) else 0)  # and leaves the parent's folder alone


def kill_at(folder: Path, moment: Moment, pause: float) -> str:
    """Runs the training until a moment, and `pause` seconds more; returns the stage in which it then is."""
    before, output = describe(folder / "killed"), folder / "output"
    process = start(make_each(folder, "killed"), output)
    ended = (0, 0)
    while ended == (0, 0) and not has_come(moment, folder, before):
        time.sleep(0.02)
        ended = os.waitpid(process, os.WNOHANG)
    time.sleep(pause)
    if ended == (0, 0):
        os.kill(process, signal.SIGKILL)
        ended = os.waitpid(process, 0)
    said = output.read_text(encoding="utf-8")
    if os.waitstatus_to_exitcode(ended[1]) != -signal.SIGKILL:
        return FINISHED if os.waitstatus_to_exitcode(ended[1]) == 0 else said
    return max(MOMENTS, key=said.rfind) if any(stage in said for stage in MOMENTS) else "start"


def has_come(moment: Moment, folder: Path, before: str) -> bool:
    """Whether a running training has come to a moment; `before` is how far it was when it was started."""
    if moment.says is None:
        return describe(folder / "killed") not in (before, "no checkpoint")
    said = folder / "output"
    return said.is_file() and re.search(moment.says, said.read_text(encoding="utf-8"), re.MULTILINE) is not None


def make_each(folder: Path, model: str) -> list[str]:
    command = make_command(folder, model, ["--synthetic", "back", "--batch", "16"])
    command[command.index("--epochs") + 1] = str(EACH_EPOCHS)
    return [word for word in command if word != "--quiet"]


def kill_each(folder: Path, kills: int, generator: random.Random) -> None:
    """Kills a training so many times in each of its stages, and then lets it end. Needs fork, so no Windows."""
    import tensorflow  # noqa: F401  # so that no fork has to load it

    from nmt_cli.training import synthetic as run

    run.BLOCK = EACH_BLOCK
    os.waitpid(start(make_each(folder, "whole"), folder / "output"), 0)
    counts: Counter[str] = Counter()
    for stage, moments in MOMENTS.items():
        for number in range(kills):
            moment = moments[number * len(moments) // kills]
            stage_then = kill_at(folder, moment, generator.uniform(0, moment.pause))
            counts[stage_then] += 1
            print(f"{stage}: killed in {stage_then!r}: {describe(folder / 'killed')}", flush=True)
    os.waitpid(start(make_each(folder, "killed"), folder / "output"), 0)
    print(", ".join(f"{stage!r} {count}" for stage, count in counts.items()))


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
    parser.add_argument("--each", type=int, default=0, help="kills in each stage of a back-translation")
    options = parser.parse_args()
    typed = ["--synthetic", options.synthetic, "--batch", "16" if options.synthetic == "none" else "64"]
    generator = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.each:
            prepare(folder, EACH_TEXTS)
            kill_each(folder, options.each, generator)
            end(folder)
        prepare(folder)
        subprocess.run(make_command(folder, "whole", typed), check=True)
        for number in range(1, options.kills + 1):
            progress = kill(folder, typed, generator.uniform(0, options.pause), early=number % 4 == 0)
            print(f"kill {number}: {progress}", flush=True)
            if progress == FINISHED:  # its stages are gone, so it cannot be resumed
                break
        else:
            subprocess.run(make_command(folder, "killed", typed), check=True)
        end(folder)


def end(folder: Path) -> NoReturn:
    """Says whether the model that was killed equals the whole one, and exits."""
    differences = find_differences(folder / "whole", folder / "killed")
    print("after the kills: " + (", ".join(differences) or "equal weights and history"))
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
