"""What TMX and XLIFF share: XML in pieces, never a whole tree, and never what XML could be made to do.

Expat itself, not a tree parser: declared entities are refused (they can grow without end), nothing outside the file is
read (expat fetches nothing unless it is told how), and there is a limit to depth and to the size of a unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.errors import DataError

PIECE = 1 << 16  # bytes
DEEPEST = 200  # elements within each other
LARGEST_UNIT = 1 << 22  # bytes, and characters
XML_LANG = "xml:lang"


class Units:
    """Handlers of expat: collects the elements named in `kept` with all within, and the line on which each begins."""

    def __init__(self, kept: frozenset[str]) -> None:
        self.kept = kept
        self.root = ""
        self.attributes: dict[str, dict[str, str]] = {}  # of the last element of each name outside of a unit
        self.found: list[tuple[int, Element]] = []
        self.depth = self.inside = self.size = self.line = 0
        self.builder = TreeBuilder()
        self.parser: Any = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self.root = self.root or name
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} elements within each other")
        if not self.inside and name not in self.kept:
            self.attributes[name if len(self.attributes) < DEEPEST else ""] = attributes
            return
        if not self.inside:
            self.builder, self.size, self.line = TreeBuilder(), 0, self.parser.CurrentLineNumber
        self.inside += 1
        self.builder.start(name, attributes)

    def read_text(self, text: str) -> None:
        if self.inside:
            self.size += len(text)
            self.builder.data(text)
            if self.size > LARGEST_UNIT:
                raise ValueError(f"line {self.line}: a unit of more than {LARGEST_UNIT:,} characters")

    def end(self, tag: str) -> None:
        self.depth -= 1
        if self.inside:
            self.builder.end(tag.rpartition(":")[2])
            self.inside -= 1
            if not self.inside:
                self.found.append((self.line, self.builder.close()))

    def resolve_entity(self, *declared: Any) -> None:
        raise ValueError("it declares entities, which could be made to fill the memory")


class XmlReader(Reader):
    """Walks over the units of a file."""

    root: str
    kept: frozenset[str]  # local names of the elements that are units

    def read_units(self) -> Iterator[tuple[int, Element]]:
        """The line on which each unit begins, and the unit. `self.seen` is what was met on the way to it."""
        self.seen = Units(self.kept)
        parser = self.make_parser(self.seen)
        with self.stream.open(as_written=self.stream.encoding is None) as file:
            since = 0
            while piece := file.read(PIECE):
                self.feed(parser, piece, final=False)
                since = 0 if self.seen.found else since + len(piece)
                self.check(since)
                yield from self.seen.found
                self.seen.found.clear()
        self.feed(parser, b"", final=True)
        yield from self.seen.found

    def make_parser(self, units: Units) -> Any:
        parser = expat.ParserCreate("utf-8" if self.stream.encoding else None)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = units.start, units.end
        parser.CharacterDataHandler, parser.EntityDeclHandler = units.read_text, units.resolve_entity
        units.parser = parser
        return parser

    def feed(self, parser: Any, piece: bytes, *, final: bool) -> None:
        try:
            parser.Parse(piece, final)
        except expat.ExpatError as error:
            raise DataError(f"{self.given.name} is no XML: {error}", hint=f"it should hold {self.expects}") from error
        except (ValueError, LookupError) as error:  # our own limits; an encoding that Python does not know
            self.refuse_xml(str(error))

    def check(self, since_last_unit: int) -> None:
        if self.seen.root not in ("", self.root):
            self.refuse_xml(f"the root is <{self.seen.root[:40]}>, not <{self.root}>")
        if since_last_unit > 16 * LARGEST_UNIT:
            self.refuse_xml(f"more than {16 * LARGEST_UNIT:,} bytes without a unit")

    def refuse_xml(self, problem: str) -> NoReturn:
        raise DataError(f"{self.given.name}: {problem}", hint=f"it should hold {self.expects}")


def text_of(element: Element, transparent: frozenset[str]) -> str:
    """The text in an element; of the inline elements only the `transparent` ones count, others hold code."""
    parts = [element.text or ""]
    for child in element:
        if child.tag in transparent:
            parts.append(text_of(child, transparent))
        parts.append(child.tail or "")
    return "".join(parts)


def is_same_language(code: str, requested: str) -> bool:
    """Whether a language code is the one that is wanted, or a region of it: "en-US" for "en", not the other way."""
    code, requested = code.lower().replace("_", "-"), requested.lower().replace("_", "-")
    return code == requested or code.startswith(f"{requested}-")
