"""The settings of each command that are options of the command line; all others are set by `--set` or `--config`.

Standard library only: imported for `nmt --help`, and to write commands that can be typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class CommandOptions(NamedTuple):
    """The names of a command's options, without dashes; `everyday` ones come first in `--help`, in this order."""

    everyday: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.everyday + self.others)


OPTIONS: Mapping[str, CommandOptions] = {
    "prepare": CommandOptions(
        everyday=(
            *("data", "source-language", "target-language", "source-file", "target-file", "dev", "test"),
            *("vocab-size", "report", "keep", "seed", "resume", "force", "config", "set", "quiet", "verbose"),
        ),
        others=(
            *("source-type", "monolingual-target"),
            *("format", "encoding", "source-column", "target-column", "group-column", "tag-column", "context"),
            "strict",
            *("tokenizer", "tokenizer-from"),
            "json",
        ),
    ),
    "train": CommandOptions(
        everyday=(
            *("data", "model", "epochs", "time", "batch", "architecture", "attention", "patience"),
            *("init-from", "resume", "seed", "force", "config", "set", "quiet", "verbose"),
        ),
        others=(
            *("embedding", "units", "layers", "heads", "cell", "bidirectional", "input-feeding"),
            *("tied", "dropout"),
            *("learning-rate", "label-smoothing", "metric", "runs", "placeholders", "mixed-precision"),
            *("noise", "word-dropout", "subword-sampling"),
            *("replay", "synthetic", "reverse", "devices", "tensorboard", "json"),
        ),
    ),
    "translate": CommandOptions(
        everyday=(
            *("output", "model", "format", "column", "glossary", "n-best", "scores", "json"),
            *("beam-size", "serve", "resume", "force", "config", "set", "quiet", "verbose"),
        ),
        others=(
            *("to", "tag", "formality", "context"),
            *("ensemble", "rerank", "encoding", "protect", "tm", "repair"),
            *("check", "check-with", "report", "strict", "confidence", "min-confidence"),
            *("max-length", "sample"),
            *("alignments", "score", "info", "export", "workers"),
        ),
    ),
    "evaluate": CommandOptions(
        everyday=(
            *("metric", "model", "data", "split", "source", "reference", "hypothesis", "against"),
            *("report", "json", "beam-size", "config", "set", "quiet"),
        ),
        others=(
            *("smooth", "lowercase", "bleu-tokenizer", "comet-model", "bertscore-model"),
            *("rerank", "all-runs", "profile", "sentences", "explain"),
        ),
    ),
    "visualize": CommandOptions(
        everyday=(
            *("output", "open", "model", "data", "beam", "curves", "corpus", "network", "nearest"),
            *("beam-size", "config", "set", "quiet"),
        ),
        others=("target", "pairs", "heads"),
    ),
}


def spell_setting(command: str, name: str) -> str:
    """Returns how a setting is typed, without its value: `--epochs`, or `--set clip` for one that is not an option."""
    return f"--{name}" if name in OPTIONS[command].names else f"--set {name}"
