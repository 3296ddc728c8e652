"""Makes the corpus of English-German models for real text: Tatoeba, LibreOffice, catalogues, everyday words, names.

    python data/models/corpus.py --tatoeba PAIRS --help-pages PAIRS --interface PAIRS --catalogues PAIRS --output DIR

writes a file of training pairs for each source, and the held-out sets:

    DIR/tatoeba.tsv, ui.tsv              pairs in random order
    DIR/joined.tsv                       pairs of Tatoeba by twos, as lines of two sentences
    DIR/help.tsv                         paragraphs with their pages, in order, below a header
    DIR/labels.tsv, messages.tsv         pairs of `catalogues.py` of at most five words on both sides, and longer ones
    DIR/phrases.tsv, words.tsv, everyday.tsv, names.tsv
                                         `data/phrases.eng-deu.tsv` and so on
    DIR/dev.tsv, test.tsv, dev/*, test/* the held-out pairs together, and by set

Sets are held out at random: sentences of Tatoeba, paragraphs of the help, whole pages of it, and whole catalogues of
the interface. A held-out text is in no other set and not in training, on either side, whatever page or catalogue
repeats it. Nor is a text of `benchmarks/phrases.tsv`, whatever its case and marks.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import lzma
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, filterfalse, groupby
from pathlib import Path
from typing import NamedTuple


class Pair(NamedTuple):
    source: str
    target: str
    group: str = ""  # page or catalogue


DEV = {"tatoeba": 800, "help": 300, "pages": 300, "ui": 400}  # pairs, at least
TEST = {"tatoeba": 2000, "help": 500, "pages": 600, "ui": 800}
DATA = Path(__file__).parent.parent
WRITTEN = ("phrases", "words", "everyday", "names")  # files of `data/`: of two that have a text, the first counts
TESTED_PHRASES = DATA.parent / "benchmarks" / "phrases.tsv"
JOINED = 6_000  # lines of two sentences of Tatoeba
HEADER = Pair("eng", "deu", "page")
LABEL = 5  # words at most
OPEN = {".xz": lzma.open, ".gz": gzip.open}
LARGEST_GROUP = 600  # pairs of a page or catalogue that is held out: one large catalogue would say little about others


def read_pairs(path: Path, group_column: int | None = None) -> Iterator[Pair]:
    """Yields the pairs of a tab-separated file, compressed or not; with a group column, the first line is a header."""
    with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8", newline="") as file:
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
    sources: Mapping[str, Sequence[Sequence[Pair]]], draws: random.Random, tested: Iterable[Pair] = ()
) -> tuple[dict[str, list[Pair]], dict[str, list[Pair]]]:
    """Returns the held-out sets, as `test/tatoeba`, and the pairs for training of each source, without `tested`."""
    held: dict[str, list[Pair]] = {}
    texts: set[str] = set()
    for split, sizes in (("test", TEST), ("dev", DEV)):
        for name, size in sizes.items():
            unseen = [[pair for pair in group if not texts.intersection(pair[:2])] for group in sources[name]]
            held[f"{split}/{name}"] = [pair for group in draw(unseen, size, draws) for pair in group]
            texts.update(text for pair in held[f"{split}/{name}"] for text in pair[:2])
    kept_back = read_tested_phrases() | key_sides(chain(tested, *held.values()))
    return held, {name: leave_out(chain.from_iterable(groups), kept_back) for name, groups in sources.items()}


def key_phrase(text: str) -> str:
    """Returns the words of a text, whatever their case and the marks between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def key_sides(pairs: Iterable[Pair]) -> set[tuple[int, str]]:
    """Returns the texts of pairs, each with the side on which it stands."""
    return {entry for pair in pairs for entry in enumerate(map(key_phrase, pair[:2]))}


