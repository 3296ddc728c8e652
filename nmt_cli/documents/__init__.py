"""Opens documents in any format, and checks that the format supports the options.

To add a format, write a subclass of `Document` in a file here and name it in the format's row in `formats/__init__.py`.
Other packages add formats through an entry point (`docs/python.md#plugins`).
"""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Callable
from pathlib import Path

from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import Document, DocumentSource
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import (
    BY_NAME,
    DOCUMENTS,
    FORMATS,
    TEXT,
    FileFormat,
    find_by_name,
    load_class,
    require_use,
    select_format,
)
from nmt_cli.formats.sniffing import check_encoding, recognise_format
from nmt_cli.plugins import find_plugin, load_plugin
from nmt_cli.translation.result import Translation

TABLES = tuple(format.name for format in FORMATS if format.texts == "rows")
SHEETS = tuple(format.name for format in FORMATS if format.texts == "cells")  # a column is translated, or all texts
UNMARKED = ("text", "wrapped", *TABLES, "po", "properties")  # no mark of theirs is placed by the words of a translation
WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CATALOGUES = ("po", "xliff", "ts", "xcstrings")  # have translations already
UI = "ui"  # the domain of what programs show
HOLDERS = {  # of options: the formats that have them
    **dict.fromkeys(("column", "new_column", "qa_column"), (*TABLES, *SHEETS)),
    "retranslate": (*CATALOGUES, "tmx", *TABLES, *SHEETS),
    "fuzzy": CATALOGUES,
    "sort_by_confidence": (*TABLES, *SHEETS),
    "confidence": (TEXT.name, *TABLES, *SHEETS),
}
NO_COLUMNS, LEAVE_OUT = "which has no columns", "leave it out"
LACKING = {  # what is wrong with an option for a format that lacks it, and what to do instead
    "column": (NO_COLUMNS, "name its format with --format tsv, csv or jsonl"),
    "qa_column": (NO_COLUMNS, "use --report qa.html, which shows the failed checks of any document"),
    "retranslate": (
        f"but only {', '.join(HOLDERS['retranslate'])} have translations",
        f"{LEAVE_OUT}, or name the --format",
    ),
    "fuzzy": (f"but only {', '.join(CATALOGUES)} say how good a translation is", f"{LEAVE_OUT}, or name the --format"),
    "confidence": (
        "which cannot store it",
        f"{LEAVE_OUT}: --report qa.html shows the confidence of every text to check",
    ),
    "sort_by_confidence": ("whose parts must keep their order", LEAVE_OUT),
    "encoding": ("which names its encoding itself", LEAVE_OUT),
}


def find_format(path: Path | None, requested: str | None, head: bytes = b"") -> FileFormat:
    """Returns the format of a file or of standard input: the requested one, else what its content or name shows.

    Raises DataError for a format that nmt cannot translate, and for binary data.
    """
    name = "standard input" if path is None else str(path)
    recognised = recognise_format(path, head)
    if requested is None:
        return require_use(recognised, "translate", name)
    file_format = select_format(requested, "translate")
    if recognised.is_binary and head and not file_format.is_binary:
        raise DataError(f"--format {requested}: {name} is {recognised.title}", hint="leave --format out")
    return file_format


MISMATCH = "its content does not match its format"


def find_format_of_file(path: Path, requested: str | None, head: bytes) -> FileFormat:
    """Returns the format of a file. Raises DataError like `find_format`, and for plain text named as another format.

    The translation would have the same wrong name.
    """
    file_format = find_format(path, requested, head)
    if requested is None and file_format is TEXT and find_by_name(path) not in (None, TEXT):
        raise DataError(f"{path}: {MISMATCH}", hint="if it is plain text, end its name with .txt")
    return file_format


