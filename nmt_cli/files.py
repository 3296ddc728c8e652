"""Safe file operations, locks, signals and processor cores. Imports only the standard library.

A file is written under a temporary name and renamed: `with stage_file(path) as staged: ...` leaves either the old file
or the new one, even if the process is killed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nmt_cli.errors import NotFoundError, OptionError, OutputError, find_nearest

# Locks of files and directories, which end with the process that holds them.


def take_lock(path: Path) -> int | None:
    """Locks a directory, or a file (created if missing), until the returned descriptor is closed.

    Returns None where such locks do not exist, as for directories on NFS, which can lock only what is open for writing
    (flock(2)). Raises BlockingIOError if the path is locked already.
    """
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o600)
    granted = acquire_system_lock(number)
    if granted:
        return number
    os.close(number)
    if granted is False:
        raise BlockingIOError(errno.EWOULDBLOCK, "another process is using it", str(path))
    return None


@contextmanager
def hold_file(path: Path) -> Iterator[None]:
    """Holds a lock, whose file exists only while it is held. Raises BlockingIOError if another process is using it."""
    held = take_lock(path)
    while held is not None and not is_at(held, path):  # who held it before has just removed the file
        os.close(held)
        held = take_lock(path)
    try:
        yield
    finally:
        if held is not None:
            path.unlink(missing_ok=True)
            os.close(held)


def is_at(number: int, path: Path) -> bool:
    """Whether a path still leads to the file of a descriptor."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except FileNotFoundError:
        return False


def acquire_system_lock(number: int) -> bool | None:
    """Asks the operating system to lock the file of a descriptor; returns whether it did, or None without locks."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


# The signals that ask a command to end: Ctrl-C, SIGTERM, and SIGHUP of a closed terminal.
#
# A process that ignores SIGHUP from its start, as under `nohup`, continues to ignore it.


def list_ending_signals() -> tuple[signal.Signals, ...]:
    """Returns the signals other than Ctrl-C that ask a process to end, except those it ignores."""
    is_ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return (signal.SIGTERM,) if is_ignored else (signal.SIGTERM, signal.SIGHUP)


def list_terminals() -> list[int]:
    """Returns the file descriptors of standard output and standard error, if they are terminals."""
    return [file_descriptor for file_descriptor in (1, 2) if os.isatty(file_descriptor)]


def leave_terminals(file_descriptors: list[int]) -> None:
    """Discards further output to closed terminals, since writing to one is an error."""
    null = os.open(os.devnull, os.O_WRONLY)
    for file_descriptor in file_descriptors:
        os.dup2(null, file_descriptor)
    os.close(null)


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Delays Ctrl-C until the block ends; a process started there inherits this, and is not stopped while it starts.

    A signal mask alone is not enough: the system gives the signal to any thread without one, such as those of NumPy,
    and Python then raises KeyboardInterrupt here. multiprocessing unblocks the signal when it starts its resource
    tracker, which must therefore be running before.
    """
    from multiprocessing import resource_tracker  # which `nmt --help` need not import

    resource_tracker.ensure_running()
    with delay_interrupts():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delivers Ctrl-C only at the end of the block, if this is the main thread; others never receive it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler or signal.SIG_DFL)  # None: a handler in C
        for number in pressed[:1]:
            signal.raise_signal(number)


# The share of the machine that this process may use. Standard library only.


def count_cores() -> int:
    """Returns the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Replaces files and directories as a whole, never partially; computes checksums.
#
# Does not know what the files mean.


FileState = tuple[int, ...]
DAY = 24 * 60 * 60  # seconds


def read_state(path: Path) -> FileState | None:
    """Returns a value that changes whenever a file does; None if there is no file."""
    try:
        return make_state(path.stat())
    except OSError:
        return None


def make_state(status: os.stat_result) -> FileState:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read_states(directory: Path) -> dict[str, FileState]:
    """Returns the states of the files in a directory by name; empty if the directory is missing."""
    states: dict[str, FileState] = {}
    for path in directory.iterdir() if directory.is_dir() else ():
        with suppress(OSError):  # it is gone meanwhile, or leads nowhere
            if stat.S_ISREG((status := path.stat()).st_mode):
                states[path.name] = make_state(status)
    return states


def hash_file(path: Path) -> str:
    """Returns the SHA-256 of a file in hexadecimal digits, without reading the whole file into memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


FILES_LISTED = 3  # in the hint for one that is missing


def require_file(path: Path) -> Path:
    """Returns `path` if it is a readable file.

    Raises NotFoundError for a missing path (the hint names the nearest file in the same folder), for a directory, and
    for an unreadable file.
    """
    if path.is_dir():
        raise NotFoundError(
            f"{path} is a directory, but must be a file", hint=f"name a file: ls {shlex.quote(str(path))}"
        )
    if not path.exists():
        folder = path.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        nearest = find_nearest(path.name, names)
        if nearest and not find_nearest(path.stem, [Path(nearest).stem]):  # alike by the ending alone
            nearest = None
        there = shlex.quote(str(next(parent for parent in path.parents if parent.is_dir())))
        alike = sorted(name for name in names if path.suffix and name.endswith(path.suffix) and name[0] != ".")
        listed = f"{', '.join(alike[:FILES_LISTED])}{' ...' * (len(alike) > FILES_LISTED)}"
        others = f"the {path.suffix} files there: {listed}" if alike else f"to list the files: ls {there}"
        hint = f"did you mean {folder / nearest}?" if nearest else others
        raise NotFoundError(f"{path} does not exist", hint=hint)
    if not os.access(path, os.R_OK):
        raise NotFoundError(f"{path} cannot be read", hint="check the permissions of the file, or choose another")
    require_content(path)
    return path


