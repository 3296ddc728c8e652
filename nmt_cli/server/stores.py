"""Stores glossaries, translated documents and corrections for the clients of the server."""

from __future__ import annotations

import asyncio
import csv
import os
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from io import FileIO
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, NamedTuple

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.errors import DataError, OutputError
from nmt_cli.files import acquire_system_lock
from nmt_cli.formats.jsonl import SuggestedPair, parse_heading, parse_suggestion, read_suggestions, write_heading
from nmt_cli.languages.codes import KnownLanguage, are_same_languages
from nmt_cli.server.admission import DEFAULT_LIMITS, Limits, RequestError
from nmt_cli.server.models import ServedModel
from nmt_cli.text.streams import MAXIMUM_LINE
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value
from nmt_cli.text.wrapping import CONTROLS, format_count, replace_surrogates
from nmt_cli.translation.memory.marks import make_memory_key

# Glossaries of requests: sent with a text, or created before and named by their ids. Does not depend on shapes.
#
# They are held in memory until the server ends. Each belongs to the key that its client sent, or to the address of one
# without a key: nobody else finds it.


MOST_TERMS = 1_000  # of a glossary, which is searched in every line of its requests
MOST_CHARACTERS = 100_000  # of a glossary, some 10 times those of its terms in memory
MOST_GLOSSARIES_OF_KEY = 100  # glossaries
MOST_GLOSSARIES_TOGETHER = 1_000
LONGEST_NAME = 1_000  # characters
READERS: Mapping[str, Callable[[str], Iterable[list[str]]]] = {
    "tsv": lambda text: (line.split("\t") for line in text.splitlines()),
    "csv": lambda text: (row[:2] for row in csv.reader(text.splitlines())),  # DeepL's has the languages behind them
}


def read_terms(value: Any, form: str = "tsv") -> Glossary:
    """Returns the glossary made from an object of terms, or from a text with a term and its translation on each line.

    Raises RequestError for anything else, and for a glossary that is too large.
    """
    if form not in READERS:
        raise RequestError(400, f"Value for 'entries_format' not supported: {form}")
    rows: Iterable[list[str]]
    if isinstance(value, Mapping) and all(isinstance(term, str) for pair in value.items() for term in pair):
        size, rows = sum(map(len, (*value, *value.values()))), map(list, value.items())
    elif isinstance(value, str):
        size, rows = len(value), (row for row in READERS[form](value) if any(cell.strip() for cell in row))
    else:
        raise RequestError(
            400, ("Invalid request: a glossary must be an object of terms, or text with one term per line")
        )
    if size > MOST_CHARACTERS:
        raise RequestError(413, f"a glossary of more than {MOST_CHARACTERS:,} characters; this server takes no more")
    try:
        glossary = Glossary.from_rows(islice(enumerate(rows, start=1), MOST_TERMS + 1), "glossary")
    except (DataError, csv.Error) as error:
        raise RequestError(400, f"Invalid request: {getattr(error, 'message', error)}") from error
    if glossary.ambiguous:
        raise RequestError(400, f"Invalid request: {glossary.ambiguous[0]!r} has two translations; keep one of them")
    if len(glossary.terms) > MOST_TERMS:
        raise RequestError(413, f"a glossary of more than {MOST_TERMS:,} terms; this server takes no more")
    return glossary


@dataclass(frozen=True)
class ClientGlossary:
    """A glossary that a client has created."""

    name: str
    source: KnownLanguage
    target: KnownLanguage
    glossary: Glossary
    owner: str  # who created it: a key, or an address
    identifier: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class GlossaryStore:
    """The glossaries that clients have created, by their ids."""

    def __init__(self) -> None:
        self.glossaries: dict[str, ClientGlossary] = {}

    def add(self, glossary: ClientGlossary) -> None:
        """Keeps a glossary. Raises RequestError if its owner, or the server, has too many."""
        if len(self.list_of(glossary.owner)) >= MOST_GLOSSARIES_OF_KEY:
            raise RequestError(456, f"Quota exceeded: {MOST_GLOSSARIES_OF_KEY} glossaries; delete one")
        if len(self.glossaries) >= MOST_GLOSSARIES_TOGETHER:
            raise RequestError(507, "this server has too many glossaries")
        self.glossaries[glossary.identifier] = glossary

    def list_of(self, owner: str) -> list[ClientGlossary]:
        """Returns the glossaries of an owner, oldest first."""
        return [glossary for glossary in self.glossaries.values() if glossary.owner == owner]

    def find(self, identifier: str, owner: str) -> ClientGlossary:
        """Returns a glossary of an owner. Raises RequestError for any other."""
        glossary = self.glossaries.get(identifier)
        if glossary is None or glossary.owner != owner:
            raise RequestError(404, "Glossary not found")
        return glossary

    def remove(self, identifier: str, owner: str) -> None:
        """Deletes a glossary of an owner. Raises RequestError for any other."""
        del self.glossaries[self.find(identifier, owner).identifier]


