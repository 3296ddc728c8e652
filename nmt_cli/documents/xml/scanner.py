"""Scans HTML and XML into tokens whose concatenation is the text, byte for byte.

Must not know what elements mean, except the HTML elements whose content is not markup. Takes linear time even for
hostile text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.text.word_memory import remember_by_word

TokenKind = Literal["text", "open", "close", "empty", "other"]
XML_NAME = r"(?:[A-Za-z_][^\s/>=\"'<]*|\d{1,3}(?= ?/?>))"  # programs number what they translate: <1>here</1>
OTHER = r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![A-Za-z](?:[^<>\[]++|\[.*?\]\s*(?=>))*>|\{%.*?%\}|<%.*?%>"
QUOTED_TAG = re.compile(rf"</?{XML_NAME}(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>", re.DOTALL)
PLAIN_TAG = re.compile(rf"</?{XML_NAME}[^<>]*+>")
OTHER_TOKEN = re.compile(OTHER, re.DOTALL)
RAW_ELEMENTS = frozenset("script style xmp iframe noembed noframes textarea title".split())
MAXIMUM_MISTAKES = 20  # a quote that is never closed is searched to the end of the text; later ones are not
ENTITY = r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?"
SPECIAL = re.compile(rf"{ENTITY}|[ \t\r\n\f]+|[&<>\"']")
ATTRIBUTE = re.compile(r"([^\s=/>\"'<]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?", re.DOTALL)
TAGS_REMEMBERED = 1 << 12
OPENINGS = ("<!--", "<![CDATA[", "<?", "<!", "<%", "{%")


class MarkupToken(NamedTuple):
    """A piece of markup or text. `name` is the element's, in lower case for HTML."""

    kind: TokenKind
    raw: str
    name: str = ""


class Attribute(NamedTuple):
    """An attribute of a tag; its value is spelled at [start, end)."""

    name: str
    value: str
    start: int
    end: int


def scan_markup(text: str, *, is_html: bool, is_template: bool = False) -> Iterator[MarkupToken]:
    """Yields the tokens of a text; with `is_template`, `{% ... %}` and `<% ... %>` are tokens too."""
    position, mistakes = 0, 0
    starts = re.compile(r"<|\{%" if is_template else "<")
    missing: set[str] = set()  # openings of tokens that are never closed from here on
    while position < len(text):
        match = starts.search(text, position)
        start = match.start() if match else len(text)
        if start > position:
            yield MarkupToken("text", text[position:start])
        if match is None:
            return
        token = match_other(text, start, missing, is_template=is_template)
        if token is None:
            tag = QUOTED_TAG.match(text, start) if mistakes < MAXIMUM_MISTAKES else None
            if tag is None:
                tag = PLAIN_TAG.match(text, start)
                mistakes += tag is not None
            token = make_tag_token(tag[0]) if tag else MarkupToken("text", text[start : start + 1])
            token = token._replace(name=token.name.lower()) if is_html else token
        yield token
        position = start + len(token.raw)
        if is_html and token.kind == "open" and token.name in RAW_ELEMENTS:
            content = scan_raw_content(text, position, token.name)
            if content:
                yield MarkupToken("text", content)
                position += len(content)


def match_other(text: str, start: int, missing: set[str], *, is_template: bool) -> MarkupToken | None:
    """Returns the comment, section, instruction, declaration or template code at `start`, or None."""
    if not text.startswith(OPENINGS, start):  # fast, since most are tags
        return None
    opening = next(opening for opening in OPENINGS if text.startswith(opening, start))
    if opening in missing or (opening in ("<%", "{%") and not is_template):
        return None
    match = OTHER_TOKEN.match(text, start)
    if match is None:
        missing.add(opening)
        return None
    return MarkupToken("other", match[0])


@remember_by_word(TAGS_REMEMBERED)
def make_tag_token(raw: str) -> MarkupToken:
    """Returns the token of a tag. Cached, since most tags recur."""
    name = re.compile(XML_NAME).search(raw, 1)
    kind: TokenKind = "close" if raw.startswith("</") else "empty" if raw.endswith("/>") else "open"
    return MarkupToken(kind, raw, name[0] if name else "")


def scan_raw_content(text: str, position: int, name: str) -> str:
    """Returns the text before the end tag of an element whose content is not markup."""
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, position)
    return text[position : end.start() if end else len(text)]


def read_attributes(tag: str) -> list[Attribute]:
    """Returns the attributes of a tag in order, with lower-case names and decoded values."""
    attributes = []
    name_end = re.compile(rf"</?{XML_NAME}").match(tag)
    for match in ATTRIBUTE.finditer(tag, name_end.end() if name_end else 0, len(tag) - 1):
        group = next((number for number in (2, 3, 4) if match[number] is not None), 0)
        value = html.unescape(match[group]) if group else ""
        start, end = match.span(group) if group else (match.end(), match.end())
        attributes.append(Attribute(match[1].lower(), value, start, end))
    return attributes


def map_attributes(tag: str) -> dict[str, str]:
    """Returns the values of a tag's attributes by their lower-case names."""
    return {attribute.name: attribute.value for attribute in read_attributes(tag)}


def find_attribute(tag: str, name: str) -> Attribute | None:
    """Returns the first attribute of that name in a tag, or None."""
    return next((attribute for attribute in read_attributes(tag) if attribute.name == name), None)


def decode_reference(written: str) -> str:
    """Decodes a reference; a run of blanks and line breaks becomes one blank."""
    spelled = " " if written.isspace() else html.unescape(written)
    return " " if spelled in ("\t", "\n", "\r") else spelled


def escape_markup(text: str) -> str:
    """Escapes plain text for an element."""
    if not ("&" in text or "<" in text or ">" in text):
        return text
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(text: str) -> str:
    """Escapes plain text for an attribute value in either kind of quotes."""
    return escape_markup(text).replace('"', "&quot;").replace("'", "&#39;")


MARKUP_SYNTAX = TextSyntax(SPECIAL, decode_reference, escape_markup)
ATTRIBUTE_SYNTAX = MARKUP_SYNTAX._replace(escape=escape_attribute)
