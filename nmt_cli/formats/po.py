r"""Gettext catalogues: entries, one at a time, with their comments, flags and plurals.

    #, fuzzy                     PoEntry(line=2, flags=("fuzzy",), message=2, texts={
    msgid "one\n"                    "msgid": "one\ntwo",
    "two"                            "msgstr": "eins"})
    msgstr "eins"
    #~ msgid "gone"              what is obsolete stands between entries

For training, a fuzzy entry is unfinished; an entry with plurals gives two pairs. In a document it keeps its lines
(`documents/po.py`). An entry has one `msgid` and one `msgstr`; anything else is refused with its line. Escapes that
gettext does not write stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, NoReturn

from nmt_cli.formats.reader import Reader, Row
from nmt_cli.formats.sniffing import CHARSET, TEMPLATE, check_encoding

KEYWORD_LINE = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(".*)')
ESCAPES = {"\\\\": "\\", "\\t": "\t", "\\r": "\r", "\\n": "\n", "\\v": "\v", "\\b": "\b", "\\f": "\f", '\\"': '"'}
ESCAPE = re.compile(r'\\[\\trnvbf"]')
MAXIMUM_TEXT = 1 << 20  # characters of the texts of an entry
HEADER_FIELD = re.compile(r"^([\w-]+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class PoEntry(NamedTuple):
    """An entry; the last one of a catalogue has no texts, but what stands at its end."""

    line: int  # of its first keyword
    before: str  # as it is spelled, what belongs to no entry
    lines: list[str]  # of the entry, with its comments and their ends
    message: int  # the index of the first line of its `msgstr`; 0 if there is none
    flags: tuple[str, ...]
    texts: dict[str, str]  # by keyword

    @property
    def is_header(self) -> bool:
        return self.texts.get("msgid") == "" and "msgctxt" not in self.texts

    @property
    def forms(self) -> dict[int, str]:
        """The plural forms by number."""
        plural = {keyword: text for keyword, text in self.texts.items() if keyword.startswith("msgstr[")}
        return {int(keyword[7:-1]): text for keyword, text in plural.items()}

    def read_header(self) -> dict[str, str]:
        """Returns the fields of a header."""
        return dict(HEADER_FIELD.findall(self.texts.get("msgstr", "")))


class EntryParser:
    """Collects lines to entries. `refuse` raises an error that names a line and its problem."""

    def __init__(self, refuse: Callable[[int, str], NoReturn]) -> None:
        self.refuse = refuse
        self.begin()

    def begin(self) -> None:
        self.before: list[str] = []
        self.lines: list[str] = []
        self.flags: list[str] = []
        self.parts: dict[str, list[str]] = {}
        self.keyword = ""
        self.line = self.message = self.size = 0

    def finish(self) -> PoEntry:
        texts = {keyword: "".join(parts) for keyword, parts in self.parts.items()}
        entry = PoEntry(self.line, "".join(self.before), self.lines, self.message, tuple(self.flags), texts)
        self.begin()
        return entry

    def read_line(self, line: int, raw: str) -> Iterator[PoEntry]:
        """Yields the entry that ended before a line."""
        text = raw.strip().removeprefix("\ufeff")
        match = None if text[:1] in ('"', "#", "") else KEYWORD_LINE.fullmatch(text)
        if self.keyword.startswith("msgstr") and not text.startswith(('"', "msgstr")):
            yield self.finish()
        if not text or text.startswith("#"):
            self.read_comment(text, raw)
            return
        if match is not None:
            self.begin_text(line, match[1])
            text = match[2]
        elif not text.startswith('"'):
            self.refuse(line, f"not a gettext entry ({text[:40]!r})")
        self.lines.append(raw)
        self.extend(line, text)

    def read_comment(self, text: str, raw: str) -> None:
        """Keeps a comment with its entry; a blank line and an obsolete entry, whose flags are its own, are apart."""
        self.lines.append(raw)
        if text.startswith("#,"):
            self.flags += filter(None, map(str.strip, text[2:].split(",")))
        if not self.parts and (not text or text.startswith("#~")):
            self.before += self.lines
            self.lines = []
            self.flags = [] if text else self.flags

    def begin_text(self, line: int, keyword: str) -> None:
        if keyword in self.parts or (keyword != "msgid" and (keyword == "msgctxt") == bool(self.parts)):
            self.refuse(line, f"{keyword} is not expected here")
        if keyword.startswith("msgstr"):
            self.message = self.message or len(self.lines)
        self.line, self.keyword = self.line or line, keyword
        self.parts[keyword] = []

    def extend(self, line: int, text: str) -> None:
        """Adds a quoted string to the text of the keyword."""
        if not self.keyword or len(text) < 2 or not text.endswith('"'):
            self.refuse(line, "a quoted string is needed here")
        decoded = ESCAPE.sub(lambda match: ESCAPES[match[0]], text[1:-1]) if "\\" in text else text[1:-1]
        self.parts[self.keyword].append(decoded)
        self.size += len(decoded) + 1  # an empty string counts too
        if self.size > MAXIMUM_TEXT:
            self.refuse(line, f"an entry of more than {MAXIMUM_TEXT:,} characters")


def read_entries(lines: Iterable[tuple[int, str]], refuse: Callable[[int, str], NoReturn]) -> Iterator[PoEntry]:
    """Yields the entries of numbered lines in order, and then what stands behind the last one."""
    parser = EntryParser(refuse)
    for line, raw in lines:
        yield from parser.read_line(line, raw)
    if parser.keyword:
        yield parser.finish()
    yield parser.finish()


class PoReader(Reader):
    expects = 'gettext entries: msgid "..." and msgstr "..."'

    def read_rows(self) -> Iterator[Row]:
        charset = CHARSET.search(self.stream.read_head())
        if charset and self.stream.encoding is None and charset[1].upper() != TEMPLATE:
            self.stream.encoding = check_encoding(charset[1].decode(), "Content-Type")
        for entry in read_entries(self.stream.read_lines(), self.refuse):
            if not entry.is_header:
                yield from read_rows(entry)
                continue
            fields = entry.read_header()
            if self.languages is None and fields.get("Language"):
                self.languages = (fields.get("X-Source-Language", "source"), fields["Language"])


def read_rows(entry: PoEntry) -> Iterator[Row]:
    """Yields the pair of an entry; with plurals, one pair of the singular and one of the last plural form."""
    texts, forms, is_fuzzy = entry.texts, entry.forms, "fuzzy" in entry.flags
    if texts.get("msgid"):
        singular = texts.get("msgstr", forms.get(0, ""))
        yield Row(entry.line, texts["msgid"], singular, is_unfinished=is_fuzzy)
        plurals = [form for form in forms if form]
        if "msgid_plural" in texts and plurals:
            yield Row(entry.line, texts["msgid_plural"], forms[plurals[-1]], is_unfinished=is_fuzzy)
