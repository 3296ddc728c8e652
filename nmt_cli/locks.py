"""Locks of files and directories, which end with the process that holds them."""

from __future__ import annotations

import os
from pathlib import Path


def hold_lock(path: Path) -> int | None:
    """Locks a directory, or a file that is made if it is missing, until the returned descriptor is closed.

    Returns None where there are no such locks: on Windows, and for directories of NFS, whose locks are for what can be
    written (flock(2)). Raises BlockingIOError if the path is locked already.
    """
    if os.name == "nt":
        return None
    import fcntl  # Windows has none

    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(number)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return number
