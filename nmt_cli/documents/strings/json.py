"""JSON: string values are translated; keys, numbers, comments and layout are kept byte for byte.

A value is translated if it is text for people: not an address, identifier or path, and not under a key such as `url` or
`id`. Keys that begin with `@` or `$` are kept with everything below them (ARB metadata, schemas).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from nmt_cli.documents.document import MAXIMUM_DEPTH, Document, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import decode_document
from nmt_cli.documents.marks.paragraph import Paragraph, make_units
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.documents.strings.syntax import is_text, read_string

JSON_TOKEN = re.compile(
    r"(?P<blank>\s+)|(?P<string>\"(?:[^\"\\\x00-\x1f]++|\\.)*+\")|(?P<sign>[{}\[\],:])"
    r"|(?P<word>true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
JSON_ESCAPES = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|\t+|  +")

# An object with a message and remarks for translators, as Chrome and react-intl have it, up to what is nested in it.
WHOLE_STRING = r'"(?:[^"\\]|\\.)*+"'
MESSAGE_KEY = r'"(?:message|defaultMessage)"\s*:'
MESSAGE_OBJECT = re.compile(
    rf'\{{\s*(?=(?:[^{{}}"]|{WHOLE_STRING})*?{MESSAGE_KEY})(?:(?:{MESSAGE_KEY}|"(?:description|id|placeholders)"\s*:)\s*'
    rf"(?:{WHOLE_STRING}\s*,?\s*|\{{))+(?:\}}|(?<=\{{))"
)
REMARK_KEYS = ("description", "placeholders", "id")
REMARKS_KEPT = "remarks for translators beside messages, left as they are"


def decode_json(written: str) -> str:
    """Decodes an escape or a run of blanks; a tab becomes a blank, and a carriage return disappears."""
    if not written.startswith("\\"):
        return " "
    spelled = str(json.loads(f'"{written}"')) if re.fullmatch(JSON_ESCAPES, written) and is_valid(written) else written
    return {"\t": " ", "\r": "", "\f": " ", "\b": ""}.get(spelled, spelled)


def is_valid(written: str) -> bool:
    return written[1] in '"\\/bfnrtu' and (written[1] != "u" or len(written) > 2)


def escape_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def escape_json(text: str) -> str:
    return json.dumps(text)[1:-1]


@dataclass
class JsonLevel:
    """An open object or array, and the key of its next value."""

    is_object: bool
    is_kept: bool
    key: str = ""
    expects_key: bool = False
    has_remarks: bool = False  # beside a message

    @property
    def keeps_value(self) -> bool:
        """Whether the next value is no text for readers."""
        return self.is_kept or self.key[:1] in ("@", "$") or self.is_remark

    @property
    def is_remark(self) -> bool:
        return self.has_remarks and self.key in REMARK_KEYS


class JsonDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: None)
        yield make_verbatim_unit(decoded.mark)
        uses_ascii = decoded.text.isascii() and "\\u" in decoded.text
        self.syntax = TextSyntax(JSON_ESCAPES, decode_json, escape_json if uses_ascii else escape_string)
        yield from make_units(
            self.read_parts(decoded.text), self.notes, decoded.encode, reads_back=self.source.reads_back
        )

    def read_parts(self, text: str) -> Iterator[str | Paragraph]:
        """Yields values as paragraphs and everything else unchanged. Raises DataError for invalid JSON."""
        levels: list[JsonLevel] = []
        position = 0
        while position < len(text):
            token = JSON_TOKEN.match(text, position)
            if token is None:
                self.refuse_at(text, position, "not valid JSON")
            position = token.end()
            if token.lastgroup == "string":
                yield from self.read_value(token[0], levels)
                continue
            if token.lastgroup == "sign":
                self.follow_sign(token[0], levels, text, position)
            yield token[0]
        if levels:
            self.refuse_at(text, len(text), "not valid JSON: a bracket is not closed")

    def refuse_at(self, text: str, position: int, problem: str) -> NoReturn:
        self.source.refuse(text.count("\n", 0, position) + 1, problem, "with --format text, it is translated by line")

    def read_value(self, written: str, levels: list[JsonLevel]) -> Iterator[str | Paragraph]:
        level = levels[-1] if levels else None
        raw = written[1:-1]
        if level is not None and level.expects_key:
            level.key, level.expects_key = raw, False
            yield written
            return
        if level is not None and level.keeps_value:
            self.notes += Counter({REMARKS_KEPT: int(level.is_remark and level.key == "description")})
            yield written
            return
        paragraph = read_string(raw, self.syntax)
        key = level.key if level is not None else ""
        outer = (other.key for other in levels[:-1])
        is_read = self.source.reads_back or is_text(paragraph.text or raw, key, outer)
        yield from ('"', paragraph, '"') if is_read else (written,)

    def follow_sign(self, sign: str, levels: list[JsonLevel], text: str, position: int) -> None:
        """Opens and closes objects and arrays."""
        if sign in "{[":
            outer = levels[-1] if levels else None
            kept = outer is not None and outer.keeps_value
            key = outer.key if outer is not None and sign == "[" else ""
            has_remarks = MESSAGE_OBJECT.match(text, position - 1) is not None
            levels.append(JsonLevel(sign == "{", kept, key, expects_key=sign == "{", has_remarks=has_remarks))
            if len(levels) > MAXIMUM_DEPTH:
                self.refuse_at(text, position, f"more than {MAXIMUM_DEPTH} nested values")
        elif sign in "}]":
            if not levels or levels.pop().is_object != (sign == "}"):
                self.refuse_at(text, position, "not valid JSON: brackets do not match")
        elif sign == "," and levels:
            levels[-1].expects_key = levels[-1].is_object
