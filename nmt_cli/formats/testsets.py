"""WMT test sets: in SGML with one file per side, and in XML (from 2021 on) with all sides in one file."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from nmt_cli.errors import DataError
from nmt_cli.formats.exchange import XmlReader, extract_text
from nmt_cli.formats.input_stream import InputStream
from nmt_cli.formats.reader import KeyedReader, KeyedText, Row

# WMT and NIST test sets in SGML: numbered segments in documents, one file per side.
#
# Not XML (a bare & is common); of its tags only <srcset>, <refset>, <tstset>, <doc> and <seg> matter here.


TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b([^<>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")
MAXIMUM_SEGMENT = 1 << 20  # characters


class SgmReader(KeyedReader):
    expects = "give the two sides of a test set: --source-file news.src.sgm --target-file news.ref.sgm"
    noun = "segment"

    def read_texts(self, stream: InputStream, side: int) -> Iterator[KeyedText]:
        languages = dict.fromkeys(("srclang", "trglang"), "")
        yield from read_segments(stream.read_lines(), stream.name, languages)
        source, target = self.languages or ("source", "target")
        if languages["srclang"] not in ("", "any") and (side == 0 or source == "source"):
            source = languages["srclang"]
        self.languages = (source, target if side == 0 else languages["trglang"] or target)


def read_segments(
    lines: Iterable[tuple[int, str]], name: str, attributes: dict[str, str] | None = None
) -> Iterator[KeyedText]:
    """Yields the segments, skipping documents that are repeated for another system.

    `attributes` receives the attributes of the set. Raises DataError for a segment that is too long or never ends.
    """
    parser = SegmentParser(name)
    for line, text in lines:
        yield from parser.read_line(line, text)
    if parser.parts is not None:
        raise DataError(f"{name}, line {parser.line}: a segment that does not end", hint="the file is truncated")
    if attributes is not None:
        attributes.update({key: value for key, value in parser.attributes.items() if key in attributes})


class SegmentParser:
    """Extracts segments from the lines of a test set."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: dict[str, str] = {}  # of the set
        self.document, self.number = "", ""
        self.line = self.size = self.count = 0
        self.parts: list[str] | None = None  # of the segment that is open
        self.keys: set[str] = set()

    def read_line(self, line: int, text: str) -> Iterator[KeyedText]:
        position = 0
        for tag in TAG.finditer(text):
            self.add_text(text[position : tag.start()])
            position = tag.end()
            if not tag[1]:
                self.open_element(tag[2].lower(), line, tag[3])
            elif tag[2].lower() == "seg":
                yield from self.close_segment()
        self.add_text(text[position:])

    def add_text(self, text: str) -> None:
        if self.parts is not None:
            self.parts.append(text)
            self.size += len(text)
            if self.size > MAXIMUM_SEGMENT:
                raise DataError(
                    f"{self.name}, line {self.line}: a segment of more than {MAXIMUM_SEGMENT:,} characters",
                    hint="the file should be a test set with <seg> elements",
                )

    def open_element(self, kind: str, line: int, text: str) -> None:
        values = {match[1].lower(): match[2] or match[3] or "" for match in ATTRIBUTE.finditer(text)}
        if kind.endswith("set"):
            self.attributes |= values
        elif kind == "doc":
            self.document, self.count = values.get("docid", values.get("id", "")), 0
        else:
            self.count += 1
            self.parts, self.line, self.size = [], line, 0
            self.number = values.get("id", str(self.count))

    def close_segment(self) -> Iterator[KeyedText]:
        parts, self.parts = self.parts, None
        key = f"{self.document} {self.number}"
        if parts is not None and key not in self.keys:
            self.keys.add(key)
            text = html.unescape(MARKUP.sub("", "".join(parts)))
            yield KeyedText(self.line, key, " ".join(text.split()))


# WMT test sets in XML (from 2021 on): documents with a source and references by several translators.
#
# Each reference of a segment is a pair with its source.


class WmtReader(XmlReader):
    expects = "a test set of WMT: <dataset> of documents with <src> and <ref>"
    root = "dataset"
    unit_names = frozenset({"doc"})

    def read_rows(self) -> Iterator[Row]:
        for line, document, *_ in self.read_units():
            source = document.find("src")
            sources = read_sides(source)
            for reference in document.iterfind("ref"):
                if self.languages is None and source is not None:
                    self.languages = (source.get("lang", "source"), reference.get("lang", "target"))
                targets = read_sides(reference)
                yield from (Row(line, text, targets.get(number, "")) for number, text in sources.items())


def read_sides(side: Element | None) -> dict[str, str]:
    """Returns the segments of a source, reference or hypothesis by number."""
    segments = [] if side is None else side.iter("seg")
    return {segment.get("id", str(number)): extract_text(segment) for number, segment in enumerate(segments, start=1)}
