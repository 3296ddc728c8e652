"""What all workers of a run share."""

import fcntl
from collections.abc import Callable
from pathlib import Path


def make_once(directory: Path, make: Callable[[Path], object]) -> Path:
    """Makes and fills a directory, unless another process of this run has; waits for one that is at it."""
    done = directory / "done"
    with directory.with_name(f"{directory.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            directory.mkdir()
            make(directory)
            done.touch()
    return directory
