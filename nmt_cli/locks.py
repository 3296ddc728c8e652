"""Locks of files and directories, which end with the process that holds them."""

from __future__ import annotations

import errno
import os
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
