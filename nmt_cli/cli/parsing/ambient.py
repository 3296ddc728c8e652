"""Settings that nobody types: a few environment variables, and `nmt.toml` of the current directory.

What is typed precedes the environment, and that precedes the file. The file is only found, so it is read only where
nobody else can have written it, and sets only what is harmless: see `configuration.is_harmless`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.errors import DataError, OptionError, find_nearest

FILE = Path("nmt.toml")
PREFIX = "NMT_"
SETTINGS = ("model", "data", "api-key")  # that have a variable: places, which a container knows, and a secret
# Variables that are no settings: of nmt itself, of its tests and docs, and the one that Java hands to each process.
OTHERS = re.compile(r"NMT_(?:DEBUG|API_KEYS|ADDRESS|PAGE_ASSETS|LEVEL_\d+)")
OPEN_TO = {stat.S_IWGRP: "its group", stat.S_IWOTH: "everybody"}


class FoundFile(NamedTuple):
    """The `nmt.toml` of the current directory: its values, or why it is not read."""

    values: Mapping[str, Any]
    doubt: str = ""

    @property
    def warning(self) -> str:
        """The line that says why it is not read, and how to read it all the same; empty if it is read."""
        return f"{FILE} is not read: {self.doubt}; --config {FILE} reads it" if self.doubt else ""


def find_file() -> FoundFile | None:
    """Returns the configuration file of the current directory, if there is one. Raises DataError."""
    if not FILE.is_file():
        return None
    doubt = find_doubt(FILE)
    return FoundFile({}, doubt) if doubt else FoundFile(load_toml(FILE))


def find_doubt(path: Path) -> str:
    """Returns who else than the user and root may have written a file, as the end of a sentence; empty for nobody.

    Counts the link that a file may be, its target, and the folder, in which others could put another one in its place.
    """
    if not hasattr(os, "getuid"):  # as on Windows, where files have other rights
        return ""
    link, target, folder = path.lstat(), path.stat(), path.absolute().parent.stat()
    if stranger := next((part.st_uid for part in (link, target) if part.st_uid not in (0, os.getuid())), None):
        return f"it belongs to another user ({name_user(stranger)})"
    if reader := name_writers(target):
        return f"{reader} may write it"
    reader = "" if folder.st_mode & stat.S_ISVTX else name_writers(folder)  # sticky: each removes only what is theirs
    return f"{reader} may write in its folder" if reader else ""


def name_writers(status: os.stat_result) -> str:
    """Returns who may write to a file or folder beside its owner; empty for nobody."""
    writers = [name for bit, name in OPEN_TO.items() if status.st_mode & bit]
    if writers == [OPEN_TO[stat.S_IWGRP]] and is_private(status.st_gid):
        return ""
    return writers[-1] if writers else ""


def is_private(group: int) -> bool:
    """Whether a group is that of this user alone, which many systems make for each user and let write by default."""
    import grp  # not on Windows
    import pwd

    user = os.getuid()
    if user == 0 or group != user:
        return False
    with suppress(KeyError):
        return set(grp.getgrgid(group).gr_mem) <= {pwd.getpwuid(user).pw_name}
    return False


def name_user(user: int) -> str:
    """Returns the name of a user, or the number of one without."""
    import pwd

    with suppress(KeyError):
        return pwd.getpwuid(user).pw_name
    return str(user)


def load_toml(path: Path) -> dict[str, Any]:
    """Returns the top-level table of a TOML file. Raises DataError."""
    import tomllib  # only a configuration needs it

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows puts a mark before it
    except (ValueError, RecursionError) as error:  # also for a whole number of too many digits
        raise DataError(f"{path} is not valid TOML: {error}", hint="correct it, or move it away") from error


def name_variable(setting: str) -> str | None:
    """Returns the environment variable of a setting; None for one without."""
    return PREFIX + setting.upper().replace("-", "_") if setting in SETTINGS else None


def refuse_unknown_variables(environment: Mapping[str, str], is_known: Callable[[str], bool]) -> None:
    """Raises OptionError for a variable that seems to be meant for nmt, but sets nothing: it would do so in silence.

    These are the names of settings that have no variable, and those that resemble one that exists.
    """
    variables = [str(name_variable(name)) for name in SETTINGS]
    for variable, value in environment.items():
        name = variable.removeprefix(PREFIX).lower().replace("_", "-")
        if not variable.startswith(PREFIX) or not value or OTHERS.fullmatch(variable) or variable in variables:
            continue
        if is_known(name):
            hint = f"type --set {name}=VALUE, or put it into {FILE}; variables are {', '.join(variables)}"
            raise OptionError(f"{variable} sets nothing: {name} has no variable", hint=hint)
        if nearest := find_nearest(variable, variables):
            raise OptionError(f"{variable} sets nothing: there is no such variable", hint=f"did you mean {nearest}?")
