"""Opens documents.

To add a format: a subclass of `Document` in a file here, a line below, and "translate" in its row of the table in
`formats/__init__.py`; or an entry point of another package (`docs/plugins.md`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import Document, DocumentSource
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import DOCUMENTS, TEXT, FileFormat, require_use, select_format
from nmt_cli.plugins import find_plugin, load_plugin
from nmt_cli.text.sniffing import check_encoding, recognise_format

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

PACKAGE = "nmt_cli.documents"
CLASSES = {  # module and class of each format; imported when it is needed, so that plain text starts at once
    "text": ("document", "TextDocument"),
    "tsv": ("tables", "TsvDocument"),
    "csv": ("tables", "CsvDocument"),
    "jsonl": ("tables", "JsonLinesDocument"),
    "srt": ("cues", "SubtitleDocument"),
    "po": ("po", "CatalogueDocument"),
    "md": ("markdown", "MarkdownDocument"),
    "vtt": ("cues", "WebVttDocument"),
    "ass": ("cues", "AdvancedSubtitleDocument"),
    "microdvd": ("cues", "MicroDvdDocument"),
    "lrc": ("cues", "LyricsDocument"),
    "json": ("strings.data", "JsonDocument"),
    "yaml": ("strings.data", "YamlDocument"),
    "properties": ("strings.entries", "PropertiesDocument"),
    "android": ("strings.xml_values", "AndroidDocument"),
    "apple": ("strings.entries", "AppleStringsDocument"),
    "ini": ("strings.entries", "IniDocument"),
    "toml": ("strings.entries", "TomlDocument"),
    "php": ("strings.entries", "PhpDocument"),
    "dtd": ("strings.entries", "DtdDocument"),
    "rc": ("strings.entries", "ResourceScriptDocument"),
    "ics": ("strings.entries", "CalendarDocument"),
    "ftl": ("strings.entries", "FluentDocument"),
    "resx": ("strings.xml_values", "ResourceDocument"),
    "svg": ("strings.xml_values", "DrawingDocument"),
    "html": ("html", "HtmlDocument"),
    "xliff": ("exchange", "XliffDocument"),
    "docx": ("office.openxml", "DocxDocument"),
    "pptx": ("office.openxml", "PptxDocument"),
    "odt": ("office.opendocument", "OpenDocument"),
    "odp": ("office.opendocument", "OpenDocument"),
    "epub": ("office.opendocument", "EpubDocument"),
    "usfm": ("usfm", "UsfmDocument"),
    "tmx": ("exchange", "TmxDocument"),
    "xlsx": ("office.workbook", "XlsxDocument"),
    "ods": ("office.cells", "OdsDocument"),
}
CATALOGUE = "po"
DECLARING = frozenset("html xliff android resx svg docx odt pptx odp epub xlsx ods tmx".split())
TABLES = ("tsv", "csv", "jsonl")
SHEETS = ("xlsx", "ods")  # of which a column is translated, or all texts
UNMARKED = ("text", *TABLES, "po", "properties")  # no mark of theirs is placed by the words of a translation
CATALOGUES = ("po", "xliff")  # have translations already
UI = "ui"  # the domain of what programs show
OF_PROGRAMS = frozenset("po xliff json yaml properties android apple ini toml php dtd rc ftl resx".split())
NO_PROSE = OF_PROGRAMS | {"text", *TABLES, *SHEETS, "tmx", "ics", "svg"}  # whose texts do not follow each other
HOLDERS = {  # of options: the formats that have them
    **dict.fromkeys(("column", "new_column", "qa_column"), (*TABLES, *SHEETS)),
    "retranslate": (*CATALOGUES, "tmx", *TABLES, *SHEETS),
    "fuzzy": CATALOGUES,
    "sort_by_confidence": (*TABLES, *SHEETS),
}


def find_format(path: Path | None, requested: str | None, head: bytes = b"") -> FileFormat:
    """Returns the format of a file or of standard input: the requested one, else by its content and its name.

    Raises DataError for a format that is not translated, and for binary data.
    """
    name = "standard input" if path is None else str(path)
    recognised = recognise_format(path, head)
    if requested is None:
        return require_use(recognised, "translate", name)
    file_format = select_format(requested, "translate")
    if recognised.is_binary and head and not file_format.is_binary:
        raise DataError(f"--format {requested}: {name} is {recognised.title}", hint="leave --format out")
    return file_format


def open_document(
    name: str, source: DocumentSource, format_line: Callable[[Translation], str] | None = None
) -> Document:
    """Opens a document in the format `name`.

    `format_line` writes a translation in plain text, the only format with room for more than one hypothesis. Raises
    OptionError for options that the format lacks.
    """
    check_options(name, source)
    document = find_class(name)

    def open_as_utf8(source: DocumentSource) -> Document:
        with_lines = format_line is not None and name == TEXT.name
        utf8_document = document(source, format_line) if with_lines else document(source)  # type: ignore[call-arg]
        utf8_document.domain = UI if name in OF_PROGRAMS or name in TABLES else ""
        utf8_document.is_prose = name not in NO_PROSE
        if name in CLASSES and name != TEXT.name:
            from nmt_cli.documents.reading_back import watch_units  # which lines of text do not need

            utf8_document.guard = watch_units
        utf8_document.is_exact = utf8_document.is_exact or name in OF_PROGRAMS
        return sort_rows(utf8_document) if source.config.sort_by_confidence and name in TABLES else utf8_document

    config = source.config
    if config.encoding is None and name != CATALOGUE:
        return open_as_utf8(source)
    from nmt_cli.documents.encodings import EncodedDocument  # which few documents need

    encoding = None if config.encoding is None else check_encoding(config.encoding)
    source = source._replace(config=dataclasses.replace(config, encoding=encoding))
    return EncodedDocument(source, open_as_utf8, has_charset=name == CATALOGUE)


def find_class(name: str) -> type[Document]:
    """Returns the class of the format `name`, which may be another package's."""
    plugin = None if name in CLASSES else find_plugin(DOCUMENTS, name)
    if plugin is not None:
        return cast("type[Document]", load_plugin(plugin))
    module, kind = CLASSES[name]
    return cast("type[Document]", getattr(import_module(f"{PACKAGE}.{module}"), kind))


