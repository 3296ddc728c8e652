"""The table of file formats: how to recognise each, and which commands read it.

`nmt prepare` learns pairs from a file, `nmt translate` translates it, `nmt evaluate` scores it. The help, the docs and
the errors for unsupported files are generated from this table. Other packages can add document formats (`plugins.py`);
the name of such a format is also its file extension. Must not depend on format readers. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from shlex import quote
from typing import Any, Literal, NamedTuple, cast

from nmt_cli.errors import DataError, OptionError, find_nearest
from nmt_cli.plugins import find_plugin, list_plugins, load_plugin, name_package_of

Use = Literal["pairs", "translate", "score"]
ROOMS: dict[Use, str] = {"pairs": "nmt_cli.formats", "translate": "nmt_cli.documents"}
COMMANDS: dict[Use, str] = {"pairs": "nmt prepare", "translate": "nmt translate", "score": "nmt evaluate"}

# What helps with a file that a command does not read, where the format itself knows nothing better.
ADVICE: dict[Use, str] = {
    "pairs": "nmt prepare reads pairs from {formats}, or from two files of lines with --source-file and --target-file",
    "translate": "to translate each line by itself, use --format text",
    "score": "give one sentence per line, or {formats}",
}


class FileFormat(NamedTuple):
    """A format: its name (for `--format`), what messages call its files, and how they are recognised."""

    name: str
    title: str  # with its article: "a web page"
    extensions: tuple[str, ...] = ()
    uses: Mapping[str, str] | tuple[str, ...] = ()  # the module and class for each, but for scores
    starts: tuple[bytes, ...] = ()  # the first bytes of such files
    shape: str = ""  # a pattern of how the text of such files begins, where no first bytes tell
    roots: tuple[str, ...] = ()  # the local names of their root elements, in lower case
    file_names: tuple[str, ...] = ()
    is_binary: bool = False
    advice: str = ""  # the hint where a command does not read it
    texts: Literal["prose", "pieces", "rows", "cells", "strings"] = "prose"

    @property
    def line_name(self) -> str:
        """The word for a numbered part of its files: a row, as counted in spreadsheets, or else a line."""
        return "row" if self.texts == "cells" or self.name in ("tsv", "csv") else "line"

    @property
    def names_encoding(self) -> bool:
        """Whether its files declare their own encoding: XML, including XML in an archive, and mail."""
        return self.is_binary or bool(self.roots) or self.name in ("resx", "eml")


TRANSLATED_ALREADY = "its texts are already translated: train on them with nmt prepare {name}"
CONVERT = "convert it to text, Markdown or HTML first: pandoc {name} -t markdown -o {stem}.md"
SAVE_AS_CSV = "save it as .csv first"
UNPACK = "unpack it first: {tool} {name}"
TIMES = r"\d\d:\d\d:\d\d[,.]\d{3} +--> +\d\d:\d\d:\d\d[,.]\d{3}"  # of a cue
BZIP2 = tuple(b"BZh%d1AY&SY" % level for level in range(1, 10))
XLIFF_FILES = ".xliff .xlf .sdlxliff .mqxliff .mxliff"
PROGRAM_FILES = ".js .mjs .jsx .ts .tsx .c .h .cpp .cs .java .py .rb .pl .go .rs .sh .lua"
COMMAND_FILES = ".sql .bib .css .bat .ps1 .nsi .nsh .dot .gv .puml .plantuml .mmd .ink .twee .feature"


def make_format(
    name: str, title: str, extensions: str = "", document: str = "", pairs: str = "", **facts: Any
) -> FileFormat:
    """Returns a format's row: its extensions, and the classes that translate its files and read pairs from them."""
    classes: dict[str, str] = {"pairs": pairs, "translate": document}
    uses = {use: path for use, path in classes.items() if path} | ({"score": ""} if facts.pop("is_scored", 0) else {})
    return FileFormat(name, title, tuple(extensions.split()), uses, **facts)


