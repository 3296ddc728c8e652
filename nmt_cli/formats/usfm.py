r"""USFM, the markup of Bible translations: markers, each with the text after it.

    \v 2-3 And \nd God\nd* said,     UsfmMark(1, "\v", "v", "place", " 2-3 And ")
                                     UsfmMark(1, "\nd", "nd", "character", " God"), UsfmMark(1, "\nd*", ..., " said,")

Pairs are verses, with book, chapter and verse as the key. Headings, introductions, notes, cross-references and figures
are left out, as are character markers and word attributes. Verses joined on one side ("1-2") are joined on the other,
too. Documents translate more of these marks, and keep all of them (`documents/usfm.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, NoReturn

from nmt_cli.errors import DataError
from nmt_cli.formats.input_stream import InputStream
from nmt_cli.formats.reader import KeyedReader, KeyedText

MARKER = re.compile(r"(\\\+?[A-Za-z][\w-]*\*?|\\\*)")
OPTIONAL_BREAK = r"(?<!:)//"  # of a line; `://` is in an address
USFM_NOTES = frozenset("f fe ef x ex fig rq va vp ca rb".split())  # which hold what is not the text of a verse
# Marks of paragraphs in which verses go on; those of headings and introductions are all others that are no characters'.
PARAGRAPH_MARK = re.compile(
    r"(?:p|m|po|pr|cls|pmo|pm|pmc|pmr|pi\d?|mi|nb|pc|ph\d?|q\d?|qr|qc|qm\d?|lh|li\d?|lf|lim\d?|tr|t[chr]+[\d-]*|b|pb)"
)
CELL_MARK = re.compile(r"tr|t[chr]+[\d-]*")  # of a row of a table, and of its cells, each a text by itself
CHARACTER_MARK = re.compile(
    r"(?:add|addpn|bk|dc|k|nd|ord|pn|png|qt|sig|sls|tl|w|w[ghaj]|em|bd|it|bdit|no|sc|sup|jmp|pro|rb|qs|qac|lik|liv\d?|"
    r"litl|ior|iqt|ndx|efm|fm)"
)
MILESTONE = re.compile(r"(?:[\w-]+-[se]|ts)")
WORD_ATTRIBUTES = re.compile(r"\|[^\n]*")
BOOK = re.compile(r"\s*([A-Z0-9]{3})\b")
VERSE_NUMBER = re.compile(r"\s*(\d+)([a-z]?)(?:\s*[-\u2013,]\s*(\d+)[a-z]?)?[ \t\r\n~]*")
MAXIMUM_VERSE = 1 << 20  # characters, with its notes
NO_VERSE = "verses begin with \\v and a number"
EMPTY = re.compile(r"[\s.\u2026_\-\u2014]*")  # what stands in a verse that is not translated
MarkKind = Literal["place", "note", "milestone", "character", "cell", "paragraph", "heading"]


class UsfmMark(NamedTuple):
    """A marker and the text after it, up to the next marker; the first one in a file has only text."""

    line: int
    raw: str
    text: str

    @property
    def name(self) -> str:
        return self.raw.strip("\\+*")

    @property
    def is_end(self) -> bool:
        return self.raw.endswith("*")

    @property
    def kind(self) -> MarkKind:
        return find_kind(self.name)

    @property
    def book(self) -> str:
        """The code of the book that the text names."""
        match = BOOK.match(self.text)
        return match[1] if match else ""

    @property
    def number(self) -> re.Match[str] | None:
        """The number of the verse (or the range of verses) or of the chapter at the beginning of the text."""
        return VERSE_NUMBER.match(self.text)


@lru_cache(1024)
def find_kind(name: str) -> MarkKind:
    """Returns what a mark does: it shows where a book, a chapter or a verse begins, or marks up text."""
    if name in ("id", "c", "v"):
        return "place"
    if name in USFM_NOTES:
        return "note"
    if not name or MILESTONE.fullmatch(name):
        return "milestone"
    if CHARACTER_MARK.fullmatch(name):
        return "character"
    if CELL_MARK.fullmatch(name):
        return "cell"
    return "paragraph" if PARAGRAPH_MARK.fullmatch(name) else "heading"


def read_marks(lines: Iterable[tuple[int, str]], refuse: Callable[[int, str, str], NoReturn]) -> Iterator[UsfmMark]:
    """Yields the marks of numbered lines; together they make up the text. Refuses a text that does not end."""
    first, raw, parts, size = 1, "", [""], 0
    for line, text in lines:
        before, *marks = MARKER.split(text)
        parts.append(before)
        size += len(before)
        if size > MAXIMUM_VERSE:
            refuse(first, f"a text of more than {MAXIMUM_VERSE:,} characters without a marker", NO_VERSE)
        for mark, behind in zip(marks[::2], marks[1::2], strict=True):
            yield UsfmMark(first, raw, "".join(parts))
            first, raw, parts, size = line, mark, [behind], len(behind)
    yield UsfmMark(first, raw, "".join(parts))


class UsfmReader(KeyedReader):
    expects = "give two Bibles in USFM, as files or folders: --source-file en/ --target-file quy/"
    noun = "verse"

    def read_texts(self, stream: InputStream, side: int) -> Iterator[KeyedText]:
        def refuse(line: int, problem: str, hint: str) -> NoReturn:
            raise DataError(f"{stream.name}, line {line}: {problem}", hint=hint)

        parser = VerseParser(refuse)
        for mark in read_marks(stream.read_lines(), refuse):
            yield from parser.read_mark(mark)
        yield from parser.finish_verse()

    def align(
        self, source: dict[str, KeyedText], target: dict[str, KeyedText]
    ) -> tuple[dict[str, KeyedText], dict[str, KeyedText]]:
        """Returns both sides with verses joined wherever either side joins them."""
        ranges = join_ranges([*source, *target])
        return join_verses(source, ranges), join_verses(target, ranges)


class VerseParser:
    """Extracts verses from the marks of a book."""

    def __init__(self, refuse: Callable[[int, str, str], NoReturn]) -> None:
        self.refuse = refuse
        self.book, self.chapter, self.verse = "", "", ""
        self.line = self.size = 0  # where the verse begins, and its characters with notes
        self.parts: list[str] = []
        self.note = ""  # the mark of the note that is open
        self.in_verse = self.in_characters = self.in_milestone = False
        self.goes_on = False  # whether the verse is the second half of one: 3b

    def read_mark(self, mark: UsfmMark) -> Iterator[KeyedText]:
        """Reads a mark; yields the verse that ended before it, if any. Raises DataError for a verse that never ends."""
        self.size += len(mark.raw) + len(mark.text)
        if self.verse and self.size > MAXIMUM_VERSE:
            self.refuse(self.line, f"a verse of more than {MAXIMUM_VERSE:,} characters", NO_VERSE)
        kind, name, text = mark.kind, mark.name, mark.text
        if kind == "place":
            yield from self.finish_verse()
            self.note, self.in_verse, self.in_characters = "", name == "v", False
            text = self.read_place(mark)
        elif self.note:
            self.note = "" if mark.is_end and name == self.note else self.note
        elif kind == "note":
            self.note = "" if mark.is_end else name
        elif kind == "milestone":
            self.in_milestone = bool(name) and not mark.is_end
        elif kind == "character":
            self.in_characters = not mark.is_end
        else:
            self.in_verse = kind != "heading"
            self.parts.append(" ")
        if self.in_verse and self.verse and not self.note and not self.in_milestone:
            self.parts.append(WORD_ATTRIBUTES.sub("", text) if self.in_characters else text)

    def read_place(self, mark: UsfmMark) -> str:
        """Reads the name of a book, or the number of a chapter or verse, and returns the text after it."""
        if mark.name == "id":
            self.book, self.chapter, self.verse = mark.book, "", ""
            return ""
        match = mark.number
        number = "" if match is None else f"{match[1]}-{match[3] or match[1]}"
        if mark.name == "c":
            self.chapter, self.verse = number.partition("-")[0], ""
            return ""
        self.verse, self.line = number, mark.line
        self.goes_on = match is not None and match[2] > "a"
        return mark.text[match.end() :] if match else ""

    def finish_verse(self) -> Iterator[KeyedText]:
        """Yields the verse read so far, unless it is empty."""
        text = " ".join(re.sub(rf"{OPTIONAL_BREAK}|~", " ", "".join(self.parts)).split())
        self.parts.clear()
        self.size = 0
        if self.verse and self.chapter and not EMPTY.fullmatch(text):
            yield KeyedText(self.line, f"{self.book} {self.chapter}:{self.verse}", text, self.goes_on)
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
    """Returns the verses, joined according to these ranges."""
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
