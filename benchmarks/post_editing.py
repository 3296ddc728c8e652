"""What a model learns while its translations are corrected: post-editing, simulated with the references.

    python benchmarks/post_editing.py eng-deu.ui.tsv --model MODEL --data PREPARED --work DIR

PAIRS has segments of a project. Of its first `--segments`, `--corrections` in all, drawn at random, are corrected one
after the other; after each hundred, `nmt train --corrections` learns all so far. Then the other segments, which nobody
has corrected, and the test split of PREPARED are translated and scored. MODEL is copied; each round is a JSON line.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from bench import NMT, Pair, append_row, make_parser, read_pairs, run_nmt, write_lines

METRICS = ("--metric", "bleu", "--metric", "chrf", "--json")


def score(model: Path, *what: Path | str) -> dict[str, Any]:
    """Returns the scores of a model on files of pairs, or on the test split of a prepared corpus."""
    arguments = map(str, ("evaluate", "--model", model, *what, *METRICS))
    scores = json.loads(run_nmt(model.with_suffix(".log"), *arguments))["scores"]
    return {name: {key: entry[key] for key in ("value", "signature")} for name, entry in scores.items()}


def draw_segments(pairs: Sequence[Pair], count: int, corrections: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Returns the segments that are corrected, drawn from the first `count`, and the others; no source recurs."""
    first = dict(reversed(pairs))  # of pairs with the same source, the first
    segments = [(source, first[source]) for source in dict.fromkeys(source for source, _ in pairs)][:count]
    drawn = set(Random(seed).sample(range(len(segments)), corrections))
    corrected = [segment for number, segment in enumerate(segments) if number in drawn]
    return corrected, [segment for number, segment in enumerate(segments) if number not in drawn]


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "work", "seed")
    parser.add_argument("pairs", type=Path, metavar="PAIRS")
    parser.add_argument("--segments", type=int, default=1_600)
    parser.add_argument("--corrections", type=int, default=600)
    parser.add_argument("--each", type=int, default=100, help="corrections per round")
    parser.add_argument("--train", default="", help="further options of `nmt train`")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    model, results = options.work / "model", options.work / "results.jsonl"
    shutil.copytree(options.model, model)
    # 1. Draw the segments that are corrected; the others are only translated.
    corrected, rest = draw_segments(read_pairs(options.pairs), options.segments, options.corrections, options.seed)
    sides = (options.work / "rest.source", options.work / "rest.target")
    for side, texts in zip(sides, zip(*rest, strict=True), strict=True):
        write_lines(side, texts)

    def report(**row: Any) -> None:
        scores = {"rest": ("--source", sides[0], "--reference", sides[1]), "old": ("--data", options.data)}
        append_row(results, {**row, **{name: score(model, *what) for name, what in scores.items()}})

    # 2. Learn and measure, round by round.
    report(corrections=0)
    for count in range(options.each, options.corrections + 1, options.each):
        file = options.work / f"corrections-{count}.tsv"
        write_lines(file, map("\t".join, corrected[:count]))
        command = [*NMT, "train", "--corrections", file, "--model", model, "--data", options.data, "--json", "--quiet"]
        started = time.monotonic()
        done = subprocess.run([*command, *options.train.split()], capture_output=True, text=True)
        lesson = json.loads(done.stdout) if done.stdout else {"error": done.stderr[-500:]}
        report(corrections=count, seconds=time.monotonic() - started, lesson=lesson)


if __name__ == "__main__":
    main()