def open_document(
    name: str, source: DocumentSource, format_line: Callable[[Translation], str] | None = None
) -> Document:
    """Opens a document in the format `name`.

    `format_line` writes a translation in plain text, the only format with room for more than one hypothesis. Raises
    OptionError for options that the format does not support.
    """
    check_options(name, source)
    plugin = None if name in BY_NAME else find_plugin(DOCUMENTS, name)
    document: type[Document] = load_class(BY_NAME[name], "translate") if plugin is None else load_plugin(plugin)
    texts = find_row(name).texts

    def open_as_utf8(source: DocumentSource) -> Document:
        with_lines = format_line is not None and name == TEXT.name
        utf8_document = document(source, format_line) if with_lines else document(source)  # type: ignore[call-arg]
        utf8_document.format = find_row(name)
        utf8_document.domain = UI if texts in ("strings", "rows") else ""
        utf8_document.is_prose = texts == "prose"
        if name in BY_NAME and name not in (TEXT.name, "wrapped"):
            from nmt_cli.documents.reading_back import watch_units  # which lines of text do not need

            utf8_document.guard = watch_units
        utf8_document.is_exact = utf8_document.is_exact or texts == "strings"
        return sort_rows(utf8_document) if source.config.sort_by_confidence and name in TABLES else utf8_document

    config = source.config
    if config.encoding is None and name != "po":
        return open_as_utf8(source)
    from nmt_cli.documents.encodings import EncodedDocument  # which few documents need

    encoding = None if config.encoding is None else check_encoding(config.encoding)
    source = source._replace(config=dataclasses.replace(config, encoding=encoding))
    return EncodedDocument(source, open_as_utf8, has_charset=name == "po")


def sort_rows(table: Document) -> Document:
    """Returns a table that writes its rows in order of confidence."""
    from nmt_cli.documents.columns import SortedDocument  # which few runs need

    return SortedDocument(table)


def read_mark(source: DocumentSource, file_format: FileFormat, head: bytes) -> DocumentSource:
    """Returns the source, set to UTF-16 if it begins with such a byte order mark and no other encoding is set."""
    is_wide = head.startswith(WIDE_MARKS) and not file_format.is_binary
    if not is_wide or source.config.encoding is not None or file_format.names_encoding:
        return source
    return source._replace(config=dataclasses.replace(source.config, encoding="utf-16"))


def fit_options(name: str, config: DocumentOptions, beside: frozenset[str]) -> DocumentOptions:
    """Returns the settings without options that the format `name` lacks, if one of the formats `beside` it has them."""
    foreign = [option for option, formats in HOLDERS.items() if name not in formats and not beside.isdisjoint(formats)]
    foreign += [] if has_room(name, config) or len(beside) < 2 else ["confidence"]
    has_encodings = not all(find_row(other).names_encoding for other in beside)
    foreign += ["encoding"] if has_encodings and find_row(name).names_encoding else []
    defaults = DocumentOptions()
    return dataclasses.replace(config, **{option: getattr(defaults, option) for option in foreign})


def has_room(name: str, config: DocumentOptions) -> bool:
    """Whether a format can store the confidence of each translation."""
    return name in HOLDERS["confidence"] and (name not in SHEETS or bool(config.column))


def find_row(name: str) -> FileFormat:
    """Returns a format's row in the table; for a format from another package, a minimal row."""
    return BY_NAME.get(name, FileFormat(name, name))


def check_options(name: str, source: DocumentSource) -> None:
    """Raises OptionError for options that the format `name` does not support."""
    config, where = source.config, f"{source.name} is read as {name}"
    if config.new_column is not None and len(config.column) != 1:
        several = "leave --new-column out: each column's translations then get a column of their own"
        hint = several if config.column else "name the column to translate with --column"
        raise OptionError(f"--new-column needs {'one ' * bool(config.column)}--column", hint=hint)
    lacks = {option: name not in formats for option, formats in HOLDERS.items()}
    lacks |= {"confidence": not has_room(name, config), "encoding": find_row(name).names_encoding}
    for option, (problem, hint) in LACKING.items():
        if lacks[option] and getattr(config, option) not in (None, False, ()):
            raise OptionError(f"--{option.replace('_', '-')}: {where}, {problem}", hint=hint)
    for option, value in (("--qa-column", config.qa_column), ("--sort-by-confidence", config.sort_by_confidence)):
        if value and not config.column:
            raise OptionError(f"{option} needs --column", hint="name the column to translate with --column")
