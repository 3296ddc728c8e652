"""Reads corrections, and divides them into halves: what a model learns of one half, it shows on the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nmt_cli.api.memory import read_file
from nmt_cli.corpus.formats.inputs import parse_input, require_input
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.errors import DataError
from nmt_cli.text.normalise import hash_text, make_sentence_key, normalise
from nmt_cli.text.wrapping import format_count

FEWEST = 50  # fewer corrections are too few to judge a model by


class Part(NamedTuple):
    """The corrections that a model learns, and the others."""

    learned: Sequence[SentencePair]
    left_out: Sequence[SentencePair]


def read_corrections(path: Path, languages: tuple[str, str], earlier: Path | None = None) -> list[SentencePair]:
    """Returns the corrections of a file of pairs in any format of `nmt prepare`, and before them `earlier` ones.

    The last of a source counts. Raises NotFoundError or DataError, also for fewer than FEWEST.
    """
    latest: dict[str, SentencePair] = {}
    for name in [path] if earlier is None else [earlier, path]:
        file = parse_input(str(name))
        require_input(file)
        for source, target in read_file(file, languages):
            pair = SentencePair(normalise(source), normalise(target))
            if pair.source and pair.target:
                latest[make_sentence_key(pair.source)] = pair
    if len(latest) < FEWEST:
        raise DataError(
            f"{path} has {format_count(len(latest), 'correction')}; a model learns from {FEWEST} on",
            hint="fewer count as they are: nmt translate --tm answers from them",
        )
    return list(latest.values())


def write_pairs(path: Path, pairs: Iterable[SentencePair]) -> None:
    """Writes normalised pairs as two columns."""
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs), encoding="utf-8")


def divide(corrections: Sequence[SentencePair]) -> Iterator[Part]:
    """Yields a part for each half to learn. Which half has a correction does not depend on its place in the file."""
    ordered = sorted(corrections, key=lambda pair: hash_text(pair.source))
    halves = ordered[::2], ordered[1::2]
    yield Part(*halves)
    yield Part(*reversed(halves))
