"""Translated documents awaiting download: under unguessable names, for ten minutes, and of a bounded size.

Also those that clients send and fetch later, which are translated while no request waits for them. Each belongs to the
key that its client sent, or to its address, and has a key of its own: whoever has others finds none of them.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from nmt_cli.server.errors import RequestError

KEPT_SECONDS = 600.0
KEPT_BYTES = 1_000_000_000  # of all results together
LOOKING_SECONDS = 15.0  # between two looks for results that are too old
MOST_OF_KEY = 10  # documents that are not finished
MOST_TOGETHER = 40
MOST_FINISHED = 1_000  # that can still be asked for; their results are removed earlier
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


@dataclass(frozen=True, eq=False)
class ClientDocument:
    """A document that a client has sent."""

    owner: str  # who sent it: a key, or an address
    task: asyncio.Task[str]  # returns the name of the result
    identifier: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def error(self) -> BaseException | None:
        """Why a finished document has no result; None if it has one."""
        return asyncio.CancelledError() if self.task.cancelled() else self.task.exception()


class DocumentStore:
    """The documents that clients have sent, by their ids, oldest first."""

    def __init__(self) -> None:
        self.documents: dict[str, ClientDocument] = {}

    def list_unfinished(self) -> list[ClientDocument]:
        return [document for document in self.documents.values() if not document.task.done()]

    def start(self, owner: str, translate: Callable[[], Coroutine[Any, Any, str]]) -> ClientDocument:
        """Starts a translation. Raises RequestError if its owner, or the server, has too many."""
        unfinished = self.list_unfinished()
        if sum(document.owner == owner for document in unfinished) >= MOST_OF_KEY:
            raise RequestError(456, f"Quota exceeded: {MOST_OF_KEY} documents are being translated; wait for one")
        if len(unfinished) >= MOST_TOGETHER:
            raise RequestError(503, "this server translates too many documents", retry_after=60)
        finished = [identifier for identifier, document in self.documents.items() if document.task.done()]
        for identifier in finished[: max(0, len(finished) - MOST_FINISHED + 1)]:
            del self.documents[identifier]
        document = ClientDocument(owner, asyncio.ensure_future(translate()))
        self.documents[document.identifier] = document
        return document

    def find(self, identifier: str, owner: str, key: str) -> ClientDocument:
        """Returns a document of an owner. Raises RequestError for any other, and for another key."""
        document = self.documents.get(identifier)
        if document is None or (document.owner, document.key) != (owner, key):
            raise RequestError(404, "Document not found")
        return document

    def close(self) -> None:
        """Gives up what is not finished."""
        for document in self.list_unfinished():
            document.task.cancel()
