r"""Files of keys and values, such as INI or TOML. A pattern finds the values; everything else is kept byte for byte.

Each class at the end is a row of the table. Its `entry` matches a `value` and, if there is one, its `key`. A match
without a value is kept (a comment, a section header); if it has a key, this is the next value's key. `quote`, if the
pattern has it, opens the value and selects one of the `syntaxes`; `unclosed` is a quote or comment that is never
closed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from nmt_cli.documents.document import Document, TranslationUnit
from nmt_cli.documents.encodings import decode_document
from nmt_cli.documents.marks import TextSyntax
from nmt_cli.documents.paragraph import Paragraph, make_units
from nmt_cli.documents.strings.syntax import (
    ESCAPED_LETTERS,
    LONGEST_PLACEHOLDER,
    decode_backslash,
    is_text,
    read_string,
)
from nmt_cli.documents.xml import ENTITY
from nmt_cli.languages.codes import find_language

C_ESCAPES = r"(?:\\u[0-9a-fA-F]{4})+|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|\\\r?\n\s*|\\.|\r?\n[ \t]*"
ENTRY_LETTERS = {**ESCAPED_LETTERS, "N": "\n", "b": ""}
STRING_VALUE = (  # in double quotes, in which a backslash escapes, or in single ones, in which `%s` does
    r"(?:(?P<quote>\"(?:\"\")?)|(?P<literal>'(?:'')?))"
    r"(?P<value>(?(quote)(?:\\.|(?!(?P=quote))[^\\])*+|(?:%s(?!(?P=literal)).)*+))(?(quote)(?P=quote)|(?P=literal))"
)
TOML_STRING, PHP_STRING = STRING_VALUE % "", STRING_VALUE % r"\\.|"


def decode_escape(written: str) -> str:
    """Decodes a C-style escape, a doubled quote, a line break or a run of spaces."""
    if not written.startswith("\\"):
        return "\n" if "\n" in written else " " if written.isspace() else written[0]
    return "" if written[1:].isspace() else decode_backslash(written, ENTRY_LETTERS)


def decode_folded(written: str) -> str:
    """Decodes an escape in a format that folds long lines."""
    return "" if written[0] in "\r\n" else decode_escape(written)


def decode_entity(written: str) -> str:
    """Decodes a reference, or a run of spaces and line breaks."""
    return " " if written.isspace() else html.unescape(written)


def escape_entity(text: str) -> str:
    """Escapes plain text for the value of an entity, keeping its tags and references."""
    ampersands = re.sub(r"&(?!#?\w+;)", "&amp;", text)
    return ampersands.replace('"', "&quot;").replace("'", "&#39;").replace("%", "&#37;")


def build_syntax(
    escapes: str, spellings: Mapping[str, str], decode: Callable[[str], str] = decode_escape
) -> TextSyntax:
    """Returns a syntax that decodes `escapes` and runs of spaces, and writes characters with these spellings."""
    table = {ord(character): spelling for character, spelling in spellings.items()}
    return TextSyntax(
        re.compile(rf"{escapes}|\t+|(?<! ) {{2}}(?! )", re.DOTALL), decode, lambda text: text.translate(table)
    )


class EntryDocument(Document):
    """A file of entries; each subclass describes one format."""

    entry: ClassVar[re.Pattern[str]]
    syntaxes: ClassVar[Mapping[str | None, TextSyntax]]  # by the quote that opens a value; None for any other
    may_be_latin = True  # what is not UTF-8 is Latin-1

    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, find_encoding if self.may_be_latin else lambda _: None)
        self.encoding = decoded.encoding
        yield from make_units(self.read_parts(decoded.text), decoded, self.source, self.notes)

    def read_parts(self, text: str) -> Iterator[str | Paragraph]:
        """Yields values as paragraphs and everything else unchanged."""
        position, key, section = 0, "", ""
        for match in self.entry.finditer(text):
            groups = match.groupdict()
            key = (groups["key"] or key).strip("'\"")
            section = groups.get("section") or groups.get("table") or section
            if groups.get("unclosed"):
                what = "string" if groups["unclosed"] == '"' else "comment"
                self.source.refuse(text.count("\n", 0, match.start()) + 1, f"a {what} is never closed")
            if not groups["value"]:
                continue
            paragraph = read_string(groups["value"], self.choose_syntax(match))
            if self.source.reads_back or is_text(paragraph.text or groups["value"], key, section.split(".")):
                yield text[position : match.start("value")]
                yield replace(paragraph, context=f"{section}.{key}")
                position = match.end("value")
        yield text[position:]

    def choose_syntax(self, entry: re.Match[str]) -> TextSyntax:
        """Returns the syntax of an entry's value."""
        return self.syntaxes.get(entry.groupdict().get("quote")) or self.syntaxes[None]


