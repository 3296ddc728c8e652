r"""Java properties: values are translated; keys, comments, separators and layout are kept byte for byte.

A pure ASCII file gets escapes (`\u00e9`), which every version of Java reads; any other file gets the characters
themselves. In a value with `{0}`, an apostrophe is doubled, as `MessageFormat` requires.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DecodedText, decode_document
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.documents.strings.syntax import decode_units, is_text, read_string

ENTRY = re.compile(
    r"(?P<comment>[ \t\f]*[#!][^\r\n]*(?:\r\n|[\r\n]|\Z))|(?P<blank>[ \t\f]*(?:\r\n|[\r\n]|\Z))"
    r"|(?P<name>[ \t\f]*(?P<key>(?:\\(?:\r\n|.)|[^\s:=\\])*)(?:[ \t\f]*[:=])?[ \t\f]*)"
    r"(?P<value>(?:\\(?:\r\n|.)|[^\\\r\n])*)(?P<end>\\?(?:\r\n|[\r\n]|\Z))",
    re.DOTALL,
)
CONTINUATION = r"[ \t\f]*\\(?:\r\n|[\r\n])[ \t\f]*"
PROPERTY_ESCAPES = re.compile(rf"{CONTINUATION}|(?:\\u[0-9a-fA-F]{{4}})+|\\.|\t+|  +", re.DOTALL)
MESSAGE_ESCAPES = re.compile(rf"''?|{PROPERTY_ESCAPES.pattern}", re.DOTALL)
ARGUMENT = re.compile(r"\{\d")
PROPERTY_SPELLINGS = {"\\": "\\\\", "\n": "\\n", "\r": "", "\t": "\\t", "\f": ""}


def decode_property(written: str) -> str:
    if written == "''":
        return "'"
    if written.startswith("\\u") and len(written) >= 6:
        return decode_units(written)
    if written.strip(" \t\f")[:1] == "\\" and written.strip(" \t\f")[1:2] in ("\r", "\n"):
        return " " if written[0] in " \t\f" else ""
    if written.startswith("\\"):
        return {"n": "\n", "t": " ", "r": "", "f": " "}.get(written[1], written[1])
    return " "


def escape_property(text: str) -> str:
    return "".join(PROPERTY_SPELLINGS.get(character, character) for character in text)


def escape_ascii_property(text: str) -> str:
    units = escape_property(text)
    return "".join(c if c.isascii() else "".join(f"\\u{u:04x}" for u in encode_units(c)) for c in units)


def encode_units(character: str) -> list[int]:
    """Returns the UTF-16 code units of a character."""
    data = character.encode("utf-16-be", "replace")
    return [int.from_bytes(data[index : index + 2], "big") for index in range(0, len(data), 2)]


class PropertiesDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, find_encoding)
        yield make_verbatim_unit(decoded.mark)
        escape = escape_ascii_property if decoded.text.isascii() or decoded.encoding == "latin-1" else escape_property
        position = 0
        while position < len(decoded.text):
            entry = ENTRY.match(decoded.text, position)
            if entry is None or entry.end() == position:
                break
            position = entry.end()
            if entry["value"] and not (entry["comment"] or entry["blank"]):
                yield from self.read_entry(entry, decoded, escape)
            else:
                yield make_verbatim_unit(decoded.encode(entry[0]))
        yield make_verbatim_unit(decoded.encode(decoded.text[position:]))

    def read_entry(self, entry: re.Match[str], decoded: DecodedText, escape: object) -> Iterator[TranslationUnit]:
        paragraph = read_string(entry["value"], make_syntax(entry["value"], uses_ascii=escape is escape_ascii_property))
        text = "".join(item.text for item in paragraph.items)
        if not is_text(text, entry["key"]):
            yield make_verbatim_unit(decoded.encode(entry[0]))
            return
        yield make_verbatim_unit(decoded.encode(entry["name"]))
        yield paragraph.make_unit(self.notes, decoded.encode)
        yield make_verbatim_unit(decoded.encode(entry["end"]))


def make_syntax(value: str, *, uses_ascii: bool) -> TextSyntax:
    """Returns the syntax that escapes a value."""
    escape = escape_ascii_property if uses_ascii else escape_property
    if ARGUMENT.search(value) is None:
        return TextSyntax(PROPERTY_ESCAPES, decode_property, escape)
    return TextSyntax(MESSAGE_ESCAPES, decode_property, lambda text: escape(text).replace("'", "''"))


def find_encoding(data: bytes) -> str | None:
    """Returns the encoding of a file: UTF-8, or Latin-1 if it is not valid UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return None
