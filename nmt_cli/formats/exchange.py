"""Reads units of the exchange formats of translation tools: TMX, and XLIFF 1.2 and 2.

    <tu><tuv xml:lang="en-GB"><seg>a<ph/></seg></tuv>      variants en-GB "a", en-US "b", de "c"; of "en-US" the second
    <tuv xml:lang="en-US"><seg>b</seg></tuv>                is read, of "eng" the first; the other is counted
    <tuv xml:lang="de"><seg>c</seg></tuv></tu>

    <target state="needs-translation">a</target>            unfinished: no pair for training; a document translates it
                                                            if it is a copy of its source, and else keeps it

Documents use the same functions to find the variant and the state of a unit, and write the unit back
(`documents/exchange.py`).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple, NoReturn
from xml.etree.ElementTree import Element

from nmt_cli.errors import DataError
from nmt_cli.formats.reader import Reader, Row
from nmt_cli.formats.xml import MAXIMUM_UNIT, UnitCollector, XmlError, XmlMending, XmlUnit
from nmt_cli.languages.codes import is_same_language, is_same_variety
from nmt_cli.text.characters import SPACED_FINAL_MARKS, SPACED_PAUSES
from nmt_cli.text.wrapping import format_count

# XML read in chunks, never as a whole tree (`formats/xml.py`); sizes of a unit, of a tag and of a comment are limited.


CHUNK = 1 << 16  # bytes
XML_LANG = "xml:lang"
# Inline elements of TMX, XLIFF and Qt that hold code or stand for it; all others enclose text of the sentence.
CODES = frozenset("bpt ept ph it ut sub x bx ex sc ec cp byte".split())
BEGIN, END = "\ufffe", "\uffff"  # of a code; which XML cannot contain
CODE = rf"{BEGIN}[^{BEGIN}{END}]*{END}"
GLUED = re.compile(rf"([^\W_]|[{SPACED_FINAL_MARKS}{SPACED_PAUSES}])(?:{CODE})+(?=([^\W_]))")
UNSPACED, HANGUL = "\u2e80", ("\uac00", "\ud7a3")  # scripts without blanks begin there, but for Korean


class XmlReader(Reader):
    """The base class of XML readers, which iterate over the units of a file."""

    root: str
    unit_names: frozenset[str]  # local names of the elements that are units

    def read_units(self) -> Iterator[XmlUnit]:
        """Yields the units in order. Raises DataError for invalid XML, and for anything that exceeds our limits."""
        collector = UnitCollector(self.unit_names, "utf-8" if self.stream.encoding else None)
        mending, bytes_since_unit = XmlMending(), 0
        with self.stream.open(keep_encoding=self.stream.encoding is None) as file:
            for chunk in mending.mend_chunks(iter(lambda: file.read(CHUNK), b"")):
                self.feed(collector, chunk)
                bytes_since_unit = 0 if collector.units else bytes_since_unit + len(chunk)
                self.check_progress(collector, bytes_since_unit)
                yield from collector.units
                collector.units.clear()
        self.feed(collector, b"", final=True)
        yield from collector.units
        if mending.blank_start:
            self.add_note("whitespace before the XML declaration was removed")
        if mending.characters:
            self.add_note(f"{format_count(mending.characters, 'character')} that XML forbids: read as spaces")

    def feed(self, collector: UnitCollector, chunk: bytes, *, final: bool = False) -> None:
        try:
            collector.feed(chunk, final=final)
        except XmlError as error:
            hint = f"the file must contain {self.expects}"
            raise DataError(f"{self.file.name} is not XML: {error}", hint=hint) from error
        except (ValueError, LookupError) as error:  # our own limits; an encoding unknown to Python
            self.refuse_xml(str(error))

    def check_progress(self, collector: UnitCollector, bytes_since_unit: int) -> None:
        """Raises DataError for an unexpected root, a file without units, or a tag that never ends."""
        if collector.bytes_pending > MAXIMUM_UNIT:
            self.refuse_xml(f"a tag or comment of more than {MAXIMUM_UNIT:,} bytes")
        if collector.root not in ("", self.root):
            self.refuse_xml(f"the root is <{collector.root[:40]}>, not <{self.root}>")
        if bytes_since_unit > 16 * MAXIMUM_UNIT:
            self.refuse_xml(f"more than {16 * MAXIMUM_UNIT:,} bytes without a unit")

    def refuse_xml(self, problem: str) -> NoReturn:
        raise DataError(f"{self.file.name}: {problem}", hint=f"the file must contain {self.expects}")


def extract_text(element: Element | None, *, keeps_codes: bool = False) -> str:
    """Returns the text of an element and its inline elements, except those that hold code; empty for None.

    With `keeps_codes`, codes are included, each between BEGIN and END.
    """
    text = "" if element is None else mark_codes(element)
    return text if keeps_codes else drop_codes(text)


def mark_codes(element: Element) -> str:
    """Returns the text of an element with each code between BEGIN and END."""
    parts = [element.text or ""]
    for child in element:
        parts.append(f"{BEGIN}{''.join(child.itertext())}{END}" if child.tag in CODES else mark_codes(child))
        parts.append(child.tail or "")
    return "".join(parts)


def drop_codes(text: str) -> str:
    """Returns a text without its codes. A code that visibly separates two words, such as a break, becomes a space."""
    return re.sub(CODE, "", GLUED.sub(part_words, text)) if BEGIN in text else text


def spell_codes(text: str) -> str:
    """Returns a text with its codes, but without the delimiters around each."""
    return re.sub(f"[{BEGIN}{END}]", "", text) if BEGIN in text else text


def part_words(match: re.Match[str]) -> str:
    """Returns the last character of a word, with a space after it if the script separates words with spaces."""
    return f"{match[1]} " if min(match[1], match[2]) < UNSPACED or HANGUL[0] <= match[2] <= HANGUL[1] else match[1]


# TMX, the industry's translation memory format: units with one variant per language, with inline tags.
#
# `--source-language` and `--target-language` choose the two languages to read; a file of two languages needs neither.
# Regional varieties count as one language, unless an option names one of them.


Variants = list[tuple[str, str]]  # the code of the language and the text of each variant of a unit


class VariantUnit(NamedTuple):
    """A text in several languages: its variants, and the language that the file says it was written in."""

    line: int
    variants: Variants
    declared: str
    unfinished: frozenset[str] = frozenset()  # the languages of variants that a person has to finish


class VariantReader(Reader):
    """The base class of readers for files that may have more than two languages, two of which are read."""

    @abstractmethod
    def read_variants(self) -> Iterator[VariantUnit]:
        """Yields the units in order."""

    def read_rows(self) -> Iterator[Row]:
        self.codes: dict[str, None] = {}  # in the order of their first units
        self.further = 0
        has_pairs = False
        for line, variants, declared, unfinished in self.read_variants():
            self.note_codes(code for code, _ in variants)
            if self.languages is None:
                self.languages = self.choose_languages(declared)
            if self.languages is None:
                yield Row(line, variants[0][1] if variants else "", "")
                continue
            source, target = (self.choose_variant(variants, language) for language in self.languages)
            has_pairs |= source is not None and target is not None
            is_unfinished = target is not None and target[0] in unfinished
            yield Row(line, source[1] if source else "", target[1] if target else "", is_unfinished=is_unfinished)
        if self.codes and not has_pairs:
            self.refuse_languages()
        if self.further:
            self.add_note(f"additional variants of a language in one unit, left out: {self.further:,}")

    def note_codes(self, codes: Iterable[str]) -> None:
        """Records the language codes of a unit. Raises DataError for a third language that no option excludes."""
        for code in codes:
            if code in self.codes:
                continue
            all_known = (*self.codes, *(self.languages or ()))
            is_new = self.languages is not None and not any(is_same_language(code, known) for known in all_known)
            self.codes[code] = None
            if is_new and (self.options.source_language is None or self.options.target_language is None):
                self.refuse_languages()

    def choose_languages(self, declared: str) -> tuple[str, str] | None:
        """Returns the two languages to read: those of the options, else those of the first unit with two languages.

        Returns None as long as all units have had only one language, and thus no translation.
        """
        source, target = self.options.source_language, self.options.target_language
        if source is None:
            others = [code for code in self.codes if target is None or not is_same_variety(code, target)]
            source = next((code for code in others if declared and is_same_variety(code, declared)), None)
            source = source or next(iter(others), None)
        if target is None:
            others = [code for code in self.codes if source and not is_same_language(code, source)]
            target = others[0] if others and all(is_same_language(code, others[0]) for code in others) else None
        if source is not None and target is not None:
            return source, target
        first = next(iter(self.codes), "")
        if not all(is_same_language(code, first) for code in self.codes):
            self.refuse_languages()
        return None

    def choose_variant(self, variants: Variants, language: str) -> tuple[str, str] | None:
        """Returns the variant in a language, preferably in that exact variety, or None. Counts the unused ones."""
        is_asked = language in (self.options.source_language, self.options.target_language)
        indices = find_variants(
            tuple([code for code, _ in variants]), language, is_same_variety if is_asked else is_same_language
        )
        self.further += max(0, len(indices) - 1)
        return variants[indices[0]] if indices else None

    def refuse_languages(self) -> NoReturn:
        raise DataError(
            f"{self.file.name} has the languages {', '.join(self.codes) or '(none)'}",
            hint="choose two with --source-language and --target-language",
        )


class TmxReader(XmlReader, VariantReader):
    expects = "a translation memory: <tmx> with <tu> units"
    root = "tmx"
    unit_names = frozenset({"tu"})

    def read_variants(self) -> Iterator[VariantUnit]:
        for line, unit, context, *_ in self.read_units():
            variants = read_variants(unit, keeps_codes=self.options.keeps_codes)
            yield VariantUnit(line, variants, context.get("header", {}).get("srclang", ""))


@lru_cache(4096)
def find_variants(codes: tuple[str, ...], language: str, match: Callable[[str, str], bool]) -> list[int]:
    """Returns the indices of variants in a language, best first: those with the same tag, then the same script."""
    indices = [index for index, code in enumerate(codes) if match(code, language)]
    return sorted(indices, key=lambda index: (codes[index] != language, not is_same_language(codes[index], language)))


def read_variants(unit: Element, *, keeps_codes: bool = False) -> Variants:
    """Returns the language and text of each variant of a unit; `keeps_codes` works as in `extract_text`."""
    variants = []
    for variant in unit.iterfind("tuv"):
        code = variant.get(XML_LANG) or variant.get("lang") or ""
        variants.append((code, extract_text(variant.find("seg"), keeps_codes=keeps_codes)))
    return variants


# XLIFF 1.2 (`trans-unit`) and 2 (`segment`), the exchange format of translators, including SDL's and memoQ's.
#
# A unit divided into segments (`<mrk mtype="seg">`) is one pair per segment. In files with several languages,
# `--source-language` and `--target-language` choose.


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
        for line, unit, context, *_ in self.read_units():
            languages = read_languages(context)
            if all(languages) and not self.accept_languages(languages):
                left_out[languages] += 1
                continue
            yield from read_segments(line, unit, partial(extract_text, keeps_codes=self.options.keeps_codes))
        if left_out and self.languages is None:
            self.refuse_languages(next(iter(left_out)))
        for languages, count in left_out.items():
            self.add_note(f"{format_count(count, 'unit')} in {' -> '.join(languages)} left out")

    def accept_languages(self, languages: Languages) -> bool:
        """Whether units in these languages are read.

        Raises DataError for a second language pair if no option chooses between them.
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


