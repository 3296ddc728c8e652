"""Everything that can go wrong by the user's doing or the machine's, as one tree.

    NmtError
    ├── OptionError         an option or a configuration file asks for what cannot be      exit 2
    ├── DataError           a file was read, and what stands in it will not do             exit 65
    │   └── DamagedError    a directory that nmt wrote is incomplete or was changed        exit 65
    ├── NotFoundError       a file or directory that was named is not there                exit 66
    ├── MissingExtraError   a package that this command needs is not installed             exit 69
    ├── OutputError         something could not be written                                 exit 73
    ├── TrainingError       training ran and cannot go on                                  exit 70
    └── WorkerError         processes that were to help died again and again               exit 70

An error says what is wrong with what was given (`message`) and what to type next (`hint`).
Nothing here prints or exits: `cli/app.py` does, once.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `nmt`; from 64 on they are those of BSD's sysexits.h."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    DATA = 65
    NO_INPUT = 66
    UNAVAILABLE = 69
    SOFTWARE = 70
    CANNOT_WRITE = 73
    INTERRUPTED = 130
    TERMINATED = 143


class NmtError(Exception):
    """What the user is told: one line of `message`, one line of `hint` (may be empty)."""

    exit_code = ExitCode.FAILURE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class OptionError(NmtError):
    exit_code = ExitCode.USAGE


class DataError(NmtError):
    exit_code = ExitCode.DATA


class DamagedError(DataError):
    """A prepared directory or a model directory that does not hold what its manifest says."""


class NotFoundError(NmtError):
    exit_code = ExitCode.NO_INPUT


class MissingExtraError(NmtError):
    exit_code = ExitCode.UNAVAILABLE


class OutputError(NmtError):
    exit_code = ExitCode.CANNOT_WRITE


class TrainingError(NmtError):
    exit_code = ExitCode.SOFTWARE


class WorkerError(NmtError):
    exit_code = ExitCode.SOFTWARE


def find_nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, or None when none is alike enough to be worth naming."""
    matches = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return matches[0] if matches else None


def from_os_error(error: OSError) -> NmtError:
    """The `NmtError` that says in plain words what the operating system refused."""
    path = str(error.filename) if error.filename is not None else "a file"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        full = "disk" if error.errno == errno.ENOSPC else "quota of disk space"
        return OutputError(
            f"the {full} is full: {path} could not be written",
            hint="free some space, or write elsewhere; files that were complete are untouched",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return OutputError(
            f"{path}: {(error.strerror or 'permission denied').lower()}",
            hint="check the permissions of the file and its directory, or name another place",
        )
    if error.errno == errno.ENOENT:
        return NotFoundError(f"{path} does not exist")
    if error.errno == errno.EISDIR:
        return NotFoundError(f"{path} is a directory; a file is needed here")
    return NmtError(f"{path}: {(error.strerror or str(error)).lower()}")
