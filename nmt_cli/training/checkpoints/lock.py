"""A model directory belongs to one training at a time, and nothing in it is lost unasked."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from nmt_cli.errors import OutputError
from nmt_cli.files import refuse_to_overwrite
from nmt_cli.runtime.model_directory import CARD, CHECKPOINTS, STAGED
from nmt_cli.training.checkpoints.checkpoint import read_facts, state_path

LOCK = "lock"
HEARTBEAT = 15.0  # seconds between two signs of life
STALE = 120.0  # seconds without one after which the other is taken for dead


@contextmanager
def claim_model(directory: Path, *, replace: bool, resume: bool = False) -> Iterator[None]:
    """Makes sure, before hours are spent, that the model may be and can be written, and that nobody else writes it.

    What a killed training left is free to be used again if no checkpoint would be lost; a directory of something else
    never is. Raises OutputError.
    """
    checkpoints = directory / CHECKPOINTS
    # A folder of this name alone says nothing: other programs have one too.
    ours = any(path.is_file() for path in (directory / CARD, checkpoints / LOCK, state_path(directory)))
    if not ours:
        refuse_others(directory)
    checkpoints.mkdir(parents=True, exist_ok=True)
    with hold_lock(checkpoints / LOCK, directory):
        if ours:
            refuse_to_lose(directory, replace=replace, resume=resume)
            remove_halves(directory)
        require_writable(directory)
        yield


def refuse_others(directory: Path) -> None:
    """Raises OutputError if there is anything in a directory that is no model's, which --force does not replace."""
    if directory.is_dir() and any(directory.iterdir()):
        raise OutputError(
            f"{directory}/ holds something other than a model", hint="name another directory with --model"
        )
    refuse_to_overwrite(directory, replace=False)


def refuse_to_lose(directory: Path, *, replace: bool, resume: bool) -> None:
    """Raises OutputError if there is a model, or the checkpoint of one, that was not asked to be replaced."""
    facts = None if replace else read_facts(directory)
    if resume and facts is not None:
        return
    if facts is not None and not (directory / CARD).exists() and (facts["updates"] > 0):
        raise OutputError(
            f"{directory}/ holds a training that was interrupted in epoch {facts['progress']['epoch']}",
            hint="go on with --resume, or begin anew with --force",
        )
    if (directory / CARD).exists() and not replace:
        more = "go on training it with --resume, " if facts is not None else ""
        raise OutputError(
            f"{directory}/ already exists", hint=f"{more}replace it with --force, or name another directory"
        )


def remove_halves(directory: Path) -> None:
    """Removes what a process was writing when it was killed: a state may be three times as large as the weights."""
    for path in (*directory.glob(".*.partial"), *(directory / CHECKPOINTS).glob(".*.partial")):
        path.unlink(missing_ok=True)
    for staged in directory.glob(f"{STAGED}*"):
        shutil.rmtree(staged, ignore_errors=True)


def require_writable(directory: Path) -> None:
    for folder in (directory, directory / CHECKPOINTS):
        with tempfile.TemporaryFile(dir=folder):
            pass


@contextmanager
def hold_lock(path: Path, directory: Path) -> Iterator[None]:
    """Holds the lock file `path`; raises OutputError if another process does.

    The system's own lock ends with its process, however that ends. Where a shared file system has none, or has it for
    each machine alone, the holder's sign of life decides: the time of the file, renewed every few seconds.
    """
    with path.open("a+", encoding="utf-8") as file:
        granted = system_lock(file)
        holder = read_holder(file)
        if granted is False or (is_alive(path, holder) and not (granted and holder["host"] == socket.gethostname())):
            raise refuse_lock(directory, holder)
        write_holder(file, {"host": socket.gethostname(), "pid": os.getpid()})
        ended = threading.Event()
        beating = threading.Thread(target=renew_lock, args=(path, ended), daemon=True)
        beating.start()
        try:
            yield
        finally:
            ended.set()
            beating.join()
            write_holder(file, {})


def system_lock(file: IO[str]) -> bool | None:
    """Whether the system's lock was granted; None where there is none to be had."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


def read_holder(file: IO[str]) -> dict[str, object]:
    """Machine and process number of who wrote the file; empty if nobody holds it."""
    file.seek(0)
    try:
        holder = json.loads(file.read() or "{}")
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) and {"host", "pid"} <= holder.keys() else {}


def write_holder(file: IO[str], holder: dict[str, object]) -> None:
    try:
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder) if holder else "")
        file.flush()
    except OSError:  # a full disk: the system's lock holds without it
        return


def is_alive(path: Path, holder: dict[str, object]) -> bool:
    """Whether the holder of the lock file gave a sign of life of late, by the clock of the file system."""
    if not holder:
        return False
    with tempfile.NamedTemporaryFile(dir=path.parent) as probe:
        now = os.stat(probe.name).st_mtime
    return now - path.stat().st_mtime < STALE


def renew_lock(path: Path, ended: threading.Event) -> None:
    while not ended.wait(HEARTBEAT):
        try:
            os.utime(path)
        except OSError:  # removed or no longer ours: training itself will say what it cannot write
            return


def refuse_lock(directory: Path, holder: dict[str, object]) -> OutputError:
    who = f"process {holder['pid']} on {holder['host']}" if holder else "another process"
    return OutputError(
        f"{directory}/ is being written by another training ({who})",
        hint=f"wait for it, or name another directory with --model; a dead one is noticed after {STALE:.0f} seconds",
    )
