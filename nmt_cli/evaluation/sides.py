"""Reads one side of an evaluation (sources, hypotheses or references) from a file of any scored format.

`FILE:COLUMN` names the column of a table, the key of JSON Lines, or the translator or system of a WMT test set.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from nmt_cli.errors import DataError
from nmt_cli.files import require_file
from nmt_cli.formats import FileFormat, require_use
from nmt_cli.text.columns import SEPARATOR, find_column, is_name
from nmt_cli.text.sniffing import HEAD, recognise_format
from nmt_cli.text.stream import decode_lines
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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
                f"{where}: other segments than those it is compared with, for instance {' '.join(lonely[:3])}",
                hint="give files of the same test set",
            )
        rows = [dict(zip(self.keys, range(len(self.keys)), strict=True))[key] for key in keys]
        return SideText([[column[row] for row in rows] for column in self.columns], list(keys), self.language)


def split_column(path: Path) -> tuple[Path, str | None]:
    """Splits `FILE:COLUMN` into file and column; a file whose own name has the colon is taken as a whole."""
    name, colon, column = str(path).rpartition(":")
    return (Path(name), column) if colon and column and not path.exists() and Path(name).exists() else (path, None)


def read_side(path: Path, role: SideRole) -> SideText:
    """Reads a side. Raises NotFoundError, and DataError naming the invalid line."""
    file, column = split_column(path)
    format, lines = open_lines(file)
    if column is not None and format.name in WITHOUT_COLUMNS:
        raise DataError(f"{file} is {format.title}, which has no columns", hint=f"leave out :{column}")
    if format.name == "text":
        return SideText([lines])
    readers = {"tsv": read_table, "csv": read_table, "jsonl": read_json_lines, "sgm": read_sgm}
    if format.name in readers:
        return readers[format.name](file, lines, role, column)
    return read_wmt(file, role, column) if format.name == "wmt" else read_xliff(file, role)


def open_lines(path: Path) -> tuple[FileFormat, list[str]]:
    """Returns the format and lines of a file or of standard input. Raises DataError for other formats."""
    name = "standard input" if path == STDIN else str(path)
    with open(0 if path == STDIN else require_file(path), "rb", closefd=path != STDIN) as file:
        format = require_use(recognise_format(None if path == STDIN else path, file.peek(HEAD)[:HEAD]), "score", name)
        if format.name in ("wmt", "xliff"):
            return format, []
        lines = list(decode_lines(file, name))
    return format, [line.removeprefix("\ufeff") for line in lines[:1]] + lines[1:]  # byte order mark


def read_table(path: Path, lines: list[str], role: SideRole, column: str | None) -> SideText:
    """Reads a column of a table; by default the only column, or all columns if they are references."""
    rows = parse_csv(path, lines) if path.suffix.lower() == ".csv" else [line.split("\t") for line in lines]
    if column is not None:
        index = find_column(column, rows[0] if rows and is_name(column) else None, 0, str(path))
        body = rows[1:] if is_name(column) else rows
        for number, row in enumerate(body, start=1 + len(rows) - len(body)):
            if len(row) <= index:
                refuse_row(path, number, f"there is no column {index + 1}")
        return SideText([[row[index] for row in body]])
    width = len(rows[0]) if rows else 1
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            hint = "each column of a .tsv holds one reference of every sentence"
            refuse_row(path, number, f"{format_count(len(row), 'column')}, but the lines before it have {width}", hint)
    if role != "reference" and width > 1:
        shown = ", ".join(cell[:20] for cell in rows[0][:6])
        raise DataError(
            f"{path} has {width} columns: {shown}", hint=f"say which one: {path}:1, or its name in the first line"
        )
    return SideText([list(column_cells) for column_cells in zip(*rows, strict=True)] if rows else [[]])


def parse_csv(path: Path, lines: list[str]) -> list[list[str]]:
    """Returns the rows of a table with quoted cells, replacing line breaks within cells by blanks.

    A blank line is an empty text in a single-column table, and is skipped in any other.
    """
    separator = SEPARATOR.fullmatch(lines[0]) if lines else None
    lines = lines[1:] if separator else lines
    delimiter = separator[1] if separator else max(",;\t", key=(lines[0] if lines else "").count)
    try:
        rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"{path}: {error}", hint="perhaps a quote is never closed") from error
    if all(len(row) < 2 for row in rows):
        rows = [row or [""] for row in rows]
    return [[" ".join(cell.split("\n")).strip() for cell in row] for row in rows if row]


def read_json_lines(path: Path, lines: list[str], role: SideRole, column: str | None) -> SideText:
    """Reads the texts under a key, or under the usual keys of the role."""
    texts = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}, line {number:,}: invalid JSON ({str(error)[:100]})") from error
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
    from nmt_cli.corpus.formats.sgm import read_segments  # of test sets alone

    declared = dict.fromkeys(("srclang", "trglang"), "")
    segments = list(read_segments(enumerate((f"{line}\n" for line in lines), start=1), str(path), declared))
    language = declared["srclang" if role == "source" else "trglang"]
    texts, keys = [segment.text for segment in segments], [segment.key for segment in segments]
    return SideText([texts], keys, language if language != "any" else "")


def read_wmt(path: Path, role: SideRole, column: str | None) -> SideText:
    """Reads the sources, the references of each translator or of one, or the hypotheses of a system."""
    from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions  # of test sets alone
    from nmt_cli.corpus.formats.wmt import WmtReader, read_sides

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
        raise DataError(f"{path}: the {role} is one of several, or missing", hint=f"name it: {path}:NAME, of {names}")
    keys = list(next(iter(texts.values())))
    return SideText([[text.get(key, "") for key in keys] for text in texts.values()], keys, language)


def read_xliff(path: Path, role: SideRole) -> SideText:
    """Reads the sources of a file, or its translations."""
    from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions  # of test sets alone
    from nmt_cli.corpus.formats.xliff import XliffReader

    reader = XliffReader(CorpusFile(path), ReadOptions())
    rows = list(reader)
    source, target = reader.languages or ("", "")
    return SideText(
        [[row.source if role == "source" else row.target for row in rows]],
        language=source if role == "source" else target,
    )


def refuse_row(path: Path, number: int, problem: str, hint: str = "") -> NoReturn:
    raise DataError(f"{path}, line {number:,}: {problem}", hint=hint)