def require_content(path: Path) -> None:
    """Raises NotFoundError for a file that can be opened but not read; reads nothing from a device or a pipe."""
    if not path.is_file():
        return
    try:
        with path.open("rb", buffering=0) as file:
            file.read(1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise NotFoundError(
            f"{path} cannot be read: {reason}", hint="copy it to another disk, or name another file"
        ) from error


def require_parent(path: Path, name: str, *, hint: str) -> None:
    """Raises OutputError if `path`, called `name` in messages, could not be created in its parent directory."""
    target = Path(os.path.realpath(path))  # a link stays, its target is replaced
    parent = next(ancestor for ancestor in target.parents if ancestor.exists())
    if not parent.is_dir():
        raise OutputError(f"{name} cannot be created: {parent} is a file", hint=hint)
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{name} cannot be created: no permission to write in {parent}/", hint=hint)


PAGE_OR_JSON = (".html", ".json")  # endings of reports
GENERATOR = "made by nmt"  # in the metadata of pictures and pages
MARKED = 64 * 1024  # bytes at either end of a file: a PDF names its generator at its end
REPLACE = "replace it with --force"


def refuse_input(target: Path, paths: Sequence[Path]) -> None:
    """Raises OptionError for an output that is one of the inputs, even under another name."""
    if target.exists() and any(path.exists() and path.samefile(target) for path in paths):
        raise OptionError(f"the output {target} is the input", hint="name another file")


def require_output(
    path: Path,
    option: str,
    *,
    endings: Sequence[str] = (),
    inputs: Iterable[Path] = (),
    way_on: str | None = None,
    renewed: Sequence[str] = (),
) -> None:
    """Raises, before any work, the errors that writing the file named by an option would cause.

    OptionError: for a directory, for a name with none of the `endings` (if any are given), and for one of the `inputs`
    and other files that must stay. OutputError: for a file that cannot be created and, if a `way_on` is given, for an
    existing file that contains none of the `renewed` texts of earlier output. Devices and pipes are accepted.
    """
    if endings and path.suffix.lower() not in endings:
        ways = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise OptionError(f"{option} cannot be {path}", hint=f"end the name with {ways}: {option} report{endings[0]}")
    if any(path.resolve() == other.resolve() for other in inputs):
        raise OptionError(f"{option} {path} would replace an input of this command", hint="choose another name")
    hint = f"name another file with {option}"
    if path.is_dir():
        raise OptionError(f"{path} is a directory, but must be a file", hint=hint)
    if way_on is not None and has_content(path) and not contains_mark(path, renewed):
        raise OutputError(f"{path} already exists", hint=f"{way_on}, or {hint}")
    if path.is_file() or not path.exists():
        require_parent(path, str(path), hint=hint)


def contains_mark(path: Path, marks: Sequence[str]) -> bool:
    """Whether one of these texts is near the beginning or the end of a file."""
    if not marks:
        return False
    with path.open("rb") as file:
        head = file.read(MARKED)
        file.seek(max(0, path.stat().st_size - MARKED))
        ends = head + file.read()
    return any(mark.encode() in ends for mark in marks)


def has_content(path: Path) -> bool:
    """Whether a file has content that could be lost."""
    return path.is_file() and path.stat().st_size > 0


@contextmanager
def stage_file(path: Path, *, suffix: str = "") -> Iterator[Path]:
    """Yields a temporary path beside `path` to write to, and renames it to `path` if the block ends without an error.

    The new file takes over the permissions of the old one; until then, only its owner can read it. For a link, the
    target is replaced; a device or a pipe is yielded itself. `suffix` ends the temporary name, for writers that look at
    it. An OSError names `path`, not the temporary path.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial{suffix}")
    try:
        temporary.unlink(missing_ok=True)  # left by a killed process with the same number
        if target.exists():
            temporary.touch(mode=0o600)
        yield temporary
        if target.exists():
            keep_permissions(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        if error.filename is None or str(error.filename) == str(temporary):
            error.filename = str(path)
        raise
    finally:
        with suppress(OSError):  # that of the block is the one to be told
            temporary.unlink(missing_ok=True)


def keep_permissions(old: Path, new: Path) -> None:
    """Gives `new` the group and the mode of `old`, but no group permissions if the group cannot be set.

    On a system without modes, `new` keeps its own.
    """
    status = old.stat()
    mode = stat.S_IMODE(status.st_mode)
    try:
        os.chown(new, -1, status.st_gid)
    except (OSError, AttributeError):  # not permitted, or a system without groups
        mode &= ~stat.S_IRWXG
    with suppress(OSError):
        new.chmod(mode)


def write_text(path: Path, text: str) -> None:
    """Writes `text` in UTF-8; replaces the file as a whole."""
    with stage_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes `value` as indented JSON in UTF-8, with its keys in order; replaces the file as a whole."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


@contextmanager
def stage_directory(path: Path, *, replace: bool) -> Iterator[Path]:
    """Yields an empty directory beside `path` to fill, and renames it to `path` if the block ends without an error.

    The new directory takes over the permissions of the old one, which is deleted. For a link, the target is replaced.
    After an exception the staged directory is removed and `path` unchanged. Raises OutputError if `path` is a file, or
    a directory that is not empty and `replace` is false.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    clear_leftovers(target)
    refuse_to_overwrite(path, replace=replace)
    staged = target.with_name(f".{target.name}.{os.urandom(4).hex()}.partial")
    held: int | None = None
    try:  # a signal may come as soon as the directory is there
        staged.mkdir(mode=0o700)
        held = take_lock(staged)
        yield staged
        if target.exists():
            keep_permissions(target, staged)
        else:
            staged.chmod(0o777 & ~read_umask())
        if not exchange_directories(staged, target, replace=replace):
            raise OutputError(
                f"{path}/ already exists: another process has written it in the meantime",
                hint="replace it with --force, or name another directory",
            )
    except OSError as error:
        error.filename = name_typed_file(error.filename, staged, path)
        raise
    finally:
        if held is not None:
            os.close(held)
        shutil.rmtree(staged, ignore_errors=True)


def is_abandoned(staged: Path) -> bool:
    """Returns whether no process is filling a staged directory any more; without locks, assumes so after a day."""
    try:
        held = take_lock(staged)
    except BlockingIOError:
        return False
    if held is None:
        return time.time() - staged.stat().st_mtime > DAY
    os.close(held)
    return True


def name_typed_file(name: str | None, staged: Path, path: Path) -> str:
    """Returns the name that a file of the directory `staged` would have in `path`; any other file keeps its name."""
    if name is None:
        return str(path)
    staged_file = Path(str(name))
    return str(path / staged_file.relative_to(staged)) if staged_file.is_relative_to(staged) else str(name)


def clear_leftovers(target: Path) -> None:
    """Restores a directory that a killed process had moved away, and removes those that it had staged."""
    leftover = re.compile(rf"\.{re.escape(target.name)}\.[^.]+\.(?:partial|old)")
    for path in target.parent.iterdir():
        if not leftover.fullmatch(path.name):
            continue
        if path.suffix == ".old" and not target.exists():
            os.replace(path, target)
        elif is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def refuse_to_overwrite(path: Path, *, replace: bool) -> None:
    """Raises OutputError if `path` is a file, or a directory that is not empty and `replace` is false."""
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is a file, but nmt needs to write a directory there", hint="name a directory")
    if path.is_dir() and any(path.iterdir()) and not replace:
        raise OutputError(f"{path}/ already exists", hint="replace it with --force, or name another directory")


def exchange_directories(staged: Path, path: Path, *, replace: bool) -> bool:
    """Renames `staged` to `path`, replacing an existing directory if `replace`; returns whether it could."""
    moved_away: list[Path] = []
    while not rename_to_free(staged, path):
        if not replace:
            return False
        if swap_directories(staged, path):
            moved_away.append(staged)
            break
        old = path.with_name(f".{path.name}.{os.getpid()}-{len(moved_away)}.old")
        with suppress(FileNotFoundError):  # moved away by another process that replaces it too
            os.replace(path, old)
            moved_away.append(old)
    for old in moved_away:
        shutil.rmtree(old, ignore_errors=True)
    return True


def swap_directories(first: Path, second: Path) -> bool:
    """Swaps two directories in a single step, so that neither name is ever missing; returns whether the system can."""
    import ctypes  # 5 ms that only replacing needs

    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0


def rename_to_free(staged: Path, path: Path) -> bool:
    """Renames a directory to a path that is missing or an empty directory; returns whether it was free."""
    try:
        os.rename(staged, path)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def read_umask() -> int:
    """Returns the permission mask of new files, which can only be read by setting it."""
    umask = os.umask(0)
    os.umask(umask)
    return umask


def make_folder_of_process() -> Path:
    """Creates and returns an empty folder for temporary files; it is removed when this process ends, even if killed.

    A shell waits for a pipe that closes with the process, and then removes the folder.
    """
    import subprocess  # which few runs need
    from tempfile import mkdtemp

    folder = mkdtemp(prefix="nmt.")
    end, _ = os.pipe()  # the other end stays open as long as this process lives
    script = 'exec 3<&0; (cat <&3; rm -rf "$0") &'  # no child of this process: Ray kills those of its workers
    subprocess.run(["/bin/sh", "-c", script, folder], stdin=end, stdout=subprocess.DEVNULL, start_new_session=True)
    os.close(end)
    return Path(folder)
