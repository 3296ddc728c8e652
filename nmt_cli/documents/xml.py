"""XML and HTML as tokens and trees that are written back byte for byte, and checks that a document is safe."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from nmt_cli.documents.document import DocumentSource
from nmt_cli.documents.encodings import DecodedText, decode_document
from nmt_cli.documents.marks import InlineItem, TextSyntax, Wrapper, read_spelled_text
from nmt_cli.formats.archives import refuse_part
from nmt_cli.formats.xml import CutUnit, MarkupToken, TokenKind, check_xml, cut_units, scan_xml
from nmt_cli.text.words import remember_by_word

# Scans HTML and XML into tokens whose concatenation is the text, byte for byte.
#
# Must not know what elements mean, except the HTML elements whose content is not markup. Takes linear time even for
# hostile text.


XML_NAME = r"(?:[A-Za-z_][^\s/>=\"'<]*|\d{1,3}(?= ?/?>))"  # programs number what they translate: <1>here</1>
# Of Go, Handlebars and Jinja: a command between double braces, or code that is too long for a placeholder of prose.
TEMPLATE_COMMAND = r"[-~]?\s*(?:[#/!>^*]|(?:if|else|end|range|with|define|template|block|partial)(?=[\s}-]))"
TEMPLATE_CODE = (
    rf"\{{\{{(?!\{{)(?:(?={TEMPLATE_COMMAND})|(?![^{{}}\n]{{0,80}}\}}\}}))(?:[^{{}}]|\{{(?!\{{)|\}}(?!\}}))*+\}}\}}"
)
OTHER = (
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![A-Za-z](?:[^<>\[]++|\[.*?\]\s*(?=>))*>|\{%.*?%\}|<%.*?%>"
    rf"|{TEMPLATE_CODE}"
)
QUOTED_TAG = re.compile(rf"</?{XML_NAME}(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>", re.DOTALL)
PLAIN_TAG = re.compile(rf"</?{XML_NAME}[^<>]*+>")
OTHER_TOKEN = re.compile(OTHER, re.DOTALL)
RAW_ELEMENTS = frozenset("script style xmp iframe noembed noframes textarea title".split())
MAXIMUM_MISTAKES = 20  # a quote that is never closed is searched to the end of the text; later ones are not
ENTITY = r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?"
SPECIAL = re.compile(rf"{ENTITY}|[ \t\r\n\f]+|[&<>\"']")
ATTRIBUTE = re.compile(r"([^\s=/>\"'<]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?", re.DOTALL)
TAGS_REMEMBERED = 1 << 12
OPENINGS = ("<!--", "<![CDATA[", "<?", "<!", "<%", "{%", "{{")


class Attribute(NamedTuple):
    """An attribute of a tag; its value is spelled at [start, end)."""

    name: str
    value: str
    start: int
    end: int


def scan_markup(text: str, *, is_html: bool, is_template: bool = False) -> Iterator[MarkupToken]:
    """Yields the tokens of a text; with `is_template`, `{% ... %}`, `{{ if ... }}` and `<% ... %>` are tokens too."""
    position, mistakes = 0, 0
    starts = re.compile(rf"(?s)<|\{{%|(?={TEMPLATE_CODE})" if is_template else "<")
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
        if is_html and token.kind == "open" and token.name in RAW_ELEMENTS:  # whose content is not markup
            end_tag = re.compile(rf"</{token.name}(?=[\s/>])", re.IGNORECASE).search(text, position)
            content = text[position : end_tag.start() if end_tag else len(text)]
            if content:
                yield MarkupToken("text", content)
                position += len(content)


def match_other(text: str, start: int, missing: set[str], *, is_template: bool) -> MarkupToken | None:
    """Returns the comment, section, instruction, declaration or template code at `start`, or None."""
    if not text.startswith(OPENINGS, start):  # fast, since most are tags
        return None
    opening = next(opening for opening in OPENINGS if text.startswith(opening, start))
    if opening in missing or (opening in ("<%", "{%", "{{") and not is_template):
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
    """Decodes a reference; a run of spaces and line breaks becomes one space."""
    spelled = " " if written.isspace() else html.unescape(written)
    return " " if spelled in ("\t", "\n", "\r") else spelled


def escape_markup(text: str) -> str:
    """Escapes plain text for an element."""
    return html.escape(text, quote=False)


def escape_attribute(text: str) -> str:
    """Escapes plain text for an attribute value in either kind of quotes."""
    return escape_markup(text).replace('"', "&quot;").replace("'", "&#39;")


MARKUP_SYNTAX = TextSyntax(SPECIAL, decode_reference, escape_markup)
ATTRIBUTE_SYNTAX = MARKUP_SYNTAX._replace(escape=escape_attribute)


# Elements of an XML document as trees that are written back byte for byte, and checks that a document is safe.
#
# expat reads the document twice (`formats/xml.py`): first the whole of it, so that what is translated is well-formed,
# has no entities of its own (which can be made to fill memory) and is not deeply nested; then token by token, one
# element at a time becoming a tree.


DECLARED = re.compile(rb"<\?xml[^>]{1,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{2,40})")
INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
CDATA = "<![CDATA["


@dataclass(frozen=True, eq=False)
class XmlNode:
    """An element: its opening tag, its content, and its closing tag, which is empty for `<a/>`."""

    tag: str
    name: str  # without its prefix
    children: list[XmlNode | MarkupToken] = field(default_factory=list)
    end: str = ""

    @property
    def content(self) -> str:
        return "".join(child.raw for child in self.children)

    @property
    def raw(self) -> str:
        return f"{self.tag}{self.content}{self.end}"

    @property
    def elements(self) -> list[XmlNode]:
        return [child for child in self.children if isinstance(child, XmlNode)]

    @cached_property
    def text(self) -> str:
        """The text of the element and its descendants."""
        return "".join(
            child.text if isinstance(child, XmlNode) else read_character_data(child) for child in self.children
        )

    def find(self, name: str) -> XmlNode | None:
        """Returns the first child element of that name, or None."""
        return next((element for element in self.elements if element.name == name), None)

    def find_all(self, names: frozenset[str]) -> Iterator[XmlNode]:
        """Yields descendants with these names, without descending into those found."""
        for element in self.elements:
            if element.name in names:
                yield element
            else:
                yield from element.find_all(names)

    def read(self, attribute: str) -> str:
        """Returns the value of an attribute, by its name without a prefix; empty if missing."""
        return read_attribute(self.tag, attribute)


def read_attribute(tag: str, name: str) -> str:
    """Returns the value of a tag's attribute, by its name without a prefix; empty if missing."""
    values = (item.value for item in read_attributes(tag) if strip_prefix(item.name) == name.lower())
    return next(values, "")


