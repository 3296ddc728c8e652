"""How long `echo hello | nmt translate` takes as a whole process, beside what it cannot do without.

    python benchmarks/start.py --model MODEL [--rounds 15]

In turn: `nmt translate` with one line where the model is `model/`; the same with --model; an interpreter that imports
ONNX Runtime, SentencePiece and Typer; one that imports ONNX Runtime, one that imports TensorFlow, with which the
translator of a framework begins, and one that imports nothing. Prints the median and the least of the seconds on the
wall, the median of the processors' own, the peak of resident memory, and the first command by the imports without the
interpreter's own time, on both clocks.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench import NMT, make_parser, measure_command, run_in_turn

YARDSTICKS = ("onnxruntime", "tensorflow")
IMPORTS = {"its imports": "onnxruntime, sentencepiece, typer", **{name: name for name in YARDSTICKS}, "nothing": "sys"}


def main() -> None:
    parser = make_parser(__doc__, "model", "rounds")
    parser.set_defaults(rounds=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model").symlink_to(options.model.resolve(), target_is_directory=True)
        translate = {"nmt translate": [*NMT, "translate"], "with --model": [*NMT, "translate", "--model", "model"]}
        runners = {name: partial(measure_command, command, ["hello"], folder) for name, command in translate.items()}
        for name, modules in IMPORTS.items():
            runners[name] = partial(measure_command, [sys.executable, "-c", f"import {modules}"], (), folder)
        run_in_turn(runners, 1)  # fills the disk's cache
        costs = run_in_turn(runners, options.rounds)
    wall, processors = (
        {name: statistics.median(getattr(cost, clock) for cost in runs) for name, runs in costs.items()}
        for clock in ("wall", "processors")
    )
    for name, runs in costs.items():
        least, memory = min(cost.wall for cost in runs), max(cost.megabytes for cost in runs)
        print(f"{name:14} {wall[name]:.2f} s (least {least:.2f})   {processors[name]:.2f} s   {memory:.0f} MB")
    for name in YARDSTICKS:
        ratios = (clock["nmt translate"] / (clock[name] - clock["nothing"]) for clock in (wall, processors))
        print(f"nmt translate takes {' and '.join(f'{ratio:.2f}' for ratio in ratios)} times the import of {name}")


if __name__ == "__main__":
    main()