# Translated documents awaiting download: under unguessable names, for ten minutes, and of a bounded size.
#
# Also those that clients send and fetch later, which are translated while no request waits for them. Each belongs to
# the key that its client sent, or to its address, and has a key of its own: whoever has others finds none of them.


KEPT_SECONDS = 600.0
KEPT_BYTES = 1_000_000_000  # of all results together
LOOKING_SECONDS = 15.0  # between two looks for results that are too old
MOST_RESULTS_OF_KEY = 10  # documents that are not finished
MOST_RESULTS_TOGETHER = 40
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
        """Deletes results older than `seconds`, and the oldest ones if all of them take more than `most_bytes`."""
        oldest, left = time.time() - self.seconds, self.most_bytes
        for path, status in sorted(self.list_results(), key=lambda result: result[1].st_mtime, reverse=True):
            left -= status.st_size
            if left < 0 or status.st_mtime < oldest:
                path.unlink(missing_ok=True)

    def list_results(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yields the complete results and their status, even while a thread adds others."""
        for path in self.folder.iterdir() if "folder" in vars(self) else ():
            if NAME.fullmatch(path.name):
                with suppress(FileNotFoundError):
                    yield path, path.stat()

    async def keep_removing(self) -> None:
        """Keeps deleting old results, whether or not anybody asks for one."""
        while True:
            await asyncio.sleep(min(self.seconds, LOOKING_SECONDS))
            self.remove_old()

    def close(self) -> None:
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)


class FinishedDocument(NamedTuple):
    """The result of translating a document, without the details of its texts."""

    name: str  # of the result
    report: Any  # in the form of a response
    warning: str = ""  # about its language


@dataclass(frozen=True, eq=False)
class ClientDocument:
    """A document that a client has sent."""

    owner: str  # who sent it: a key, or an address
    task: asyncio.Task[FinishedDocument]
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

    def start(self, owner: str, translate: Callable[[], Coroutine[Any, Any, FinishedDocument]]) -> ClientDocument:
        """Starts a translation. Raises RequestError if its owner, or the server, has too many."""
        unfinished = self.list_unfinished()
        if sum(document.owner == owner for document in unfinished) >= MOST_RESULTS_OF_KEY:
            raise RequestError(
                456, f"Quota exceeded: {MOST_RESULTS_OF_KEY} documents are being translated; wait for one"
            )
        if len(unfinished) >= MOST_RESULTS_TOGETHER:
            raise RequestError(503, "this server is already translating too many documents", retry_after=60)
        finished = [identifier for identifier, document in self.documents.items() if document.task.done()]
        for identifier in finished[: max(0, len(finished) - MOST_FINISHED + 1)]:
            del self.documents[identifier]
        document = ClientDocument(owner, asyncio.ensure_future(translate()))
        self.documents[document.identifier] = document
        return document

    def find(self, identifier: str, owner: str, key: str) -> ClientDocument:
        """Returns a document of an owner. Raises RequestError for any other, and for a wrong key."""
        document = self.documents.get(identifier)
        if document is None or (document.owner, document.key) != (owner, key):
            raise RequestError(404, "Document not found")
        return document

    def close(self) -> None:
        """Cancels all unfinished documents."""
        for document in self.list_unfinished():
            document.task.cancel()


# User corrections: appended to a file of suggestions, and to the memory from which their model translates then.
#
# What is accepted can be read at the next start, and answers the same: it is checked and made one line before it is
# kept (`make_suggestions`), it is written whole or not at all, and a line of the file that is damaged ends no start.


DAY = 24 * 60 * 60  # seconds
LOCK_TRIES, LOCK_SECONDS = 40, 0.05  # for which another server may append to the same file
LONGEST_HEADING = 4096  # bytes
SHOWN = 3  # damaged lines that are named at a start


class SuggestionFile:
    """Appends suggestions to a file or, if the models have several directions, to one file per direction."""

    def __init__(self, path: Path, *, by_direction: bool = False, limits: Limits = DEFAULT_LIMITS) -> None:
        self.path = path
        self.by_direction = by_direction
        self.limits = limits
        self.lock = threading.Lock()  # the order in memory is that of the file
        self.day = 0
        self.counts: Counter[str] = Counter()  # of this day, by client

    def require_folder(self) -> None:
        """Raises OutputError if a file cannot be written there."""
        folder = self.path.parent
        is_writable = os.access(self.path, os.R_OK | os.W_OK) if self.path.exists() else os.access(folder, os.W_OK)
        if not folder.is_dir() or not is_writable or (self.path.exists() and not self.path.is_file()):
            raise OutputError(
                f"--suggestions {self.path} is not writable", hint="name a file in a directory that you can write to"
            )

    def find_path(self, model: ServedModel) -> Path:
        """Returns the file of a direction."""
        if not self.by_direction:
            return self.path
        direction = f"{model.source.code}-{model.target.code}"
        return self.path.with_name(f"{self.path.stem}.{direction}{self.path.suffix}")

    def recall(self, models: Sequence[ServedModel], report: Callable[[str], None]) -> None:
        """Adds earlier suggestions to the memories of the models, where they overrule other entries.

        Reports lines that are not suggestions, and leaves them out. Raises DataError for a file that does not hold
        suggestions, and for one in other languages.
        """
        for model in models:
            path = self.find_path(model)
            if path.is_file() and path.stat().st_size:
                for suggestion in read_file(path, model.card.languages, report):
                    learn_pair(model, suggestion)

    def append(self, model: ServedModel, source: str, target: str, tags: TagSet = (), client: str = "") -> None:
        """Keeps a suggestion, or one per line if both texts have the same line count; the memory learns them.

        `client` is who sent it. Raises RequestError if anything cannot be kept; then nothing is written.
        """
        suggestions = make_suggestions(source, target, tags, self.limits.suggestion)
        with self.lock:
            self.check_count(client, len(suggestions))
            try:
                self.write(self.find_path(model), model.card.languages, suggestions)
            except OSError as error:
                raise RequestError(507, "the corrections file cannot be written") from error
            self.counts[client] += len(suggestions)
            for suggestion in suggestions:
                learn_pair(model, suggestion)

    def check_count(self, client: str, number: int) -> None:
        """Raises RequestError if a client sends more suggestions than it may in a day."""
        day, most = int(time.time()) // DAY, self.limits.client_suggestions
        if day != self.day:
            self.day, self.counts = day, Counter()
        if self.counts[client] + number > most:
            wait = DAY - int(time.time()) % DAY
            raise RequestError(
                429, f"this server accepts {most:,} corrections a day from each client", retry_after=wait
            )

    def write(self, path: Path, languages: tuple[str, str], suggestions: Sequence[SuggestedPair]) -> None:
        """Appends suggestions to a file. Raises OSError, and RequestError if it is full or holds something else."""
        data = b"".join(suggestion.write() for suggestion in suggestions)
        with open(path, "ab+", buffering=0) as file:
            wait_for_lock(file)
            end = find_end(file, languages)
            if end == 0:
                data = write_heading(languages) + data
            elif read_at(file, end - 1, 1) != b"\n":  # editors leave a last line without its end
                data = b"\n" + data
            if end + len(data) > self.limits.suggestions:
                raise RequestError(507, "the corrections file is full")
            write_whole(file, end, data)


def make_suggestions(source: str, target: str, tags: TagSet, longest: int) -> list[SuggestedPair]:
    """Returns the suggestions in a text and its translation: one, or one per line if their line counts are equal.

    Lines that are blank in both are left out. Raises RequestError for text on one side only, and for a text of more
    than `longest` characters.
    """
    sources, targets = source.strip().splitlines(), target.strip().splitlines()
    if len(sources) != len(targets):
        sources, targets = [source], [target]
    pairs = [(as_one_line(left), as_one_line(right)) for left, right in zip(sources, targets, strict=True)]
    pairs = [pair for pair in pairs if any(map(make_memory_key, pair))]
    if not pairs or not all(make_memory_key(text) for pair in pairs for text in pair):
        raise RequestError(400, "a correction needs a text and a translation")
    length = max(len(text) for pair in pairs for text in pair)
    if length > longest:
        raise RequestError(413, f"a text of {format_count(length, 'character')}; a correction has at most {longest:,}")
    return [SuggestedPair(*pair, tags) for pair in pairs]


def as_one_line(text: str) -> str:
    """Returns a text in which single spaces replace control characters, which the reader's terminal would obey."""
    return " ".join(re.sub(CONTROLS, " ", replace_surrogates(text)).split())


def learn_pair(model: ServedModel, suggestion: SuggestedPair) -> None:
    """Adds a suggestion to the memory of a model, if it has one."""
    if model.memory is not None:
        source, target, tags = suggestion
        model.memory.add(source, target, find_tag_value(tags, TagPurpose.REGISTER))


def read_file(path: Path, languages: tuple[str, str], report: Callable[[str], None]) -> Iterator[SuggestedPair]:
    """Yields the suggestions in a file; reports all other lines. Raises DataError, as `SuggestionFile.recall` does."""
    damaged = 0
    with path.open("rb") as file:
        head = file.readline(MAXIMUM_LINE)
        if not is_cut_heading(head, languages):
            require_heading(head, languages, path)
        for number, suggestion in read_suggestions(file):
            if suggestion is not None:
                yield suggestion
            elif (damaged := damaged + 1) <= SHOWN:
                report(f"{path}, line {number:,}: this correction is incomplete, and was skipped")
    if damaged > SHOWN:
        report(f"{path}: {format_count(damaged, 'line')} that are not corrections were skipped")


def require_heading(line: bytes, languages: tuple[str, str], path: Path) -> None:
    """Raises DataError unless the first line of a file is the heading of suggestions in these languages."""
    declared = parse_heading(line)
    if declared is None:
        raise DataError(
            f"{path} is not a corrections file",
            hint=f"use it as a translation memory (--tm {path}), and name a new corrections file",
        )
    if not are_same_languages(declared, languages):
        raise DataError(
            f"{path} has corrections from {declared[0]} to {declared[1]}, but the model translates {languages[0]} to "
            f"{languages[1]}",
            hint="name a different corrections file",
        )


def is_cut_heading(line: bytes, languages: tuple[str, str]) -> bool:
    """Whether a line is an incomplete heading, left by a process that was killed while writing it."""
    return not line.endswith(b"\n") and write_heading(languages).startswith(line)


def find_end(file: FileIO, languages: tuple[str, str]) -> int:
    """Returns where the complete lines of a file end. Raises RequestError if it no longer holds suggestions."""
    size = os.fstat(file.fileno()).st_size
    if not S_ISREG(os.fstat(file.fileno()).st_mode):
        raise RequestError(507, "the corrections file cannot be written")
    head, line_end, _ = read_at(file, 0, LONGEST_HEADING).partition(b"\n")
    if not size or is_cut_heading(head + line_end, languages):
        return 0
    declared = parse_heading(head)
    if declared is None or not are_same_languages(declared, languages):
        raise RequestError(507, "the corrections file was replaced")
    if size == len(head) or read_at(file, size - 1, 1) == b"\n":
        return size
    tail = read_at(file, max(0, size - MAXIMUM_LINE), MAXIMUM_LINE).rpartition(b"\n")[2]
    return size if parse_suggestion(tail) is not None else size - len(tail)


def read_at(file: FileIO, position: int, count: int) -> bytes:
    """Returns `count` bytes from a position, or fewer at the end of the file."""
    file.seek(position)
    parts: list[bytes] = []
    while count > 0 and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write_whole(file: FileIO, end: int, data: bytes) -> None:
    """Truncates a file at `end` and appends the data, either all of it or nothing. Raises OSError."""
    try:
        file.truncate(end)
        left = data
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())  # where a full disk is noticed late
    except OSError:
        with suppress(OSError):
            file.truncate(end)
        raise


def wait_for_lock(file: IO[bytes]) -> None:
    """Locks a file against other servers until it is closed. Raises OSError if another server holds it too long."""
    for _ in range(LOCK_TRIES):
        if acquire_system_lock(file.fileno()) is not False:
            return
        time.sleep(LOCK_SECONDS)
    raise BlockingIOError("another process is using the corrections file")
