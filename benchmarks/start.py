"""How long `echo hello | nmt translate` takes as a whole process, beside what it cannot do without.

    python benchmarks/start.py --model model

In turn, `--rounds` times each: `nmt translate` with one line, as typed where the model is `model/`; the same with
--model, which is read without pydantic; an interpreter that imports ONNX Runtime, SentencePiece and
Typer and ends; one that imports nothing. Prints median and least of the seconds, and the most resident memory.

Seconds are those of a machine on its day. So two imports alone are measured beside, as yardsticks, and the first
command is told in them too: ONNX Runtime's, without the interpreter's own time, and that of TensorFlow, which
a translator of a framework begins with.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NEEDED = "import onnxruntime, sentencepiece, typer"
NOWHERE = subprocess.DEVNULL  # TensorFlow's import talks
YARDSTICKS = {"ONNX Runtime": "import onnxruntime", "TensorFlow": "import tensorflow"}


def measured(command: list[str], text: Path, directory: Path) -> tuple[float, float]:
    """Seconds of wall-clock from start to end, and the peak of resident memory in MB."""
    with text.open() as lines:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdin=lines, stdout=NOWHERE, stderr=NOWHERE, cwd=directory)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
    if status:
        raise SystemExit(f"{command} failed; what it says, it says by hand")
    return seconds, used.ru_maxrss * 1024 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    translate = [sys.executable, "-m", "nmt_cli", "translate"]
    commands = {
        "nmt translate": translate,
        "with --model": [*translate, "--model", "model"],
        "its imports": [sys.executable, "-c", NEEDED],
        "python alone": [sys.executable, "-c", "pass"],
        **{name: [sys.executable, "-c", code] for name, code in YARDSTICKS.items()},
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "hello.txt")
        text.write_text("hello\n")
        Path(folder, "model").symlink_to(given.model.resolve(), target_is_directory=True)
        for round_number in range(given.rounds + 1):
            for name, command in commands.items():
                one = measured(command, text, Path(folder))
                if round_number:  # the first fills the disk's cache
                    found[name].append(one)
    for name, runs in found.items():
        least, memory = min(seconds for seconds, _ in runs), max(memory for _, memory in runs)
        print(f"{name:14} {median_seconds(runs):.2f} s (least {least:.2f})   {memory:.0f} MB")
    ours, alone = median_seconds(found["nmt translate"]), median_seconds(found["python alone"])
    for name in YARDSTICKS:
        print(f"nmt translate takes {ours / (median_seconds(found[name]) - alone):.2f} of the import of {name}")


def median_seconds(runs: list[tuple[float, float]]) -> float:
    return statistics.median(seconds for seconds, _ in runs)


if __name__ == "__main__":
    main()
