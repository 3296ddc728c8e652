"""Files that are either the old ones or the new ones, never half of one; and their checksums.

Knows nothing of what the files mean.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nmt_cli.errors import NotFoundError, OutputError, find_nearest

DAY = 24 * 60 * 60  # seconds


def hash_file(path: Path) -> str:
    """Hexadecimal SHA-256 of the file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_file(path: Path) -> Path:
    """`path` itself if it is a file that may be read.

    Raises NotFoundError that names the nearest file of the same folder, or says that it is a directory or closed to us.
    """
    if path.is_dir():
        raise NotFoundError(f"{path} is a directory; a file is needed here")
    if not path.exists():
        folder = path.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        like = find_nearest(path.name, names)
        raise NotFoundError(f"{path} does not exist", hint=f"did you mean {folder / like}?" if like else "")
    if not os.access(path, os.R_OK):
        raise NotFoundError(f"{path} may not be read", hint="check the permissions of the file, or name another")
    return path


@contextmanager
def atomic_path(path: Path, *, suffix: str = "") -> Iterator[Path]:
    """A temporary path beside `path` to write to; it takes the name `path` when the block ends well.

    A file that is replaced leaves its permissions to the new one, which only its owner can read until then. Of a link,
    the target is replaced; a device or a pipe is yielded itself, to be written to. `suffix` ends the temporary name,
    for writers that look at the suffix. What the system refuses is told of `path`.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial{suffix}")
    try:
        temporary.unlink(missing_ok=True)  # of a process that was killed, whose number this one has
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
        temporary.unlink(missing_ok=True)


def keep_permissions(old: Path, new: Path) -> None:
    """Gives `new` the group and the mode of `old`; without the group's rights, where its group may not be given.

    Where there are no modes to give, `new` keeps what it has.
    """
    status = old.stat()
    mode = stat.S_IMODE(status.st_mode)
    try:
        os.chown(new, -1, status.st_gid)
    except (OSError, AttributeError):  # not permitted, or a system without groups
        mode &= ~stat.S_IRWXG
    with suppress(OSError):
        new.chmod(mode)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """`value` as indented UTF-8 JSON in the key order given, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


@contextmanager
def stage_directory(path: Path, *, replace: bool) -> Iterator[Path]:
    """An empty directory beside `path` to fill; it takes the name `path` when the block ends well.

    A directory that is replaced leaves its permissions to the new one. Of a link, the target is replaced. On any
    exception the staged directory is removed and `path` is as it was.
    Raises OutputError if `path` holds anything and `replace` is false.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    clear_left_over(target)
    refuse_to_overwrite(path, replace=replace)
    staged = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
    try:
        yield staged
        if target.exists():
            keep_permissions(target, staged)
        else:
            staged.chmod(0o777 & ~current_umask())
        exchange(staged, target)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def clear_left_over(target: Path) -> None:
    """Restores what a killed process had moved away, and removes its remains that are older than a day."""
    leftover = re.compile(rf"\.{re.escape(target.name)}\.[^.]+\.(?:partial|old)")
    for path in target.parent.iterdir():
        if not leftover.fullmatch(path.name):
            continue
        if path.suffix == ".old" and not target.exists():
            os.replace(path, target)
        elif time.time() - path.stat().st_mtime > DAY:
            shutil.rmtree(path, ignore_errors=True)


def refuse_to_overwrite(path: Path, *, replace: bool) -> None:
    """Raises OutputError if `path` is a file, or a directory with anything in it that `replace` does not cover."""
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is a file; a directory is to be written there")
    if path.is_dir() and any(path.iterdir()) and not replace:
        raise OutputError(f"{path}/ already exists", hint="replace it with --force, or name another directory")


def exchange(staged: Path, path: Path) -> None:
    """Gives `staged` the name `path`; what was at `path` is then gone."""
    if not path.exists():
        os.replace(staged, path)
        return
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    os.replace(path, old)
    os.replace(staged, path)
    shutil.rmtree(old, ignore_errors=True)


def current_umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
