"""XLIFF 1.2 (`trans-unit`) and 2 (`segment`), in which texts are exchanged with translators."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.formats.xml import XmlReader, extract_text

# Inline elements that enclose text of the sentence; all others hold code: x, bx, ex, bpt, ept, ph, it, sc, ec, sub.
TRANSPARENT = frozenset({"g", "mrk", "pc"})
UNFINISHED = frozenset({"new", "needs-translation", "needs-adaptation", "needs-l10n", "initial"})


class XliffReader(XmlReader):
    expects = "<xliff> 1.2 or 2 with sources and targets"
    root = "xliff"
    unit_names = frozenset({"trans-unit", "segment"})

    def read_rows(self) -> Iterator[Row]:
        for line, unit in self.read_units():
            if self.languages is None:
                self.languages = self.read_languages()
            source, target = unit.find("source"), unit.find("target")
            yield Row(line, read_side(source), read_side(target), is_unfinished=read_state(unit, target) in UNFINISHED)

    def read_languages(self) -> tuple[str, str] | None:
        """Returns the languages of the first <file> (1.2) or of the root (2)."""
        attributes = {**self.collector.attributes.get("xliff", {}), **self.collector.attributes.get("file", {})}
        source, target = (
            attributes.get("source-language", attributes.get("srcLang")),
            attributes.get("target-language", attributes.get("trgLang")),
        )
        return (source, target) if source and target else None


def read_side(side: Element | None) -> str:
    """Returns the text of a source or target; empty if the unit has none."""
    return "" if side is None else extract_text(side, TRANSPARENT)


def read_state(unit: Element, target: Element | None) -> str | None:
    """Returns the state of a translation: XLIFF 2 has it at the segment, 1.2 at the target."""
    return unit.get("state") or (None if target is None else target.get("state"))
