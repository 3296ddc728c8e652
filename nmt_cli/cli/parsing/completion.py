"""What a shell completes beside options and choices: models, prepared corpora, metrics, checks.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from nmt_cli.cli.parsing.configuration import map_settings


def complete_models(incomplete: str) -> list[str]:
    """Returns the model directories that a path may be completed to, directories on the way, and installed models."""
    from nmt_cli.runtime.installed_models import list_models

    names = [name for name in list_models() if name.startswith(incomplete)]
    return complete_directories(incomplete, "model.json") + names


def complete_corpora(incomplete: str) -> list[str]:
    """Returns the prepared corpora that a path may be completed to, and the directories on the way to others."""
    return complete_directories(incomplete, "dataset.json")


def complete_directories(incomplete: str, mark: str) -> list[str]:
    """Returns the directories with a file called `mark`; of others, those that lead to one, with a slash."""
    head, tail = os.path.split(incomplete)
    try:
        entries = sorted(path for path in Path(head or ".").iterdir() if path.is_dir())
    except OSError:
        return []
    entries = [path for path in entries if path.name.startswith(tail) and (tail or not path.name.startswith("."))]
    finished = [os.path.join(head, path.name) for path in entries if (path / mark).is_file()]
    ways = [
        os.path.join(head, path.name, "") for path in entries if not (path / mark).is_file() and has_directories(path)
    ]
    return finished or ways


def has_directories(path: Path) -> bool:
    """Whether a directory has directories in it."""
    try:
        return any(child.is_dir() for child in path.iterdir())
    except OSError:
        return False


def complete_metrics(incomplete: str) -> list[str]:
    """Returns the metrics of `nmt evaluate` that begin so, after those that a comma ends."""
    from nmt_cli.evaluation.metrics.registry import NAMES

    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in select_beginning(NAMES, last)]


def complete_checks(incomplete: str) -> list[str]:
    """Returns the checks of `nmt prepare` that begin so."""
    from nmt_cli.corpus.checks import CHECKS

    return select_beginning((check.name for check in CHECKS if check.can_be_kept), incomplete)


def complete_settings(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the settings of the command that begin so, each with the sign that its value follows."""
    return [f"{name}=" for name in select_beginning(sorted(map_settings(context.command)), incomplete)]


def select_beginning(names: Iterable[str], beginning: str) -> list[str]:
    return [name for name in names if name.startswith(beginning)]


# By the name of the setting, for the options that are made of settings.
COMPLETIONS: dict[str, Callable[[str], list[str]]] = {
    "init_from": complete_models,
    "tokenizer_from": complete_models,
    "replay": complete_corpora,
    "keep": complete_checks,
}
