"""A journal of finished blocks, from which a killed job continues; keeps translations as JSON without loss."""

from __future__ import annotations

import hashlib
import json
import types
import typing
import zlib
from base64 import b85decode, b85encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, NoReturn

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.errors import DataError
from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.text.tags import SentenceContext
from nmt_cli.translation.request import Block, TranslateBlock, TranslationRequest
from nmt_cli.translation.result import Fault, Translation
from nmt_cli.workers.work import DoneReporter, Executor

# A journal of finished blocks, with which a job that was killed goes on where it was. Does not depend on translation.
#
# The first line of its file says what the job is; each further line has the hash of a block's texts, and its results as
# compressed JSON. A line left unfinished by a killed process, or damaged by a power cut, is dropped with all behind it,
# so that at most the blocks in progress are done again.


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
        """Writes the line of a block, whose translations are these texts."""
        written = json.dumps(results, ensure_ascii=False, default=encode_value).encode("utf-8", "surrogatepass")
        content = b85encode(zlib.compress(written, FASTEST))
        return cls(hash_texts(texts) + b" " + content + b"\n", len(results))


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
        """Yields the finished blocks, then continues after the last of them. The identity must be that of the job."""
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
    """Returns the SHA-256 of texts in hexadecimal digits; it also depends on where each text ends."""
    return hashlib.sha256(json.dumps(tuple(texts)).encode()).hexdigest().encode()


# Translations as JSON and back, without loss: a tuple is a list, and the types of the fields say what it stands for.
#
# `FailedCheck("numbers", "7 missing")` is written as `["numbers", "7 missing"]`. What is read is held against these
# types, since whatever stands in a file may have been written by anybody.

# Imported by other modules to check types alone.
LAZY_TYPES = {"FloatArray": FloatArray, "ReadAs": ReadAs, "Fault": Fault, "SentenceContext": SentenceContext}


def encode_value(value: Any) -> Any:
    """Converts a value of a type that JSON lacks to one that it has."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, range):
        return [value.start, value.stop, value.step]
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.shape, b85encode(value.tobytes()).decode()]
    return value.item()  # a number of NumPy


def decode_translation(row: Any) -> Translation:
    """Returns the translation that a JSON row represents.

    Raises TypeError, ValueError or RecursionError for anything else.
    """
    translation: Translation = decode_value(Translation, row)
    return translation


def decode_value(kind: Any, value: Any) -> Any:
    """Returns the value of type `kind` that JSON represents. Raises TypeError or ValueError if there is none."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):  # with None, which no other of our types stands for
        (kind,) = (part for part in parts if part is not type(None))
        return None if value is None else decode_value(kind, value)
    if kind is FloatArray:
        return decode_array(*decode_tuple((str, tuple[int, ...], str), value))
    if kind is range:
        return range(*decode_tuple((int, int, int), value))
    if hasattr(kind, "_fields"):
        return kind(*decode_tuple(tuple(list_field_types(kind).values()), value))
    if origin in (tuple, frozenset):
        return origin(decode_tuple(parts if origin is tuple else (parts[0], ...), value))
    if origin is Mapping and isinstance(value, dict):
        return {name: decode_value(parts[1], item) for name, item in value.items()}
    is_number = kind is float and type(value) is int
    if not (is_number or type(value) is kind or (origin is Literal and isinstance(value, str) and value in parts)):
        refuse(kind, value)
    return value


def decode_tuple(parts: Sequence[Any], value: Any) -> tuple[Any, ...]:
    """Returns a tuple of items of these types; if an ellipsis follows the first, of any number of that type."""
    if not isinstance(value, list):
        refuse(tuple, value)
    kinds = [parts[0]] * len(value) if parts[-1] is Ellipsis else parts
    return tuple(decode_value(kind, item) for kind, item in zip(kinds, value, strict=True))


def decode_array(kind: str, shape: tuple[int, ...], data: str) -> FloatArray:
    if np.dtype(kind).kind != "f" or len(shape) != 2 or min(shape) < 0:
        refuse(FloatArray, kind)
    return np.frombuffer(b85decode(data), kind).reshape(shape)


@cache
def list_field_types(kind: Any) -> dict[str, Any]:
    """Returns the types of the fields of a NamedTuple."""
    return typing.get_type_hints(kind, localns=LAZY_TYPES)


def refuse(kind: Any, value: Any) -> NoReturn:
    """Raises TypeError."""
    raise TypeError(f"{type(value).__name__} instead of {kind}")


# An executor that keeps finished blocks in a journal, and takes those of an interrupted run from it.


class JournalledAnswer(NamedTuple):
    """The translations of a block, and what the journal keeps of it."""

    translations: list[Translation]
    finished: FinishedBlock


class JournalledJob(NamedTuple):
    """A request whose answers include their journal lines, so that the translating process writes them."""

    request: TranslationRequest

    def start(
        self, *, threads: int | None = None, report: DoneReporter | None = None
    ) -> Callable[[Block], JournalledAnswer]:
        """Starts the request, and raises its errors."""
        return partial(answer_in_writing, self.request.start(threads=threads, report=report))

    def pack(self) -> JournalledJob:
        return JournalledJob(self.request.pack())

    def hold(self) -> JournalledJob:
        return JournalledJob(self.request.hold())


def answer_in_writing(translate: TranslateBlock, block: Block) -> JournalledAnswer:
    """Translates a block, and writes its line."""

    translations = translate(block)
    return JournalledAnswer(translations, FinishedBlock.write(block.texts, translations))


class JournalledExecutor(NamedTuple):
    """Runs a journalled job, except for what an interrupted run has already translated. Implements `Executor`."""

    executor: Executor[Block, JournalledAnswer]
    journal: BlockJournal
    resumes: bool

    @property
    def replacements(self) -> int:
        return self.executor.replacements

    def decode(self, saved: JournalBlock, count: int) -> list[Translation]:
        """Returns the translations of a block. Raises DataError if there are not `count` valid ones."""

        try:
            translations = [decode_translation(row) for row in saved.results]
        except (KeyError, TypeError, ValueError, RecursionError):
            translations = []
        if len(translations) != count:
            raise DataError(f"the journal {self.journal.path} is damaged", hint="leave --resume out")
        return translations

    def map_blocks(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        remaining = iter(blocks)
        finished = self.journal.replay() if self.resumes else iter(())
        for block in remaining:
            saved = next(finished, None) if block.texts else None
            if block.texts and saved is None:
                remaining = chain([block], remaining)
                break
            if saved is not None and saved.digest != hash_texts(block.texts):
                raise DataError(
                    f"the journal {self.journal.path} belongs to different texts", hint="leave --resume out"
                )
            yield [] if saved is None else self.decode(saved, len(block.texts))
        for answer in self.executor.map_blocks(remaining):
            if answer.translations:
                self.journal.append(answer.finished)
            yield answer.translations
