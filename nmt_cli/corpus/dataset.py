"""The prepared directory: how it is made from a file of sentence pairs, and what others read from it.

Silent: what happens is told through a callback, what happened is returned.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli import files
from nmt_cli.corpus.batching import pad
from nmt_cli.corpus.checks import CHECKS, checked_names
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.diagnosis import diagnose, refuse_findings
from nmt_cli.corpus.formats.inputs import Input, parse_input
from nmt_cli.corpus.grids import IMAGE_WEIGHTS, FeatureFiles, FloatArray, Grids, GridSource, PictureReader
from nmt_cli.corpus.manifest import NAME, SPLITS, Features, Manifest, Subwords, damaged
from nmt_cli.corpus.pairs import Role
from nmt_cli.corpus.pictures import CHECKS as CHECKS_OF_CAPTIONS
from nmt_cli.corpus.pictures import find_pictures
from nmt_cli.corpus.preparation import build, drop_near_held_out
from nmt_cli.corpus.ragged import IntArray, Ragged
from nmt_cli.corpus.reading import Inputs, Progress, read_pairs
from nmt_cli.corpus.report import check_report_name, write_report
from nmt_cli.corpus.reuse import borrow
from nmt_cli.corpus.source import Source, SourceArray, TextSource, length_factor_of
from nmt_cli.corpus.split import is_size
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.corpus.tokenizer_settings import TokenizerSettings
from nmt_cli.errors import NmtError, OptionError, OutputError


@dataclass(frozen=True)
class PrepareReport:
    """What `prepare` made."""

    directory: Path
    manifest: Manifest
    seconds: float


class Pair(NamedTuple):
    """A normalised sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Referenced:
    """A source and the targets that it may have."""

    source: str
    references: tuple[str, ...]


class SourceRows(Protocol):
    """The N sources of a split."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) positions of each."""
        ...

    def __len__(self) -> int: ...

    def padded(self, rows: IntArray) -> SourceArray:
        """(B, S, ...): what an encoder takes of these rows."""
        ...


class Sentences(Ragged):
    """Sources that are text."""

    def padded(self, rows: IntArray) -> SourceArray:
        return pad(self, rows, end=Tokenizer.END)


@dataclass(frozen=True)
class EncodedSplit:
    """Both sides, row for row the pairs of the split; ids are without start and end."""

    source: SourceRows
    target: Ragged


def prepare(
    source: Path | Input | Sequence[Input],
    directory: Path,
    config: PrepareConfig,
    *,
    replace: bool = False,
    reader: PictureReader | None = None,
    progress: Progress | None = None,
    processes: int = 1,
    report: Path | None = None,
) -> PrepareReport:
    """Makes the prepared corpus `directory` from one or several inputs: all of it, or nothing.

    Raises NotFoundError, DataError, OptionError or OutputError, before anything is written wherever that can be
    known. With `replace`, a prepared corpus that is there already is replaced; anything else never is. With several
    `processes` the work is spread over them, with the same result; the module that calls must then be importable
    without side effects. What the checks found is written to `report` (.html or .json), also when `strict` refuses it.
    """
    started = time.monotonic()
    told = progress or (lambda stage, done, total: None)
    check_report_name(report)
    checked_names(config.keep)  # rather refused now than after the work
    if report is not None and directory.resolve() in report.resolve().parents:
        raise OptionError(f"--report {report} stands in {directory}/, which is made anew", hint="name another place")
    inputs = Inputs(inputs_by_role(source, config), config)
    for each in inputs.inputs:
        for path in each.files:
            check_place(path, directory, replace=replace)
    if config.tokenizer_from is not None:
        borrowed = borrow(Path(config.tokenizer_from), config.tokenizer_settings)
        borrowed.files_of(config.sides)
        borrowed.refuse_others(config)
    pairs = read_pairs(inputs, config, told, processes=processes)
    pictures = None
    if config.source_type != "text":
        pictures = find_pictures(pairs, inputs, reader or FeatureFiles(), told)
    checks = None if pictures is None else CHECKS_OF_CAPTIONS
    findings = diagnose(pairs, config, lambda done: told("checking", done, len(CHECKS)), checks)
    findings += drop_near_held_out(pairs, config)
    if report is not None and config.strict:
        write_report(report, findings, None)
    if config.strict:
        refuse_findings(findings)
    try:
        with files.staged_directory(directory, replace=replace) as staged:
            manifest = build(pairs, findings, inputs, pictures, staged, config, told)
    except OSError as error:
        error.filename = str(directory)  # a full disk names none, and the staged directory's name says nothing
        raise
    if report is not None:
        write_report(report, manifest.findings, manifest)
    return PrepareReport(directory, manifest, time.monotonic() - started)


