"""The keys of a server: their names, their own rates, and the file in which they change while it runs.

A key is written as `KEY`, `NAME KEY` or `NAME KEY REQUESTS-PER-MINUTE`, one a line or with commas between them; what
follows a `#` is a comment.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from nmt_cli.errors import DataError, NmtError, convert_os_error
from nmt_cli.files import read_state


class Key(NamedTuple):
    """A key, and whose it is."""

    name: str
    secret: str
    rate: int | None = None  # requests per minute, if it has a rate of its own

    def is_equal(self, secret: str) -> bool:
        """Whether this is the key, in a time that tells nothing about it."""
        return hmac.compare_digest(secret.encode("utf-8", "surrogatepass"), self.secret.encode("utf-8"))


def parse_keys(text: str, where: str) -> list[Key]:
    """Returns the keys of a text; `where` names it in errors, which contain no key. Raises DataError."""
    keys: list[Key] = []
    for number, line in enumerate(text.splitlines(), start=1):
        for entry in re.split(r"\s*,\s*", line.partition("#")[0].strip()):
            if entry:
                keys.append(parse_key(entry.split(), f"{where}, line {number}", len(keys) + 1))
    return keys


def parse_key(parts: Sequence[str], where: str, number: int) -> Key:
    if len(parts) == 1:
        return Key(f"key {number}", parts[0])
    if len(parts) == 2:
        return Key(parts[0], parts[1])
    if len(parts) == 3 and parts[2].isascii() and parts[2].isdecimal() and int(parts[2]):
        return Key(parts[0], parts[1], int(parts[2]))
    raise DataError(f"{where}: this is no key", hint="a line has a name, a key and, if it has one, a rate per minute")


class KeyFile:
    """The keys in a file, which is read again whenever it changes; a file that cannot be read leaves them as they were.

    Raises NotFoundError and DataError at the start; later, `report` is told.
    """

    def __init__(self, path: Path, report: Callable[[str], None]) -> None:
        self.path = path
        self.report = report
        self.keys = self.load()
        self.state = read_state(self.path)

    def load(self) -> list[Key]:
        try:
            text = self.path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise convert_os_error(error) from error
        except UnicodeError as error:
            raise DataError(f"{self.path} is not UTF-8") from error
        return parse_keys(text, str(self.path))

    def list_keys(self) -> list[Key]:
        """Returns the keys that are in the file now."""
        if (state := read_state(self.path)) != self.state:
            self.state = state
            try:
                self.keys = self.load()
            except NmtError as error:
                self.report(f"{error.message}: the keys stay as they were")
        return self.keys
