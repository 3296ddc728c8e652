"""Text of one language without translations: read, cleaned, and audited against the development and test sets.

Knows how such text is selected and stored, but not how training uses it. Letters: N texts, H held-out ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from nmt_cli.arrays.scratch import count_numbers, find_members, iterate_blocks
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.checks import CHECKS
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import MonolingualText, TaggedRun
from nmt_cli.corpus.pairs import Pairs, Side, Texts
from nmt_cli.corpus.steps.held_out import find_near_held_out
from nmt_cli.corpus.steps.reading import CorpusInputs
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.errors import DataError

# The checks that say something about a single text; those of pairs compare the two sides.
MONOLINGUAL_CHECKS = frozenset(
    {"mojibake", "markup", "control", "empty", "damaged", "duplicate", "duplicate-form", "too-long", "script"}
)
HELD_OUT, NEAR_HELD_OUT, IN_CORPUS = "held-out", "near-held-out", "in-corpus"
AUDITS = (HELD_OUT, NEAR_HELD_OUT, IN_CORPUS)
MEASURES = ("keys", "lengths", "words", "scripts")  # the facts that each side has
FIRST_AUDIT = len(CHECKS) + 1  # the numbers in `Pairs.reasons` from here on are those of AUDITS


@dataclass(frozen=True)
class MonolingualSide:
    """The text of one side before it is written: each text is on both sides of its pair."""

    side: Side
    pairs: Pairs
    inputs: CorpusInputs

    @property
    def file_name(self) -> str:
        return f"monolingual.{self.side}.txt"


def clean_monolingual(side: Side, pairs: Pairs, inputs: CorpusInputs, config: PrepareOptions) -> MonolingualSide:
    """Returns the text of one side, without the sentences that its own checks find."""
    run_checks(copy_side(pairs, side), config, lambda done: None, MONOLINGUAL_CHECKS)
    return MonolingualSide(side, pairs, inputs)


def copy_side(pairs: Pairs, side: Side) -> Pairs:
    """Returns the pairs with the texts of one side, and their facts, on both sides."""
    other: Side = "target" if side == "source" else "source"
    copied = {f"{other}_{name}": getattr(pairs.facts, f"{side}_{name}") for name in MEASURES}
    pairs.facts = replace(pairs.facts, **copied)
    pairs.source = pairs.target = pairs.get_texts(side)
    return pairs


def drop_held_out(text: MonolingualSide, corpus: Pairs, splits: Splits) -> MonolingualSide:
    """Drops texts that equal, or nearly equal, a held-out sentence of their side, or equal a training sentence.

    Held-out sentences are those of the development and test sets. Otherwise a synthetic pair would teach the network
    what it is measured by. Returns `text` itself.
    """
    keys = corpus.facts.source_keys if text.side == "source" else corpus.facts.target_keys
    own_keys = text.pairs.facts.source_keys
    held_out = np.concatenate([splits.dev, splits.test])
    mark_dropped(text.pairs, find_members(own_keys, keys[held_out]), HELD_OUT)
    rows = text.pairs.scratch.find_rows(text.pairs.is_kept)
    is_near = np.zeros(len(text.pairs), dtype=np.bool_)
    is_near[rows] = find_near_held_out(text.pairs.source, rows, corpus.get_texts(text.side), held_out)
    mark_dropped(text.pairs, is_near, NEAR_HELD_OUT)
    for block in iterate_blocks(len(splits.train)):
        mark_dropped(text.pairs, find_members(own_keys, keys[splits.train[block]]), IN_CORPUS)
    return text


def mark_dropped(pairs: Pairs, rows: BoolArray, reason: str) -> None:
    pairs.reasons[rows & pairs.is_kept] = FIRST_AUDIT + AUDITS.index(reason)


def write_monolingual(text: MonolingualSide, directory: Path) -> MonolingualText:
    """Writes the kept texts, one per line, and returns their counts. Raises DataError if none is kept."""
    pairs = text.pairs
    rows = pairs.scratch.find_rows(pairs.is_kept)
    reasons = ("", *(check.name for check in CHECKS), *AUDITS)
    by_reason = dict(zip(reasons, count_numbers(pairs.reasons, len(reasons)).tolist(), strict=True))
    dropped = {name: count for name, count in by_reason.items() if name and count}
    if not len(rows):
        counts = ", ".join(f"{count:,} {name}" for name, count in dropped.items())
        raise DataError(
            f"no text of {', '.join(text.inputs.short_names)} can be used: {counts}",
            hint=f"leave out --monolingual-{text.side}, or name other text",
        )
    write_texts(directory / text.file_name, pairs.source, rows)
    return MonolingualText(
        file=text.file_name,
        read=len(pairs),
        kept=len(rows),
        dropped=dropped,
        inputs=text.inputs.records,
        tags=describe_tags(pairs, rows),
    )


def describe_tags(pairs: Pairs, rows: IntArray) -> tuple[TaggedRun, ...]:
    """Returns the tags of the texts of these rows in order; nothing if none has a tag."""
    if len(pairs.tag_sets) == 1:
        return ()
    numbers = (number for block in iterate_blocks(len(rows)) for number in pairs.facts.tags[rows[block]].tolist())
    names = (" ".join(map(str, pairs.tag_sets[number])) for number in numbers)
    return tuple(TaggedRun(tags=tags, count=sum(1 for _ in run)) for tags, run in groupby(names))


def write_texts(path: Path, texts: Texts, rows: IntArray) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{sentence}\n" for sentence in texts.select(rows))
