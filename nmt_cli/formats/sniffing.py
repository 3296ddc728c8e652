"""Recognises the format of a file by its content or name, and finds the columns that a user names.

A file `notes.txt` that begins with `<?xml version="1.0"?><tmx` is TMX. Unmistakable content (a signature, the root of
XML, the shape of a catalogue or of subtitles) overrules the name; all other formats are recognised by name only. The
rest is plain text or binary data.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from nmt_cli.errors import DataError, OptionError, find_nearest
from nmt_cli.formats import BINARY, BY_NAME, COMPRESSED, FORMATS, TEXT, FileFormat, find_by_name
from nmt_cli.text.characters import FINAL_MARKS
from nmt_cli.text.wrapping import shorten_text

HEAD = 1 << 14  # bytes that are looked at
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Patterns as text: compiled at their first use.
BINARY_BYTES = rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]"
PROLOG = r"(?si)\s*(?:<\?[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>|\s+)*"
ROOT_ELEMENT = r"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)[\s/>]"
CHARSET = re.compile(rb'"Content-Type:[^"\n]*charset=([\w.:-]+)', re.IGNORECASE)  # of a gettext catalogue
TEMPLATE = b"CHARSET"  # what a catalogue without a language has there
# The settings before a page of Markdown; YAML of several parts goes on with another key.
FRONT_MATTER = (
    r"---[ \t]*\r?\n(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t-][^\n]*\n|\r?\n)*)+?---[ \t]*(?:\r?\n|$)"
    r"(?!\s*(?:[\w-]+:(?:\s|$)|- |---|<!doctype|<html))"
)
# The first key of an object, or the first item of an array on a line of its own, as prose never begins.
JSON = r'\s*(?:\[\s*)*\{\s*"(?:[^"\\]|\\.)*"\s*:|\s*\[[ \t]*\r?\n\s*["{\[]'
HEADING = rf"[A-Za-z_][^{re.escape(FINAL_MARKS)}\t]{{0,39}}"  # of a column
LATEX = r"\\documentclass\b|\\begin\{document\}"
# Parts of zip archives, by which the documents that are such archives are told apart.
PARTS = {
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/epub+zip": "epub",
    b"word/": "docx",
    b"ppt/": "pptx",
    b"xl/": "xlsx",
}


def recognise_format(name: str | Path | None, head: bytes) -> FileFormat:
    """Returns the format of a file by its first bytes and its `name`; a name of None means standard input."""
    by_name = None if name is None else find_by_name(name)
    return recognise_content(head, by_name) or by_name or TEXT


def recognise_content(head: bytes, by_name: FileFormat | None) -> FileFormat | None:
    """Returns the format that the first bytes prove; None if the name must decide."""
    if head.startswith(b"PK"):
        return recognise_archive(head, by_name)
    binary = next((format for format in FORMATS if format.is_binary and head.startswith(format.starts)), None)
    if binary is not None:
        return binary
    text = decode_head(head)
    if text is None:
        return BINARY
    if by_name is not None and by_name.is_binary and by_name.name not in COMPRESSED and text.strip():
        return recognise_text(text, None) or TEXT  # whatever its name says
    return recognise_text(text, by_name)


def recognise_archive(head: bytes, by_name: FileFormat | None) -> FileFormat | None:
    """Returns the format of a zip archive by the parts visible at its beginning, else by its name; else plain zip."""
    part = next((name for mark, name in PARTS.items() if mark in head), None)
    if part is not None:
        return BY_NAME[part]
    return by_name if by_name is not None and by_name.name in PARTS.values() else BY_NAME["zip"]


def decode_head(head: bytes) -> str | None:
    """Decodes the first bytes, even if they are damaged; returns None if they are not text."""
    encoding = next((encoding for mark, encoding in BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)
    if encoding is None and b"\0" in head:
        encoding = find_wide_encoding(head)
        if encoding is None and len(re.findall(BINARY_BYTES, head)) > max(4, len(head) // 20):
            return None
    return head.decode(encoding or "utf-8", "replace").removeprefix("\ufeff")


def find_wide_encoding(head: bytes) -> str | None:
    """Returns the UTF-16 variant of text without a byte order mark, if almost every second byte is 0; else None."""
    half = len(head) // 2
    for parity, encoding in ((0, "utf-16-be"), (1, "utf-16-le")):
        if half >= 4 and head[parity::2].count(0) > 0.7 * half > 0 == head[1 - parity :: 2].count(0):
            return encoding
    return None


def recognise_text(text: str, by_name: FileFormat | None) -> FileFormat | None:
    """Returns the format of a text whose form is unmistakable; None if the name must decide."""
    if text.startswith("\t") and by_name is BY_NAME["tsv"]:
        return None  # a row whose first cell is empty
    start = text.lstrip()[:200]
    for format in FORMATS:
        if not format.is_binary and any(start.startswith(mark.decode()) for mark in format.starts):
            return format
    if start.startswith("<"):
        return recognise_markup(text, by_name)
    by_shape = next((format for format in FORMATS if format.shape and re.match(format.shape, text)), None)
    if by_shape is not None:
        return by_shape
    if by_name in (None, TEXT) and re.match(FRONT_MATTER, text):
        return BY_NAME["md"]
    if by_name in (None, TEXT) and "\\" in text and re.search(LATEX, text):
        return BY_NAME["tex"]
    is_open = by_name is None or by_name.name in ("text", "tsv", "csv", "json", "jsonl")
    if start[:1] in ("{", "["):
        return recognise_json(text, by_name) if is_open else None
    return BY_NAME["csv"] if by_name is None and is_csv(text) else None


def recognise_markup(text: str, by_name: FileFormat | None) -> FileFormat | None:
    """Returns the format of markup by its root element; None if the text merely begins with a tag."""
    position = re.match(PROLOG, text)
    root = re.match(ROOT_ELEMENT, text[position.end() if position else 0 :])
    root_name = root[1].lower() if root else ""
    by_root = next((format for format in FORMATS if root_name in format.roots), None)
    if by_root is not None:
        return by_root
    start = text.lstrip()[:200].lower()
    if re.match(r"<!doctype html[^<>\t]*>", start):  # in a table, a cell may be the first half of one
        return BY_NAME["html"]
    is_xml = start.startswith("<?xml") and (by_name is None or by_name is TEXT)
    return BY_NAME["xml"] if is_xml else None


def recognise_json(text: str, by_name: FileFormat | None) -> FileFormat | None:
    """Returns JSON Lines if the first line is a complete object or array of texts; JSON if it only begins like one."""
    import json  # few inputs begin with a bracket

    line, _, rest = text.lstrip().partition("\n")
    value = None
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
    is_array = isinstance(value, list) and len(value) > 1 and all(isinstance(item, str) for item in value)
    if is_array or (isinstance(value, dict) and value):
        return BY_NAME["jsonl"] if by_name is not BY_NAME["json"] or rest.strip() else None
    return BY_NAME["json"] if by_name in (None, TEXT) and re.match(JSON, text) else None


def is_csv(text: str) -> bool:
    """Whether a header and rows have equally many cells, without the spaces that follow commas in prose."""
    import csv  # few inputs have no name

    lines = text.replace("\r", "").split("\n")
    for delimiter in ",;":
        header, *rows = [row for row in csv.reader(lines, delimiter=delimiter) if row] or [[]]
        cells = [cell for row in rows for cell in row]
        are_alike = {len(header)} == {len(row) for row in rows[:-1] or rows}  # the last one may be cut
        if len(header) > 1 and are_alike and not any(cell.startswith(" ") for cell in cells):
            return all(re.fullmatch(HEADING, name) for name in header)
    return False


def check_encoding(encoding: str, where: str = "--encoding") -> str:
    """Returns Python's name for an encoding. Raises OptionError for an unknown encoding."""
    try:
        "".encode(encoding)  # LookupError for codecs that do not encode text, like zlib
        codecs.getincrementaldecoder(encoding)()
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError) as error:
        raise OptionError(
            f"{where}: there is no encoding {encoding!r}", hint="common ones are utf-8, utf-16, cp1252, shift_jis"
        ) from error


