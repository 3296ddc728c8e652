"""What callers may pass: a string for a path, a string for a list of one, the options of the commands by their names.

A string is one text or one path, never its letters.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nmt_cli.settings import Settings, option_fields, reject_unknown

PathLike = str | os.PathLike[str]


def list_texts(values: str | Iterable[str] | None) -> list[str]:
    """Returns the texts: of a string, that string alone; of None, none."""
    if values is None:
        return []
    return [values] if isinstance(values, str) else list(values)


def list_paths(values: PathLike | Iterable[PathLike] | None) -> list[Path]:
    """Returns the paths: of a string or a path, that path alone; of None, none."""
    if values is None:
        return []
    return [Path(values)] if isinstance(values, str | os.PathLike) else [Path(value) for value in values]


def find_path(value: PathLike | None) -> Path | None:
    return None if value is None else Path(value)


def list_options(*kinds: type[Settings]) -> list[str]:
    """Returns the names of the options of these settings."""
    return [field.name for kind in kinds for field in option_fields(kind)]


def check_options(options: Mapping[str, Any], *kinds: type[Settings], where: str) -> None:
    """Raises OptionError, with the nearest name, for an option that none of these settings has."""
    reject_unknown(options, list_options(*kinds), where=where)


def select_options(options: Mapping[str, Any], kind: type[Settings]) -> dict[str, Any]:
    """Returns those of the options that `kind` has, as its fields take them: paths as text, lists as tuples."""
    names = set(list_options(kind))
    return {name: convert_value(value) for name, value in options.items() if name in names}


def convert_value(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return tuple(map(convert_value, value)) if isinstance(value, list | tuple) else value
