"""How `data/eng-deu.tsv` was drawn: 50,000 whole rows of the full file, at random, in random order.

    python examples/draw_sample.py eng-deu-full.tsv data/eng-deu.tsv

The full file is Tatoeba English-German as published by manythings.org on 2018-05-13, 169,813 pairs
(see data/README.md). Rows are drawn without replacement, each with the same chance; their order is that of the
draw, not that of the file, which is sorted by length. The same file, number and seed give the same bytes.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path


def draw(full: Path, sample: Path, *, pairs: int, seed: int) -> None:
    """Writes `pairs` random lines of `full` to `sample`."""
    lines = full.read_bytes().removesuffix(b"\n").split(b"\n")
    chosen = random.Random(seed).sample(lines, pairs)
    sample.write_bytes(b"".join(line + b"\n" for line in chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("full", type=Path, help="tab-separated file to draw from")
    parser.add_argument("sample", type=Path, help="file to write")
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=2018)
    arguments = parser.parse_args()
    draw(arguments.full, arguments.sample, pairs=arguments.pairs, seed=arguments.seed)


if __name__ == "__main__":
    main()