def sort_rows(table: Document) -> Document:
    """Returns a table whose rows are written in the order of their confidence."""
    from nmt_cli.documents.columns import SortedDocument  # which few runs need

    return SortedDocument(table)


def fit_options(name: str, config: DocumentConfig) -> DocumentConfig:
    """Returns the settings without the options that the format `name` lacks, for one of many files."""
    foreign = [option for option, formats in HOLDERS.items() if name not in formats]
    foreign += ["encoding"] if name in DECLARING else []
    defaults = DocumentConfig()
    return dataclasses.replace(config, **{option: getattr(defaults, option) for option in foreign})


def check_options(name: str, source: DocumentSource) -> None:
    """Raises OptionError for options that the format `name` lacks."""
    config, where = source.config, f"{source.name} is read as {name}"
    if config.column is None and config.new_column is not None:
        raise OptionError("--new-column needs --column", hint="say with --column which column is translated")
    if config.column is not None and name not in HOLDERS["column"]:
        raise OptionError(
            f"--column: {where}, which has no columns", hint="name its format with --format tsv, csv or jsonl"
        )
    for option, is_set in (("--retranslate", config.retranslate), ("--fuzzy", config.fuzzy)):
        formats = HOLDERS[option.removeprefix("--")]
        if is_set and name not in formats:
            raise OptionError(f"{option} applies to {', '.join(formats)}", hint="leave it out, or name the --format")
    if config.qa_column is not None and (name not in HOLDERS["qa_column"] or config.column is None):
        raise OptionError(
            f"--qa-column: {where}, which has no columns", hint="--report qa.html shows what is wrong with any text"
        )
    if config.sort_by_confidence and name not in HOLDERS["sort_by_confidence"]:
        raise OptionError(f"--sort-by-confidence: {where}, whose parts have an order of their own", hint="leave it out")
    if config.sort_by_confidence and config.column is None:
        raise OptionError("--sort-by-confidence needs --column", hint="say with --column which column is translated")
    if config.encoding is not None and name in DECLARING:
        raise OptionError(f"--encoding: {where}, which names its encoding itself", hint="leave it out")
