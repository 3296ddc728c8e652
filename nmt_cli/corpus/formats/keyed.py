"""Pairs by key: two files, or folders of files, whose texts have keys (a segment of SGML, a verse of USFM)."""

from __future__ import annotations

import html
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from nmt_cli.corpus.formats.input_stream import InputStream
from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.errors import DataError
from nmt_cli.text.usfm import (
    BOOK,
    CHARACTER_MARK,
    MARKER,
    MILESTONE,
    OPTIONAL_BREAK,
    PARAGRAPH_MARK,
    USFM_NOTES,
    VERSE_NUMBER,
)
from nmt_cli.text.wrapping import format_count

# Two files, or folders of files, whose texts have keys: a segment number, a Bible verse.
#
# Texts with the same key are a pair, whatever their order; keys on only one side are counted.


MAXIMUM_SIDE = 1 << 28  # characters of the texts of one side, which are held in memory


class KeyedText(NamedTuple):
    """A text, its key, and its first line number."""

    line: int
    key: str
    text: str


class KeyedReader(Reader):
    """The base of readers that join two sides by keys."""

    noun: ClassVar[str]  # what a text is called
    split = 1  # how many of the streams are the source's

    @abstractmethod
    def read_texts(self, stream: InputStream, side: int) -> Iterator[KeyedText]:
        """Yields the texts of one file of the source (0) or the target (1)."""

    def read_rows(self) -> Iterator[Row]:
        if self.options.one_side:
            texts = self.collect_side(self.streams, 0).values()
            yield from (Row(text.line, text.text, text.text) for text in texts)
            return
        streams = self.streams[: self.split], self.streams[self.split :]
        sides = [self.collect_side(of_side, side) for side, of_side in enumerate(streams)]
        source, target = self.align(*sides)
        for key, text in source.items():
            if key in target:
                yield Row(text.line, text.text, target[key].text)
        lonely = len(source.keys() ^ target.keys())
        if lonely and lonely == len(source) + len(target):
            raise DataError(f"{self.file.name}: the two sides have no {self.noun} in common", hint=self.expects)
        if lonely:
            self.add_note(f"{format_count(lonely, self.noun)} only on one side, left out")

    def collect_side(self, streams: Sequence[InputStream], side: int) -> dict[str, KeyedText]:
        """Returns the texts of one side by key, joining texts with the same key."""
        texts: dict[str, KeyedText] = {}
        size = 0
        for stream in streams:
            for text in self.read_texts(stream, side):
                first = texts.get(text.key)
                texts[text.key] = text if first is None else first._replace(text=f"{first.text} {text.text}".strip())
                size += len(text.text)
                if size > MAXIMUM_SIDE:
                    raise DataError(f"{stream.name}: more than {MAXIMUM_SIDE:,} characters")
        return texts

    def align(
        self, source: dict[str, KeyedText], target: dict[str, KeyedText]
    ) -> tuple[dict[str, KeyedText], dict[str, KeyedText]]:
        """Returns both sides with comparable keys."""
        return source, target


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
        if side == 0:
            code = languages["srclang"]
            self.languages = (code if code not in ("", "any") else source, target)
        else:
            code = languages["trglang"] or target
            own_source = languages["srclang"]
            self.languages = (own_source if source == "source" and own_source not in ("", "any") else source, code)


