"""Reads the sentences to score from files of lines, or from a split of a prepared corpus.

Must not know metrics or models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from nmt_cli.errors import DataError
from nmt_cli.files import require_file
from nmt_cli.formats import FileFormat, name_place, require_use
from nmt_cli.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.formats.jsonl import parse_json
from nmt_cli.formats.sniffing import HEAD, find_column, is_name, recognise_format
from nmt_cli.formats.tables import HEAD_LINES, find_delimiter, read_csv_records, take_separator
from nmt_cli.languages.codes import is_same_language
from nmt_cli.text.streams import decode_lines
from nmt_cli.text.tags import TagSet
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from nmt_cli.corpus.dataset import PreparedCorpus


# Reads one side of an evaluation (sources, hypotheses or references) from a file of any scored format.
#
# `FILE:COLUMN` names the column of a table, the key of JSON Lines, or the translator or system of a WMT test set.


SideRole = Literal["source", "hypothesis", "reference"]

STDIN = Path("-")
WITHOUT_COLUMNS = ("text", "sgm", "xliff")
KEYS: dict[SideRole, tuple[str, ...]] = {  # under which JSON Lines usually have a side
    "source": ("source", "src", "input"),
    "hypothesis": ("hypothesis", "hyp", "translation", "mt", "output"),
    "reference": ("reference", "ref", "target", "tgt", "trg"),
}


@dataclass(frozen=True)
class SideText:
    """The sentences of a side by column; only references may have several columns. `keys` name them in test sets."""

    columns: list[list[str]]
    keys: list[str] | None = None
    language: str = ""  # that the file declares

    def align(self, keys: Sequence[str] | None, where: Path) -> SideText:
        """Returns the same side in the order of these keys. Raises DataError if its segments differ."""
        if keys is None or self.keys is None or list(keys) == self.keys:
            return self
        if sorted(keys) != sorted(self.keys):
            lonely = sorted(set(keys) ^ set(self.keys))
            raise DataError(
                f"{where}: its segments differ from those of the other file, for instance {' '.join(lonely[:3])}",
                hint="all files must come from the same test set",
            )
        rows = [dict(zip(self.keys, range(len(self.keys)), strict=True))[key] for key in keys]
        return SideText([[column[row] for row in rows] for column in self.columns], list(keys), self.language)


def split_column(path: Path) -> tuple[Path, str | None]:
    """Splits `FILE:COLUMN` into file and column; a file name that itself contains a colon is not split."""
    name, _, column = str(path).rpartition(":")
    is_input = name == str(STDIN) or (name != "" and Path(name).exists())
    return (Path(name), column) if column and is_input and not path.exists() else (path, None)


def read_side(path: Path, role: SideRole) -> SideText:
    """Reads a side. Raises NotFoundError, and DataError naming the invalid line."""
    file, column = split_column(path)
    format, lines = open_lines(file)
    if column is not None and format.name in WITHOUT_COLUMNS:
        raise DataError(f"{file} is {format.title}, which has no columns", hint=f"leave out :{column}")
    if format.name == "text":
        return SideText([lines])
    if format.name in ("tsv", "csv"):
        return read_table(file, lines, role, column, is_csv=format.name == "csv")
    readers = {"jsonl": read_json_lines, "sgm": read_sgm}
    if format.name in readers:
        return readers[format.name](file, lines, role, column)
    return read_wmt(file, role, column) if format.name == "wmt" else read_xliff(file, role)


def open_lines(path: Path) -> tuple[FileFormat, list[str]]:
    """Returns the format and lines of a file or of standard input, split only at line feeds.

    Other Unicode line ends (U+2028, U+0085, ...) stay inside their sentence: splitting there would shift all later
    lines. Raises NotFoundError if the file is missing, and DataError for other formats or, naming the line, for invalid
    UTF-8.
    """
    name = "standard input" if path == STDIN else str(path)
    with open(0 if path == STDIN else require_file(path), "rb", closefd=path != STDIN) as file:
        format = require_use(recognise_format(None if path == STDIN else path, file.peek(HEAD)[:HEAD]), "score", name)
        if format.name in ("wmt", "xliff"):
            return format, []
        lines = list(decode_lines(file, name))
    return format, [line.removeprefix("\ufeff") for line in lines[:1]] + lines[1:]  # byte order mark


def read_table(path: Path, lines: list[str], role: SideRole, column: str | None, *, is_csv: bool) -> SideText:
    """Reads a column of a table; by default the only column, or all columns if they are references."""
    numbered = parse_csv(path, lines) if is_csv else dict(enumerate((line.split("\t") for line in lines), start=1))
    rows = list(numbered.values())
    if column is not None:
        index = find_column(column, rows[0] if rows and is_name(column) else None, 0, str(path))
        body = rows[1:] if is_name(column) else rows
        for number, row in list(numbered.items())[len(rows) - len(body) :]:
            if len(row) <= index:
                refuse_row(path, number, f"there is no column {index + 1}")
        return SideText([[row[index] for row in body]])
    width = len(rows[0]) if rows else 1
    for number, row in numbered.items():
        if len(row) != width:
            hint = "each column of a .tsv is one reference for every sentence"
            refuse_row(path, number, f"{format_count(len(row), 'column')}, but the rows before it have {width}", hint)
    if role != "reference" and width > 1:
        shown = ", ".join(cell[:20] for cell in rows[0][:6])
        raise DataError(
            f"{path} has {width} columns: {shown}", hint=f"choose a column: {path}:1, or its name in the first line"
        )
    return SideText([list(column_cells) for column_cells in zip(*rows, strict=True)] if rows else [[]])


def parse_csv(path: Path, lines: list[str]) -> dict[int, list[str]]:
    """Returns the numbered rows of a table with quoted cells, replacing line breaks within cells with spaces.

    A blank line is an empty text in a single-column table, and is skipped in any other.
    """
    numbered = list(enumerate((f"{line}\n" for line in lines), start=1))
    delimiter = take_separator(numbered) or find_delimiter([line for _, line in numbered[:HEAD_LINES]])
    rows = {row.number: row.fields for row in read_csv_records(numbered, delimiter, partial(refuse_row, path))}
    if all(len(row) < 2 for row in rows.values()):
        rows = {number: row or [""] for number, row in rows.items()}
    return {number: [" ".join(cell.split("\n")).strip() for cell in row] for number, row in rows.items() if row}


def read_json_lines(path: Path, lines: list[str], role: SideRole, column: str | None) -> SideText:
    """Reads the texts under a key, or under the usual keys of the role."""
    texts = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        value: Any = parse_json(number, line, partial(refuse_row, path))
        keys = KEYS[role] if column is None else (column,)
        held = value if isinstance(value, dict) else {}
        inner = held.get("translation")
        nested: dict[str, Any] = inner if isinstance(inner, dict) else {}
        candidates = (held.get(key, nested.get(key)) for key in keys)
        text = next((candidate for candidate in candidates if isinstance(candidate, str)), None)
        if text is None:
            known = ", ".join(list({**held, **nested})[:10])
            problem = f"no text under {' or '.join(map(repr, keys))}"
            refuse_row(path, number, problem, f"name a key: {path}:KEY, of {known}")
        texts.append(text)
    return SideText([texts])


def read_sgm(path: Path, lines: list[str], role: SideRole, column: str | None) -> SideText:
    from nmt_cli.formats.testsets import read_segments  # of test sets alone

    declared = dict.fromkeys(("srclang", "trglang"), "")
    segments = list(read_segments(enumerate((f"{line}\n" for line in lines), start=1), str(path), declared))
    language = declared["srclang" if role == "source" else "trglang"]
    texts, keys = [segment.text for segment in segments], [segment.key for segment in segments]
    return SideText([texts], keys, language if language != "any" else "")


def read_wmt(path: Path, role: SideRole, column: str | None) -> SideText:
    """Reads the sources, the references of each translator or of one, or the hypotheses of a system."""
    from nmt_cli.formats.testsets import WmtReader, read_sides  # of test sets alone

    tag, attribute = {"source": ("src", ""), "reference": ("ref", "translator"), "hypothesis": ("hyp", "system")}[role]
    texts: dict[str, dict[str, str]] = {}
    language = ""
    reader = WmtReader(CorpusFile(path), ReadOptions())
    for unit in reader.read_units():
        sides: Iterator[Element] = unit.element.iterfind(tag)
        for side in sides:
            name = side.get(attribute, "") if attribute else ""
            language = language or side.get("lang", "")
            document = unit.element.get("id", str(unit.line))
            texts.setdefault(name, {}).update({f"{document} {key}": text for key, text in read_sides(side).items()})
    if column is not None:
        texts = {name: text for name, text in texts.items() if name == column}
    if not texts or (role != "reference" and len(texts) > 1):
        names = ", ".join(sorted(texts)) or "none"
        raise DataError(
            f"{path}: there is no {role}, or more than one", hint=f"use {path}:NAME; names in the file: {names}"
        )
    keys = list(next(iter(texts.values())))
    return SideText([[text.get(key, "") for key in keys] for text in texts.values()], keys, language)


def read_xliff(path: Path, role: SideRole) -> SideText:
    """Reads the sources of a file, or its translations."""
    from nmt_cli.formats.exchange import XliffReader  # which few runs need

    reader = XliffReader(CorpusFile(path), ReadOptions())
    rows = list(reader)
    side = int(role != "source")
    texts = [(row.source, row.target)[side] for row in rows]
    return SideText([texts], language=(reader.languages or ("", ""))[side])


def refuse_row(path: Path, number: int, problem: str, hint: str = "") -> NoReturn:
    raise DataError(f"{name_place(str(path), number)}: {problem}", hint=hint)


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


def read_lines_of(path: Path, role: SideRole) -> list[str]:
    """Returns the sentences of a side in any format."""
    return read_side(path, role).columns[0]


def read_files(lines: Path, references: Sequence[Path], role: SideRole = "hypothesis") -> ParallelText:
    """Reads a file of sentences, and their references from files with equally many.

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
        raise DataError(
            f"{lines} is empty: there is no sentence to score", hint="name a file with a sentence on each line"
        )
    declared = tuple(language for language in languages if language.code)
    return ParallelText(tuple(sentences), tuple(zip(*columns, strict=True)), declared)


def list_language_warnings(declared: Sequence[DeclaredLanguage], model: tuple[str, str] | None) -> list[str]:
    """Returns a message for each file in a language other than the model's or, without a model, the first file's."""
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
