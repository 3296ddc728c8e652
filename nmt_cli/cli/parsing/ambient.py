"""Settings that nobody types: an environment variable for each, and a configuration file that is found by itself.

What is typed precedes the environment, and that precedes the file.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.errors import DataError, OptionError, find_nearest

FILE, PROJECT = "nmt.toml", "pyproject.toml"
PREFIX = "NMT_"
# Variables of nmt that are no settings, and the one that Java hands to every process that it starts.
OTHERS = re.compile(r"NMT_(?:DEBUG|API_KEYS|LEVEL_\d+)")


class NearbyFile(NamedTuple):
    """The configuration file of the current directory, or of the nearest one above that has one."""

    path: Path  # from the current directory
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """Its path, and its table in a file that has others, as shown to a person."""
        return f"{self.path}, [tool.nmt]" if self.path.name == PROJECT else str(self.path)

    def resolve(self, value: str) -> str:
        """Returns a path of the file from the current directory, if it exists there; else the value."""
        beside = self.path.parent / value
        return str(beside) if beside.exists() else value


def find_file() -> NearbyFile | None:
    """Returns the nearest `nmt.toml`, or `pyproject.toml` with a table `tool.nmt`. Raises DataError.

    A file that a stranger may have left in a directory open to all, such as /tmp, is none.
    """
    here = Path.cwd()
    for folder in map(Path, map(os.path.relpath, (here, *here.parents))):
        if is_trusted(folder / FILE):
            return NearbyFile(folder / FILE, load_toml(folder / FILE))
        if is_trusted(folder / PROJECT) and b"tool.nmt" in (folder / PROJECT).read_bytes():
            table = load_toml(folder / PROJECT).get("tool", {}).get("nmt")
            if isinstance(table, dict):
                return NearbyFile(folder / PROJECT, table)
    return None


def is_trusted(path: Path) -> bool:
    """Whether a file exists, and not as a stranger's in a directory into which all may write."""
    if not path.is_file():
        return False
    is_open = hasattr(os, "getuid") and path.parent.stat().st_mode & stat.S_IWOTH
    return not is_open or path.lstat().st_uid in (0, os.getuid())


def load_toml(path: Path) -> dict[str, Any]:
    """Returns the top-level table of a TOML file. Raises DataError."""
    import tomllib  # only a configuration needs it

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows puts a mark before it
    except (ValueError, RecursionError) as error:  # also for a whole number of too many digits
        raise DataError(f"{path} is not valid TOML: {error}", hint="correct it, or move it away") from error


def name_variable(setting: str) -> str | None:
    """Returns the environment variable of a setting; None if nmt uses that for something else."""
    variable = PREFIX + setting.upper().replace("-", "_")
    return None if OTHERS.fullmatch(variable) else variable


def refuse_unknown_variables(
    environment: Mapping[str, str], is_known: Callable[[str], bool], names: Iterable[str]
) -> None:
    """Raises OptionError for a variable that is not that of any setting; the hint is the nearest of `names`."""
    for variable, value in environment.items():
        name = variable.removeprefix(PREFIX).lower().replace("_", "-")
        if not variable.startswith(PREFIX) or not value or OTHERS.fullmatch(variable) or is_known(name):
            continue
        nearest = find_nearest(name, names)
        hint = f"did you mean {name_variable(nearest)}?" if nearest else "variables are named for settings"
        raise OptionError(f"{variable}: there is no setting {name!r}", hint=hint)
