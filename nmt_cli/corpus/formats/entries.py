"""Pairs entry by entry: JSON Lines and gettext catalogues."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.languages.codes import guess_languages
from nmt_cli.text.sniffing import check_encoding
from nmt_cli.text.tags import TagSet, merge_tags

# JSON Lines: one object or array per line.
#
# The keys of the two texts are `--source-column` and `--target-column`, or "source" and "target" (or "src" and "tgt"),
# or the codes of the two languages, known from the options or the file's name. The texts are in the object itself or in
# its "translation".


SOURCE_KEYS = ("source", "src")
TARGET_KEYS = ("target", "tgt", "trg")
TEXT_KEY = "text"  # of one language


class JsonLinesReader(Reader):
    has_columns = True
    expects = 'one object per line: {"source": "...", "target": "..."}'

    @property
    def has_parts(self) -> bool:
        return not self.options.other_columns  # of which it is told whether any line has them

    def read_rows(self) -> Iterator[Row]:
        return self.parse_lines(self.stream.read_lines())

    def parse_lines(self, *sides: Iterable[tuple[int, str]]) -> Iterator[Row]:
        options = self.options
        languages = guess_languages(self.file.files[0].name)
        source_keys: tuple[str, ...] = (*SOURCE_KEYS, options.source_language or languages[0])
        target_keys: tuple[str, ...] = (*TARGET_KEYS, options.target_language or languages[1])
        if options.one_side:
            source_keys, target_keys = (*source_keys, TEXT_KEY), (*target_keys, TEXT_KEY)
        for line, text in chain(*sides):
            if text.isspace():
                yield Row(line, "", "")
                continue
            value = self.parse_line(line, text)
            source = self.find_text(line, value, options.source_column, source_keys, 0)
            target = self.find_text(line, value, options.target_column, target_keys, 1)
            tags = merge_tags(self.find_language(line, value), self.read_tags(line, self.find_tags(value)))
            yield Row(line, source, target, group=self.find_group(value), tags=tags)

    def find_group(self, value: Any) -> str:
        """Returns the value of the group column: the first of `--group-column` that is a key; empty for none."""
        if not self.options.group_columns or not isinstance(value, dict):
            return ""
        self.headings = self.headings or tuple(value)
        columns = [column for column in self.options.group_columns if column in value]
        self.group_columns = (*self.group_columns, *(column for column in columns if column not in self.group_columns))
        return next((str(value[column]) for column in columns if value[column] is not None), "")

    def find_language(self, line: int, value: Any) -> TagSet:
        """Returns the tag of the language under the key of `--target-language-column`."""
        column = self.options.language_column
        if column is None or not isinstance(value, dict) or column not in value:
            return ()
        self.has_language_column = True
        return self.read_language(line, str(value[column] or ""))

    def find_tags(self, value: Any) -> str:
        """Returns the value of the column of tags; empty without one."""
        column = self.options.tag_column
        if column is None or not isinstance(value, dict) or column not in value:
            return ""
        self.has_tag_column, tags = True, value[column]
        return " ".join(map(str, tags)) if isinstance(tags, list) else str(tags or "")

    def parse_line(self, line: int, text: str) -> Any:
        """Returns the value of a line. Raises DataError, naming the line, if it is not JSON."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            self.refuse(line, f"invalid JSON ({str(error)[:100]})")

    def find_text(self, line: int, value: Any, column: str | None, keys: tuple[str, ...], position: int) -> str:
        """Returns the text of one side: under `column` or one of `keys`; in an array, at `column` or `position`.

        Null is an empty side, as exports write untranslated text.
        """
        if isinstance(value, dict) and isinstance(value.get("translation"), dict) and column not in value:
            value = value["translation"]
        keys = keys if column is None else (column,)
        held: list[Any] = []
        if isinstance(value, dict):
            held = [value[key] for key in keys if key in value]
        elif isinstance(value, list):
            index = int(column[:9]) - 1 if column and column.isascii() and column.isdigit() else position
            held = value[index : index + 1] if index >= 0 else []
        text = "" if held and held[0] is None else next(iter(held), None)
        if isinstance(text, str):
            return text
        names = ", ".join(map(str, list(value)[:10])) if isinstance(value, dict) else ""
        self.refuse(
            line,
            f"no text under {' or '.join(map(repr, dict.fromkeys(keys)))}",
            f"name two of these with --source-column and --target-column: {names}" if names else "",
        )


# Gettext catalogues: `msgid` and `msgstr`, plurals, `#, fuzzy`; one entry at a time.
#
# polib, in contrast, reads a whole catalogue into memory. The header and obsolete entries (`#~`) are not pairs; the
# header names the language and the encoding.


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