def is_cp1252(data: bytes) -> bool:
    """Whether `data` is valid cp1252, the Western Windows encoding, which leaves five bytes undefined."""
    return re.search(rb"[\x81\x8d\x8f\x90\x9d]", data) is None


def is_western(data: bytes) -> bool:
    """Whether bytes are cp1252 as Western languages use it: accented letters among plain ones."""
    if data.isascii():
        return True
    # Two accented letters are a word of Bribri, and beside plain letters there are more: "ñã", "ação", "créée".
    in_runs = sum(map(len, re.findall(rb"(?<![A-Za-z\xc0-\xff])[\xc0-\xff]{3,}(?![A-Za-z\xc0-\xff])", data)))
    return is_cp1252(data) and 2 * in_runs <= max(2, len(re.findall(rb"[\xc0-\xff]", data)))


LONGEST_NAME = 40  # characters of a heading, as it is shown
SEPARATOR = re.compile(r'"?sep=(.)"?\s*')  # the first line by which Excel is told the delimiter of a table


def find_column(column: str | None, header: list[str] | None, default: int, where: str) -> int:
    """Returns the 0-based index of a column, given by its name in `header` or by its number, counted from 1.

    Without a `column`, returns `default`. Raises DataError for a name missing from the header; the hint names the
    nearest one. `where` names the input in the error.
    """
    if column is None:
        return default
    names = [name.strip() for name in header or ()]
    if column in names:
        return names.index(column)
    if column.isascii() and column.isdigit() and len(column) < 9 and 0 < int(column) < 10_000:
        return int(column) - 1
    raise DataError(f"{where}: there is no column {column!r}", hint=suggest_column(column, names))


def suggest_column(column: str, names: Sequence[str]) -> str:
    """Returns the hint for a column that does not exist: the nearest name, and all names."""
    nearest = find_nearest(column, names)
    guess = f"did you mean {nearest!r}? " if nearest else ""
    return f"{guess}{list_columns(names) or 'columns are counted from 1'}"


def list_columns(names: Sequence[str]) -> str:
    """Returns the part of a hint that names the columns of a table; empty if it has none."""
    shown = ", ".join(shorten_text(name, LONGEST_NAME) for name in [*filter(None, names)][:20])
    return f"the columns are {shown}" if shown else ""


def is_name(column: str | None) -> bool:
    """Whether a column is given by name, so that the first line must be a header."""
    return column is not None and not (column.isascii() and column.isdigit())
