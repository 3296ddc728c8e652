"""What TMX and XLIFF share: XML read in chunks, never as a whole tree, and safe against hostile files.

Uses expat itself, not a tree parser: declared entities are refused (they can expand without end), nothing outside the
file is read (expat fetches nothing unless told how), and depth and size of a unit are limited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.errors import DataError

CHUNK = 1 << 16  # bytes
MAXIMUM_DEPTH = 200  # of nested elements
MAXIMUM_UNIT = 1 << 22  # bytes, and characters
XML_LANG = "xml:lang"


class UnitCollector:
    """Handlers of expat, which collect the elements named in `unit_names`, whole, and the line on which each begins."""

    def __init__(self, unit_names: frozenset[str]) -> None:
        self.unit_names = unit_names
        self.root = ""
        self.attributes: dict[str, dict[str, str]] = {}  # of the last element of each name outside units
        self.units: list[tuple[int, Element]] = []
        self.depth = self.inside = self.size = self.line = 0
        self.builder = TreeBuilder()
        self.parser: Any = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self.root = self.root or name
        self.depth += 1
        if self.depth > MAXIMUM_DEPTH:
            raise ValueError(f"more than {MAXIMUM_DEPTH} nested elements")
        if not self.inside and name not in self.unit_names:
            self.attributes[name if len(self.attributes) < MAXIMUM_DEPTH else ""] = attributes
            return
        if not self.inside:
            self.builder, self.size, self.line = TreeBuilder(), 0, self.parser.CurrentLineNumber
        self.inside += 1
        self.builder.start(name, attributes)

    def read_text(self, text: str) -> None:
        if self.inside:
            self.size += len(text)
            self.builder.data(text)
            if self.size > MAXIMUM_UNIT:
                raise ValueError(f"line {self.line}: a unit has more than {MAXIMUM_UNIT:,} characters")

    def end(self, tag: str) -> None:
        self.depth -= 1
        if self.inside:
            self.builder.end(tag.rpartition(":")[2])
            self.inside -= 1
            if not self.inside:
                self.units.append((self.line, self.builder.close()))

    def refuse_entity(self, *declared: Any) -> None:
        raise ValueError("it declares entities, which can be made to fill the memory")


class XmlReader(Reader):
    """The base of readers of XML, which iterate over the units of a file."""

    root: str
    unit_names: frozenset[str]  # local names of the elements that are units

    def read_units(self) -> Iterator[tuple[int, Element]]:
        """Yields the line on which each unit begins, and the unit. `self.collector` has the attributes before it."""
        self.collector = UnitCollector(self.unit_names)
        parser = self.make_parser(self.collector)
        with self.stream.open(keep_encoding=self.stream.encoding is None) as file:
            bytes_since_unit = 0
            while chunk := file.read(CHUNK):
                self.feed_parser(parser, chunk, final=False)
                bytes_since_unit = 0 if self.collector.units else bytes_since_unit + len(chunk)
                self.check_progress(bytes_since_unit)
                yield from self.collector.units
                self.collector.units.clear()
        self.feed_parser(parser, b"", final=True)
        yield from self.collector.units

    def make_parser(self, collector: UnitCollector) -> Any:
        parser = expat.ParserCreate("utf-8" if self.stream.encoding else None)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = collector.start, collector.end
        parser.CharacterDataHandler, parser.EntityDeclHandler = collector.read_text, collector.refuse_entity
        collector.parser = parser
        return parser

    def feed_parser(self, parser: Any, chunk: bytes, *, final: bool) -> None:
        """Parses a chunk. Raises DataError for what is not XML, and for what exceeds our limits."""
        try:
            parser.Parse(chunk, final)
        except expat.ExpatError as error:
            hint = f"it should contain {self.expects}"
            raise DataError(f"{self.file.name} is not XML: {error}", hint=hint) from error
        except (ValueError, LookupError) as error:  # our own limits; an encoding unknown to Python
            self.refuse_xml(str(error))

    def check_progress(self, bytes_since_unit: int) -> None:
        """Raises DataError for another root than the format has, and for a file without units."""
        if self.collector.root not in ("", self.root):
            self.refuse_xml(f"the root is <{self.collector.root[:40]}>, not <{self.root}>")
        if bytes_since_unit > 16 * MAXIMUM_UNIT:
            self.refuse_xml(f"more than {16 * MAXIMUM_UNIT:,} bytes without a unit")

    def refuse_xml(self, problem: str) -> NoReturn:
        raise DataError(f"{self.file.name}: {problem}", hint=f"it should contain {self.expects}")


def extract_text(element: Element, transparent: frozenset[str]) -> str:
    """Returns the text in an element, with that of `transparent` inline elements; other inline elements hold code."""
    parts = [element.text or ""]
    for child in element:
        if child.tag in transparent:
            parts.append(extract_text(child, transparent))
        parts.append(child.tail or "")
    return "".join(parts)


def is_same_language(code: str, requested: str) -> bool:
    """Whether a language code is the requested one or a regional variety of it: "en-US" for "en", not vice versa."""
    code, requested = code.lower().replace("_", "-"), requested.lower().replace("_", "-")
    return code == requested or code.startswith(f"{requested}-")
