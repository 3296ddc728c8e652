"""`dataset.json`: what a prepared corpus contains, its sides, inputs, options and checksums."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NoReturn, Self

from nmt_cli import files
from nmt_cli.errors import DamagedError, NotFoundError, OptionError
from nmt_cli.formats import list_preparations, name_place
from nmt_cli.records import Count, FileName, Range, Share, build, parse_json
from nmt_cli.sources.images import Grids
from nmt_cli.sources.source import Sentences, SourceRows
from nmt_cli.text.symbols import UNKNOWN_UNITS, TokenizerKind, TokenizerSettings
from nmt_cli.text.tags import TagPurpose, TagSet, parse_tag_name
from nmt_cli.text.wrapping import format_count

# What the sides of a prepared corpus are: their entries in `dataset.json`, which answer for their kind.
#
# A target is text, a source text or pictures; no reader of a corpus asks which. Letters: R regions, D depth.


JOINT_NAME = "joint.spm"  # the subwords of both languages, the target's first; `target.spm`, if any, has only these


class SentencePair(NamedTuple):
    """A normalised sentence and its translation. A tuple, since corpora have millions of them."""

    source: str
    target: str


class TaggedPair(NamedTuple):
    """A sentence pair with its tags."""

    source: str
    target: str
    tags: TagSet = ()


@dataclass(frozen=True)
class ReferencedSource:
    """A source with all its reference translations, or a picture with all its captions."""

    source: str
    references: tuple[str, ...]
    tags: TagSet = ()


@dataclass(frozen=True, kw_only=True)
class SubwordStatistics:
    """The vocabulary of one language, and how well it fits the corpus."""

    file: FileName
    vocabulary: Count
    pieces_per_word: Annotated[float, Range(0)]  # on train
    unknown_share: Share  # of the pieces of dev and test, 0 to 1
    coverage: Share  # share, 0 to 1, of the characters of dev and test that pieces cover; the others become bytes
    longest: Count  # pieces of the longest training sentence
    longest_of_99_percent: Count  # pieces; 1 % of the training sentences are longer
    everyday_share: Share = 1.0  # share, 0 to 1, of the training sentences that are short and have a final mark

    is_text: ClassVar[bool] = True
    unit: ClassVar[str] = "sentence"
    rows: ClassVar[type[SourceRows]] = Sentences

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the subword models of this side."""
        return (self.file,)

    def require_text(self, directory: Path, problem: str, hint: str = "") -> Self:
        """Returns this side. Raises OptionError if it consists of pictures, saying who cannot read them."""
        return self

    def select_texts(self, sources: Sequence[str]) -> Sequence[str]:
        """Returns the sources, as named in the pairs, that are text: all of them."""
        return sources

    def group_references(self, pairs: Iterable[SentencePair], tags: Iterable[TagSet]) -> list[ReferencedSource]:
        """Returns the sources to translate, each with its references and tags."""
        return [ReferencedSource(pair.source, (pair.target,), row) for pair, row in zip(pairs, tags, strict=True)]

    def describe(self, side: str) -> tuple[str, str]:
        """Returns the heading and the text of this side's row in a report."""
        return (
            f"subwords, {side}",
            f"{self.vocabulary:,}; {self.pieces_per_word:.2f} per word; {self.describe_fit('subword')}",
        )

    def list_headlines(self) -> list[str]:
        """Returns what `nmt prepare` says about the sources beyond their subwords: nothing."""
        return []

    def list_details(self, side: str) -> list[str]:
        """Returns what `nmt prepare --verbose` adds about this side."""
        return [f"{side}: {self.describe_fit('piece')}"]

    def describe_fit(self, unit: str) -> str:
        """Returns the share of covered characters, and the lengths of the longest sentences in `unit`s."""
        return (
            f"{self.coverage:.2%} of characters covered; longest sentence "
            f"{format_count(self.longest, unit)}, 99 % up to {self.longest_of_99_percent:,}"
        )

    def describe_subwords(self, target: SubwordStatistics, kind: TokenizerKind) -> str:
        """Returns one line with the size and kind of the vocabulary, and how well it fits."""
        size = f"{self.vocabulary:,} and {target.vocabulary:,},"
        if self.file == JOINT_NAME:
            for_target = "" if self.file == target.file else f" ({target.vocabulary:,} for the target)"
            size = f"{self.vocabulary:,}{for_target}, joint"
        fit = f"{self.pieces_per_word:.1f} per source word, {target.pieces_per_word:.1f} per target word"
        shares = f"{self.unknown_share:.1%} of source, {target.unknown_share:.1%} of target"
        return f"{size} {kind}; {fit}; {describe_unknown(kind, shares)}"


