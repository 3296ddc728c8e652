"""Formats of what is translated: one table. To add one, write its document in a file here and a line below."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, DocumentSource
from nmt_cli.errors import OptionError

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

PACKAGE = "nmt_cli.documents"
FORMATS = {  # where each is written; imported when one is asked for, so that plain text starts at once
    "text": ("text", "TextDocument"),
    "tsv": ("tsv", "TsvDocument"),
    "csv": ("csv", "CsvDocument"),
    "jsonl": ("jsonl", "JsonLinesDocument"),
    "srt": ("srt", "SubtitleDocument"),
    "po": ("po", "CatalogueDocument"),
    "md": ("markdown", "MarkdownDocument"),
}
SUFFIXES = {
    **{f".{name}": name for name in FORMATS if name != "text"},
    ".tab": "tsv",
    ".ndjson": "jsonl",
    ".pot": "po",
    ".markdown": "md",
}


def find_format(path: Path | None, requested: str | None) -> str:
    """The name of the format: the one that is given, else the one that the ending of the file tells, else text."""
    if requested is not None:
        return requested
    return SUFFIXES.get(path.suffix.lower(), "text") if path is not None else "text"


def open_document(name: str, source: DocumentSource, line: Callable[[Translation], str] | None = None) -> Document:
    """The document of a format. `line` writes a translation in plain text, the one format that can hold more of it."""
    module, kind = FORMATS[name]
    document: type[Document] = getattr(import_module(f"{PACKAGE}.{module}"), kind)
    config = source.config
    if config.column is None and config.new_column is not None:
        raise OptionError("--new-column is the name of what is added beside --column", hint="give --column too")
    if config.column is not None and name not in ("tsv", "csv", "jsonl"):
        raise OptionError(
            f"--column: {source.name} is read as {name}, which has no columns",
            hint="say what it is with --format tsv, csv or jsonl",
        )
    if config.retranslate and name != "po":
        raise OptionError("--retranslate is about catalogues of gettext", hint="leave it out, or give --format po")
    return document(source) if line is None or name != "text" else document(source, line)  # type: ignore[call-arg]
