"""XLIFF 1.2 (`trans-unit`) and 2 (`segment`), the exchange format of translators, including SDL's and memoQ's.

A unit divided into segments (`<mrk mtype="seg">`) is one pair per segment. In files with several languages,
`--source-language` and `--target-language` choose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NoReturn
from xml.etree.ElementTree import Element

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.formats.xml import XmlReader, extract_text
from nmt_cli.errors import DataError
from nmt_cli.languages.codes import is_same_language, is_same_variety
from nmt_cli.text.wrapping import format_count

Languages = tuple[str, str]

UNFINISHED = frozenset({"new", "needs-translation", "needs-adaptation", "needs-l10n", "initial"})
UNCONFIRMED = frozenset({"draft", "unspecified", "rejectedtranslation", "rejectedsignoff"})  # by SDL Trados Studio
NOT_STARTED = frozenset({"notstarted", "rejected", "partiallyedited"})  # in memoQ


class XliffReader(XmlReader):
    expects = "<xliff> 1.2 or 2 with sources and targets"
    root = "xliff"
    unit_names = frozenset({"trans-unit", "segment"})

    def read_rows(self) -> Iterator[Row]:
        left_out: Counter[Languages] = Counter()
        for line, unit, context in self.read_units():
            languages = read_languages(context)
            if languages is not None and not self.accept_languages(languages):
                left_out[languages] += 1
                continue
            yield from read_segments(line, unit)
        if left_out and self.languages is None:
            self.refuse_languages(next(iter(left_out)))
        for languages, count in left_out.items():
            self.add_note(f"{format_count(count, 'unit')} in {' -> '.join(languages)} left out")

    def accept_languages(self, languages: Languages) -> bool:
        """Whether units in these languages are read.

        Raises DataError for a second language pair if no option chooses.
        """
        requested = (self.options.source_language, self.options.target_language)
        for code, option in zip(languages, requested, strict=True):
            if option is not None and not is_same_variety(code, option):
                return False
        self.languages = self.languages or languages
        for code, known, option in zip(languages, self.languages, requested, strict=True):
            if option is None and not is_same_language(code, known):
                self.refuse_languages(languages)
        return True

    def refuse_languages(self, languages: Languages) -> NoReturn:
        pairs = dict.fromkeys(" -> ".join(pair) for pair in (self.languages or languages, languages))
        raise DataError(
            f"{self.file.name} has texts in {' and '.join(pairs)}",
            hint="choose with --source-language and --target-language",
        )


def read_languages(context: Mapping[str, Mapping[str, str]]) -> Languages | None:
    """Returns the languages of the <file> (1.2) or root (2) that contains a unit."""
    attributes = {**context.get("xliff", {}), **context.get("file", {})}
    source = attributes.get("source-language", attributes.get("srcLang"))
    target = attributes.get("target-language", attributes.get("trgLang"))
    return (source, target) if source and target else None


def read_segments(line: int, unit: Element) -> Iterator[Row]:
    """Yields the pairs of a unit: one per segment, or the whole."""
    source, target = unit.find("source"), unit.find("target")
    seg_source = unit.find("seg-source")
    source_segments, target_segments = find_segments(seg_source), find_segments(target)
    unfinished = is_unfinished(unit, target)
    if not source_segments or not target_segments:
        yield Row(line, read_side(source), read_side(target), is_unfinished=unfinished)
        return
    states = {seg.get("id", ""): seg.get("conf", "") for seg in unit.iter("seg")}
    for number, segment in source_segments.items():
        is_draft = states.get(number, "").lower() in UNCONFIRMED
        yield Row(
            line, extract_text(segment), read_side(target_segments.get(number)), is_unfinished=unfinished or is_draft
        )


def find_segments(side: Element | None) -> dict[str, Element]:
    """Returns the segments of a source or target by number, in order; empty if it is not divided."""
    marks = [] if side is None else [mark for mark in side.iter("mrk") if mark.get("mtype") == "seg"]
    return {mark.get("mid", str(number)): mark for number, mark in enumerate(marks)}


def read_side(side: Element | None) -> str:
    """Returns the text of a source or target; empty if the unit has none."""
    return "" if side is None else extract_text(side)


def is_unfinished(unit: Element, target: Element | None) -> bool:
    """Whether a translation is unfinished: XLIFF 2 says so at the segment, 1.2 at the target, memoQ at the unit."""
    state = unit.get("state") or (None if target is None else target.get("state"))
    return state in UNFINISHED or unit.get("mq:status", "").lower() in NOT_STARTED
