"""WMT test sets in XML (from 2021 on): documents with a source and references by several translators.

Each reference of a segment is a pair with its source.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.formats.xml import XmlReader, extract_text


class WmtReader(XmlReader):
    expects = "a test set of WMT: <dataset> of documents with <src> and <ref>"
    root = "dataset"
    unit_names = frozenset({"doc"})

    def read_rows(self) -> Iterator[Row]:
        for line, document, _ in self.read_units():
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
