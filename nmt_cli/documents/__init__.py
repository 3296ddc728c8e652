"""The table of document formats. To add one, write a subclass of `Document` in a file here, and a line below."""

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
FORMATS = {  # module and class of each; imported when it is needed, so that plain text starts at once
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
    """Returns the name of the format: the one requested, else the one of the file name's extension, else text."""
    if requested is not None:
        return requested
    return SUFFIXES.get(path.suffix.lower(), "text") if path is not None else "text"


def open_document(
    name: str, source: DocumentSource, format_line: Callable[[Translation], str] | None = None
) -> Document:
    """Opens a document in the format `name`.

    `format_line` writes a translation in plain text, the only format that has room for more than one hypothesis.
    Raises OptionError for options that the format does not have.
    """
    module, kind = FORMATS[name]
    document: type[Document] = getattr(import_module(f"{PACKAGE}.{module}"), kind)
    config = source.config
    if config.column is None and config.new_column is not None:
        raise OptionError("--new-column needs --column", hint="say with --column which column is translated")
    if config.column is not None and name not in ("tsv", "csv", "jsonl"):
        raise OptionError(
            f"--column: {source.name} is read as {name}, which has no columns",
            hint="name its format with --format tsv, csv or jsonl",
        )
    if config.retranslate and name != "po":
        raise OptionError("--retranslate applies to gettext catalogues", hint="leave it out, or use --format po")
    return document(source) if format_line is None or name != "text" else document(source, format_line)  # type: ignore[call-arg]
