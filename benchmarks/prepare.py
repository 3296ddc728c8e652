"""Seconds and peak memory of `nmt prepare` from 125,000 pairs to 4 million, doubling, each run as a process.

    python benchmarks/prepare.py --from data/eng-deu.tsv [--pairs 1000000] [options of `nmt prepare`]

The corpora are made by recombination: each pair is two random pairs of the given file, joined. So its sentences are
twice as long, and nearly all are different. The memory is that of the largest of its processes.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from bench import NMT, Cost, make_parser, measure_command, write_lines

SIZES = tuple(125_000 * 2**doubling for doubling in range(6))


def recombine(given: Path, corpus: Path, pairs: int, seed: int) -> None:
    """Writes `pairs` lines to `corpus`, each of two random lines of `given`."""
    rows = [line.split("\t")[:2] for line in given.read_text(encoding="utf-8").splitlines()]
    generator = random.Random(seed)
    drawn = ((generator.choice(rows), generator.choice(rows)) for _ in range(pairs))
    write_lines(corpus, (f"{one[0]} {other[0]}\t{one[1]} {other[1]}" for one, other in drawn))


def measure_size(given: Path, pairs: int, seed: int, options: list[str]) -> Cost:
    """Prepares a corpus of that size, prints what it cost, and returns it."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, prepared = Path(folder, "corpus.tsv"), Path(folder, "prepared")
        recombine(given, corpus, pairs, seed)
        cost = measure_command([*NMT, "prepare", str(corpus), "--data", str(prepared), *options])
        kept = json.loads((prepared / "dataset.json").read_text(encoding="utf-8"))["counts"]["kept"]
    spent = f"{cost.wall:6.1f} s  {cost.processors:6.1f} s of processors  {cost.megabytes:,.0f} MB"
    print(f"{pairs:>9,} pairs  {spent}  kept {kept:,}", flush=True)
    return cost


def main() -> None:
    parser = make_parser(__doc__, "seed")
    parser.add_argument("--from", dest="given", type=Path, required=True, help="tab-separated file to recombine")
    parser.add_argument("--pairs", type=int, help="one size only, instead of all")
    options, extra = parser.parse_known_args()
    half = None
    for pairs in [options.pairs] if options.pairs else SIZES:
        cost = measure_size(options.given, pairs, options.seed, extra)
        if half:
            print(f"  x{cost.wall / half.wall:.2f}, by processors x{cost.processors / half.processors:.2f}", flush=True)
        half = cost


if __name__ == "__main__":
    main()
