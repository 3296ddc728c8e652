"""Seconds and peak memory of `nmt prepare` on a corpus of any size, run as a child process.

    python benchmarks/prepare.py --from data/eng-deu.tsv --pairs 1000000

The corpus is made by recombination: each pair is two random pairs of the given file, joined. Its sentences are so
twice as long, and nearly all different.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def recombine(given: Path, corpus: Path, *, pairs: int, seed: int) -> None:
    """Writes `pairs` lines to `corpus`, each of two random lines of `given`."""
    rows = [line.rstrip("\n").split("\t")[:2] for line in given.open(encoding="utf-8")]
    generator = random.Random(seed)
    with corpus.open("w", encoding="utf-8", newline="\n") as file:
        for _ in range(pairs):
            (source, target), (more_source, more_target) = generator.choice(rows), generator.choice(rows)
            file.write(f"{source} {more_source}\t{target} {more_target}\n")


def measure(command: list[str]) -> tuple[float, float]:
    """Wall-clock seconds of a command, and the peak of its resident memory in GB."""
    started = time.monotonic()
    subprocess.run(command, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # KiB on Linux, bytes on macOS
    return time.monotonic() - started, peak * (1 if sys.platform == "darwin" else 1024) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="given", type=Path, required=True, help="tab-separated file to recombine")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus.tsv")
        recombine(arguments.given, corpus, pairs=arguments.pairs, seed=arguments.seed)
        megabytes = corpus.stat().st_size / 1e6
        nmt = [sys.executable, "-m", "nmt_cli", "prepare", str(corpus), "--data", str(Path(folder, "prepared"))]
        seconds, gigabytes = measure([*nmt, *options])
    print(f"{arguments.pairs:,} pairs ({megabytes:.0f} MB): {seconds:.1f} s, {gigabytes:.2f} GB at the peak")


if __name__ == "__main__":
    main()
