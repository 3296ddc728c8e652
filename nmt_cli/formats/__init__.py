"""The table of file formats: how each is recognised, which command reads it, and what to do with the others.

`nmt prepare` learns pairs from a file, `nmt translate` translates it, `nmt evaluate` scores it. Help, docs and the
errors for other files are generated from this table. Other packages add formats of documents (`plugins.py`), by name,
which is the extension of their files. Must not know how any format is read. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    "pairs": "pairs are read from {formats}; two files of lines with --source-file and --target-file",
    "translate": "with --format text, each line is translated by itself",
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
    def names_encoding(self) -> bool:
        """Whether its files say themselves in which encoding they are: XML, also in an archive, and mail."""
        return self.is_binary or bool(self.roots) or self.name in ("resx", "eml")


TRANSLATED_ALREADY = "its texts are translated already: learn from it with nmt prepare {name}"
CONVERT = "convert it to text, Markdown or HTML first: pandoc {name} -t markdown -o {stem}.md"
SAVE_AS_CSV = "save it as .csv first"
UNPACK = "unpack it first: {tool} {name}"
TIMES = r"\d\d:\d\d:\d\d[,.]\d{3} +--> +\d\d:\d\d:\d\d[,.]\d{3}"  # of a cue
BZIP2 = tuple(b"BZh%d1AY&SY" % level for level in range(1, 10))

FORMATS = (
    # Lines and tables.
    FileFormat("text", "plain text", (".txt",), {"translate": "document.TextDocument", "score": ""}, texts="pieces"),
    FileFormat(
        *("wrapped", "text with wrapped lines", (), {"translate": "document.WrappedDocument"})
    ),  # a file of text that is recognised by its lines, and never a pipe
    FileFormat(
        *("tsv", "tab-separated text", (".tsv", ".tab")),
        {"pairs": "tables.TsvReader", "translate": "tables.TsvDocument", "score": ""},
        texts="rows",
    ),
    FileFormat(
        *("csv", "comma-separated text", (".csv",)),
        {"pairs": "tables.CsvReader", "translate": "tables.CsvDocument", "score": ""},
        texts="rows",
    ),
    FileFormat(
        *("jsonl", "JSON Lines", (".jsonl", ".ndjson")),
        {"pairs": "jsonl.JsonLinesReader", "translate": "tables.JsonLinesDocument", "score": ""},
        texts="rows",
    ),
    FileFormat(
        *("suggestions", "corrections that a server keeps", (), {"pairs": "jsonl.SuggestionsReader"}),
        shape=r'\s*\{\s*"format":\s*"nmt suggestions ',
        advice=TRANSLATED_ALREADY,
    ),
    FileFormat(
        *("xlsx", "an Excel spreadsheet", (".xlsx", ".xlsm")),
        {"pairs": "sheets.SpreadsheetReader", "translate": "office.workbook.XlsxDocument"},
        is_binary=True,
        advice=SAVE_AS_CSV,
        texts="cells",
    ),
    FileFormat(
        *("ods", "a spreadsheet", (".ods",)),
        {"pairs": "sheets.SpreadsheetReader", "translate": "office.cells.OdsDocument"},
        is_binary=True,
        advice=SAVE_AS_CSV,
        texts="cells",
    ),
    # What translators and researchers exchange.
    FileFormat(
        *("tmx", "a translation memory", (".tmx",)),
        {"pairs": "exchange.TmxReader", "translate": "exchange.TmxDocument"},
        roots=("tmx",),
        advice=TRANSLATED_ALREADY,
        texts="pieces",
    ),
    FileFormat(
        *("xliff", "an XLIFF file", (".xliff", ".xlf", ".sdlxliff", ".mqxliff", ".mxliff")),
        {"pairs": "exchange.XliffReader", "translate": "exchange.XliffDocument", "score": ""},
        roots=("xliff",),
        texts="strings",
    ),
    FileFormat(
        *("po", "a gettext catalogue", (".po", ".pot"), {"pairs": "po.PoReader", "translate": "po.CatalogueDocument"}),
        shape=r'(?s)(?:\s|#[^\n]*\n)*(?:msgctxt|msgid)\s+"',
        texts="strings",
    ),
    FileFormat(
        *("ts", "a Qt catalogue", (), {"pairs": "po.QtReader", "translate": "strings.catalogues.QtDocument"}),
        roots=("ts",),  # `.ts` is also TypeScript
        texts="strings",
    ),
    FileFormat(
        *("xcstrings", "an Xcode string catalogue", (".xcstrings",)),
        {"pairs": "po.XcodeReader", "translate": "strings.catalogues.XcodeDocument"},
        texts="strings",
    ),
    FileFormat(
        *("sgm", "a WMT test set in SGML", (".sgm", ".sgml"), {"pairs": "testsets.SgmReader", "score": ""}),
        roots=("srcset", "refset", "tstset", "mteval"),
        advice="take its segments out first, one per line: sacrebleu -t wmt20 -l en-de --echo src",
    ),
    FileFormat(
        *("wmt", "a WMT test set in XML", (), {"pairs": "testsets.WmtReader", "score": ""}),
        roots=("dataset",),
        advice="take its segments out first, one per line",
    ),
    FileFormat(
        *("usfm", "Bible text in USFM", (".usfm", ".sfm")),
        {"pairs": "usfm.UsfmReader", "translate": "usfm.UsfmDocument"},
        shape=r"\s*\\id [A-Z0-9]{3}\b",
    ),
    # Documents.
    FileFormat(
        *("srt", "subtitles (SubRip)", (".srt",), {"translate": "cues.SubtitleDocument"}),
        shape=rf"\s*\d+[ \t]*\r?\n{TIMES}",
    ),
    FileFormat("vtt", "subtitles (WebVTT)", (".vtt",), {"translate": "cues.WebVttDocument"}, starts=(b"WEBVTT",)),
    FileFormat(
        *("ass", "subtitles (Advanced SubStation)", (".ass", ".ssa"), {"translate": "cues.AdvancedSubtitleDocument"}),
        starts=(b"[Script Info]",),
    ),
    # `.sub` and `.lrc` are also names of languages and of other files.
    FileFormat(
        *("microdvd", "subtitles (MicroDVD)", (), {"translate": "cues.MicroDvdDocument"}), shape=r"\s*\{\d+\}\{\d*\}"
    ),
    FileFormat(
        *("subviewer", "subtitles (SubViewer)", (".sbv",), {"translate": "cues.SubViewerDocument"}),
        shape=r"\s*(?:\[INFORMATION\]|\[SUBTITLE\]|\d+:\d\d:\d\d[.:]\d{2,3},\d+:\d\d:\d\d[.:]\d{2,3}[ \t]*\r?\n)",
    ),
    FileFormat(
        *("lrc", "lyrics with times (LRC)", (), {"translate": "cues.LyricsDocument"}),
        shape=r"\s*(?:\[[a-z]+:[^\]\n]*\]\s*)*\[\d+:\d\d(?:[.:]\d+)?\][^\t\n]*(?:\n|$)",
    ),
    FileFormat(
        *("md", "a Markdown page", (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")),
        {"translate": "markdown.MarkdownDocument"},
    ),
    FileFormat(
        *("html", "a web page", (".html", ".htm", ".xhtml", ".xht"), {"translate": "html.HtmlDocument"}),
        roots=("html",),
    ),
    FileFormat(
        *("eml", "an e-mail", (".eml", ".mbox"), {"translate": "office.mail.MailDocument"}),
        shape=r"(?:From [^\n]*\n)?(?:[A-Z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){0,40}?"
        r"(?:MIME-Version|Message-I[dD]|Received|Return-Path):",
    ),
    FileFormat(
        *("docx", "a Word document", (".docx", ".docm"), {"translate": "office.openxml.DocxDocument"}), is_binary=True
    ),
    FileFormat(
        *("odt", "a LibreOffice text document", (".odt",), {"translate": "office.opendocument.OpenDocument"}),
        is_binary=True,
    ),
    FileFormat(
        *("pptx", "a PowerPoint presentation", (".pptx", ".pptm"), {"translate": "office.openxml.PptxDocument"}),
        is_binary=True,
    ),
    FileFormat(
        *("odp", "a LibreOffice presentation", (".odp",), {"translate": "office.opendocument.OpenDocument"}),
        is_binary=True,
    ),
    FileFormat(
        *("epub", "an e-book (EPUB)", (".epub",), {"translate": "office.opendocument.EpubDocument"}), is_binary=True
    ),
    FileFormat(
        *("fb2", "an e-book (FictionBook)", (".fb2",), {"translate": "office.opendocument.BookDocument"}),
        roots=("fictionbook",),
    ),
    FileFormat("json", "a JSON file", (".json", ".arb"), {"translate": "strings.data.JsonDocument"}, texts="strings"),
    FileFormat("yaml", "a YAML file", (".yaml", ".yml"), {"translate": "strings.data.YamlDocument"}, texts="strings"),
    FileFormat(
        *("properties", "Java properties", (".properties",), {"translate": "strings.entries.PropertiesDocument"}),
        texts="strings",
    ),
    FileFormat(
        *("android", "Android app strings", (), {"translate": "strings.xml_values.AndroidDocument"}),
        roots=("resources",),
        file_names=("strings.xml",),
        texts="strings",
    ),
    FileFormat(
        *("plist", "an Apple property list", (".stringsdict", ".plist")),
        {"translate": "strings.xml_values.PropertyListDocument"},
        roots=("plist",),
        texts="strings",
    ),
    FileFormat(
        *("apple", "Apple app strings", (".strings",), {"translate": "strings.entries.AppleStringsDocument"}),
        texts="strings",
    ),
    FileFormat(
        *("ftl", "Project Fluent strings", (".ftl",), {"translate": "strings.entries.FluentDocument"}), texts="strings"
    ),
    FileFormat(
        *(
            "ini",
            "an INI file",
            (".ini", ".cfg", ".conf", ".lng", ".isl"),
            {"translate": "strings.entries.IniDocument"},
        ),
        texts="strings",
    ),
    FileFormat(
        *("paradox", "texts of a game of Paradox", (), {"translate": "strings.entries.GameDocument"}),
        shape=r"\s*(?:#[^\n]*\n\s*)*l_[a-z_]{4,20}:[ \t]*(?:#[^\n]*)?\r?\n",  # `.yml`, but no YAML
        texts="strings",
    ),
    FileFormat("toml", "a TOML file", (".toml",), {"translate": "strings.entries.TomlDocument"}, texts="strings"),
    FileFormat(
        *("php", "PHP arrays", (".php",), {"translate": "strings.entries.PhpDocument"}),
        starts=(b"<?php",),
        texts="strings",
    ),
    FileFormat(
        *("dtd", "DTD entities", (".dtd", ".ent"), {"translate": "strings.entries.DtdDocument"}),
        starts=(b"<!ENTITY",),
        texts="strings",
    ),
    FileFormat(
        *("rc", "a Windows resource script", (".rc", ".rc2")),
        {"translate": "strings.entries.ResourceScriptDocument"},
        texts="strings",
    ),
    FileFormat(
        *("ics", "a calendar or a contact", (".ics", ".ical", ".ifb", ".vcf", ".vcard")),
        {"translate": "strings.entries.CalendarDocument"},
        starts=(b"BEGIN:VCALENDAR", b"BEGIN:VCARD"),
        texts="pieces",
    ),
    FileFormat(
        *("resx", "a .NET resource file", (".resx", ".resw"), {"translate": "strings.xml_values.ResourceDocument"}),
        texts="strings",
    ),
    FileFormat(
        *("svg", "a drawing (SVG)", (".svg",), {"translate": "strings.xml_values.DrawingDocument"}),
        roots=("svg",),
        texts="pieces",
    ),
    # What no command reads.
    FileFormat("rst", "reStructuredText", (".rst", ".rest"), advice=CONVERT),
    FileFormat("tex", "LaTeX", (".tex", ".latex", ".ltx"), advice=CONVERT),
    FileFormat("asciidoc", "AsciiDoc", (".adoc", ".asciidoc")),
    FileFormat("org", "Org mode", (".org",), advice=CONVERT),
    FileFormat("ipynb", "a Jupyter notebook", (".ipynb",), advice=CONVERT),
    FileFormat("tbx", "a termbase", (".tbx",), roots=("martif", "tbx"), advice="make a --glossary of its terms"),
    FileFormat("xml", "an XML file of an unknown kind", (".xml",)),
    FileFormat(
        *("code", "the source code of a program"),
        tuple(".js .mjs .jsx .ts .tsx .c .h .cpp .cs .java .py .rb .pl .go .rs .sh .lua".split()),
        advice="take its texts out first: xgettext -o {stem}.pot {name}",
    ),
    FileFormat(
        *("commands", "data or commands for a program"),
        tuple(".sql .bib .css .bat .ps1 .nsi .nsh .dot .gv .puml .plantuml .mmd .ink .twee .feature".split()),
    ),
    FileFormat(
        *("rpy", "a script of Ren'Py", (".rpy", ".rpym")),
        shape=r"(?:\s*(?:#|init\b|define )[^\n]*\n)*\s*(?:label \w+(?:\([^\n]*\))?|translate \w+ \w+):\s*\n",
        advice="take its texts out first: in Ren'Py's launcher, Extract Dialogue, as text",
    ),
    FileFormat(
        *("gift", "Moodle questions in GIFT", (".gift",)),
        shape=r"(?s)\s*(?://[^\n]*\n\s*|\$CATEGORY:[^\n]*\n\s*)*::[^\n]{1,200}?::.{0,4000}?(?<!\\)\{\s*(?:[=~#%]|T(?:RUE)?\b|F(?:ALSE)?\b|\})",
        advice="import it into Moodle, and export it from there as Moodle XML or HTML",
    ),
    FileFormat(*("hjson", "a file in Hjson", (".hjson",)), advice="convert it: hjson -j {name} > {stem}.json"),
    FileFormat(
        *("xunity", "game texts of XUnity.AutoTranslator", ()),
        shape=r"(?:[ \t\r]*(?://[^\n]*)?\n)*+(?:[^\n=]*(?:\\=[^\n=]*)*=\r?\n|[^\n=]*(?:\\=[^\n=]*)*=\r?$){2}",
        advice="let the game ask: nmt translate --serve (docs/serve.md says what to write into its Config.ini)",
    ),
    FileFormat("rtf", "rich text", (".rtf",), starts=(b"{\\rtf",), advice=CONVERT),
    FileFormat(
        *("pdf", "a PDF document", (".pdf",)),
        starts=(b"%PDF-",),
        is_binary=True,
        advice="take its text out first: pdftotext -layout {name}",
    ),
    FileFormat(
        *("office", "a document from an old version of Office", (".doc", ".xls", ".ppt")),
        starts=(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",),
        is_binary=True,
        advice="save it in its newer form (.docx, .xlsx, .pptx) first; if it is that, it has a password: remove it",
    ),
    FileFormat("gzip", "compressed", (".gz",), starts=(b"\x1f\x8b",), is_binary=True, advice=UNPACK),
    FileFormat("xz", "compressed", (".xz",), starts=(b"\xfd7zXZ",), is_binary=True, advice=UNPACK),
    FileFormat("zstd", "compressed", (".zst",), starts=(b"\x28\xb5\x2f\xfd",), is_binary=True, advice=UNPACK),
    FileFormat("bzip2", "compressed", (".bz2",), starts=BZIP2, is_binary=True, advice=UNPACK),
    FileFormat(
        *("zip", "a zip archive", (".zip",)),
        starts=(b"PK\x03\x04", b"PK\x05\x06"),
        is_binary=True,
        advice="extract it first: unzip {name}",
    ),
    FileFormat(
        *("archive", "an archive", (".tar", ".7z", ".rar")),
        starts=(b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07"),
        is_binary=True,
        advice="extract it first",
    ),
    FileFormat(
        *("picture", "a picture", (".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp")),
        starts=(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*"),
        is_binary=True,
        advice="name a text or a document; docs/formats.md lists the formats",
    ),
    FileFormat(
        *("binary", "binary data", (".exe", ".bin", ".so", ".pyc", ".npy", ".npz", ".sqlite", ".db", ".parquet")),
        starts=(b"\x7fELF", b"SQLite format 3", b"PAR1", b"\x93NUMPY"),
        is_binary=True,
        advice="name a text or a document; docs/formats.md lists the formats",
    ),
)
TOOLS = {"gzip": "gunzip -k", "xz": "unxz -k", "zstd": "unzstd", "bzip2": "bunzip2 -k"}
ALSO_NAMED = {
    "text": ("tsv",),
    "jsonl": ("json",),
    "ts": ("code",),
    "paradox": ("yaml",),
}  # what else a file of a format may be called
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
    """Returns the names of the formats that a command reads, as a list in a sentence."""
    names = list_formats(use)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def list_preparations() -> list[str]:
    """Returns the commands that prepare the files here whose names end like those of pairs, or an example."""
    files = sorted(path.name for path in Path().iterdir() if path.is_file() and may_hold_pairs(path.name))
    return [f"nmt prepare {quote(name)}" for name in files] or ["nmt prepare corpus.tsv"]


def may_hold_pairs(name: str) -> bool:
    """Whether the name of a file implies a format of pairs, ignoring a compression suffix."""
    suffixes = [suffix for suffix in PurePath(name.lower()).suffixes if suffix not in COMPRESSION_EXTENSIONS]
    return bool(suffixes) and "pairs" in getattr(BY_EXTENSION.get(suffixes[-1]), "uses", ())


def find_by_name(name: str | PurePath) -> FileFormat | None:
    """Returns the format implied by a file's name, ignoring a compression suffix, or None."""
    base = PurePath(name).name.lower()
    for extension in COMPRESSION_EXTENSIONS:
        base = base.removesuffix(extension)
    whole = next((format for format in FORMATS if base in format.file_names), None)
    extension = PurePath(base).suffix
    return whole or BY_EXTENSION.get(extension) or find_added(extension[1:])


