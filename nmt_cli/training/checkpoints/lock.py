"""Locks a model directory for one training at a time, and protects its content."""

from __future__ import annotations

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
from nmt_cli.locks import acquire_system_lock
from nmt_cli.records import parse_json
from nmt_cli.runtime.installed_models import is_packaged
from nmt_cli.runtime.model_directory import CARD, CHECKPOINTS, STAGED, STAGES
from nmt_cli.training.checkpoints.checkpoint import locate_state, read_facts
from nmt_cli.training.config import FIRST_RUN

LOCK = "lock"
HEARTBEAT = 15.0  # seconds between two heartbeats
STALE = 120.0  # seconds without a heartbeat after which a process counts as dead


@contextmanager
def lock_model(directory: Path, *, replace: bool, resume: bool = False) -> Iterator[None]:
    """Holds the lock of a model directory, after checking in advance that the model may be written.

    The remains of a killed training may be overwritten unless a checkpoint would be lost; a package, and a directory
    with anything but a model, are never touched. Raises OutputError, and leaves a model that it refuses as it is.
    """
    # 1. Refuse a directory of something else. The folder `checkpoints` alone does not make it a model's: other
    #    programs have one too.
    checkpoints = directory / CHECKPOINTS
    is_model = any(path.is_file() for path in (directory / CARD, checkpoints / LOCK, locate_state(directory)))
    if not is_model:
        refuse_foreign_directory(directory)
    elif is_packaged(directory):
        raise OutputError(
            f"{directory}/ is the model of a package, which stays as it was installed",
            hint="name another directory with --model; --init-from starts from this one",
        )
    elif not (checkpoints / LOCK).exists():  # that of a finished model: do not begin one only to refuse
        refuse_to_replace(directory, replace=replace, resume=resume)
    # 2. Take the lock, so that no other training changes what is checked next.
    checkpoints.mkdir(parents=True, exist_ok=True)
    with hold_lock(checkpoints / LOCK, directory):
        # 3. Refuse to lose a model or a checkpoint; remove what a killed process left half-written.
        if is_model:
            refuse_to_replace(directory, replace=replace, resume=resume)
            remove_partial_files(directory)
        # 4. Make sure that files can be written.
        require_writable(directory)
        yield


def refuse_foreign_directory(directory: Path) -> None:
    """Raises OutputError if a non-empty directory is not a model's; --force does not replace it."""
    if directory.is_dir() and any(directory.iterdir()):
        raise OutputError(
            f"{directory}/ holds something other than a model", hint="name another directory with --model"
        )
    refuse_to_overwrite(directory, replace=False)


def refuse_to_replace(directory: Path, *, replace: bool, resume: bool) -> None:
    """Raises OutputError if a model or a checkpoint would be lost without --force or --resume."""
    facts = None if replace else read_facts(directory)
    has_stages = not replace and (directory / STAGES).is_dir()
    if resume and (facts is not None or has_stages):
        return
    if facts is not None and not (directory / CARD).exists() and (facts["updates"] > 0):
        raise OutputError(
            f"{directory}/ holds a training that was interrupted in epoch {facts['progress']['epoch']}",
            hint="continue with --resume, or start over with --force",
        )
    if has_stages and not (directory / CARD).exists():
        raise OutputError(
            f"{directory}/ holds a training with synthetic pairs that was interrupted",
            hint="continue with --resume, or start over with --force",
        )
    if (directory / CARD).exists() and not replace:
        has_runs = (directory / FIRST_RUN).is_dir()
        resumable = "continue training it with --resume, " if facts is not None or has_stages else ""
        resumable = "continue its runs with --runs N --resume, " if has_runs else resumable
        raise OutputError(
            f"{directory}/ already exists", hint=f"{resumable}replace it with --force, or name another directory"
        )


def remove_partial_files(directory: Path) -> None:
    """Removes files that a killed process left half-written; a state may be three times as large as the weights."""
    for path in (*directory.glob(".*.partial"), *(directory / CHECKPOINTS).glob(".*.partial")):
        path.unlink(missing_ok=True)
    for staged in directory.glob(f"{STAGED}*"):
        shutil.rmtree(staged, ignore_errors=True)


def require_writable(directory: Path) -> None:
    """Raises OSError if files cannot be written to the directory or its checkpoints."""
    for folder in (directory, directory / CHECKPOINTS):
        with tempfile.TemporaryFile(dir=folder):
            pass


@contextmanager
def hold_lock(path: Path, directory: Path) -> Iterator[None]:
    """Holds the lock file `path` for the model in `directory`. Raises OutputError if another process holds it.

    The operating system's lock ends with its process, however that ends. On a shared file system without locks, or with
    locks that hold only within a machine, the holder's heartbeat decides: the modification time of the file, renewed
    every few seconds.
    """
    with path.open("a+", encoding="utf-8") as file:
        # 1. Ask the operating system for its lock, and the file for its holder.
        granted = acquire_system_lock(file.fileno())
        holder = read_holder(file)
        # 2. Refuse if either is taken; but if the lock is granted, a holder on this machine is dead.
        is_dead = granted and holder.get("host") == socket.gethostname()
        if granted is False or (has_live_holder(path, holder) and not is_dead):
            raise explain_refusal(directory, holder)
        # 3. Become the holder, and give a heartbeat until the block ends.
        write_holder(file, {"host": socket.gethostname(), "pid": os.getpid()})
        released = threading.Event()
        heartbeat = threading.Thread(target=renew_lock, args=(path, released), daemon=True)
        heartbeat.start()
        try:
            yield
        finally:
            released.set()
            heartbeat.join()
            write_holder(file, {})


def read_holder(file: IO[str]) -> dict[str, object]:
    """Returns `host` and `pid` of the process that holds the lock; empty if it is free."""
    file.seek(0)
    try:
        holder = parse_json(file.read() or "{}")
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) and {"host", "pid"} <= holder.keys() else {}


def write_holder(file: IO[str], holder: dict[str, object]) -> None:
    """Writes `host` and `pid` of the holder to the lock file; an empty mapping releases it."""
    try:
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder) if holder else "")
        file.flush()
    except OSError:  # the disk is full: the operating system's lock works without it
        return


def has_live_holder(path: Path, holder: dict[str, object]) -> bool:
    """Whether the holder of the lock file had a recent heartbeat, by the clock of the file system."""
    if not holder:
        return False
    with tempfile.NamedTemporaryFile(dir=path.parent) as probe:
        now = os.stat(probe.name).st_mtime
    return now - path.stat().st_mtime < STALE


def renew_lock(path: Path, released: threading.Event) -> None:
    """Renews the heartbeat every few seconds until the lock is released."""
    while not released.wait(HEARTBEAT):
        try:
            os.utime(path)
        except OSError:  # the file was removed or belongs to another: training itself reports what it cannot write
            return


def explain_refusal(directory: Path, holder: dict[str, object]) -> OutputError:
    """Returns the error for a lock held by another process."""
    process = f"process {holder['pid']} on {holder['host']}" if holder else "another process"
    return OutputError(
        f"{directory}/ is being written by another training ({process})",
        hint="wait for it, or name another directory with --model; "
        f"the lock of a dead process expires after {STALE:.0f} seconds",
    )
