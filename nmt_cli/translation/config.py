"""Settings of how lines are read and how faulty translations are repaired."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nmt_cli.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class RepairConfig(Settings):
    """What is done about translations that went wrong."""

    heal: bool = setting(
        True,
        "Search again, in other ways, where a translation loops, is empty, does not end or copies its source.",
        panel="Repair",
    )
    replace_unknown: bool = setting(
        False, "Replace unknown words by the source words they attended to most.", panel="Repair"
    )


@dataclass(frozen=True, kw_only=True)
class LineConfig(Settings):
    """What of a line the network is given, and in how many pieces."""

    protect: bool = setting(
        True,
        "Keep addresses, amounts, placeholders, markup and emoji as they are, byte for byte.",
        panel="Text",
    )
    glossary: str | None = setting(
        None, "File of terms with their required translations: source, tab, target.", panel="Text"
    )
    split_sentences: bool = setting(True, "Translate the sentences of a line one by one.", panel="Text")
    max_words: int = setting(
        50,
        "Maximum number of words translated at once; longer sentences are split after clauses or words.",
        panel="Text",
        low=1,
    )


class ModelRequest(NamedTuple):
    """Which model, or ensemble of models, to load, and how to run it."""

    model: Path
    ensemble: tuple[Path, ...] = ()  # further models, whose probabilities are averaged with those of `model`
    lines: LineConfig | None = None
    precision: str | None = None  # of the weights: float or int8; None: the default of the model's card
    threads: int | None = None  # None: one per core
