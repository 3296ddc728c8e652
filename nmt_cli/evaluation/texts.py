"""Reads the sentences to score from files of lines, or from a split of a prepared corpus.

Must not know metrics or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.errors import DataError
from nmt_cli.evaluation.sides import STDIN as STDIN
from nmt_cli.evaluation.sides import SideRole, read_side
from nmt_cli.files import require_file
from nmt_cli.formats import require_use
from nmt_cli.languages.codes import is_same_language
from nmt_cli.text.sniffing import HEAD, recognise_format
from nmt_cli.text.stream import decode_lines
from nmt_cli.text.tags import TagSet
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus

UNKNOWN = ("source", "target", "")  # what a card calls a language that it does not know


@dataclass(frozen=True)
class DeclaredLanguage:
    """The language that a file declares for its sentences."""

    path: Path
    role: SideRole
    code: str


@dataclass(frozen=True)
class ParallelText:
    """Lines with their references. The lines are sources to translate, or hypotheses to score."""

    lines: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]  # one tuple per line, all of the same length
    languages: tuple[DeclaredLanguage, ...] = ()  # of those files that declare one
    tags: tuple[TagSet, ...] = ()  # of each line; empty if no line has any
    text_sizes: tuple[int, ...] = ()  # of the texts that the lines are, in order; empty if their order means nothing


def read_sentences(path: Path) -> list[str]:
    """Returns the lines of a UTF-8 file, split only at line feeds; a carriage return before one is dropped.

    Other line ends of Unicode (U+2028, U+0085, ...) stay inside their sentence: splitting there would shift all later
    lines. Raises NotFoundError, and DataError naming the line with invalid UTF-8.
    """
    with require_file(path).open("rb") as file:
        require_use(recognise_format(path, file.peek(HEAD)[:HEAD]), "score", str(path))
        lines = list(decode_lines(file, str(path)))
    return [line.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}") for line in lines[:1]] + lines[1:]  # byte order mark


def read_lines_of(path: Path, role: SideRole) -> list[str]:
    """Returns the sentences of a side in any format."""
    return read_side(path, role).columns[0]


def read_files(lines: Path, references: Sequence[Path], role: SideRole = "hypothesis") -> ParallelText:
    """Reads a file of sentences and their references, from files with as many sentences.

    Raises DataError if the numbers of lines differ, naming both, or if the files are empty.
    """
    side = read_side(lines, role)
    sentences = side.columns[0]
    columns: list[list[str]] = []
    languages = [DeclaredLanguage(lines, role, side.language)]
    for path in references:
        reference = read_side(path, "reference").align(side.keys, path)
        check_count(lines, len(sentences), path, len(reference.columns[0]))
        columns += reference.columns
        languages.append(DeclaredLanguage(path, "reference", reference.language))
    if not sentences:
        raise DataError(f"{lines} is empty: there is no sentence to score")
    declared = tuple(language for language in languages if language.code)
    return ParallelText(tuple(sentences), tuple(zip(*columns, strict=True)), declared)


def list_language_warnings(declared: Sequence[DeclaredLanguage], model: tuple[str, str] | None) -> list[str]:
    """Returns a message per file in a language other than the model's or, without a model, than the first file's."""
    warnings = []
    for language in declared:
        others = [other for other in declared if (other.role == "source") == (language.role == "source")]
        expected = others[0].code if model is None else model[language.role != "source"]
        if expected not in UNKNOWN and not is_same_language(language.code, expected):
            other = (
                f"{others[0].path} is in {expected}" if model is None else f"the model translates {' -> '.join(model)}"
            )
            warnings.append(f"{language.path} is in {language.code}, but {other}")
    return warnings


def check_count(name: Path | str, lines: int, other: Path | str, count: int) -> None:
    """Raises DataError, naming both numbers, unless the two files have the same number of lines."""
    if lines != count:
        raise DataError(
            f"{name}: {format_count(lines, 'line')}, {other}: {count:,}",
            hint="the files must have one sentence per line, in the same order",
        )


def read_split(corpus: PreparedCorpus, split: str) -> ParallelText:
    """Reads the "dev" or "test" split: each source with its reference; each picture once, with all its captions.

    Raises DataError if the split is empty.
    """
    sentences = corpus.read_references(split)
    if not sentences:
        raise DataError(
            f"the {split} split is empty: there is no sentence to score",
            hint=f"prepare the corpus with a {split} split, or give files with --source and --reference",
        )
    return ParallelText(
        tuple(sentence.source for sentence in sentences),
        tuple(sentence.references for sentence in sentences),
        tags=tuple(sentence.tags for sentence in sentences) if corpus.manifest.tags else (),
        text_sizes=corpus.read_text_sizes(split),
    )
