"""Locks of files and directories, which end with the process that holds them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def take_lock(path: Path) -> int | None:
    """Locks a directory, or a file that is made if it is missing, until the returned descriptor is closed.

    Returns None where there are no such locks: on Windows, and for directories of NFS, whose locks are for what can be
    written (flock(2)). Raises BlockingIOError if the path is locked already.
    """
    if os.name == "nt":
        return None
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o600)
    granted = acquire_system_lock(number)
    if granted:
        return number
    os.close(number)
    if granted is False:
        raise BlockingIOError(errno.EWOULDBLOCK, "another process holds it", str(path))
    return None


@contextmanager
def hold_file(path: Path) -> Iterator[None]:
    """Holds a lock whose file is there only as long. Raises BlockingIOError if another process holds it."""
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
    """Whether a path is still that of the file of a descriptor."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except FileNotFoundError:
        return False


def acquire_system_lock(number: int) -> bool | None:
    """Asks the operating system to lock the file of a descriptor; returns whether it did, or None without locks."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True