def leave_out(pairs: Iterable[Pair], known: Set[tuple[int, str]]) -> list[Pair]:
    """Returns the pairs of which no side is known.

    `nmt prepare` would do so, too, but not with short lines behind another, which recur in texts for good reasons.
    """
    return [pair for pair in pairs if known.isdisjoint(enumerate(map(key_phrase, pair[:2])))]


def read_tested_phrases() -> set[tuple[int, str]]:
    """Returns the texts of the benchmark of phrases and their references, with the side on which they stand."""
    sides = chain.from_iterable(enumerate(pair[:2]) for pair in read_pairs(TESTED_PHRASES))
    return {(side, key_phrase(text)) for side, texts in sides for text in texts.split(" | ")}


def join_by_twos(pairs: Sequence[Pair], draws: random.Random) -> list[Pair]:
    """Returns lines of two sentences that have nothing to do with each other, as a line that is not cut may have."""
    drawn = draws.sample(pairs, min(2 * JOINED, len(pairs) // 2 * 2))
    return [
        Pair(f"{one.source} {other.source}", f"{one.target} {other.target}")
        for one, other in zip(drawn[::2], drawn[1::2], strict=True)
    ]


def is_label(pair: Pair) -> bool:
    return all(len(text.split()) <= LABEL for text in pair[:2])


def write_pairs(path: Path, pairs: Iterable[Pair], *, with_groups: bool = False) -> None:
    """Writes pairs, with their groups below a header if asked for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = chain((HEADER,), pairs) if with_groups else (pair[:2] for pair in pairs)
    with OPEN.get(path.suffix, open)(path, "wt", encoding="utf-8", newline="\n") as file:
        file.writelines("\t".join(row) + "\n" for row in rows)


def make_corpus(
    tatoeba: Path,
    help_pages: Path,
    interface: Path,
    output: Path,
    *,
    catalogues: Path | None = None,
    tested: Iterable[Pair] = (),
    seed: int = 2026,
) -> None:
    """Writes the training pairs of each source, all of dev and of test, and each of their sets."""
    texts = list(read_pairs(catalogues, 2)) if catalogues else []
    paragraphs = list(read_pairs(help_pages, 2))
    sources = {
        "tatoeba": make_groups(read_pairs(tatoeba)),
        "help": make_groups(pair._replace(group="") for pair in paragraphs),
        "pages": make_groups(paragraphs),
        "ui": make_groups(read_pairs(interface, 3)),
        "labels": [list(filter(is_label, texts))],
        "messages": [list(filterfalse(is_label, texts))],
    }
    known: set[tuple[int, str]] = set()
    for name in WRITTEN:
        sources[name] = [leave_out(read_pairs(DATA / f"{name}.eng-deu.tsv"), known)]
        known |= key_sides(sources[name][0])
    draws = random.Random(seed)
    held, training = hold_out(sources, draws, tested)
    for name, pairs in held.items():
        write_pairs(output / f"{name}.tsv", pairs)
    for split in ("dev", "test"):
        alone = (pair._replace(group="") for name in ("tatoeba", "help", "ui") for pair in held[f"{split}/{name}"])
        write_pairs(output / f"{split}.tsv", chain(alone, held[f"{split}/pages"]), with_groups=True)
    write_pairs(output / "help.tsv", training["pages"], with_groups=True)
    for name in ("tatoeba", "ui", *WRITTEN, "labels", "messages"):
        draws.shuffle(training[name])
        write_pairs(output / f"{name}.tsv", training[name])
    write_pairs(output / "joined.tsv", join_by_twos(training["tatoeba"], draws))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tatoeba", type=Path, required=True, help="pairs, tab-separated")
    parser.add_argument("--help-pages", type=Path, required=True, help="pairs, page and id, below a header")
    parser.add_argument("--interface", type=Path, required=True, help="pairs, context and catalogue, below a header")
    parser.add_argument("--catalogues", type=Path, help="pairs and package, below a header")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    make_corpus(options.tatoeba, options.help_pages, options.interface, options.output, catalogues=options.catalogues)


if __name__ == "__main__":
    main()
