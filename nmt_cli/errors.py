"""The errors that the user or the machine can cause, with their exit codes.

    NmtError
    ├── OptionError         an option or a configuration file has an invalid value         exit 2
    ├── DataError           the content of a file cannot be used                           exit 65
    │   └── DamagedError    a directory that nmt wrote is incomplete or has been changed   exit 65
    ├── NotFoundError       a file or directory does not exist                             exit 66
    ├── MissingExtraError   a package that the command needs is not installed              exit 69
    ├── OutputError         something cannot be written                                    exit 73
    ├── TrainingError       training has begun and cannot continue                         exit 70
    ├── WorkerError         worker processes died again and again                          exit 70
    ├── FailedLineError     nmt itself failed on a line, which was copied                  exit 70
    └── CheckError          --strict, and a translation failed a check (in `translation`)  exit 3

An error says what is wrong with the input (`message`) and what to type next (`hint`).
Nothing here prints or exits: `cli/app.py` does, once.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of `nmt`; those from 64 on follow BSD's sysexits.h."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    CHECK_FAILED = 3
    DATA = 65
    NO_INPUT = 66
    UNAVAILABLE = 69
    SOFTWARE = 70
    CANNOT_WRITE = 73
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class NmtError(Exception):
    """The base of all errors shown to the user: a `message` of one line and a `hint` of one line, possibly empty."""

    exit_code = ExitCode.FAILURE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """The message and the hint, as the command line shows them: in tracebacks, logs and `print(error)`."""
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class OptionError(NmtError):
    exit_code = ExitCode.USAGE


class DataError(NmtError):
    exit_code = ExitCode.DATA


class DamagedError(DataError):
    """The files of a prepared corpus or a model directory do not match its manifest."""

    def __init__(
        self, message: str, *, hint: str = "copy the whole directory again, or make it again with --force"
    ) -> None:
        super().__init__(message, hint=hint)


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


class FailedLineError(NmtError):
    """Lines could not be translated, and were copied; all others were translated."""

    exit_code = ExitCode.SOFTWARE


def explain_install(extra: str) -> str:
    """Returns the hint that says how to install an extra from this package's origin: an index, folder or repository."""
    import json  # only this hint needs these
    import shlex
    import sys
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = json.loads(distribution("nmt-cli").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url = str(origin.get("url", ""))
    package = f"nmt-cli[{extra}]"
    if url.startswith("file://") and ("dir_info" in origin or "archive_info" in origin):  # a folder, or a wheel
        package = f"{url.removeprefix('file://')}[{extra}]"
    elif "archive_info" in origin:
        package = f"nmt-cli[{extra}] @ {url}"
    elif "vcs_info" in origin:
        package = f"nmt-cli[{extra}] @ {origin['vcs_info']['vcs']}+{url}"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    tools = {"uv/tools": "uv tool install --force", "pipx": "pipx install --force"}
    prefix = sys.prefix.replace("\\", "/")
    command = next((command for mark, command in tools.items() if f"/{mark}/" in prefix), "pip install")
    return f"install it with: {command} {editable}{shlex.quote(package)}"


EXTRAS = {"matplotlib": "visualize", "PIL": "visualize", "nltk": "evaluate"}  # of packages, by what is imported


def convert_import_error(error: ImportError) -> MissingExtraError | None:
    """Returns the error for a package of an extra that is not installed; None for any other failed import."""
    name = (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name not in EXTRAS:
        return None
    return MissingExtraError(f"this needs {name}, which is not installed", hint=explain_install(EXTRAS[name]))


def name_error(error: BaseException) -> str:
    """Returns the kind of an error and its place in the code, but not its message, which may quote a text."""
    from pathlib import PurePath  # few errors are nmt's own
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    origin = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{origin}"


def find_nearest(name: str, candidates: Iterable[str], least: float = 0.6) -> str | None:
    """Returns the candidate most similar to `name`; None if none has a similarity of at least `least`."""
    matches = difflib.get_close_matches(name, list(candidates), n=1, cutoff=least)
    return matches[0] if matches else None


def convert_os_error(error: OSError) -> NmtError:
    """Returns an `NmtError` that explains the operating system's refusal in plain words."""
    path = "" if error.filename is None else str(error.filename)
    prefix = path and f"{path}: "
    reason = f"{prefix}{(error.strerror or str(error)).lower()}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        resource = "disk" if error.errno == errno.ENOSPC else "disk quota"
        return OutputError(
            f"the {resource} is full" + (path and f": {path} could not be written"),
            hint="free some space, or write elsewhere; complete files are unchanged",
        )
    if error.errno == errno.EFBIG:
        hint = "raise the limit of the shell, as with `ulimit -f unlimited`, or write to another disk"
        return OutputError(f"{prefix}larger than the system allows", hint=hint)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return OutputError(
            reason,
            hint="check the permissions of the file and its directory, or choose another path",
        )
    if path and error.errno == errno.ENOENT:
        return NotFoundError(f"{path} does not exist", hint="check the name, and the current directory")
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return NmtError(f"{prefix}too many open files", hint="raise the limit, as with `ulimit -n 4096`, and try again")
    if path and error.errno == errno.EISDIR:
        return NotFoundError(f"{path} is a directory, but must be a file", hint="name a file in it")
    return NmtError(reason)
