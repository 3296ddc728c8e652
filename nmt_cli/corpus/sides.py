"""What the sides of a prepared corpus are: their entries in `dataset.json`, which answer for their kind.

A target is text, a source text or pictures; no reader of a corpus asks which. Letters: R regions, D depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, NoReturn, Protocol, Self

from nmt_cli.errors import OptionError
from nmt_cli.records import Count, FileName, Range, Share
from nmt_cli.sources.images import Grids
from nmt_cli.sources.rows import Sentences, SourceRows
from nmt_cli.sources.source import Source
from nmt_cli.text.tags import TagSet
from nmt_cli.text.wrapping import format_count

JOINT_NAME = "joint.spm"  # the subwords of both languages, the target's first; `target.spm`, if any, has only these
ALL_KNOWN = "every character can be encoded"


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


class OpenCorpus(Protocol):
    """A prepared corpus that opens its sources, of either kind."""

    def open_texts(self) -> Source: ...

    def open_pictures(self, depth: int) -> Source: ...


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

    def open_source(self, corpus: OpenCorpus) -> Source:
        """Returns the sources of a corpus, as a model trained on it must read them."""
        return corpus.open_texts()

    def select_texts(self, sources: Sequence[str]) -> Sequence[str]:
        """Returns those of the sources, as they are named in the pairs, that are text: all."""
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
        """Returns what `nmt prepare` says about the sources besides their subwords: nothing."""
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

    def describe_subwords(self, target: SubwordStatistics, kind: str) -> str:
        """Returns one line with the size and kind of the vocabulary, and how well it fits."""
        size = f"{self.vocabulary:,} and {target.vocabulary:,},"
        if self.file == JOINT_NAME:
            for_target = "" if self.file == target.file else f" ({target.vocabulary:,} for the target)"
            size = f"{self.vocabulary:,}{for_target}, joint"
        fit = f"{self.pieces_per_word:.1f} per source word, {target.pieces_per_word:.1f} per target word"
        unknown = f"unknown in dev and test: {self.unknown_share:.1%} of source, {target.unknown_share:.1%} of target"
        return f"{size} {kind}; {fit}; {unknown if self.unknown_share or target.unknown_share else ALL_KNOWN}"


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

    def open_source(self, corpus: OpenCorpus) -> Source:
        """Returns the sources of a corpus, as a model trained on it must read them."""
        return corpus.open_pictures(self.depth)

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
        """Returns nothing, since the line about the pictures says all."""
        return []

    def describe_subwords(self, target: SubwordStatistics, kind: str) -> str:
        """Returns one line with the size and kind of the vocabulary of the captions, and how well it fits."""
        unknown = f"unknown in dev and test: {target.unknown_share:.1%}" if target.unknown_share else ALL_KNOWN
        return f"{target.vocabulary:,}, {kind}; {target.pieces_per_word:.1f} per word of a caption; {unknown}"


SourceStatistics = SubwordStatistics | PictureStatistics
