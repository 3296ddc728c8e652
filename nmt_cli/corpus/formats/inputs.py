"""The inputs (a file, two parallel files or standard input, with a weight) and how to read them.

Knows no format. Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nmt_cli.errors import OptionError
from nmt_cli.files import require_file
from nmt_cli.formats import BY_NAME

STDIN = Path("-")
# `=2`, `=train` or both: `=2=train`
INPUT_SUFFIX = re.compile(r"(?P<name>.+?)(?:=(?P<weight>\d+(?:\.\d+)?|\.\d+))?(?P<train>=train)?")
MAXIMUM_WEIGHT = 1_000


@dataclass(frozen=True)
class CorpusFile:
    """A file of pairs, or a file of sources with the parallel file `target`; `-` is standard input.

    `weight` is how often each pair occurs in train: 2 is twice, 0.5 is every other pair, chosen at random.
    """

    path: Path
    target: Path | None = None
    weight: float = 1.0
    training_only: bool = False  # no pair of it is drawn for dev or test

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,) if self.target is None else (self.path, self.target)

    @property
    def name(self) -> str:
        """The name in messages, as typed by the user."""
        return " + ".join("standard input" if path == STDIN else str(path) for path in self.files)

    @property
    def is_file(self) -> bool:
        return STDIN not in self.files


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How files are read. Columns are names, or numbers from 1; languages are codes like "en" or "pt-BR"."""

    format: str | None = None
    encoding: str | None = None
    source_column: str | None = None
    target_column: str | None = None
    group_columns: tuple[str, ...] = ()  # the first that a file has says what its pairs belong to, such as a page
    source_language: str | None = None
    target_language: str | None = None
    one_side: bool = False  # text of one language is read: a table may have a single column
    finds_text: bool = True  # columns of text are found by a look at their content, which names of pictures are not


def parse_input(text: str) -> CorpusFile:
    """Parses `corpus.tsv`, `corpus.tsv=2` (with a weight), `corpus.tsv=train` (for training only), or `-`.

    `train.en,train.de` are parallel files. A file whose name is the whole text takes precedence. Raises OptionError for
    a weight out of range.
    """
    match = None if Path(text).exists() else INPUT_SUFFIX.fullmatch(text)
    name, weight, training_only = text, 1.0, False
    if match is not None:
        name, weight, training_only = match["name"], float(match["weight"] or 1), match["train"] is not None
    if not 0 < weight <= MAXIMUM_WEIGHT:
        raise OptionError(f"{text}: a weight is greater than 0 and at most {MAXIMUM_WEIGHT:,}")
    first, comma, second = name.partition(",")
    if comma and not Path(name).exists() and second:
        return CorpusFile(Path(first), Path(second), weight, training_only)
    return CorpusFile(Path(name), None, weight, training_only)


def require_input(file: CorpusFile) -> None:
    """Raises NotFoundError for a missing file, OptionError if both sides are standard input."""
    if file.target == STDIN and file.path == STDIN:
        raise OptionError("standard input cannot be both sides", hint="give one of them as a file")
    for path in file.files:
        if path != STDIN and not (file.target is not None and list_books(path)):
            require_file(path)


def list_books(folder: Path) -> list[Path]:
    """Returns the USFM files of a Bible in a folder, by name; empty for anything else."""
    if not folder.is_dir():
        return []
    extensions = BY_NAME["usfm"].extensions
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in extensions and path.is_file())
