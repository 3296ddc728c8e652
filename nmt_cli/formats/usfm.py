"""The marks of USFM, the markup of Bible translations, by what they do. Knows neither corpora nor documents."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
BOOK = re.compile(r"\s*([A-Z0-9]{3})\b")
VERSE_NUMBER = re.compile(r"\s*(\d+)[a-z]?(?:\s*[-\u2013,]\s*(\d+)[a-z]?)?[ \t\r\n~]*")


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
