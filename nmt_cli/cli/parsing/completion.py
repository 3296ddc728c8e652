"""Shell completion beyond options and choices: models, prepared corpora, formats, metrics, checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from nmt_cli.cli.parsing.configuration import map_settings


def complete_models(incomplete: str) -> list[str]:
    """Returns the matching model directories, directories on the way, and installed models."""
    from nmt_cli.runtime.installed_models import list_models

    names = [name for name in list_models() if name.startswith(incomplete)]
    return complete_directories(incomplete, "model.json") + names


def complete_corpora(incomplete: str) -> list[str]:
    """Returns the matching prepared corpora, and directories on the way to others."""
    return complete_directories(incomplete, "dataset.json")


def complete_directories(incomplete: str, mark: str) -> list[str]:
    """Returns the directories with a file called `mark`, and with a slash those that lead to one."""
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
    """Whether a directory contains directories."""
    try:
        return any(child.is_dir() for child in path.iterdir())
    except OSError:
        return False


def complete_metrics(incomplete: str) -> list[str]:
    """Returns the matching metrics of `nmt evaluate`, after those before a comma."""
    from nmt_cli.evaluation.metrics.registry import ADDED, NAMES
    from nmt_cli.plugins import list_plugins

    done, comma, last = incomplete.rpartition(",")
    names = (*NAMES, *(plugin.name for plugin in list_plugins(ADDED)))
    return [f"{done}{comma}{name}" for name in select_beginning(names, last)]


def complete_checks(incomplete: str) -> list[str]:
    """Returns the matching checks of `nmt prepare`."""
    from nmt_cli.corpus.checks import CHECKS

    return select_beginning((check.name for check in CHECKS if check.can_be_kept), incomplete)


def complete_settings(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the matching settings of the command, each with the sign that precedes its value."""
    return [f"{name}=" for name in select_beginning(sorted(map_settings(context.command)), incomplete)]


def complete_formats(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the matching formats that the command reads."""
    from nmt_cli.formats import DOCUMENTS, list_formats
    from nmt_cli.plugins import list_plugins

    names = list_formats("pairs" if context.info_name == "prepare" else "translate")
    added = [plugin.name for plugin in list_plugins(DOCUMENTS) if context.info_name == "translate"]
    return select_beginning((*names, *added), incomplete)


def select_beginning(names: Iterable[str], beginning: str) -> list[str]:
    return [name for name in names if name.startswith(beginning)]


# By the name of the setting, for the options that are made of settings.
COMPLETIONS: dict[str, Callable[..., list[str]]] = {
    "format": complete_formats,
    "init_from": complete_models,
    "tokenizer_from": complete_models,
    "replay": complete_corpora,
    "keep": complete_checks,
}
