"""Reads corrections, and holds a tenth of them back.

Whether a correction is held back follows from its source alone. One that judges a model today is therefore learned by
no later one either.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nmt_cli.api.memory import read_file
from nmt_cli.corpus.formats.inputs import parse_input, require_input
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.errors import DataError
from nmt_cli.text.normalise import hash_text, make_sentence_key, normalise
from nmt_cli.text.wrapping import format_count

FEWEST = 50  # a tenth of fewer corrections is too small to judge a model by
HELD_BACK = 10  # one of so many


class Corrections(NamedTuple):
    """Corrected translations with their sources, each source once."""

    learned: list[SentencePair]
    held_back: list[SentencePair]

    def exclude_from(self, pairs: Iterable[SentencePair]) -> list[SentencePair]:
        """Returns the pairs without those whose source has been corrected."""
        corrected = {make_sentence_key(pair.source) for pair in (*self.learned, *self.held_back)}
        return [pair for pair in pairs if make_sentence_key(pair.source) not in corrected]


def read_corrections(path: Path, languages: tuple[str, str]) -> Corrections:
    """Returns the corrections of a file of pairs in any format of `nmt prepare`; the last of a source counts.

    Raises NotFoundError or DataError, also for fewer than FEWEST.
    """
    file = parse_input(str(path))
    require_input(file)
    latest: dict[str, SentencePair] = {}
    for source, target in read_file(file, languages):
        pair = SentencePair(normalise(source), normalise(target))
        if pair.source and pair.target:
            latest[make_sentence_key(pair.source)] = pair
    divided: tuple[list[SentencePair], list[SentencePair]] = ([], [])
    for key, pair in latest.items():
        divided[is_held_back(key)].append(pair)
    if len(latest) < FEWEST or not divided[1]:
        raise DataError(
            f"{path} has {format_count(len(latest), 'correction')}; a model learns from {FEWEST} on",
            hint="fewer count as they are: nmt translate --tm answers from them",
        )
    return Corrections(*divided)


def is_held_back(key: str) -> bool:
    """Whether the correction of the source with this key is held back."""
    return int.from_bytes(hash_text(key), "big") % HELD_BACK == 0
