"""How long `echo hello | nmt translate` takes as a whole process, beside what it cannot do without.

    python benchmarks/start.py --model model

In turn, `--rounds` times each: `nmt translate` with one line, as typed where the model is `model/`; the same with
--model, which is read without pydantic; an interpreter that imports ONNX Runtime, SentencePiece and
Typer and ends; one that imports nothing. Prints median and least of the seconds, and the most resident memory.
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


def measured(command: list[str], text: Path, directory: Path) -> tuple[float, float]:
    """Seconds of wall-clock from start to end, and the peak of resident memory in MB."""
    with text.open() as lines:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdin=lines, stdout=subprocess.DEVNULL, cwd=directory)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
    if status:
        raise SystemExit(f"{command} failed")
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
        seconds, memory = zip(*runs, strict=True)
        print(f"{name:14} {statistics.median(seconds):.2f} s (least {min(seconds):.2f})   {max(memory):.0f} MB")


if __name__ == "__main__":
    main()
