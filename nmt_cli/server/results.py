"""Translated documents awaiting download: under unguessable names, for ten minutes, and of a bounded size."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

KEPT_SECONDS = 600.0
KEPT_BYTES = 1_000_000_000  # of all results together
LOOKING_SECONDS = 15.0  # between two looks for results that are too old
NAME = re.compile(r"[A-Za-z0-9_-]{32}\.[\w.-]{1,100}")


class ResultStore:
    """A private folder of the server, readable only by its user; `close` deletes it with its content."""

    def __init__(self, seconds: float = KEPT_SECONDS, most_bytes: int = KEPT_BYTES) -> None:
        self.seconds = seconds
        self.most_bytes = most_bytes

    @cached_property
    def folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="nmt."))

    def make_name(self, name: str) -> str:
        """Returns an unguessable name with the ending of the upload's name."""
        self.remove_old()
        last = re.split(r"[/\\]", name)[-1]
        return f"{secrets.token_urlsafe(24)}.{re.sub(r'[^A-Za-z0-9.-]+', '_', last).lstrip('.')[-80:] or 'document'}"

    def find_path(self, name: str) -> Path:
        return self.folder / name

    def find(self, name: str) -> Path | None:
        """Returns the path of a result; None if it does not exist, or no longer does."""
        self.remove_old()
        if not NAME.fullmatch(name):
            return None
        path = self.find_path(name)
        return path if path.is_file() else None

    def remove_old(self) -> None:
        """Deletes results older than `seconds`, and the oldest of those that take more than `most_bytes` together."""
        oldest, left = time.time() - self.seconds, self.most_bytes
        for path, status in sorted(self.list_results(), key=lambda result: result[1].st_mtime, reverse=True):
            left -= status.st_size
            if left < 0 or status.st_mtime < oldest:
                path.unlink(missing_ok=True)

    def list_results(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yields the complete results, which a thread may add to, and their status."""
        for path in self.folder.iterdir() if "folder" in vars(self) else ():
            if NAME.fullmatch(path.name):
                with suppress(FileNotFoundError):
                    yield path, path.stat()

    async def keep_removing(self) -> None:
        """Deletes old results forever, whether or not anybody asks for one."""
        while True:
            await asyncio.sleep(min(self.seconds, LOOKING_SECONDS))
            self.remove_old()

    def close(self) -> None:
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)