def may_be_named(format: FileFormat, name: str | PurePath) -> bool:
    """Whether a file of a format may have this name: one that implies no format, that one, or plain text.

    Any other ending says that the file is what it is not, such as compressed.
    """
    if PurePath(name).suffix.lower() in COMPRESSION_EXTENSIONS:
        return False
    implied = find_by_name(name)
    if implied is None or implied is format or implied.name in ALSO_NAMED.get(format.name, ()):
        return True
    return implied is TEXT and not format.is_binary


def find_added(name: str) -> FileFormat | None:
    """Returns the format of documents that another package adds, by its name or the extension of its files, or None.

    Raises MissingExtraError if it cannot be loaded, and DataError if it says nothing of its format.
    """
    plugin = find_plugin(DOCUMENTS, name) if name else None
    if plugin is None:
        return None
    added = getattr(load_plugin(plugin), "format", None)
    if not isinstance(added, FileFormat) or added in FORMATS:
        package = name_package_of(plugin)
        raise DataError(
            f"{name} of the package {package} has no `format` of its own", hint="see docs/python.md#plugins"
        )
    return added


def load_class(format: FileFormat, use: Use) -> Any:
    """Returns the class that reads a format, from a module that is imported when it is needed."""
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
    """Returns the format if the command reads it. Raises DataError, saying what to do instead; `name` is the file's."""
    if use in format.uses:
        return format
    raise DataError(
        f"{name} is {format.title}, which {COMMANDS[use]} does not read", hint=describe_way_out(format, use, name)
    )


def describe_way_out(format: FileFormat, use: Use, name: str) -> str:
    """Returns what to do with a file that a command does not read."""
    stem = PurePath(name).stem if PurePath(name).suffix else name
    advice = format.advice or ADVICE[use]
    if use == "translate" and not format.is_binary and advice != ADVICE[use]:
        advice += f"; {ADVICE[use]}"
    return advice.format(name=name, stem=stem, tool=TOOLS.get(format.name, ""), formats=", ".join(list_formats(use)))


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
