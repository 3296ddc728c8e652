"""Reads all XML with expat, for pairs and for documents. It limits nesting and sizes, and repairs common errors.

Units, such as those of a translation memory, are read from a stream, one at a time (`UnitCollector`), and from a
document with their places (`cut_units`). What is written back byte for byte becomes tokens (`scan_xml`), cut where
expat says that each begins:

    text      <tu id="1"><seg>a &amp; b<ph/></seg></tu>
    tokens    open `<tu id="1">`, open `<seg>`, text `a &amp; b`, empty `<ph/>`, close `</seg>`, close `</tu>`
    refused   <!DOCTYPE x [<!ENTITY a "&b;&b;">]>    before `a` expands

Does not depend on formats, and imports no other module of nmt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

MAXIMUM_DEPTH = 200  # of nested elements, or of nested values of a document
MAXIMUM_UNIT = 1 << 22  # bytes, and characters
LONGEST_ENTITY = 1000  # characters: the name of a product or a notice
FIRST_CHUNK = 1 << 16  # characters of a text that become tokens at a time

TAG = re.compile(rb"<(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>")

XmlError = expat.ExpatError
TokenKind = Literal["text", "open", "close", "empty", "other"]


class MarkupToken(NamedTuple):
    """A piece of markup or text. `name` is the name of the element, in lower case for HTML."""

    kind: TokenKind
    raw: str
    name: str = ""


class XmlGuard:
    """Handlers for expat that refuse XML meant to exhaust the machine."""

    def __init__(self) -> None:
        self.depth = 0

    def enter(self, _tag: str, _attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > MAXIMUM_DEPTH:
            raise ValueError(f"more than {MAXIMUM_DEPTH} nested elements")

    def leave(self, _tag: str) -> None:
        self.depth -= 1

    def check_entity(self, name: str, is_parameter: int, value: str | None, *_external: str | None) -> None:
        """Accepts an entity that is plain text, since it is kept and cannot expand."""
        if is_parameter or value is None or "&" in value or len(value) > LONGEST_ENTITY:
            self.refuse_entity(name)

    def refuse_entity(self, *_declared: Any) -> NoReturn:
        raise ValueError("the file declares entities, which attackers can use to fill the memory")


def make_parser(guard: XmlGuard, encoding: str | None = "utf-8", *, with_entities: bool = False) -> Any:
    """Returns a guarded parser: it fetches nothing outside the text, and refuses deep nesting and entities.

    `with_entities` accepts entities that are plain text.
    """
    parser = expat.ParserCreate(encoding)
    parser.StartElementHandler, parser.EndElementHandler = guard.enter, guard.leave
    parser.EntityDeclHandler = guard.check_entity if with_entities else guard.refuse_entity
    return parser


class XmlProblem(NamedTuple):
    """The reason why a text cannot be read as XML."""

    line: int
    problem: str
    hint: str


def check_xml(text: str, *, with_entities: bool) -> XmlProblem | None:
    """Returns the problem with text that is unsafe or not XML; None if `scan_xml` can read it."""
    parser = make_parser(XmlGuard(), with_entities=with_entities)
    parser.DefaultHandler = lambda _: None  # with which expat does not expand entities in the text
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except XmlError as error:
        return XmlProblem(
            error.lineno, f"not valid XML: {expat.ErrorString(error.code)}", "check the file with `xmllint`"
        )
    except ValueError as error:
        return XmlProblem(parser.CurrentLineNumber, str(error), "remove the entity declarations")
    return None


class TokenCutter:
    """Handlers for expat that cut a text into tokens: each ends where the next event begins."""

    def __init__(self) -> None:
        self.tokens: list[MarkupToken] = []
        self.data, self.offset = b"", 0  # the bytes that are not cut yet, and where they stand in the text
        self.start = 0  # of the token that has begun, in the text
        self.is_other, self.name = False, ""  # of the token that has begun
        self.is_enclosed = False  # in a section or in the document type, which are one token
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = parser.EndElementHandler = self.begin_tag
        parser.CharacterDataHandler, parser.DefaultHandler = self.begin_text, self.begin_default
        parser.CommentHandler = parser.ProcessingInstructionHandler = parser.XmlDeclHandler = self.begin_other
        parser.StartCdataSectionHandler = self.enter
        parser.EndCdataSectionHandler = parser.EndDoctypeDeclHandler = self.leave

    def feed(self, data: bytes, *, final: bool) -> None:
        self.data, self.offset = self.data[self.start - self.offset :] + data, self.start
        self.parser.Parse(data, final)
        if final:
            self.cut(self.offset + len(self.data))

    def cut(self, end: int) -> None:
        """Ends the current token; an empty element has two events but one token."""
        if end <= self.start:
            return
        raw = self.data[self.start - self.offset : end - self.offset].decode("utf-8")
        self.start = end
        kind: TokenKind = "other" if self.is_other else "text"
        if self.name:
            kind = "close" if raw.startswith("</") else "empty" if raw.endswith("/>") else "open"
        self.tokens.append(MarkupToken(kind, raw, self.name))

    def begin(self, *, name: str = "", is_other: bool = False) -> None:
        self.cut(self.parser.CurrentByteIndex)
        self.name, self.is_other = name, is_other

    def begin_tag(self, name: str, _attributes: dict[str, str] | None = None) -> None:
        self.begin(name=name)

    def begin_text(self, _text: str) -> None:
        """Begins a text token or continues it, since expat reports each line and each reference separately."""
        if not self.is_enclosed and (self.name or self.is_other):
            self.begin()

    def begin_default(self, text: str) -> None:
        """Begins a token for what has no handler: a document type, or whitespace and references in text."""
        if text == "<!DOCTYPE":
            self.enter()
        else:
            self.begin_text(text)

    def begin_other(self, *_content: Any) -> None:
        if not self.is_enclosed:
            self.begin(is_other=True)

    def enter(self) -> None:
        self.begin(is_other=True)
        self.is_enclosed = True

    def leave(self) -> None:
        self.is_enclosed = False


def scan_xml(text: str) -> Iterator[MarkupToken]:
    """Yields the tokens of a text that `check_xml` accepts; together they make up the text.

    Holds one chunk and the token that it ends in. Each chunk is as long as the data still waiting, so that long tokens
    take linear time.
    """
    cutter, position = TokenCutter(), 0
    while position < len(text):
        end = position + max(FIRST_CHUNK, len(cutter.data))
        cutter.feed(text[position:end].encode("utf-8", "replace"), final=end >= len(text))
        position = end
        yield from cutter.tokens
        cutter.tokens.clear()


class ElementReader:
    """Reads whole elements from a document as soon as their chunks are read, and forgets what came before.

    Expat calls the tree builder with no Python code in between, which is three times as fast as `UnitCollector` for
    spreadsheets with a million cells. Elements have their local names, and do not tell where they are in the file.
    """

    def __init__(self, names: frozenset[str], container: str = "") -> None:
        self.names = names
        self.container = container  # around elements: each is yielded when it begins
        self.last: Element | None = None  # container
        self.builder = TreeBuilder()
        self.tree = self.builder.start("", {})

    def read(self, data: bytes) -> Iterator[Element]:
        """Yields the elements in order. Raises XmlError for invalid XML, and ValueError beyond our limits."""
        parser = make_parser(XmlGuard(), None)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self.builder.start, self.builder.end
        parser.CharacterDataHandler = self.builder.data
        position = 0
        while position < len(data):
            # A chunk is as long as what waits, so that long tags and comments take linear time.
            end = position + max(FIRST_CHUNK, position - max(0, parser.CurrentByteIndex))
            parser.Parse(data[position:end], end >= len(data))
            position = end
            yield from self.take(self.tree, is_open=end < len(data))

    def take(self, node: Element, depth: int = 0, *, is_open: bool) -> Iterator[Element]:
        """Yields the elements in a node, and removes what is complete; in an open node, the last child may go on."""
        if depth > MAXIMUM_DEPTH:
            raise ValueError(f"more than {MAXIMUM_DEPTH} nested elements")
        last = len(node) - 1
        for index, child in enumerate(node):
            goes_on = is_open and index == last
            if child.tag.rpartition(":")[2] in self.names:
                if not goes_on:
                    yield strip_prefixes(child)
                continue
            if child.tag.rpartition(":")[2] == self.container and child is not self.last:
                self.last = child
                yield child
            yield from self.take(child, depth + 1, is_open=goes_on)
        del node[: last if is_open else last + 1]


def strip_prefixes(element: Element) -> Element:
    """Returns an element, with its name and all names inside it stripped of prefixes."""
    if ":" in element.tag:
        for node in element.iter():
            node.tag = node.tag.rpartition(":")[2]
    return element


class XmlUnit(NamedTuple):
    """A unit and its position."""

    line: int  # its first
    element: Element
    context: Mapping[str, Mapping[str, str]]  # the attributes of the last element of each name before it
    outer: tuple[tuple[str, Mapping[str, str]], ...]  # the elements around it, with their attributes
    start: int  # in bytes
    end: int  # where its end tag begins; of a start tag alone, its start; of an empty element, unknown


class UnitCollector(XmlGuard):
    """Collects whole elements named in `unit_names`, with their line numbers, from the chunks that it is fed."""

    def __init__(
        self, unit_names: frozenset[str], encoding: str | None = None, tag_names: frozenset[str] = frozenset()
    ) -> None:
        super().__init__()
        self.unit_names = unit_names
        self.tag_names = tag_names  # of elements whose start tags are units
        self.outer: list[tuple[str, Mapping[str, str]]] = []
        self.root = ""
        self.attributes: dict[str, dict[str, str]] = {}  # of the last element of each name outside units
        self.units: list[XmlUnit] = []
        self.context: Mapping[str, Mapping[str, str]] = {}
        self.inside = self.size = self.line = self.start = 0
        self.builder = TreeBuilder()
        self.bytes_fed = 0
        self.parser = make_parser(self, encoding)
        self.parser.buffer_text = True
        self.parser.CharacterDataHandler = self.read_text

    @property
    def bytes_pending(self) -> int:
        """The number of bytes fed but not yet parsed; expat rescans all of them with each chunk."""
        return self.bytes_fed - max(0, int(self.parser.CurrentByteIndex))

    def feed(self, chunk: bytes, *, final: bool = False) -> None:
        """Parses a chunk; raises XmlError if invalid, ValueError beyond limits, LookupError for an unknown encoding."""
        self.parser.Parse(chunk, final)
        self.bytes_fed += len(chunk)

    def enter(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self.root = self.root or name
        super().enter(tag, attributes)
        if not self.inside and name not in self.unit_names:
            self.attributes[name if len(self.attributes) < MAXIMUM_DEPTH else ""] = attributes
            if name in self.tag_names:
                self.begin_unit()
                self.units.append(self.make_unit(Element(name, attributes), self.start))
            self.outer.append((name, attributes))
            return
        if not self.inside:
            self.builder, self.size = TreeBuilder(), 0
            self.begin_unit()
        self.inside += 1
        self.builder.start(name, attributes)

    def begin_unit(self) -> None:
        self.line, self.start = self.parser.CurrentLineNumber, self.parser.CurrentByteIndex
        self.context = self.attributes.copy()

    def make_unit(self, element: Element, end: int) -> XmlUnit:
        return XmlUnit(self.line, element, self.context, tuple(self.outer), self.start, end)

    def read_text(self, text: str) -> None:
        if self.inside:
            self.size += len(text)
            self.builder.data(text)
            if self.size > MAXIMUM_UNIT:
                raise ValueError(f"line {self.line}: a unit has more than {MAXIMUM_UNIT:,} characters")

    def leave(self, tag: str) -> None:
        super().leave(tag)
        if not self.inside:
            self.outer.pop()
        else:
            self.builder.end(tag.rpartition(":")[2])
            self.inside -= 1
            if not self.inside:
                self.units.append(self.make_unit(self.builder.close(), self.parser.CurrentByteIndex))


class CutUnit(NamedTuple):
    """A unit of a text, as spelled there, and the text before it; the last one has only that text."""

    before: str
    unit: XmlUnit | None = None
    raw: str = ""


def cut_units(text: str, unit_names: frozenset[str], tag_names: frozenset[str] = frozenset()) -> Iterator[CutUnit]:
    """Yields the units of a text that `check_xml` accepts; together they make up the text. Raises ValueError for a unit
    that is too long.
    """
    collector, data, position = UnitCollector(unit_names, "utf-8", tag_names), text.encode("utf-8", "replace"), 0
    for first in range(0, len(data), FIRST_CHUNK):
        collector.feed(data[first : first + FIRST_CHUNK], final=first + FIRST_CHUNK >= len(data))
        for unit in collector.units:
            end = TAG.match(data, unit.start).end()  # type: ignore[union-attr]
            if unit.end > unit.start and data[end - 2 : end] != b"/>":  # Expat names no place of an end that is missing
                end = data.index(b">", unit.end) + 1
            yield CutUnit(data[position : unit.start].decode(), unit, data[unit.start : end].decode())
            position = end
        collector.units.clear()
    yield CutUnit(data[position:].decode())


# Repairs invalid XML that programs commonly write: blank lines before the declaration, and control characters.
#
# Works on the bytes of encodings that contain ASCII; anything else passes unchanged. Does not depend on formats.


REFERENCE = re.compile(rb"&#(?:x0*([0-9a-fA-F]{1,6})|0*([0-9]{1,7}));")
LONGEST_REFERENCE = 40  # bytes
CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
BLANKS = b" \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class XmlMending:
    """Repairs the chunks of a file, and counts the changes."""

    def __init__(self) -> None:
        self.characters = 0
        self.blank_start = False

    def mend_chunks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yields the repaired chunks, holding back any reference that is split between two chunks."""
        held = b""
        is_first, is_wide = True, False
        for chunk in chunks:
            if is_first:
                is_wide = b"\0" in chunk[:4] or chunk.startswith((b"\xff\xfe", b"\xfe\xff"))
                chunk = chunk if is_wide else self.trim_start(chunk)
                is_first = False
            if is_wide:
                yield chunk
                continue
            chunk = held + chunk
            cut = chunk.rfind(b"&", max(0, len(chunk) - LONGEST_REFERENCE))
            cut = len(chunk) if cut < 0 or b";" in chunk[cut:] else cut
            chunk, held = chunk[:cut], chunk[cut:]
            yield self.mend_characters(chunk)
        if held:
            yield self.mend_characters(held)

    def trim_start(self, chunk: bytes) -> bytes:
        """Removes whitespace before the XML declaration, which must come first, from the first chunk."""
        bare = chunk.removeprefix(BYTE_ORDER_MARK).lstrip(BLANKS)
        if not bare.startswith(b"<?xml") or len(bare) == len(chunk.removeprefix(BYTE_ORDER_MARK)):
            return chunk
        self.blank_start = True
        return bare

    def mend_characters(self, chunk: bytes) -> bytes:
        if b"&#" in chunk:
            chunk = REFERENCE.sub(self.replace_reference, chunk)
        chunk, count = CONTROLS.subn(b" ", chunk)
        self.characters += count
        return chunk

    def replace_reference(self, match: re.Match[bytes]) -> bytes:
        """Returns a character reference unchanged, or a space if XML forbids the character."""
        code = int(match[1], 16) if match[1] else int(match[2])
        is_allowed = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
        if is_allowed:
            return match[0]
        self.characters += 1
        return b" "