def set_attribute(tag: str, name: str, value: str) -> str:
    """Sets an attribute of a tag, replacing an existing one or appending it."""
    old = find_attribute(tag, name.lower())
    if old is not None:
        return f"{tag[: old.start]}{value}{tag[old.end :]}"
    end = len(tag) - (2 if tag.endswith("/>") else 1)
    return f'{tag[:end].rstrip()} {name}="{value}"{tag[len(tag[:end].rstrip()) :]}'


def strip_prefix(name: str) -> str:
    return name.rpartition(":")[2]


def read_node(tokens: Iterator[MarkupToken], token: MarkupToken) -> XmlNode:
    """Returns the element that `token` begins, consuming its tokens."""
    if token.kind == "empty":
        return XmlNode(token.raw, strip_prefix(token.name))
    stack: list[tuple[MarkupToken, list[XmlNode | MarkupToken]]] = [(token, [])]
    for following in tokens:
        if following.kind == "open":
            stack.append((following, []))
        elif following.kind == "close":
            opening, children = stack.pop()
            node = XmlNode(opening.raw, strip_prefix(opening.name), children, following.raw)
            if not stack:
                return node
            stack[-1][1].append(node)
        elif following.kind == "empty":
            stack[-1][1].append(XmlNode(following.raw, strip_prefix(following.name)))
        else:
            stack[-1][1].append(following)
    raise ValueError("the element is not closed")  # expat has seen that all are


def parse_node(raw: str) -> XmlNode:
    """Returns the tree of an element."""
    tokens = scan_xml(raw)
    return read_node(tokens, next(tokens))


def decode_xml(source: DocumentSource, *, with_entities: bool = False) -> DecodedText:
    """Reads the whole document. Raises DataError for invalid or unsafe XML."""
    decoded = decode_document(source, find_xml_encoding)
    problem = check_xml(decoded.text, with_entities=with_entities)
    if problem is not None:
        source.refuse(*problem)
    return decoded


def cut_document(
    source: DocumentSource, text: str, unit_names: frozenset[str], tag_names: frozenset[str] = frozenset()
) -> Iterator[CutUnit]:
    """Yields the units of a document. Raises DataError for a unit that is too long."""
    try:
        yield from cut_units(text, unit_names, tag_names)
    except ValueError as error:
        refuse_part(source.name, str(error), "split the document")


def find_xml_encoding(data: bytes) -> str | None:
    """Returns the encoding named by an XML declaration."""
    match = DECLARED.match(data)
    return match[1].decode("ascii").lower() if match else None


def escape_xml(text: str) -> str:
    """Escapes plain text for an element, dropping characters that XML forbids."""
    return INVALID.sub("", escape_markup(text))


def escape_cdata(text: str) -> str:
    """Escapes plain text for a CDATA section."""
    return INVALID.sub("", text).replace("]]>", "]]]]><![CDATA[>")


def is_cdata(token: MarkupToken) -> bool:
    return token.raw.startswith(CDATA)


XML_SYNTAX = MARKUP_SYNTAX._replace(escape=escape_xml)
CDATA_SYNTAX = TextSyntax(re.compile(r"[ \t\r\n]+"), lambda _: " ", escape_cdata)


def read_character_data(token: MarkupToken) -> str:
    """Returns the text of a token; empty for a comment or an instruction."""
    if token.kind == "text":
        return read_spelled_text(token.raw, XML_SYNTAX).text
    return get_cdata(token) if is_cdata(token) else ""


def get_cdata(token: MarkupToken) -> str:
    return token.raw[len(CDATA) : -3]


def enclose(node: XmlNode, inside: Iterable[InlineItem]) -> Iterator[InlineItem]:
    """Yields the items inside an element, between its tags."""
    yield InlineItem("open", (node.tag,), name=node.name)
    yield from inside
    yield InlineItem("close", (node.end,), name=node.name)


def make_text_item(token: MarkupToken, wrappers: Sequence[Wrapper] = ()) -> InlineItem:
    """Returns character data as a text item, and anything else, such as a comment, as a point."""
    if token.kind == "text":
        return read_spelled_text(token.raw, XML_SYNTAX, wrappers)
    if not is_cdata(token):
        return InlineItem("point", (token.raw,), wrappers=tuple(wrappers))
    return read_spelled_text(get_cdata(token), CDATA_SYNTAX, (*wrappers, Wrapper(CDATA, "]]>", escape=escape_cdata)))