def read_segments(
    lines: Iterable[tuple[int, str]], name: str, attributes: dict[str, str] | None = None
) -> Iterator[KeyedText]:
    """Yields the segments, skipping documents that recur, by another system.

    `attributes` receives those of the set. Raises DataError for a segment that is too long or never ends.
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
                    hint="it should be a test set with <seg> elements",
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
            yield KeyedText(self.line, key, clean_segment("".join(parts)))


def clean_segment(text: str) -> str:
    """Returns the text of a segment on one line, without inner tags and with entities decoded."""
    return " ".join(html.unescape(MARKUP.sub("", text)).split())


# USFM, the markup of Bible translations: verse by verse, with book, chapter and verse as the key.
#
# Headings, introductions, notes, cross-references and figures are left out, as are character markers and word
# attributes. Verses joined on one side ("1-2") are joined on the other, too.


MAXIMUM_VERSE = 1 << 20  # characters, with its notes
EMPTY = re.compile(r"[\s.\u2026_\-\u2014]*")  # what stands in a verse that is not translated


class UsfmReader(KeyedReader):
    expects = "give two Bibles in USFM, as files or folders: --source-file en/ --target-file quy/"
    noun = "verse"

    def read_texts(self, stream: InputStream, side: int) -> Iterator[KeyedText]:
        parser = VerseParser(stream.name)
        for line, text in stream.read_lines():
            yield from parser.read_line(line, text)
        yield from parser.finish_verse()

    def align(
        self, source: dict[str, KeyedText], target: dict[str, KeyedText]
    ) -> tuple[dict[str, KeyedText], dict[str, KeyedText]]:
        """Returns both sides with verses joined wherever either side joins them."""
        ranges = join_ranges([*source, *target])
        return join_verses(source, ranges), join_verses(target, ranges)


class VerseParser:
    """Extracts verses from the lines of a book."""

    def __init__(self, name: str) -> None:
        self.name = name  # of the file
        self.book, self.chapter, self.verse = "", "", ""
        self.line = self.size = 0  # where the verse begins, and its characters with notes
        self.parts: list[str] = []
        self.note = ""  # the mark of the note that is open
        self.in_verse = self.in_characters = self.in_milestone = False
        self.expected = ""  # the mark whose number or name the text begins with

    def read_line(self, line: int, text: str) -> Iterator[KeyedText]:
        """Raises DataError for a verse that does not end."""
        self.size += len(text) if self.verse else 0
        if self.size > MAXIMUM_VERSE:
            raise DataError(
                f"{self.name}, line {self.line}: a verse of more than {MAXIMUM_VERSE:,} characters",
                hint="verses begin with \\v and a number",
            )
        for token in MARKER.split(text):
            if token.startswith("\\"):
                yield from self.read_marker(token)
            elif self.expected:
                self.read_argument(line, token)
            elif token and not self.note and not self.in_milestone and self.in_verse and self.verse:
                self.parts.append(token.partition("|")[0] if self.in_characters else token)

    def read_marker(self, token: str) -> Iterator[KeyedText]:
        name = token.lstrip("\\+").rstrip("*")
        is_end = token.endswith("*")
        if self.note and name not in ("c", "v", "id"):
            self.note = "" if is_end and name == self.note else self.note
        elif token == "\\*":
            self.in_milestone = False
        elif name in ("c", "v", "id"):
            yield from self.finish_verse()
            self.note, self.expected, self.in_verse, self.in_characters = "", name, name == "v", False
        elif name in USFM_NOTES:
            self.note = "" if is_end else name
        elif MILESTONE.fullmatch(name):
            self.in_milestone = not is_end
        elif CHARACTER_MARK.fullmatch(name):
            self.in_characters = not is_end
        else:
            self.in_verse = bool(PARAGRAPH_MARK.fullmatch(name))
            self.parts.append(" ")

    def read_argument(self, line: int, text: str) -> None:
        """Reads the name of a book, or the number of a chapter or verse, and the text after it."""
        kind, self.expected = self.expected, ""
        if kind == "id":
            match = BOOK.match(text)
            self.book, self.chapter, self.verse = match[1] if match else "", "", ""
            return
        match = VERSE_NUMBER.match(text)
        number = "" if match is None else f"{match[1]}-{match[2] or match[1]}"
        if kind == "c":
            self.chapter, self.verse = number.partition("-")[0], ""
            return
        self.verse, self.line = number, line
        self.parts.append(text[match.end() :] if match else "")

    def finish_verse(self) -> Iterator[KeyedText]:
        """Yields the verse read so far, unless it is empty."""
        text = " ".join(re.sub(rf"{OPTIONAL_BREAK}|~", " ", "".join(self.parts)).split())
        self.parts.clear()
        self.size = 0
        if self.verse and self.chapter and not EMPTY.fullmatch(text):
            yield KeyedText(self.line, f"{self.book} {self.chapter}:{self.verse}", text)
        self.verse = ""


def split_key(key: str) -> tuple[str, int, int]:
    """Returns book and chapter, and the first and last verse."""
    chapter, _, verses = key.partition(":")
    first, _, last = verses.partition("-")
    return chapter, int(first[:6]), int(last[:6])


def join_ranges(keys: list[str]) -> dict[str, list[tuple[int, int]]]:
    """Returns for each chapter, in order, the verse ranges of either side, merging those that overlap."""
    chapters: dict[str, list[tuple[int, int]]] = {}
    for chapter, first, last in sorted(map(split_key, keys)):
        ranges = chapters.setdefault(chapter, [])
        if ranges and first <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    return chapters


def join_verses(verses: dict[str, KeyedText], ranges: dict[str, list[tuple[int, int]]]) -> dict[str, KeyedText]:
    """Returns the verses joined by these ranges."""
    by_first = {
        (chapter, verse): f"{chapter}:{first}-{last}"
        for chapter, spans in ranges.items()
        for first, last in spans
        for verse in range(first, min(last, first + 200) + 1)
    }
    joined: dict[str, KeyedText] = {}
    for key, verse in verses.items():
        chapter, first, _ = split_key(key)
        wide = by_first.get((chapter, first), key)
        earlier = joined.get(wide)
        text = verse.text if earlier is None else f"{earlier.text} {verse.text}"
        joined[wide] = KeyedText(verse.line if earlier is None else earlier.line, wide, text)
    return joined
