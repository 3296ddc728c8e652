"""Seconds and peak memory of `nmt prepare` from 125,000 pairs to 4 million, doubling, each run as a child process.

    python benchmarks/prepare.py --from data/eng-deu.tsv
    python benchmarks/prepare.py --from data/eng-deu.tsv --pairs 1000000 --near-duplicates

The corpora are made by recombination: each pair is two random pairs of the given file, joined. Its sentences are so
twice as long, and nearly all different. Options that are not known here are passed on to `nmt prepare`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SMALLEST, LARGEST = 125_000, 4_000_000


def recombine(given: Path, corpus: Path, *, pairs: int, seed: int) -> None:
    """Writes `pairs` lines to `corpus`, each of two random lines of `given`."""
    rows = [line.rstrip("\n").split("\t")[:2] for line in given.open(encoding="utf-8")]
    generator = random.Random(seed)
    with corpus.open("w", encoding="utf-8", newline="\n") as file:
        for _ in range(pairs):
            (source, target), (more_source, more_target) = generator.choice(rows), generator.choice(rows)
            file.write(f"{source} {more_source}\t{target} {more_target}\n")


@dataclass(frozen=True)
class Cost:
    """What a command needed; `processor` is the seconds of all its processes together, which others do not disturb."""

    seconds: float
    processor: float
    gigabytes: float  # the peak of the resident memory of all its processes together


def measure(command: list[str]) -> Cost:
    started, before = time.monotonic(), processor_seconds()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, resident_bytes(process.pid))
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return Cost(time.monotonic() - started, processor_seconds() - before, peak / 1e9)


def processor_seconds() -> float:
    """Of all child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident_bytes(pid: int) -> int:
    """Resident memory of a process and its children (Linux)."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, IndexError):  # it has just ended
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(resident_bytes(int(child)) for child in children)


def run(given: Path, pairs: int, seed: int, options: list[str]) -> Cost:
    """Prepares a corpus of that size; prints and returns what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, prepared = Path(folder, "corpus.tsv"), Path(folder, "prepared")
        recombine(given, corpus, pairs=pairs, seed=seed)
        megabytes = corpus.stat().st_size / 1e6
        cost = measure([sys.executable, "-m", "nmt_cli", "prepare", str(corpus), "--data", str(prepared), *options])
        counts = json.loads((prepared / "dataset.json").read_text(encoding="utf-8"))["counts"]
    kept = f"kept {counts['kept']:,}"
    spent = f"{cost.seconds:6.1f} s  {cost.processor:6.1f} s of processors  {cost.gigabytes:.2f} GB"
    print(f"{pairs:>9,} pairs  {megabytes:4.0f} MB  {spent}  {kept}", end="")
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="given", type=Path, required=True, help="tab-separated file to recombine")
    parser.add_argument("--pairs", type=int, help="one size only, instead of all")
    parser.add_argument("--largest", type=int, default=LARGEST)
    parser.add_argument("--seed", type=int, default=1)
    arguments, options = parser.parse_known_args()
    pairs, before = arguments.pairs or SMALLEST, None
    while pairs <= (arguments.pairs or arguments.largest):
        cost = run(arguments.given, pairs, arguments.seed, options)
        times = f"  x{cost.seconds / before.seconds:.2f}, x{cost.processor / before.processor:.2f}" if before else ""
        print(times, flush=True)
        pairs, before = 2 * pairs, cost


if __name__ == "__main__":
    main()
