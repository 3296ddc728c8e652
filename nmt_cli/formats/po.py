"""Gettext catalogues: `msgid` and `msgstr`, plurals, `#, fuzzy`; one entry at a time.

The header and obsolete entries (`#~`) are not pairs; the header names the language and the encoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nmt_cli.formats.reader import Reader, Row
from nmt_cli.formats.sniffing import check_encoding

KEYWORD_LINE = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(".*)')
ESCAPE = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
MAXIMUM_TEXT = 1 << 20  # characters of the texts of an entry
CHARSET = re.compile(rb'"Content-Type:[^"\n]*charset=([\w.:-]+)', re.IGNORECASE)
HEADER_FIELD = re.compile(r"^(X-Source-Language|Language):[ \t]*(\S+)[ \t]*$", re.MULTILINE)


@dataclass
class Entry:
    """An entry as far as read; `texts` holds the strings of each keyword."""

    line: int = 0
    is_fuzzy: bool = False
    size: int = 0  # characters of all texts
    texts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_header(self) -> bool:
        return "msgid" in self.texts and not any(self.texts["msgid"]) and "msgctxt" not in self.texts

    def read_rows(self) -> Iterator[Row]:
        """Yields the pair of the entry; with plurals, one pair of the singular and one of the last plural form."""
        text = {keyword: "".join(parts) for keyword, parts in self.texts.items()}
        if not text.get("msgid"):
            return
        singular = text.get("msgstr", text.get("msgstr[0]", ""))
        yield Row(self.line, text["msgid"], singular, is_unfinished=self.is_fuzzy)
        plurals = [keyword for keyword in text if keyword.startswith("msgstr[") and keyword != "msgstr[0]"]
        if "msgid_plural" in text and plurals:
            yield Row(self.line, text["msgid_plural"], text[plurals[-1]], is_unfinished=self.is_fuzzy)


class PoReader(Reader):
    expects = 'gettext entries: msgid "..." and msgstr "..."'

    def read_rows(self) -> Iterator[Row]:
        charset = CHARSET.search(self.stream.read_head())
        if charset and self.stream.encoding is None and charset[1].upper() != b"CHARSET":  # that of a template
            self.stream.encoding = check_encoding(charset[1].decode(), "Content-Type")
        entry, keyword = Entry(), ""
        for line, raw in self.stream.read_lines():
            text = raw.strip()
            if text.startswith("#") or not text:
                if "msgstr" in keyword:
                    yield from self.finish_entry(entry)
                    entry, keyword = Entry(), ""
                if text.startswith("#~"):  # an obsolete entry, whose flags concern no other
                    entry.is_fuzzy = False
                entry.is_fuzzy |= text.startswith("#,") and "fuzzy" in text
                continue
            if not text.startswith('"'):
                match = KEYWORD_LINE.fullmatch(text)
                if match is None:
                    self.refuse(line, f"not a gettext entry ({text[:40]!r})")
                if match[1] in ("msgctxt", "msgid") and "msgstr" in keyword:
                    yield from self.finish_entry(entry)
                    entry = Entry()
                keyword, text = match[1], match[2]
                entry.line = entry.line or line
            self.extend(entry, keyword, text, line)
        yield from self.finish_entry(entry)

    def finish_entry(self, entry: Entry) -> Iterator[Row]:
        """Yields the pairs of an entry; the header has none, but names the languages."""
        if entry.is_header:
            fields = dict(HEADER_FIELD.findall("".join(entry.texts.get("msgstr", []))))
            if self.languages is None and fields.get("Language"):
                self.languages = (fields.get("X-Source-Language", "source"), fields["Language"])
            return
        yield from entry.read_rows()

    def extend(self, entry: Entry, keyword: str, text: str, line: int) -> None:
        """Adds a quoted string to the text of `keyword`."""
        if not keyword or len(text) < 2 or not text.endswith('"'):
            self.refuse(line, "a quoted string is needed here")
        parts = entry.texts.setdefault(keyword, [])
        parts.append(ESCAPE.sub(lambda match: ESCAPES.get(match[1], match[1]), text[1:-1]))
        entry.size += len(parts[-1]) + 1  # an empty string counts too
        if entry.size > MAXIMUM_TEXT:
            self.refuse(line, f"an entry of more than {MAXIMUM_TEXT:,} characters")