make_strings = partial(make_format, texts="strings")
make_binary = partial(make_format, is_binary=True)
FORMATS = (
    # Lines and tables.
    make_format("text", "plain text", ".txt", "document.TextDocument", is_scored=True, texts="pieces"),
    # A file of text that is recognised by its lines, and never a pipe.
    make_format("wrapped", "text with wrapped lines", "", "document.WrappedDocument"),
    make_format(
        *("tsv", "tab-separated text", ".tsv .tab", "tables.TsvDocument", "tables.TsvReader"),
        is_scored=True,
        texts="rows",
    ),
    make_format(
        "csv", "comma-separated text", ".csv", "tables.CsvDocument", "tables.CsvReader", is_scored=True, texts="rows"
    ),
    make_format(
        *("jsonl", "JSON Lines", ".jsonl .ndjson", "tables.JsonLinesDocument", "jsonl.JsonLinesReader"),
        is_scored=True,
        texts="rows",
    ),
    make_format(
        *("suggestions", "corrections from a server", "", "", "jsonl.SuggestionsReader"),
        shape=r'\s*\{\s*"format":\s*"nmt suggestions ',
        advice=TRANSLATED_ALREADY,
    ),
    make_binary(
        *("xlsx", "an Excel spreadsheet", ".xlsx .xlsm", "office.workbook.XlsxDocument", "sheets.SpreadsheetReader"),
        advice=SAVE_AS_CSV,
        texts="cells",
    ),
    make_binary(
        *("ods", "a spreadsheet", ".ods", "office.cells.OdsDocument", "sheets.SpreadsheetReader"),
        advice=SAVE_AS_CSV,
        texts="cells",
    ),
    # What translators and researchers exchange.
    make_format(
        *("tmx", "a translation memory", ".tmx", "exchange.TmxDocument", "exchange.TmxReader"),
        roots=("tmx",),
        advice=TRANSLATED_ALREADY,
        texts="pieces",
    ),
    make_strings(
        *("xliff", "an XLIFF file", XLIFF_FILES, "exchange.XliffDocument", "exchange.XliffReader"),
        is_scored=True,
        roots=("xliff",),
    ),
    make_strings(
        *("po", "a gettext catalogue", ".po .pot", "po.CatalogueDocument", "po.PoReader"),
        shape=r'(?s)(?:\s|#[^\n]*\n)*(?:msgctxt|msgid)\s+"',
    ),
    # `.ts` is also TypeScript.
    make_strings("ts", "a Qt catalogue", "", "strings.catalogues.QtDocument", "po.QtReader", roots=("ts",)),
    make_strings(
        "xcstrings", "an Xcode string catalogue", ".xcstrings", "strings.catalogues.XcodeDocument", "po.XcodeReader"
    ),
    make_format(
        *("sgm", "a WMT test set in SGML", ".sgm .sgml", "", "testsets.SgmReader"),
        is_scored=True,
        roots=("srcset", "refset", "tstset", "mteval"),
        advice="extract its segments first, one per line: sacrebleu -t wmt20 -l en-de --echo src",
    ),
    make_format(
        *("wmt", "a WMT test set in XML", "", "", "testsets.WmtReader"),
        is_scored=True,
        roots=("dataset",),
        advice="extract its segments first, one per line",
    ),
    make_format(
        *("toolbox", "a Toolbox (Standard Format) file"),
        shape=r"(?s)\s*\\(?:_sh\b|lx\b|\w[^\n]*\n.*?\\(?:tx|lx|ge|mb) )",
        advice="export it as a table of two columns, the sentence and its translation (docs/small-corpora.md)",
    ),
    make_format(
        *("usfm", "Bible text in USFM", ".usfm .sfm", "usfm.UsfmDocument", "usfm.UsfmReader"),
        shape=r"\s*\\id [A-Z0-9]{3}\b",
    ),
    # Documents.
    make_format("srt", "subtitles (SubRip)", ".srt", "cues.SubtitleDocument", shape=rf"\s*\d+[ \t]*\r?\n{TIMES}"),
    make_format("vtt", "subtitles (WebVTT)", ".vtt", "cues.WebVttDocument", starts=(b"WEBVTT",)),
    make_format(
        *("ass", "subtitles (Advanced SubStation)", ".ass .ssa", "cues.AdvancedSubtitleDocument"),
        starts=(b"[Script Info]",),
    ),
    # `.sub` and `.lrc` are also names of languages and of other files.
    make_format("microdvd", "subtitles (MicroDVD)", "", "cues.MicroDvdDocument", shape=r"\s*\{\d+\}\{\d*\}"),
    make_format(
        *("subviewer", "subtitles (SubViewer)", ".sbv", "cues.SubViewerDocument"),
        shape=r"\s*(?:\[INFORMATION\]|\[SUBTITLE\]|\d+:\d\d:\d\d[.:]\d{2,3},\d+:\d\d:\d\d[.:]\d{2,3}[ \t]*\r?\n)",
    ),
    make_format(
        *("lrc", "lyrics with times (LRC)", "", "cues.LyricsDocument"),
        shape=r"\s*(?:\[[a-z]+:[^\]\n]*\]\s*)*\[\d+:\d\d(?:[.:]\d+)?\][^\t\n]*(?:\n|$)",
    ),
    make_format("md", "a Markdown page", ".md .markdown .mdown .mkd .mdx .qmd .rmd", "markdown.MarkdownDocument"),
    make_format("html", "a web page", ".html .htm .xhtml .xht", "html.HtmlDocument", roots=("html",)),
    make_format(
        *("eml", "an e-mail", ".eml .mbox", "office.mail.MailDocument"),
        shape=r"(?:From [^\n]*\n)?(?:[A-Z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){0,40}?"
        r"(?:MIME-Version|Message-I[dD]|Received|Return-Path):",
    ),
    make_binary("docx", "a Word document", ".docx .docm", "office.openxml.DocxDocument"),
    make_binary("odt", "a LibreOffice text document", ".odt", "office.opendocument.OpenDocument"),
    make_binary("pptx", "a PowerPoint presentation", ".pptx .pptm", "office.openxml.PptxDocument"),
    make_binary("odp", "a LibreOffice presentation", ".odp", "office.opendocument.OpenDocument"),
    make_binary("epub", "an e-book (EPUB)", ".epub", "office.opendocument.EpubDocument"),
    make_format("fb2", "an e-book (FictionBook)", ".fb2", "office.opendocument.BookDocument", roots=("fictionbook",)),
    make_strings("json", "a JSON file", ".json .arb", "strings.data.JsonDocument"),
    make_strings("yaml", "a YAML file", ".yaml .yml", "strings.data.YamlDocument"),
    make_strings("properties", "Java properties", ".properties", "strings.entries.PropertiesDocument"),
    make_strings(
        *("android", "Android app strings", "", "strings.xml_values.AndroidDocument"),
        roots=("resources",),
        file_names=("strings.xml",),
    ),
    make_strings(
        *("plist", "an Apple property list", ".stringsdict .plist", "strings.xml_values.PropertyListDocument"),
        roots=("plist",),
    ),
    make_strings("apple", "Apple app strings", ".strings", "strings.entries.AppleStringsDocument"),
    make_strings("ftl", "Project Fluent strings", ".ftl", "strings.entries.FluentDocument"),
    make_strings("ini", "an INI file", ".ini .cfg .conf .lng .isl", "strings.entries.IniDocument"),
    make_strings(
        *("paradox", "Paradox game texts", "", "strings.entries.GameDocument"),
        shape=r"\s*(?:#[^\n]*\n\s*)*l_[a-z_]{4,20}:[ \t]*(?:#[^\n]*)?\r?\n",  # `.yml`, but no YAML
    ),
    make_strings("toml", "a TOML file", ".toml", "strings.entries.TomlDocument"),
    make_strings("php", "PHP arrays", ".php", "strings.entries.PhpDocument", starts=(b"<?php",)),
    make_strings("dtd", "DTD entities", ".dtd .ent", "strings.entries.DtdDocument", starts=(b"<!ENTITY",)),
    make_strings("rc", "a Windows resource script", ".rc .rc2", "strings.entries.ResourceScriptDocument"),
    make_format(
        *("ics", "a calendar or a contact", ".ics .ical .ifb .vcf .vcard", "strings.entries.CalendarDocument"),
        starts=(b"BEGIN:VCALENDAR", b"BEGIN:VCARD"),
        texts="pieces",
    ),
    make_strings("resx", "a .NET resource file", ".resx .resw", "strings.xml_values.ResourceDocument"),
    make_format("svg", "a drawing (SVG)", ".svg", "strings.xml_values.DrawingDocument", roots=("svg",), texts="pieces"),
    # What no command reads.
    make_format("rst", "reStructuredText", ".rst .rest", advice=CONVERT),
    make_format("tex", "LaTeX", ".tex .latex .ltx", advice=CONVERT),
    make_format("asciidoc", "AsciiDoc", ".adoc .asciidoc"),
    make_format("org", "Org mode", ".org", advice=CONVERT),
    make_format("ipynb", "a Jupyter notebook", ".ipynb", advice=CONVERT),
    make_format("tbx", "a termbase", ".tbx", roots=("martif", "tbx"), advice="make a --glossary of its terms"),
    make_format("xml", "an XML file of an unknown kind", ".xml"),
    make_format(
        *("code", "the source code of a program", PROGRAM_FILES),
        advice="extract its texts first: xgettext -o {stem}.pot {name}",
    ),
    make_format("commands", "data or commands for a program", COMMAND_FILES),
    make_format(
        *("rpy", "a script of Ren'Py", ".rpy .rpym"),
        shape=r"(?:\s*(?:#|init\b|define )[^\n]*\n)*\s*(?:label \w+(?:\([^\n]*\))?|translate \w+ \w+):\s*\n",
        advice="extract its texts first: in Ren'Py's launcher, choose Extract Dialogue, as text",
    ),
    make_format(
        *("gift", "Moodle questions in GIFT", ".gift"),
        shape=r"(?s)\s*(?://[^\n]*\n\s*|\$CATEGORY:[^\n]*\n\s*)*::[^\n]{1,200}?::.{0,4000}?(?<!\\)\{\s*(?:[=~#%]|T(?:RUE)?\b|F(?:ALSE)?\b|\})",
        advice="import it into Moodle, and export it from there as Moodle XML or HTML",
    ),
    make_format("hjson", "a file in Hjson", ".hjson", advice="convert it: hjson -j {name} > {stem}.json"),
    make_format(
        *("xunity", "game texts of XUnity.AutoTranslator"),
        shape=r"(?:[ \t\r]*(?://[^\n]*)?\n)*+(?:[^\n=]*(?:\\=[^\n=]*)*=\r?\n|[^\n=]*(?:\\=[^\n=]*)*=\r?$){2}",
        advice="run nmt translate --serve and connect the game: docs/serve.md shows what to write in its Config.ini",
    ),
    make_format("rtf", "rich text", ".rtf", starts=(b"{\\rtf",), advice=CONVERT),
    make_binary(
        "pdf", "a PDF document", ".pdf", starts=(b"%PDF-",), advice="extract its text first: pdftotext -layout {name}"
    ),
    make_binary(
        *("office", "a document from an old version of Office", ".doc .xls .ppt"),
        starts=(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",),
        advice="save it in the newer format (.docx, .xlsx, .pptx) first; if it already has this format, it is "
        "protected by a password: remove the password",
    ),
    make_binary("gzip", "compressed", ".gz", starts=(b"\x1f\x8b",), advice=UNPACK),
    make_binary("xz", "compressed", ".xz", starts=(b"\xfd7zXZ",), advice=UNPACK),
    make_binary("zstd", "compressed", ".zst", starts=(b"\x28\xb5\x2f\xfd",), advice=UNPACK),
    make_binary("bzip2", "compressed", ".bz2", starts=BZIP2, advice=UNPACK),
    make_binary(
        "zip", "a zip archive", ".zip", starts=(b"PK\x03\x04", b"PK\x05\x06"), advice="extract it first: unzip {name}"
    ),
    make_binary(
        *("archive", "an archive", ".tar .7z .rar"),
        starts=(b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07"),
        advice="extract it first",
    ),
    make_binary(
        *("picture", "a picture", ".png .jpg .jpeg .gif .webp .tif .tiff .bmp"),
        starts=(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*"),
        advice="name a text or a document; docs/formats.md lists the formats",
    ),
    make_binary(
        *("binary", "binary data", ".exe .bin .so .pyc .npy .npz .sqlite .db .parquet"),
        starts=(b"\x7fELF", b"SQLite format 3", b"PAR1", b"\x93NUMPY"),
        advice="name a text or a document; docs/formats.md lists the formats",
    ),
)
# Of the files that an example of `nmt prepare` names: formats that have nothing but pairs, and words in their names.
OF_PAIRS = {"tsv", "tmx"}
OF_CORPORA = {"bilingual", "bitext", "corpora", "corpus", "pairs", "parallel", "sentences", "train", "training"}
NOT_OF_CORPORA = {
    *("corrected", "correction", "corrections", "fixed", "fixes", "suggestion", "suggestions"),
    *("glossary", "term", "terms", "terminology", "translated", "output", "report", "scores", "rejected", "dropped"),
}
TOOLS = {"gzip": "gunzip -k", "xz": "unxz -k", "zstd": "unzstd", "bzip2": "bunzip2 -k"}
# What else a file of a format may be called.
ALSO_NAMED = {"text": ("tsv",), "jsonl": ("json",), "ts": ("code",), "paradox": ("yaml",)}
BY_NAME = {format.name: format for format in FORMATS}
BY_EXTENSION = {extension: format for format in FORMATS for extension in format.extensions}
TEXT, BINARY = BY_NAME["text"], BY_NAME["binary"]
COMPRESSED = frozenset(TOOLS)  # names of formats that hold one file of another format
DOCUMENTS = "nmt_cli.documents"  # the entry points of formats that other packages add
COMPRESSION_EXTENSIONS = tuple(extension for name in TOOLS for extension in BY_NAME[name].extensions)


def list_formats(use: Use) -> tuple[str, ...]:
    """Returns the names of the formats that a command reads, in the order of the table."""
    return tuple(format.name for format in FORMATS if use in format.uses)


def join_formats(use: Use) -> str:
    """Returns the names of the formats that a command reads, joined for use in a sentence."""
    names = list_formats(use)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def list_preparations() -> list[str]:
    """Returns commands that prepare the files in this folder that are named like a corpus, or an example command."""
    files = sorted(path.name for path in Path().iterdir() if path.is_file() and is_likely_corpus(path.name))
    return [f"nmt prepare {quote(name)}" for name in files] or ["nmt prepare corpus.tsv"]


def is_likely_corpus(name: str) -> bool:
    """Whether a file is named like a corpus of pairs, ignoring a compression suffix.

    Tables and catalogues are more often files to translate, so their names must say that they have pairs.
    """
    *parts, end = "", *(part for part in name.lower().split(".") if f".{part}" not in COMPRESSION_EXTENSIONS)
    words = re.findall(r"[^\W_]+", " ".join(parts))
    format = BY_EXTENSION.get(f".{end}")
    if format is None or "pairs" not in format.uses or not words or NOT_OF_CORPORA & {*words}:
        return False
    are_codes = [re.fullmatch("[a-z]{2,3}", word) is not None for word in words[-2:]]
    names_languages = len(are_codes) > 1 and all(are_codes) and format.texts != "strings"  # corpus.en-de.csv
    return names_languages or bool(OF_CORPORA & {*words}) or (format.name in OF_PAIRS and not are_codes[-1])


def find_by_name(name: str | PurePath) -> FileFormat | None:
    """Returns the format implied by a file's name, ignoring a compression suffix, or None."""
    base = PurePath(name).name.lower()
    for extension in COMPRESSION_EXTENSIONS:
        base = base.removesuffix(extension)
    whole = next((format for format in FORMATS if base in format.file_names), None)
    extension = PurePath(base).suffix
    return whole or BY_EXTENSION.get(extension) or find_added(extension[1:])


def name_place(file: str, line: int, format: str | None = None) -> str:
    """Returns a file name with the number of a line, or of a table row; by default, the name implies the format."""
    return f"{file}, {name_line(file, format)} {line:,}"


def name_line(file: str, format: str | None = None) -> str:
    """Returns the word for a numbered part of a file: line or row."""
    row = BY_NAME.get(format or "") or find_by_name(file)
    return TEXT.line_name if row is None else row.line_name


def may_be_named(format: FileFormat, name: str | PurePath) -> bool:
    """Whether a file of a format may have this name, which may imply that format, plain text or no format.

    Any other extension would be false, for example one that says that the file is compressed.
    """
    if PurePath(name).suffix.lower() in COMPRESSION_EXTENSIONS:
        return False
    implied = find_by_name(name)
    if implied is None or implied is format or implied.name in ALSO_NAMED.get(format.name, ()):
        return True
    return implied is TEXT and not format.is_binary


def find_added(name: str) -> FileFormat | None:
    """Returns the document format that another package adds under this name or file extension, or None.

    Raises MissingExtraError if it cannot be loaded, and DataError if it does not declare its format.
    """
    plugin = find_plugin(DOCUMENTS, name) if name else None
    if plugin is None:
        return None
    added = getattr(load_plugin(plugin), "format", None)
    if not isinstance(added, FileFormat) or added in FORMATS:
        package = name_package_of(plugin)
        raise DataError(f"{name} of the package {package} has no attribute `format`", hint="see docs/python.md#plugins")
    return added


def load_class(format: FileFormat, use: Use) -> Any:
    """Returns the class that reads a format, importing its module only when it is needed."""
    module, _, name = cast("Mapping[str, str]", format.uses)[use].rpartition(".")
    return getattr(import_module(f"{ROOMS[use]}.{module}"), name)


def select_format(requested: str, use: Use) -> FileFormat:
    """Returns the format named by `--format`. Raises OptionError for one that the command does not read."""
    names: tuple[str, ...] = list_formats(use)
    if requested in names:
        return BY_NAME[requested]
    known = BY_NAME.get(requested) or find_added(requested)
    if known is not None and use in known.uses:
        return known
    if known is not None:
        raise OptionError(f"--format: {COMMANDS[use]} does not read {known.name}", hint=list_hint(names))
    names += tuple(plugin.name for plugin in list_plugins(DOCUMENTS) if use == "translate")
    nearest = find_nearest(requested, names)
    raise OptionError(
        f"--format: there is no format {requested!r}",
        hint=f"did you mean {nearest!r}?" if nearest else list_hint(names),
    )


def list_hint(names: Iterable[str]) -> str:
    return f"the formats are {', '.join(names)}"


def require_use(format: FileFormat, use: Use, name: str) -> FileFormat:
    """Returns the format if the command reads it. Else raises DataError, saying what to do with the file `name`."""
    if use in format.uses:
        return format
    stem = PurePath(name).stem if PurePath(name).suffix else name
    advice = format.advice or ADVICE[use]
    if use == "translate" and not format.is_binary and advice != ADVICE[use]:
        advice += f"; {ADVICE[use]}"
    facts = {"name": name, "stem": stem, "tool": TOOLS.get(format.name, ""), "formats": ", ".join(list_formats(use))}
    problem = f"{name} is {format.title}, which {COMMANDS[use]} does not read"
    raise DataError(problem, hint=advice.format_map(facts))


def format_table() -> list[str]:
    """Returns the table of formats in Markdown, as shown in docs/formats.md."""
    lines = ["| format | extensions | `prepare` | `translate` | `evaluate` |", "|---|---|---|---|---|"]
    for format in FORMATS:
        extensions = " ".join((*format.extensions, *format.file_names))
        marks = ["yes" if use in format.uses else "" for use in COMMANDS]
        marks[0] = "two files" if format is TEXT else marks[0]
        if format.uses:
            lines.append(
                f"| `{format.name}`: {format.title} | {extensions and f'`{extensions}`'} | {' | '.join(marks)} |"
            )
    return lines
