"""Strings of an Apple app (`.strings`): values are translated; keys, comments and layout are kept byte for byte.

Each entry is `"key" = "value";`. A file is in UTF-8, or in UTF-16 with a byte order mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import decode_document
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.documents.strings.syntax import decode_units, is_text, read_string
from nmt_cli.errors import DataError

APPLE_TOKEN = re.compile(r'/\*.*?\*/|//[^\r\n]*|"(?P<string>(?:\\.|[^"\\])*)"|(?P<open>"|/\*)|[^"/]+|/', re.DOTALL)
ENTRY_END = re.compile(r"(?:\s|/\*(?:[^*]|\*(?!/))*+\*/)*+;")  # no way back: many comments take no longer
COMMENTS = ("/*", "//")
APPLE_ESCAPES = re.compile(r"(?:\\[uU][0-9a-fA-F]{4})+|\\[0-7]{3}|\\.|\r\n|[\r\n]|\t+|  +", re.DOTALL)
APPLE_SPELLINGS = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "", "\t": "\\t"}


def decode_apple(written: str) -> str:
    if written in ("\r\n", "\r", "\n"):
        return "\n"
    if written.isspace():
        return " "
    if written[1] in "uU" and len(written) >= 6:
        return decode_units(written.replace("\\U", "\\u"))
    if written[1:].isdigit() and len(written) == 4:
        return bytes([int(written[1:], 8) & 0xFF]).decode("latin-1")
    return {"n": "\n", "t": " ", "r": ""}.get(written[1], written[1])


def escape_apple(text: str) -> str:
    return "".join(APPLE_SPELLINGS.get(character, character) for character in text)


APPLE_SYNTAX = TextSyntax(APPLE_ESCAPES, decode_apple, escape_apple)


class AppleStringsDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: None)
        yield make_verbatim_unit(decoded.mark)
        kept, key = "", ""
        follows_equals = False
        for token in APPLE_TOKEN.finditer(decoded.text):
            if token["open"]:
                line = decoded.text.count("\n", 0, token.start()) + 1
                what = "string" if token["open"] == '"' else "comment"
                raise DataError(f"{self.source.name}, line {line:,}: a {what} is never closed")
            value = read_value(token, key) if follows_equals else None
            if value is None:
                kept += token[0]
            else:
                yield make_verbatim_unit(decoded.encode(f'{kept}"'))
                yield value.make_unit(self.notes, decoded.encode)
                kept = '"'
            if token["string"] is not None:
                key, follows_equals = token["string"], False
            elif token[0].strip() and not token[0].startswith(COMMENTS):
                follows_equals = token[0].rstrip().endswith("=")
        yield make_verbatim_unit(decoded.encode(kept))


def read_value(token: re.Match[str], key: str) -> Paragraph | None:
    """Returns a value for readers as a paragraph; None for any other value, or if no entry ends here."""
    if token["string"] is None or ENTRY_END.match(token.string, token.end()) is None:
        return None
    value = read_string(token["string"], APPLE_SYNTAX)
    return value if is_text("".join(item.text for item in value.items), key) else None
