"""`dataset.json`: the content of a prepared corpus, its inputs and options, and the checksums of its files.

Records no time, machine or path, so that equal input, options and seed give equal bytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from nmt_cli import files
from nmt_cli.corpus.sides import JOINT_NAME, SourceStatistics, SubwordStatistics
from nmt_cli.errors import DamagedError, NotFoundError
from nmt_cli.records import Count, FileName, Share, build, parse_json
from nmt_cli.text.tags import TagPurpose, parse_tag_name
from nmt_cli.text.tokenizer_settings import TokenizerSettings
from nmt_cli.text.wrapping import format_count

MANIFEST_NAME = "dataset.json"
FORMAT = 1
TRUNCATION = "source-length"  # the name of the finding that reports truncated sources
SPLITS = ("train", "dev", "test")

# Files up to this size are checked by SHA-256 whenever the corpus is loaded, which takes about 10 ms per file at most.
# Larger files are checked by their size, which detects an incomplete copy, and by SHA-256 in `PreparedCorpus.verify`.
CHECKED_AT_LOAD = 16 * 2**20  # bytes

Action = Literal["dropped", "mended", "reported", "kept", "cut"]


@dataclass(frozen=True, kw_only=True)
class FindingExample:
    """A pair found by a check, with its `file` and `line` in the input.

    The text is normalised and mended. If a check mends text, the original is shown where known.
    """

    file: str
    line: Count
    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of a check: the number of pairs found, the action taken, and up to three examples."""

    check: str
    problem: str
    count: Count
    action: Action
    note: str
    examples: tuple[FindingExample, ...]


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Numbers of pairs: `read` = `kept` + the sum of `dropped`, and the sum of `splits` = `kept` + `repeated`."""

    read: Count
    kept: Count
    dropped: dict[str, Count]  # by reason
    splits: dict[str, Count]
    repeated: Count  # additional copies of pairs in train, from inputs with a weight of more than 1
    more_columns: Count  # lines with a third column, which is ignored


@dataclass(frozen=True, kw_only=True)
class LeakReport:
    """The groups of connected pairs, and the shares (0 to 1) of the test set that a random split would have leaked."""

    groups: Count
    largest_group: Count  # pairs
    test_sources_by_rows: Share
    test_targets_by_rows: Share


@dataclass(frozen=True, kw_only=True)
class MonolingualText:
    """Text of one side without translations: `read` = `kept` + the sum of `dropped`."""

    file: FileName
    read: Count
    kept: Count
    dropped: dict[str, Count]  # by reason
    inputs: dict[str, FileRecord]
    tags: tuple[TaggedRun, ...] = ()  # of all sentences in order, if any has a tag


@dataclass(frozen=True, kw_only=True)
class TaggedRun:
    """Successive sentences that have the same tags, separated by blanks."""

    tags: str
    count: Count


@dataclass(frozen=True, kw_only=True)
class TextOrder:
    """The training pairs that are learned behind the sentence before, and the order of the others."""

    pairs: Count = 0
    texts: dict[str, tuple[Count, ...]] = dataclasses.field(default_factory=dict)  # of dev and test: their sizes
    recurring: dict[str, Count] = dataclasses.field(default_factory=dict)  # pairs of dev and test that train has, too


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """The size and checksum of a file."""

    bytes: Count
    sha256: str

    @classmethod
    def from_file(cls, path: Path) -> Self:
        return cls(bytes=path.stat().st_size, sha256=files.hash_file(path))


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The content of dataset.json."""

    format: int
    source_language: str
    target_language: str
    tokenizer: TokenizerSettings
    counts: PairCounts
    leak: LeakReport
    findings: tuple[Finding, ...]
    source: SourceStatistics
    target: SubwordStatistics
    options: dict[str, Any]
    inputs: dict[str, FileRecord]
    outputs: dict[FileName, FileRecord]
    tools: dict[str, str]
    monolingual: dict[str, MonolingualText] = dataclasses.field(default_factory=dict)  # by side
    tags: dict[str, dict[str, Count]] = dataclasses.field(default_factory=dict)  # pairs by tag and split
    context: TextOrder = TextOrder()

    @property
    def direction(self) -> str:
        """The languages, with those that only tags name: `eng -> deu, nld`."""
        sides = []
        for language, purpose in ((self.source_language, TagPurpose.SOURCE), (self.target_language, TagPurpose.TARGET)):
            others = [tag.value for tag in map(parse_tag_name, self.tags) if tag.kind is purpose]
            sides.append(", ".join(dict.fromkeys((language, *others))))
        return " -> ".join(sides)

    @property
    def has_joint_vocabulary(self) -> bool:
        """Whether both languages share one vocabulary, of which the target may use only the beginning."""
        return self.source.files == (JOINT_NAME,)

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Reads the manifest in `directory`. Raises NotFoundError if it is missing, DamagedError if it is invalid."""
        path = directory / MANIFEST_NAME
        if not path.is_file():
            raise NotFoundError(
                f"there is no prepared corpus in {directory}/",
                hint="make one with `nmt prepare corpus.tsv`, or say where it is with --data",
            )
        try:
            values = parse_json(path.read_text(encoding="utf-8"))
            version = values.get("format") if isinstance(values, dict) else None
            if type(version) is int and version != FORMAT:
                raise describe_damage(path, f"has format {version}; this version of nmt reads format {FORMAT}")
            manifest: Self = build(cls, values)
        except ValueError as error:  # a RecordError, or bytes that are not UTF-8
            raise describe_damage(path, f"is damaged: {error}") from error
        return manifest

    def write(self, directory: Path) -> None:
        """Writes dataset.json, atomically."""
        files.write_json(directory / MANIFEST_NAME, dataclasses.asdict(self))

    @property
    def truncation(self) -> Finding | None:
        """The finding about sources truncated to `max-source-length`, or None."""
        return next((finding for finding in self.findings if finding.check == TRUNCATION), None)

    @property
    def fingerprint(self) -> str:
        """The hexadecimal SHA-256 of the names and checksums of the outputs, which identifies the data."""
        lines = (f"{record.sha256}  {name}\n" for name, record in sorted(self.outputs.items()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def reversed_fingerprint(self) -> str:
        """The fingerprint of the same data in the other direction."""
        return hashlib.sha256(f"reversed {self.fingerprint}".encode()).hexdigest()

    def check(self, directory: Path, *, everything: bool = False) -> None:
        """Raises DamagedError naming the first output that is missing or was changed.

        Large files are compared only by size, unless `everything` is set.
        """
        for name, record in self.outputs.items():
            path = directory / name
            if not path.is_file():
                raise describe_damage(path, "is missing")
            if path.stat().st_size != record.bytes:
                size = format_count(path.stat().st_size, "byte")
                raise describe_damage(path, f"has {size} instead of {record.bytes:,}")
            if (everything or record.bytes <= CHECKED_AT_LOAD) and files.hash_file(path) != record.sha256:
                raise describe_damage(path, "was changed after it was written")


def describe_damage(path: Path, problem: str) -> DamagedError:
    """Returns the error about a damaged file of a prepared directory."""
    return DamagedError(f"{path} {problem}", hint="run `nmt prepare` again with --force")