def read_languages(context: Mapping[str, Mapping[str, str]]) -> Languages:
    """Returns the languages of the <file> (1.2) or root (2) that contains a unit; empty if not declared."""
    attributes = {**context.get("xliff", {}), **context.get("file", {})}
    source = attributes.get("source-language", attributes.get("srcLang", ""))
    return source, attributes.get("target-language", attributes.get("trgLang", ""))


def read_segments(line: int, unit: Element, read: Callable[[Element | None], str]) -> Iterator[Row]:
    """Yields the pairs of a unit, one per segment or one for the whole; `read` returns the text of a side."""
    source, target = unit.find("source"), unit.find("target")
    seg_source = unit.find("seg-source")
    source_segments, target_segments = find_segments(seg_source), find_segments(target)
    unfinished = is_unfinished(unit, target)
    if not source_segments or not target_segments:
        yield Row(line, read(source), read(target), is_unfinished=unfinished, context=read_unit_name(unit))
        return
    states = {seg.get("id", ""): seg.get("conf", "") for seg in unit.iter("seg")}
    for number, segment in source_segments.items():
        is_draft = states.get(number, "").lower() in UNCONFIRMED
        yield Row(line, read(segment), read(target_segments.get(number)), is_unfinished=unfinished or is_draft)


def read_unit_name(unit: Element) -> str:
    """Returns the name by which a program knows a unit, or else its number."""
    return unit.get("resname") or unit.get("id") or ""


def find_segments(side: Element | None) -> dict[str, Element]:
    """Returns the segments of a source or target by number, in order; empty if it is not divided."""
    marks = [] if side is None else [mark for mark in side.iter("mrk") if mark.get("mtype") == "seg"]
    return {mark.get("mid", str(number)): mark for number, mark in enumerate(marks)}


def is_unfinished(unit: Element, target: Element | None) -> bool:
    """Whether a translation is unfinished; XLIFF 2 says so on the segment, 1.2 on the target, memoQ on the unit."""
    state = unit.get("state") or (None if target is None else target.get("state"))
    return state in UNFINISHED or unit.get("mq:status", "").lower() in NOT_STARTED
