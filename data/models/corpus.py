"""Makes the corpus of English-German models for real text: Tatoeba, and LibreOffice's help and interface.

    python data/models/corpus.py --tatoeba PAIRS --help-pages PAIRS --interface PAIRS --output DIR

writes what `nmt prepare DIR/eng-deu.tsv=train --dev DIR/dev.tsv --test DIR/test.tsv` reads. Sets are held out at
random: sentences of Tatoeba, paragraphs of the help, whole pages of it, and whole catalogues of the interface. A
held-out text is in no other set and not in training, on either side, whatever page or catalogue repeats it.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

DEV = {"tatoeba": 800, "help": 300, "pages": 300, "ui": 400}  # pairs, at least
TEST = {"tatoeba": 2000, "help": 500, "pages": 600, "ui": 800}
LARGEST_GROUP = 600  # pairs of a page or catalogue that is held out: one large catalogue would say little about others


class Pair(NamedTuple):
    source: str
    target: str
    group: str = ""  # page or catalogue


def read_pairs(path: Path, group_column: int | None = None) -> Iterator[Pair]:
    """Yields the pairs of a tab-separated file, compressed or not; with a group column, the first line is a header."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if group_column is not None:
            next(rows)
        for row in rows:
            yield Pair(row[0], row[1], "" if group_column is None else row[group_column])


def make_groups(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Returns the pairs of each page or catalogue, in their order; a pair without one is a group of its own."""
    indexed = [(pair.group or f"pair {number}", pair) for number, pair in enumerate(pairs)]
    indexed.sort(key=lambda entry: entry[0])  # stable
    return [[pair for _, pair in group] for _, group in groupby(indexed, key=lambda entry: entry[0])]


def draw(groups: Sequence[Sequence[Pair]], size: int, draws: random.Random) -> list[Sequence[Pair]]:
    """Returns whole groups at random that have `size` pairs together, or a few more."""
    drawn: list[Sequence[Pair]] = []
    for group in draws.sample(groups, len(groups)):
        if sum(map(len, drawn)) >= size:
            break
        if len(group) <= LARGEST_GROUP:
            drawn.append(group)
    return drawn


def hold_out(
    sources: Mapping[str, Sequence[Sequence[Pair]]], draws: random.Random
) -> tuple[dict[str, list[Pair]], list[Pair]]:
    """Returns the held-out sets, as `test/tatoeba`, and the pairs for training."""
    held: dict[str, list[Pair]] = {}
    texts: set[str] = set()
    for split, sizes in (("test", TEST), ("dev", DEV)):
        for name, size in sizes.items():
            unseen = [[pair for pair in group if not texts.intersection(pair[:2])] for group in sources[name]]
            held[f"{split}/{name}"] = [pair for group in draw(unseen, size, draws) for pair in group]
            texts.update(text for pair in held[f"{split}/{name}"] for text in pair[:2])
    everything = (pair for name in ("tatoeba", "help", "ui") for group in sources[name] for pair in group)
    return held, [pair for pair in everything if not texts.intersection(pair[:2])]


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs), encoding="utf-8")


def make_corpus(tatoeba: Path, help_pages: Path, interface: Path, output: Path, seed: int = 2026) -> None:
    """Writes the training pairs, all of dev and of test, and each of their sets."""
    paragraphs = list(read_pairs(help_pages, 2))
    sources = {
        "tatoeba": make_groups(read_pairs(tatoeba)),
        "help": make_groups(pair._replace(group="") for pair in paragraphs),
        "pages": make_groups(paragraphs),
        "ui": make_groups(read_pairs(interface, 3)),
    }
    draws = random.Random(seed)
    held, training = hold_out(sources, draws)
    for name, pairs in held.items():
        write_pairs(output / f"{name}.tsv", pairs)
    for split in ("dev", "test"):
        sets = (pairs for name, pairs in held.items() if name.startswith(split))
        write_pairs(output / f"{split}.tsv", chain.from_iterable(sets))
    draws.shuffle(training)
    write_pairs(output / "eng-deu.tsv", training)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tatoeba", type=Path, required=True, help="pairs, tab-separated")
    parser.add_argument("--help-pages", type=Path, required=True, help="pairs, page and id, below a header")
    parser.add_argument("--interface", type=Path, required=True, help="pairs, context and catalogue, below a header")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    make_corpus(options.tatoeba, options.help_pages, options.interface, options.output)


if __name__ == "__main__":
    main()