def find_encoding(data: bytes) -> str | None:
    """Returns Latin-1 for a file that is not valid UTF-8, else None."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return None


DOUBLE_QUOTED = build_syntax(C_ESCAPES, {"\\": "\\\\", '"': '\\"', "\n": "\\n"})
RAW_STRING = build_syntax(r"\r?\n[ \t]*", {"'": "\u2019"})  # which has no escapes


class IniDocument(EntryDocument):
    """INI: `key=value`, with quotes or without; comments begin with `;` or `#`."""

    entry = re.compile(
        r"^[ \t]*(?:[;#\[].*|(?P<key>[^\s=;#\[][^=\r\n]*?)[ \t]*=[ \t]*(?:(?P<quote>\")(?=.*\"[ \t]*\r?$))?"
        r"(?P<value>(?(quote).*(?=\")|[^\r\n]*?))\"?[ \t]*\r?$)",
        re.MULTILINE,
    )
    syntaxes: ClassVar = {'"': DOUBLE_QUOTED, None: build_syntax(r"\\[nrt]", {"\n": "\\n"})}


GAME_LANGUAGES = {"chinese": "simp_chinese", "portuguese": "braz_por"}  # which are not named as they are in English
GAME_CODES = (
    r"\$[^$\s]{1,80}\$|\[[^\[\]\r\n]{1,200}\]|£[\w|]{1,60}(?:£|(?!\w))|@\w{1,60}!"
    r"|§[^\s]|#(?:!|[A-Za-z_;:]{1,40} )|\\."
)


def decode_game(written: str) -> str:
    """Decodes an escape or a run of spaces; a game's code stays as it is."""
    return written if re.fullmatch(GAME_CODES, written) and written[0] != "\\" else decode_escape(written)


def name_game_language(code: str) -> str:
    """Returns the name of a language in Paradox's games: `german`."""
    name = find_language(code).name.lower()
    return GAME_LANGUAGES.get(name, name)


class GameDocument(EntryDocument):
    """Localisation files of Paradox's games, which are not YAML: `key:0 "text"`, where quotes may be unescaped."""

    entry = re.compile(
        r"^[ \t]*(?:#.*|(?P<key>[^\s:#\"]+):\d*[ \t]*\"(?P<value>[^\r\n]*)\"[ \t]*(?:#[^\"\r\n]*)?\r?$)", re.MULTILINE
    )
    syntaxes: ClassVar = {None: build_syntax(GAME_CODES, {'"': '\\"', "\n": "\\n"}, decode_game)}

    def read_parts(self, text: str) -> Iterator[str | Paragraph]:
        """Yields the parts, with the language of the file replaced: `l_english:`."""
        source, target = (
            name_game_language(code) if code else ""
            for code in (self.source.source_language, self.source.target_language)
        )
        header = re.search(rf"(?m)^l_{source}:", text) if source and target else None
        if header is not None:
            text = f"{text[: header.start()]}l_{target}:{text[header.end() :]}"
        yield from super().read_parts(text)


class TomlDocument(EntryDocument):
    """TOML: string values, including those in arrays and those of several lines."""

    entry = re.compile(
        r"#[^\r\n]*|^[ \t]*(?:\[(?P<section>\[[\w.\"' -]+)\]|(?P<table>\[[\w.\"' -]+))\][ \t]*(?=$|[\r#])"
        rf"|(?P<key>[\w-]+|\"[^\"\r\n]*\"|'[^'\r\n]*')[ \t]*[=.]|{TOML_STRING}",
        re.MULTILINE | re.DOTALL,
    )
    syntaxes: ClassVar = {'"': DOUBLE_QUOTED, '"""': DOUBLE_QUOTED, None: RAW_STRING}


