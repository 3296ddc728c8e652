"""`dataset.json`: what a prepared corpus is made of, from what, how, and the checksums of its files.

Holds no time, no machine and no path, so that the same input, options and seed give the same bytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from nmt_cli import files
from nmt_cli.errors import DamagedError, NotFoundError, OptionError
from nmt_cli.text.tokenizer_settings import TokenizerSettings

NAME = "dataset.json"
FORMAT = 1
JOINT = "joint.spm"  # subwords of both languages, those of the target first; `target.spm`, if any, has only these
CUT = "source-length"  # the finding that tells which sources were cut
SPLITS = ("train", "dev", "test")

# Up to this size a file is checked by SHA-256 whenever the corpus is loaded, which takes at most some 10 ms a file;
# larger ones by their size, which finds the cut-off copy, and by SHA-256 in `PreparedCorpus.verify`.
CHECKED_AT_LOAD = 16 * 2**20  # bytes


Action = Literal["dropped", "mended", "reported", "kept", "cut"]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A pair that a check found; `file` and `line` are those of the input.

    The text is normalised and mended; of a check that mends, as it was before, where that is known.
    """

    file: str
    line: int
    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check found: how many pairs, what was done with them, and three of them."""

    check: str
    problem: str
    count: int
    action: Action
    note: str
    examples: tuple[Example, ...]

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        return cls(**{**values, "examples": tuple(Example(**example) for example in values["examples"])})


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Pairs. `read` is `kept` and all of `dropped` together; `kept` and `repeated` are all of `splits` together."""

    read: int
    kept: int
    dropped: dict[str, int]  # by reason
    splits: dict[str, int]
    repeated: int  # times that pairs stand in train once more, because of the weight of their input
    more_columns: int  # lines with a third column, which was ignored


@dataclass(frozen=True, kw_only=True)
class LeakReport:
    """How many groups of connected sentences there are, and what a split by rows would have leaked (shares, 0 to 1)."""

    groups: int
    largest_group: int  # pairs
    test_sources_by_rows: float
    test_targets_by_rows: float


@dataclass(frozen=True, kw_only=True)
class Subwords:
    """The subwords of one language."""

    file: str
    vocabulary: int
    pieces_per_word: float  # on train
    unknown_share: float  # of the pieces of dev and test, 0 to 1
    coverage: float  # share of the characters of dev and test that are in pieces, 0 to 1; others become bytes
    longest: int  # pieces of the longest sentence of train
    longest_of_99_percent: int  # pieces; one sentence in a hundred of train is longer


@dataclass(frozen=True, kw_only=True)
class Features:
    """The pictures on the source side."""

    pictures: int  # different ones
    regions: int  # of the picture with most
    fewest_regions: int
    depth: int  # numbers of a region


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        return cls(bytes=path.stat().st_size, sha256=files.sha256(path))


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The content of dataset.json."""

    format: int
    source_language: str
    target_language: str
    tokenizer: TokenizerSettings
    counts: Counts
    leak: LeakReport
    findings: tuple[Finding, ...]
    source: Subwords | Features
    target: Subwords
    options: dict[str, Any]
    inputs: dict[str, FileRecord]
    outputs: dict[str, FileRecord]
    tools: dict[str, str]

    @property
    def joint(self) -> bool:
        """Whether both languages share one vocabulary, the target perhaps its beginning alone."""
        return isinstance(self.source, Subwords) and self.source.file == JOINT

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Raises NotFoundError if there is none in `directory`, DamagedError if it is not one of ours."""
        path = directory / NAME
        if not path.is_file():
            raise NotFoundError(
                f"there is no prepared corpus in {directory}/",
                hint="make one with `nmt prepare corpus.tsv`, or say where it is with --data",
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            written = values["format"]
            if written == FORMAT:
                return cls.from_mapping(values)
        except (ValueError, KeyError, TypeError, AttributeError, OptionError) as error:
            raise DamagedError(f"{path} is damaged: {error}", hint="run `nmt prepare` again with --force") from error
        raise DamagedError(
            f"{path} has format {written}; this version of nmt reads format {FORMAT}",
            hint="run `nmt prepare` again with --force",
        )

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """From parsed JSON. Raises KeyError, TypeError, ValueError or OptionError for any other shape."""
        nested = {
            "tokenizer": TokenizerSettings(**values["tokenizer"]),
            "counts": Counts(**values["counts"]),
            "leak": LeakReport(**values["leak"]),
            "findings": tuple(Finding.from_mapping(finding) for finding in values["findings"]),
            "source": (Features if "depth" in values["source"] else Subwords)(**values["source"]),
            "target": Subwords(**values["target"]),
            "inputs": {name: FileRecord(**record) for name, record in values["inputs"].items()},
            "outputs": {name: FileRecord(**record) for name, record in values["outputs"].items()},
        }
        manifest = cls(**{**values, **nested})
        for name in manifest.outputs:
            if Path(name).name != name:
                raise ValueError(f"{name!r} is no file name")
        return manifest

    def write(self, directory: Path) -> None:
        files.write_json(directory / NAME, dataclasses.asdict(self))

    @property
    def cut(self) -> Finding | None:
        """The sources that were cut at `--max-source-length`, if any."""
        return next((finding for finding in self.findings if finding.check == CUT), None)

    @property
    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 over the names and checksums of the outputs: identifies the data."""
        lines = (f"{record.sha256}  {name}\n" for name, record in sorted(self.outputs.items()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def check(self, directory: Path, *, everything: bool = False) -> None:
        """Raises DamagedError naming the first output that is missing or not as it was written.

        Large files are compared by size only, unless `everything` is asked for.
        """
        for name, record in self.outputs.items():
            path = directory / name
            if not path.is_file():
                raise damaged(path, "is missing")
            if path.stat().st_size != record.bytes:
                raise damaged(path, f"has {path.stat().st_size:,} bytes instead of {record.bytes:,}")
            if (everything or record.bytes <= CHECKED_AT_LOAD) and files.sha256(path) != record.sha256:
                raise damaged(path, "was changed after it was written")


def damaged(path: Path, how: str) -> DamagedError:
    return DamagedError(f"{path} {how}", hint="run `nmt prepare` again with --force")
