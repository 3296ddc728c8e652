"""The input files on the command line, with their weights and tags, and the options for reading them.

Does not depend on formats. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from nmt_cli.errors import OptionError
from nmt_cli.files import require_file
from nmt_cli.formats import BY_NAME
from nmt_cli.text.tags import TAG_FORM, TagSet, merge_tags, parse_typed_tag

STDIN = Path("-")
NO_COLUMN = "none"  # the value of --target-language-column that asks for none
WEIGHT, TRAIN = r"\d+(?:\.\d+)?|\.\d+", "train"
# Any of `=2`, `=train` and tags: `=2=train`, `=ui`, `=to:nld=ui`.
INPUT_SUFFIX = re.compile(rf"(?P<name>.+?)(?P<suffixes>(?:=(?:{WEIGHT}|{TAG_FORM.pattern}))*)")
MAXIMUM_WEIGHT = 1_000


@dataclass(frozen=True)
class CorpusFile:
    """A file of pairs, or a file of sources with the parallel file `target`; `-` is standard input.

    `weight` is how often each pair occurs in train: 2 is twice; 0.5 is half of the pairs, chosen at random.
    """

    path: Path
    target: Path | None = None
    weight: float = 1.0
    training_only: bool = False  # no pair of it is drawn for dev or test
    tags: TagSet = ()  # of each of its pairs

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
    tag_column: str | None = None  # holds the tags of each pair
    language_column: str | None = None  # holds the language of each target; "none": no column does
    finds_languages: bool = False  # whether a column of languages is found by its heading or its values
    source_language: str | None = None
    target_language: str | None = None
    one_side: bool = False  # text of one language is read: a table may have a single column
    has_comments: bool = False  # whether a row of a table that begins with # says nothing
    keeps_codes: bool = False  # whether the codes of inline elements stay in texts (`formats.exchange.drop_codes`)
    finds_text: bool = True  # columns of text are found by a look at their content, which names of pictures are not

    @property
    def languages(self) -> tuple[str | None, str | None]:
        return self.source_language, self.target_language

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The columns that the options name but that hold no text."""
        language = self.language_column if self.language_column != NO_COLUMN else None
        return (*self.group_columns, *filter(None, (self.tag_column, language)))


def parse_input(text: str) -> CorpusFile:
    """Parses `corpus.tsv`, or `-`, with a weight (`=2`), `=train` (for training only) and tags (`=ui`), if any.

    `train.en,train.de` are parallel files. A file whose name is the whole text takes precedence. Raises OptionError for
    a weight out of range, and for two tags of one kind.
    """
    match = None if Path(text).exists() else INPUT_SUFFIX.fullmatch(text)
    name, suffixes = (text, []) if match is None else (match["name"], match["suffixes"].split("=")[1:])
    weights = [float(suffix) for suffix in suffixes if re.fullmatch(WEIGHT, suffix)]
    tags = [suffix for suffix in suffixes if suffix != TRAIN and not re.fullmatch(WEIGHT, suffix)]
    weight = weights[-1] if weights else 1.0
    if not 0 < weight <= MAXIMUM_WEIGHT:
        message = f"{text}: a weight must be greater than 0 and at most {MAXIMUM_WEIGHT:,}"
        raise OptionError(message, hint=f"add a number after the name, such as {name}=2")
    first, comma, second = name.partition(",")
    file = CorpusFile(Path(name), None, weight, TRAIN in suffixes, merge_tags(map(parse_typed_tag, tags)))
    are_two = bool(comma and not Path(name).exists() and second)
    return replace(file, path=Path(first), target=Path(second)) if are_two else file


def list_typed_files(names: Iterable[str]) -> list[Path]:
    """Returns all files that the inputs name: both parallel files, the books in a folder, but not standard input."""
    paths = (path for name in names for path in parse_input(name).files if path != STDIN)
    return [file for path in paths for file in list_books(path) or [path]]


def require_input(file: CorpusFile) -> None:
    """Raises NotFoundError for a missing file, and OptionError if both sides are standard input."""
    if file.target == STDIN and file.path == STDIN:
        raise OptionError("standard input cannot be both sides", hint="give one of them as a file")
    for path in file.files:
        if path != STDIN and not (file.target is not None and list_books(path)):
            require_file(path)


def list_books(folder: Path) -> list[Path]:
    """Returns the USFM files of a Bible in a folder, sorted by name; empty for anything else."""
    if not folder.is_dir():
        return []
    extensions = BY_NAME["usfm"].extensions
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in extensions and path.is_file())