class PhpDocument(EntryDocument):
    """PHP arrays: `'key' => 'value'` and `$texts['key'] = 'value'`."""

    entry = re.compile(
        r"//[^\r\n]*|#(?!\[)[^\r\n]*|/\*.*?(?:\*/|\Z)"
        rf"|(?:=>|\]\s*=)\s*{PHP_STRING}(?=\s*[,;)\]])|(?P<key>'(?:\\.|[^'\\])*+'|\"(?:\\.|[^\"\\])*+\")",
        re.DOTALL,
    )
    syntaxes: ClassVar = {'"': DOUBLE_QUOTED, None: build_syntax(r"\\[\\']|\r?\n[ \t]*", {"\\": "\\\\", "'": "\\'"})}


class DtdDocument(EntryDocument):
    """Entities of a DTD, as used by Mozilla's programs: `<!ENTITY name "value">`."""

    entry = re.compile(
        r"<!--.*?(?:-->|\Z)|<!ENTITY\s+(?P<key>[\w:.-]+)\s+(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote)).)*)(?P=quote)\s*>",
        re.DOTALL,
    )
    syntaxes: ClassVar = {None: TextSyntax(re.compile(rf"{ENTITY}|[ \t\r\n]+"), decode_entity, escape_entity)}


class ResourceScriptDocument(EntryDocument):
    """Windows resource scripts: menus, dialogues and string tables."""

    entry = re.compile(
        r"//[^\r\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*(?!(?:BLOCK|VALUE|CLASS|ICON|LANGUAGE)\b)(?P<key>\w+)[ \t]*[, \t][ \t]*"
        r"\"(?P<value>(?:\"\"|\\.|[^\"\\\r\n])*)\"",
        re.MULTILINE | re.DOTALL,
    )
    syntaxes: ClassVar = {None: build_syntax(rf"\"\"|{C_ESCAPES}", {"\\": "\\\\", '"': '""', "\n": "\\n"})}


class CalendarDocument(EntryDocument):
    """Calendars and contacts (RFC 5545, RFC 6350): summaries, descriptions, notes and titles."""

    entry = re.compile(
        r"^(?P<key>SUMMARY|DESCRIPTION|COMMENT|NOTE|TITLE|ROLE)(?:;(?:\"[^\"\r\n]*\"|[^\":\r\n])*)?:"
        r"(?P<value>(?:[^\r\n]|\r?\n[ \t])*)",
        re.MULTILINE,
    )
    syntaxes: ClassVar = {
        None: build_syntax(r"\\.|\r?\n[ \t]", {"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"}, decode_folded)
    }


PLACEABLE = r"\{(?:[^{}\"\r\n]|\"(?:\\.|[^\"\\\r\n])*+\")*+\}"
BRACE = r"\{[ \t]*\"(?P<brace>[{}])\"[ \t]*\}"  # as text
KEPT_PLACEABLE = rf"(?=\{{[^{{}}]*\{{|\{{[^{{}}]{{{LONGEST_PLACEHOLDER}}}){PLACEABLE}"  # no placeholder of prose


def decode_fluent(written: str) -> str:
    """Decodes a brace, which Fluent spells as a string, or a line break; any other placeable spells itself."""
    brace = re.fullmatch(BRACE, written)
    return brace["brace"] if brace else " " if written.isspace() else written


class FluentDocument(EntryDocument):
    """Project Fluent: messages, their attributes and variants; terms (`-brand`) are names."""

    entry = re.compile(
        r"^(?:#[^\r\n]*|-[A-Za-z][\w-]*[ \t]*=[^\r\n]*|(?:(?P<key>[A-Za-z][\w-]*|[ \t]+\.[A-Za-z][\w-]*)[ \t]*="
        r"|[ \t]+\*?\[[^\]\r\n]*\]|[ \t]*\})\s*?(?P<value>(?:[^\r\n{}]"
        rf"|{PLACEABLE}"
        r"|\r?\n(?:[ \t]*\r?\n)*[ \t]+(?![ \t.*\[{}]))*))",
        re.MULTILINE,
    )
    escapes = rf"{BRACE}|{KEPT_PLACEABLE}|[ \t]*(?:\r?\n[ \t]*)+"
    syntaxes: ClassVar = {None: build_syntax(escapes, {"{": '{"{"}', "}": '{"}"}'}, decode_fluent)}


