"""The sentences that are scored: read from files of lines, or from a split of a prepared corpus.

Must not know metrics or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.errors import DataError
from nmt_cli.files import require_file
from nmt_cli.text.stream import decode_lines

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus


@dataclass(frozen=True)
class ParallelText:
    """Lines, and the references of each: sources yet to be translated, or hypotheses that are ready."""

    lines: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]  # one tuple a line, all of the same length


def read_sentences(path: Path) -> list[str]:
    """The lines of a UTF-8 file, split at line feeds alone; a carriage return before one is dropped.

    Other characters that Unicode counts as line ends (U+2028, U+0085, ...) stay inside their sentence: to split there
    would shift all lines after it. Raises NotFoundError, and DataError with the line that is not UTF-8.
    """
    with require_file(path).open("rb") as file:
        lines = list(decode_lines(file, str(path)))
    return [line.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}") for line in lines[:1]] + lines[1:]  # byte order mark


def read_references(path: Path) -> list[list[str]]:
    """The references in a file: one of each line, or several in the columns of a `.tsv`, column by column.

    Raises DataError for a line with another number of columns than the first.
    """
    lines = read_sentences(path)
    if path.suffix.lower() != ".tsv":
        return [lines]
    rows = [line.split("\t") for line in lines]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DataError(
                f"{path}, line {number:,}: {len(row)} columns, the lines before it have {len(rows[0])}",
                hint="each column of a .tsv is one reference of every sentence",
            )
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[]]


def read_files(lines: Path, references: Sequence[Path]) -> ParallelText:
    """The file's lines with those of each reference file, line for line.

    Raises DataError, naming both counts, when the files differ in length, and when they are empty.
    """
    sentences = read_sentences(lines)
    columns: list[list[str]] = []
    for path in references:
        alternatives = read_references(path)
        check_count(lines, len(sentences), path, len(alternatives[0]))
        columns += alternatives
    if not sentences:
        raise DataError(f"{lines} is empty: there is no sentence to score")
    return ParallelText(tuple(sentences), tuple(zip(*columns, strict=True)))


def check_count(name: Path | str, lines: int, other: Path | str, count: int) -> None:
    """Raises DataError, naming both counts, unless the two files have as many lines."""
    if lines != count:
        raise DataError(
            f"{name}: {lines:,} lines, {other}: {count:,}",
            hint="the files must hold one sentence a line, in the same order",
        )


def read_split(corpus: PreparedCorpus, split: str) -> ParallelText:
    """The "dev" or "test" split: its sources, one reference each; each picture once, with all its captions.

    Raises DataError when it is empty.
    """
    sentences = corpus.read_references(split)
    if not sentences:
        raise DataError(
            f"the {split} split is empty: there is no sentence to score",
            hint=f"prepare the corpus with a {split} split, or name files with --source and --reference",
        )
    return ParallelText(
        tuple(sentence.source for sentence in sentences), tuple(sentence.references for sentence in sentences)
    )
