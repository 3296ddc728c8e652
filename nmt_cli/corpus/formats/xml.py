"""Shared by XML formats: XML read in chunks, never as a whole tree, and safe against hostile files.

Uses expat itself, not a tree parser: declared entities are refused (they can expand without end), nothing outside the
file is read (expat fetches nothing unless told how), and depth and size of a unit, of a tag and of a comment are
limited. Invalid XML that tools commonly write is mended and counted (`xml_mending.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.errors import DataError
from nmt_cli.text.characters import SPACED_FINAL_MARKS, SPACED_PAUSES
from nmt_cli.text.wrapping import format_count

# Mends invalid XML that programs commonly write: blank lines before the declaration, and control characters.
#
# Works on the bytes of encodings that contain ASCII; anything else passes unchanged. Knows no format.


REFERENCE = re.compile(rb"&#(?:x0*([0-9a-fA-F]{1,6})|0*([0-9]{1,7}));")
LONGEST_REFERENCE = 40  # bytes
CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
BLANKS = b" \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class XmlMending:
    """Mends the chunks of a file, and counts the changes."""

    def __init__(self) -> None:
        self.characters = 0
        self.blank_start = False

    @property
    def notes(self) -> list[str]:
        """Descriptions of the changes."""
        notes = ["blanks before the XML declaration were left out"] if self.blank_start else []
        if self.characters:
            characters = format_count(self.characters, "character")
            notes.append(f"{characters} that XML forbids: read as blanks")
        return notes

    def mend_chunks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yields the mended chunks, holding back a reference divided between two chunks."""
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
        """Removes blanks before the declaration, which must come first, from the first chunk."""
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
        """Returns a character reference unchanged, or a blank if XML forbids the character."""
        code = int(match[1], 16) if match[1] else int(match[2])
        is_allowed = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
        if is_allowed:
            return match[0]
        self.characters += 1
        return b" "


CHUNK = 1 << 16  # bytes
MAXIMUM_DEPTH = 200  # of nested elements
MAXIMUM_UNIT = 1 << 22  # bytes, and characters
XML_LANG = "xml:lang"
# Inline elements of TMX and XLIFF that hold code or stand for it; all others enclose text of the sentence.
CODES = frozenset("bpt ept ph it ut sub x bx ex sc ec cp".split())
MARK = "\uffff"  # which XML cannot contain
GLUED = re.compile(rf"([^\W_]|[{SPACED_FINAL_MARKS}{SPACED_PAUSES}])(?:{MARK})+(?=([^\W_]))")
UNSPACED, HANGUL = "\u2e80", ("\uac00", "\ud7a3")  # scripts without blanks begin there, but for Korean


class XmlUnit(NamedTuple):
    """A unit, its first line number, and the attributes of the last element of each name before it."""

    line: int
    element: Element
    context: Mapping[str, Mapping[str, str]]


class UnitCollector:
    """Handlers for expat that collect whole elements named in `unit_names`, with their line numbers."""

    def __init__(self, unit_names: frozenset[str]) -> None:
        self.unit_names = unit_names
        self.root = ""
        self.attributes: dict[str, dict[str, str]] = {}  # of the last element of each name outside units
        self.units: list[XmlUnit] = []
        self.context: Mapping[str, Mapping[str, str]] = {}
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
            self.context = self.attributes.copy()
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
                self.units.append(XmlUnit(self.line, self.builder.close(), self.context))

    def refuse_entity(self, *declared: Any) -> None:
        raise ValueError("it declares entities, which can be made to fill the memory")


class XmlReader(Reader):
    """The base of readers of XML, which iterate over the units of a file."""

    root: str
    unit_names: frozenset[str]  # local names of the elements that are units

    def read_units(self) -> Iterator[XmlUnit]:
        """Yields the units in order."""
        self.collector = UnitCollector(self.unit_names)
        parser, mending = self.make_parser(self.collector), XmlMending()
        with self.stream.open(keep_encoding=self.stream.encoding is None) as file:
            bytes_fed = bytes_since_unit = 0
            for chunk in mending.mend_chunks(iter(lambda: file.read(CHUNK), b"")):
                self.feed_parser(parser, chunk, final=False)
                bytes_fed += len(chunk)
                bytes_since_unit = 0 if self.collector.units else bytes_since_unit + len(chunk)
                self.check_progress(bytes_since_unit, bytes_fed - max(0, parser.CurrentByteIndex))
                yield from self.collector.units
                self.collector.units.clear()
        self.feed_parser(parser, b"", final=True)
        yield from self.collector.units
        for note in mending.notes:
            self.add_note(note)

    def make_parser(self, collector: UnitCollector) -> Any:
        parser = expat.ParserCreate("utf-8" if self.stream.encoding else None)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = collector.start, collector.end
        parser.CharacterDataHandler, parser.EntityDeclHandler = collector.read_text, collector.refuse_entity
        collector.parser = parser
        return parser

    def feed_parser(self, parser: Any, chunk: bytes, *, final: bool) -> None:
        """Parses a chunk. Raises DataError for invalid XML, and for anything that exceeds our limits."""
        try:
            parser.Parse(chunk, final)
        except expat.ExpatError as error:
            hint = f"it should contain {self.expects}"
            raise DataError(f"{self.file.name} is not XML: {error}", hint=hint) from error
        except (ValueError, LookupError) as error:  # our own limits; an encoding unknown to Python
            self.refuse_xml(str(error))

    def check_progress(self, bytes_since_unit: int, bytes_pending: int) -> None:
        """Raises DataError for an unexpected root, a file without units, and a tag without end.

        `bytes_pending` were fed to the parser but not understood yet; it rescans all of them with each chunk.
        """
        if bytes_pending > MAXIMUM_UNIT:
            self.refuse_xml(f"a tag or comment of more than {MAXIMUM_UNIT:,} bytes")
        if self.collector.root not in ("", self.root):
            self.refuse_xml(f"the root is <{self.collector.root[:40]}>, not <{self.root}>")
        if bytes_since_unit > 16 * MAXIMUM_UNIT:
            self.refuse_xml(f"more than {16 * MAXIMUM_UNIT:,} bytes without a unit")

    def refuse_xml(self, problem: str) -> NoReturn:
        raise DataError(f"{self.file.name}: {problem}", hint=f"it should contain {self.expects}")


def extract_text(element: Element) -> str:
    """Returns the text of an element and its inline elements, except those that hold code.

    A code that separated two words as displayed, such as a line break, becomes a blank.
    """
    marked = mark_codes(element)
    return GLUED.sub(part_words, marked).replace(MARK, "") if MARK in marked else marked


def mark_codes(element: Element) -> str:
    """Returns the text of an element with a MARK in place of each code."""
    parts = [element.text or ""]
    for child in element:
        parts.append(MARK if child.tag in CODES else mark_codes(child))
        parts.append(child.tail or "")
    return "".join(parts)


def part_words(match: re.Match[str]) -> str:
    """Returns the end of a word and the beginning of the next, separated by a blank if their script has blanks."""
    return f"{match[1]} " if min(match[1], match[2]) < UNSPACED or HANGUL[0] <= match[2] <= HANGUL[1] else match[1]