APPLE_COMMENT = r"/\*(?:[^*]|\*(?!/))*+\*/"  # no way back: many comments take no longer


def decode_apple(written: str) -> str:
    """Decodes an escape (octal codes are Latin-1), a line break or a run of spaces."""
    if not written.startswith("\\"):
        return "\n" if written.strip(" \t") else " "
    if written[1:].isdigit() and len(written) == 4:
        return chr(int(written[1:], 8) & 0xFF)
    return decode_backslash(written.replace("\\U", "\\u"))


class AppleStringsDocument(EntryDocument):
    """Strings of an Apple app: `"key" = "value";`, in UTF-8, or in UTF-16 with a byte order mark."""

    entry = re.compile(
        rf"{APPLE_COMMENT}|//[^\r\n]*|=(?:\s|{APPLE_COMMENT}|//[^\r\n]*)*+\"(?P<value>(?:\\.|[^\"\\])*+)\""
        rf"(?=(?:\s|{APPLE_COMMENT})*+;)|(?P<key>\"(?:\\.|[^\"\\])*+\"|[\w.-]+)|(?P<unclosed>\"|/\*)",
        re.DOTALL,
    )
    escapes = r"(?:\\[uU][0-9a-fA-F]{4})+|\\[0-7]{3}|\\.|\r\n|[\r\n]"
    spellings: ClassVar = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "", "\t": "\\t"}
    syntaxes: ClassVar = {None: build_syntax(escapes, spellings, decode_apple)}
    may_be_latin = False


CONTINUATION = r"[ \t\f]*\\(?:\r\n|[\r\n])[ \t\f]*"
PROPERTY_ESCAPES = rf"{CONTINUATION}|(?:\\u[0-9a-fA-F]{{4}})+|\\."
PROPERTY_SPELLINGS = {"\\": "\\\\", "\n": "\\n", "\r": "", "\t": "\\t", "\f": ""}
ARGUMENT = re.compile(r"\{\d")  # of `MessageFormat`, which doubles apostrophes


def decode_property(written: str) -> str:
    """Decodes an escape, a continued line, a run of spaces, or a doubled quote of `MessageFormat`."""
    if not written.startswith("\\"):
        return "'" if written == "''" else " "
    return "" if written[1] in "\r\n" else decode_backslash(written)


def escape_non_ascii(text: str) -> str:
    """Writes characters beyond ASCII as UTF-16 units: `\\u00e9`."""

    def write_units(match: re.Match[str]) -> str:
        data = match[0].encode("utf-16-be", "replace")
        return "".join(f"\\u{data[index : index + 2].hex()}" for index in range(0, len(data), 2))

    return re.sub(r"[^\x00-\x7f]+", write_units, text)


PLAIN_PROPERTY = build_syntax(PROPERTY_ESCAPES, PROPERTY_SPELLINGS, decode_property)
MESSAGE_PROPERTY = build_syntax(rf"''?|{PROPERTY_ESCAPES}", {**PROPERTY_SPELLINGS, "'": "''"}, decode_property)


class PropertiesDocument(EntryDocument):
    """Java properties; non-ASCII characters are escaped in pure ASCII files, which any Java reads, and in Latin-1."""

    entry = re.compile(
        r"[ \t\f]*[#!][^\r\n]*(?:\r\n|[\r\n]|\Z)|[ \t\f]*(?:\r\n|[\r\n]|\Z)"
        r"|[ \t\f]*(?P<key>(?:\\(?:\r\n|.)|[^\s:=\\])*)(?:[ \t\f]*[:=])?[ \t\f]*"
        r"(?P<value>(?:\\(?:\r\n|.)|[^\\\r\n])*)\\?(?:\r\n|[\r\n]|\Z)",
        re.DOTALL,
    )

    def choose_syntax(self, entry: re.Match[str]) -> TextSyntax:
        syntax = MESSAGE_PROPERTY if ARGUMENT.search(entry["value"]) else PLAIN_PROPERTY
        if entry.string.isascii() or self.encoding == "latin-1":
            return syntax._replace(escape=lambda text: escape_non_ascii(syntax.escape(text)))
        return syntax
