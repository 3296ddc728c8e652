"""XLIFF 1.2 (`trans-unit`) and 2 (`segment`): text of programs on its way to and from translators."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.formats.xml import XmlReader, text_of

# Inline elements around text of the sentence; all others stand for code: x, bx, ex, bpt, ept, ph, it, sc, ec, sub.
TRANSPARENT = frozenset({"g", "mrk", "pc"})
UNFINISHED = frozenset({"new", "needs-translation", "needs-adaptation", "needs-l10n", "initial"})


class XliffReader(XmlReader):
    expects = "<xliff> 1.2 or 2 with sources and targets"
    root = "xliff"
    kept = frozenset({"trans-unit", "segment"})

    def read_rows(self) -> Iterator[Row]:
        for line, unit in self.read_units():
            if self.languages is None:
                self.languages = self.read_languages()
            source, target = unit.find("source"), unit.find("target")
            yield Row(line, text_in(source), text_in(target), is_unfinished=state_of(unit, target) in UNFINISHED)

    def read_languages(self) -> tuple[str, str] | None:
        """Those of the first <file> (1.2), or of the root (2)."""
        attributes = {**self.seen.attributes.get("xliff", {}), **self.seen.attributes.get("file", {})}
        source, target = (
            attributes.get("source-language", attributes.get("srcLang")),
            attributes.get("target-language", attributes.get("trgLang")),
        )
        return (source, target) if source and target else None


def text_in(side: Element | None) -> str:
    return "" if side is None else text_of(side, TRANSPARENT)


def state_of(unit: Element, target: Element | None) -> str | None:
    """What the file says of the translation: XLIFF 2 at the segment, 1.2 at the target."""
    return unit.get("state") or (None if target is None else target.get("state"))