def inputs_by_role(source: Path | Input | Sequence[Input], config: PrepareConfig) -> dict[Role, list[Input]]:
    """The inputs of the corpus, and those that were given for dev and test."""
    if isinstance(source, Path):
        source = Input(source)
    given: dict[Role, list[Input]] = {"train": [source] if isinstance(source, Input) else list(source)}
    if config.dev is not None and not is_size(config.dev):
        given["dev"] = [parse_input(config.dev)]
    if config.test is not None and not is_size(config.test):
        given["test"] = [parse_input(config.test)]
    return given


def check_place(source: Path, directory: Path, *, replace: bool) -> None:
    """Raises OutputError if a prepared corpus cannot or must not be written at `directory`."""
    if directory.is_dir() and any(directory.iterdir()) and not (directory / NAME).is_file():
        raise OutputError(
            f"{directory}/ holds something other than a prepared corpus", hint="name another directory with --data"
        )
    files.refuse_to_overwrite(directory, replace=replace)
    if directory.is_dir() and directory.resolve() in source.resolve().parents:
        raise OutputError(f"{source} stands in {directory}/, which is to be replaced", hint="move the file out first")
    foreign = others_in(directory)
    if foreign:
        raise OutputError(
            f"{directory}/ is to be replaced, and holds {foreign[0]} too, which is not of the prepared corpus",
            hint="move it out first, or name another directory with --data",
        )
    target = Path(os.path.realpath(directory))  # of a link, whose target is replaced
    parent = next(place for place in target.parents if place.exists())
    if not parent.is_dir():
        raise OutputError(f"{directory}/ cannot be made: {parent} is a file", hint="name another place with --data")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"{directory}/ cannot be made: no permission to write in {parent}/",
            hint="name a place that is yours with --data",
        )


def others_in(directory: Path) -> list[str]:
    """What stands in a prepared directory and was not prepared; nothing of a damaged one, and no hidden files."""
    try:
        known = {NAME, *(Path(name).parts[0] for name in Manifest.read(directory).outputs)}
    except NmtError:
        return []
    return sorted(path.name for path in directory.iterdir() if path.name not in known and not path.name.startswith("."))


