"""A journal of finished blocks, with which a job that was killed goes on where it was. Knows no translation.

The first line of its file says what the job is; each further line has the hash of a block's texts, and its results as
compressed JSON. A line left unfinished by a killed process, or damaged by a power cut, is dropped with all behind it,
so that at most the blocks in progress are done again.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

OWNER_ONLY = 0o600  # the mode of a file with texts
FASTEST = 1  # level of compression
DAMAGE = (ValueError, zlib.error, RecursionError)  # what bytes raise that no journal wrote


class JournalBlock(NamedTuple):
    """A finished block: the hash of its texts, and its results."""

    digest: bytes
    results: list[Any]


class FinishedBlock(NamedTuple):
    """The line of a block, and the number of its results."""

    line: bytes
    results: int

    @classmethod
    def write(cls, texts: Sequence[str], results: list[Any]) -> FinishedBlock:
        """Writes the line of a block with these texts."""
        content = zlib.compress(json.dumps(results, ensure_ascii=False).encode("utf-8", "surrogatepass"), FASTEST)
        return cls(hash_texts(texts) + b" " + b85encode(content) + b"\n", len(results))


class BlockJournal:
    """The finished blocks of one job, in order. Nothing is written before the first block is finished."""

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self.identity = json.loads(json.dumps(identity))  # as it is read
        self.file: IO[bytes] | None = None
        self.blocks = 0  # in the file
        self.results = 0  # of all these

    def read_identity(self) -> dict[str, Any] | None:
        """Returns the identity of the job that began the journal; None without a journal."""
        if not self.path.is_file():  # a pipe would be waited for, a device read without end
            return None
        with suppress(*DAMAGE, OSError), self.path.open("rb") as file:
            identity = json.loads(file.readline())
            return identity if isinstance(identity, dict) else None
        return None

    def replay(self) -> Iterator[JournalBlock]:
        """Yields the finished blocks, then goes on behind the last of them. The identity must be that of the job."""
        with self.path.open("r+b") as file:
            end = len(file.readline())
            for line in file:
                block = parse_block(line)
                if block is None:
                    break
                end += len(line)
                self.count(len(block.results))
                yield block
            file.truncate(end)
        self.file = self.path.open("ab")

    def append(self, finished: FinishedBlock) -> None:
        """Adds a finished block; the first replaces the journal of an earlier job."""
        if self.file is None:
            self.path.unlink(missing_ok=True)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=OWNER_ONLY)
            self.file = self.path.open("ab")
            self.file.write(json.dumps(self.identity).encode() + b"\n")
        self.file.write(finished.line)
        self.file.flush()
        self.count(finished.results)

    def count(self, results: int) -> None:
        self.blocks += 1
        self.results += results

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def remove(self) -> None:
        """Removes the file, once the job is complete."""
        self.close()
        self.path.unlink(missing_ok=True)


def parse_block(line: bytes) -> JournalBlock | None:
    """Returns the block of a line; None if the line is damaged or unfinished."""
    digest, _, content = line.removesuffix(b"\n").partition(b" ")
    try:
        results = json.loads(zlib.decompress(b85decode(content)).decode("utf-8", "surrogatepass"))
    except DAMAGE:
        return None
    return JournalBlock(digest, results) if line.endswith(b"\n") and isinstance(results, list) else None


def hash_texts(texts: Sequence[str]) -> bytes:
    """Returns the SHA-256 of texts in hexadecimal digits; their borders count."""
    return hashlib.sha256(json.dumps(tuple(texts)).encode()).hexdigest().encode()