@dataclass(frozen=True, kw_only=True)
class PictureStatistics:
    """The pictures of the source side, and the shape of their features."""

    pictures: Count  # distinct pictures
    regions: Count  # the most regions that a picture has
    fewest_regions: Count
    depth: Count  # features per region

    is_text: ClassVar[bool] = False
    unit: ClassVar[str] = "picture"
    rows: ClassVar[type[SourceRows]] = Grids
    files: ClassVar[tuple[str, ...]] = ()
    everyday_share: ClassVar[float] = 0.0

    def require_text(self, directory: Path, problem: str, hint: str = "") -> NoReturn:
        """Raises OptionError."""
        raise OptionError(f"the sources in {directory}/ are pictures, {problem}", hint=hint)

    def select_texts(self, sources: Sequence[str]) -> Sequence[str]:
        """Returns no text, since the sources are names of files."""
        return ()

    def group_references(self, pairs: Iterable[SentencePair], tags: Iterable[TagSet]) -> list[ReferencedSource]:
        """Returns each picture once, with all its captions.

        Metrics need equally many references for every source, so a picture with fewer captions than the others repeats
        its captions in turn.
        """
        captions: dict[str, list[str]] = {}
        for pair in pairs:
            captions.setdefault(pair.source, []).append(pair.target)
        most = max(map(len, captions.values()), default=0)
        return [ReferencedSource(name, tuple(islice(cycle(texts), most))) for name, texts in captions.items()]

    def describe(self, side: str) -> tuple[str, str]:
        """Returns the heading and the text of this side's row in a report."""
        regions = format_count(self.regions, "region")
        if self.fewest_regions < self.regions:
            regions = f"{self.fewest_regions:,} to {regions}"
        return "pictures", f"{self.pictures:,}, of {regions} with {format_count(self.depth, 'feature')} each"

    def list_headlines(self) -> list[str]:
        """Returns the line about the pictures."""
        return [" ".join(self.describe("source"))]

    def list_details(self, side: str) -> list[str]:
        """Returns nothing, since the line about the pictures says it all."""
        return []

    def describe_subwords(self, target: SubwordStatistics, kind: TokenizerKind) -> str:
        """Returns one line with the size and kind of the vocabulary of the captions, and how well it fits."""
        unknown = describe_unknown(kind, f"{target.unknown_share:.1%}")
        return f"{target.vocabulary:,}, {kind}; {target.pieces_per_word:.1f} per word of a caption; {unknown}"


def describe_unknown(kind: TokenizerKind, shares: str) -> str:
    """Says what a vocabulary of this kind cannot spell, and the `shares` of that in dev and test."""
    if kind not in UNKNOWN_UNITS:
        return "every character can be encoded"
    return f"{UNKNOWN_UNITS[kind]} outside the vocabulary become <unk> (in dev and test: {shares})"


SourceStatistics = SubwordStatistics | PictureStatistics


# `dataset.json`: the content of a prepared corpus, its inputs and options, and the checksums of its files.
#
# Records no time, machine or path, so that equal input, options and seed give equal bytes.


MANIFEST_NAME = "dataset.json"
FORMAT = 1
TRUNCATION = "source-length"  # the name of the finding that reports truncated sources
SPLITS = ("train", "dev", "test")

# Files up to this size are checked by SHA-256 whenever the corpus is loaded, which takes about 10 ms per file at most.
# Larger files are checked by their size, which detects an incomplete copy.
CHECKED_AT_LOAD = 16 * 2**20  # bytes

Action = Literal["dropped", "mended", "reported", "kept", "cut"]


@dataclass(frozen=True, kw_only=True)
class FindingExample:
    """A pair found by a check, with its `file` and `line` in the input.

    The text is normalised and repaired. If a check repairs text, the original is shown where known.
    """

    file: str
    line: Count
    source: str
    target: str

    @property
    def place(self) -> str:
        """The file and the line, for a message."""
        return name_place(self.file, self.line)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of a check: the number of pairs found, the action taken, up to three examples, and the first lines."""

    check: str
    problem: str
    count: Count
    action: Action
    note: str
    examples: tuple[FindingExample, ...]
    lines: dict[str, list[Count]] = dataclasses.field(default_factory=dict)  # by file

    @property
    def effect(self) -> str:
        """The action as messages name it; the file keeps an older word."""
        return "repaired" if self.action == "mended" else self.action


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
    """Consecutive sentences with the same tags; `tags` separates these by spaces."""

    tags: str
    count: Count


@dataclass(frozen=True, kw_only=True)
class TextOrder:
    """The number of training pairs learned with the previous sentence, and the texts that make up dev and test."""

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

    def __repr__(self) -> str:
        return f"Manifest({self.direction}, {format_count(self.counts.kept, 'pair')})"

    @property
    def direction(self) -> str:
        """The languages, including those that only tags name: `eng -> deu, nld`."""
        sides = []
        for language, purpose in ((self.source_language, TagPurpose.SOURCE), (self.target_language, TagPurpose.TARGET)):
            others = [tag.value for tag in map(parse_tag_name, self.tags) if tag.kind is purpose]
            sides.append(", ".join(dict.fromkeys((language, *others))))
        return " -> ".join(sides)

    @property
    def has_joint_vocabulary(self) -> bool:
        """Whether both languages share one vocabulary; the target may use only its beginning."""
        return self.source.files == (JOINT_NAME,)

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Reads the manifest in `directory`. Raises NotFoundError if it is missing, DamagedError if it is invalid."""
        path = directory / MANIFEST_NAME
        if not path.is_file():
            raise NotFoundError(
                f"there is no prepared corpus in {directory}/",
                hint=f"prepare your sentence pairs: `{list_preparations()[0]}`; or name a prepared corpus with --data",
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

    def check(self, directory: Path) -> None:
        """Raises DamagedError naming the first missing or changed output; checks only the size of large ones."""
        for name, record in self.outputs.items():
            path = directory / name
            if not path.is_file():
                raise describe_damage(path, "is missing")
            if path.stat().st_size != record.bytes:
                size = format_count(path.stat().st_size, "byte")
                raise describe_damage(path, f"has {size} instead of {record.bytes:,}")
            if record.bytes <= CHECKED_AT_LOAD and files.hash_file(path) != record.sha256:
                raise describe_damage(path, "was changed after it was written")


def describe_damage(path: Path, problem: str) -> DamagedError:
    """Returns the error about a damaged file of a prepared directory."""
    return DamagedError(f"{path} {problem}", hint="run `nmt prepare` again with --force")