@dataclass(frozen=True)
class PreparedCorpus:
    """A prepared directory, checked. Text and ids are read when they are asked for."""

    directory: Path
    manifest: Manifest

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Raises NotFoundError when there is none, DamagedError naming the file that is not as it was written."""
        manifest = Manifest.read(directory)
        manifest.check(directory)
        return cls(directory, manifest)

    def verify(self) -> None:
        """Compares every byte with the checksums. Raises DamagedError naming the file that differs."""
        self.manifest.check(self.directory, everything=True)

    @property
    def source_language(self) -> str:
        return self.manifest.source_language

    @property
    def target_language(self) -> str:
        return self.manifest.target_language

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digest that identifies the data, whatever the directory's name."""
        return self.manifest.fingerprint

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        return self.manifest.tokenizer

    @property
    def joint(self) -> bool:
        """Whether an id means the same on both sides."""
        return self.manifest.joint

    @property
    def has_pictures(self) -> bool:
        """Whether the sources are pictures, and not text."""
        return isinstance(self.manifest.source, Features)

    @property
    def tokenizer_files(self) -> dict[str, Path]:
        """By role: "joint", to which "target" may be added, or "source" and "target"."""
        sides = (self.manifest.source, self.manifest.target)
        names = dict.fromkeys(side.file for side in sides if isinstance(side, Subwords))
        return {Path(name).stem: self.directory / name for name in names}

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """By the names of their files, the source's first. Loaded once: the directory may be replaced meanwhile."""
        names = [path.name for path in self.tokenizer_files.values()]
        first = self.target_tokenizer if self.has_pictures else self.source_tokenizer
        return {names[0]: first, names[-1]: self.target_tokenizer}

    @property
    def picture_weights(self) -> Path | None:
        """What a model needs to read pictures; None where the sources are none."""
        return self.directory / IMAGE_WEIGHTS if IMAGE_WEIGHTS in self.manifest.outputs else None

    @cached_property
    def source_tokenizer(self) -> Tokenizer:
        """Raises OptionError where the sources are pictures."""
        if not isinstance(self.manifest.source, Subwords):
            raise OptionError(f"{self.directory}/ has pictures on its source side, and no words to look at")
        return Tokenizer.load(self.directory / self.manifest.source.file, self.tokenizer_settings)

    @cached_property
    def target_tokenizer(self) -> Tokenizer:
        if list(self.tokenizer_files) == ["joint"]:
            return self.source_tokenizer
        return Tokenizer.load(self.directory / self.manifest.target.file, self.tokenizer_settings)

    @cached_property
    def source(self) -> Source:
        """The source side as a model trained on this corpus is to read it."""
        if isinstance(self.manifest.source, Features):
            kind = self.manifest.options["source_type"]
            return GridSource(kind, self.manifest.source.depth, self.stored_pictures())
        train = self.encoded("train")
        length_factor = length_factor_of(train.source.lengths, train.target.lengths)
        return TextSource(self.source_tokenizer, self.manifest.options.get("max_source_length"), length_factor)

    def stored_pictures(self) -> dict[str, FloatArray]:
        """The grid of each picture by the name that the pairs have for it."""
        found: dict[str, FloatArray] = {}
        for split in SPLITS:
            grids = self.encoded(split).source
            if isinstance(grids, Grids):
                numbers = zip(self.pairs(split), grids.pictures.tolist(), strict=True)
                found |= {pair.source: grids.picture(number) for pair, number in numbers}
        return found

    def referenced(self, split: str) -> list[Referenced]:
        """What is to be translated and scored: the pairs, or each picture once with all its captions.

        Pictures with fewer captions than others have theirs again in turn: metrics want as many for each.
        """
        if not self.has_pictures:
            return [Referenced(pair.source, (pair.target,)) for pair in self.pairs(split)]
        captions: dict[str, list[str]] = {}
        for pair in self.pairs(split):
            captions.setdefault(pair.source, []).append(pair.target)
        most = max(map(len, captions.values()), default=0)
        return [Referenced(name, tuple(islice(cycle(own), most))) for name, own in captions.items()]

    def pairs(self, split: str) -> list[Pair]:
        """The sentence pairs of "train", "dev" or "test", in the order of `encoded`."""
        path = self.directory / f"{split}.tsv"
        try:
            with path.open(encoding="utf-8", newline="\n") as lines:
                return [Pair(*line.rstrip("\n").split("\t")) for line in lines]
        except (OSError, UnicodeDecodeError, TypeError) as error:
            raise damaged(path, "cannot be read") from error

    def encoded(self, split: str) -> EncodedSplit:
        """The ids of "train", "dev" or "test", mapped into memory."""
        kind: type[Grids | Sentences] = Grids if self.has_pictures else Sentences
        try:
            source = kind.load(self.directory / f"{split}.source")
            return EncodedSplit(source, Ragged.load(self.directory / f"{split}.target"))
        except (OSError, ValueError) as error:
            raise damaged(self.directory / f"{split}.*.npy", "cannot be read") from error
