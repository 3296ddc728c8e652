"""JSON Lines: one object or array per line; and the corrections that a server keeps.

    {"source": "Good morning.", "target": "Guten Morgen."}      by these keys
    {"translation": {"en": "Hello.", "de": "Hallo."}}            by the languages of the options or the file's name
    ["Thank you.", "Danke."]                                     by position

A document has one object per line; its columns are keys or paths, as here (`documents/tables.py`).
The keys of the two texts are `--source-column` and `--target-column`, or "source" and "target" (or "src" and "tgt"),
or the codes of the two languages. The texts are in the object itself or in its "translation".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, NoReturn

from nmt_cli.errors import DataError, NmtError
from nmt_cli.formats.reader import Reader, Row
from nmt_cli.languages.codes import are_same_languages, guess_languages
from nmt_cli.text.streams import MAXIMUM_LINE
from nmt_cli.text.tags import TagSet, merge_tags, parse_tag_name, reverse_tags
from nmt_cli.text.wrapping import replace_surrogates

NO_VALUE = object()
SOURCE_KEYS = ("source", "src")
TARGET_KEYS = ("target", "tgt", "trg")
TEXT_KEY = "text"  # of one language


def parse_json(line: int, text: str, refuse: Callable[[int, str], NoReturn]) -> Any:
    """Returns the value of a line. Refuses the line if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        refuse(line, f"invalid JSON ({str(error)[:100]})")


def get_entries(values: Any) -> dict[str, Any]:
    """Returns the entries of a value by key; the keys of list items are their numbers, from 0."""
    if isinstance(values, list):
        return {str(index): item for index, item in enumerate(values)}
    return values if isinstance(values, dict) else {}


def find_value(values: Any, key: str) -> Any:
    """Returns the value under a key, or at the end of a path (`translation.en`, `messages.0.content`); else `NO_VALUE`.

    In translation data sets that keep their texts in an object by language, the language alone is enough.
    """
    entries = get_entries(values)
    if key in entries:
        return entries[key]
    outer, point, inner = key.partition(".")
    value = find_value(entries[outer], inner) if point and outer in entries else NO_VALUE
    return get_entries(entries.get("translation")).get(key, NO_VALUE) if value is NO_VALUE else value


def list_text_paths(values: Any, prefix: str = "", depth: int = 8) -> Iterator[str]:
    """Yields the paths of the texts in a value, in order."""
    for key, value in get_entries(values).items():
        if isinstance(value, str):
            yield f"{prefix}{key}"
        elif depth:
            yield from list_text_paths(value, f"{prefix}{key}.", depth - 1)


class JsonLinesReader(Reader):
    has_columns = True
    expects = 'one object per line: {"source": "...", "target": "..."}'

    @property
    def has_parts(self) -> bool:
        return not self.options.other_columns  # of which it is told whether any line has them

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
            value = parse_json(line, text, self.refuse)
            source = self.find_text(line, value, options.source_column, source_keys, 0)
            target = self.find_text(line, value, options.target_column, target_keys, 1)
            tags = merge_tags(self.find_language(line, value), self.read_tags(line, self.find_tags(value)))
            yield Row(line, source, target, group=self.find_group(value), tags=tags)

    def find_group(self, value: Any) -> str:
        """Returns the value of the group column, the first of `--group-column` that is a key; empty without one."""
        if not self.options.group_columns or not isinstance(value, dict):
            return ""
        self.headings = self.headings or tuple(value)
        columns = [column for column in self.options.group_columns if column in value]
        self.group_columns = (*self.group_columns, *(column for column in columns if column not in self.group_columns))
        return next((str(value[column]) for column in columns if value[column] is not None), "")

    def find_language(self, line: int, value: Any) -> TagSet:
        """Returns the tag for the language that is named under the key `--target-language-column`."""
        column = self.options.language_column
        if column is None or not isinstance(value, dict) or column not in value:
            return ()
        self.has_language_column = True
        return self.read_language(line, str(value[column] or ""))

    def find_tags(self, value: Any) -> str:
        """Returns the value of the tag column; empty without one."""
        column = self.options.tag_column
        if column is None or not isinstance(value, dict) or column not in value:
            return ""
        self.has_tag_column, tags = True, value[column]
        return " ".join(map(str, tags)) if isinstance(tags, list) else str(tags or "")

    def find_text(self, line: int, value: Any, column: str | None, keys: tuple[str, ...], position: int) -> str:
        """Returns the text of one side: under `column` or one of `keys`; in an array, at `column` or `position`.

        Null is an empty side, since exports write untranslated text as null.
        """
        keys = keys if column is None else (column,)
        held: list[Any] = []
        if isinstance(value, dict):
            inner = value.get("translation")
            value = inner if isinstance(inner, dict) and column is None else value
            held = [text for text in (find_value(value, key) for key in keys) if text is not NO_VALUE]
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


# The corrections that a server keeps: a heading, then one pair per line, all of it JSON.
#
#     {"format": "nmt suggestions 1", "source": "eng", "target": "deu"}
#     {"source": "Hello there.", "target": "Moin zusammen."}
#     {"source": "Sit.", "target": "Setzen Sie sich.", "tags": ["formal"]}
#
# The heading says what the file is and in which languages, so no text below can say anything else: a file is recognised
# by it or not at all. A line is written whole, with its end; a last line that was cut off is none.


FORMAT = "nmt suggestions 1"
MARK = b"\xef\xbb\xbf"  # that some editors put before the heading


class SuggestedPair(NamedTuple):
    """A text and the translation that somebody suggested."""

    source: str
    target: str
    tags: TagSet = ()

    def write(self) -> bytes:
        """Returns the pair as a line of JSON."""
        tags = {"tags": list(map(str, self.tags))} if self.tags else {}
        return write_line({"source": self.source, "target": self.target, **tags})


def write_line(value: dict[str, Any]) -> bytes:
    """Returns a line of JSON, in which line ends within texts are escaped."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def write_heading(languages: tuple[str, str]) -> bytes:
    """Returns the first line of a suggestions file."""
    return write_line({"format": FORMAT, "source": languages[0], "target": languages[1]})


def parse_heading(line: bytes) -> tuple[str, str] | None:
    """Returns the languages that the first line of a file names; None if it is not a suggestions file."""
    value = parse_object(line.removeprefix(MARK))
    languages = value.get("source"), value.get("target")
    if value.get("format") != FORMAT or not all(isinstance(code, str) for code in languages):
        return None
    return str(languages[0]), str(languages[1])


def parse_object(line: bytes) -> dict[str, Any]:
    """Returns the JSON object of a line; an empty one for anything else."""
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def parse_suggestion(line: bytes) -> SuggestedPair | None:
    """Returns the suggestion in a line; None for any other line, such as a truncated one."""
    value = parse_object(line)
    source, target, tags = value.get("source"), value.get("target"), value.get("tags", [])
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(tags, list)):
        return None
    if not (source.strip() and target.strip() and all(isinstance(tag, str) for tag in tags)):
        return None
    try:
        parsed = merge_tags(map(parse_tag_name, tags))
    except NmtError:
        return None
    return SuggestedPair(replace_surrogates(source), replace_surrogates(target), parsed)


def read_suggestions(file: BinaryIO) -> Iterator[tuple[int, SuggestedPair | None]]:
    """Yields the number of each line below the heading, and its suggestion; None for a line without one.

    `file` must be at its second line. Blank lines are left out.
    """
    number = 1
    while line := file.readline(MAXIMUM_LINE):
        number += 1
        is_too_long = len(line) == MAXIMUM_LINE and not line.endswith(b"\n")
        while is_too_long and line and not line.endswith(b"\n"):
            line = file.readline(MAXIMUM_LINE)
        if is_too_long or line.strip():
            yield number, None if is_too_long else parse_suggestion(line)


class SuggestionsReader(Reader):
    expects = "corrections from an nmt server"

    def read_rows(self) -> Iterator[Row]:
        with self.stream.open() as file:
            declared = parse_heading(file.readline(MAXIMUM_LINE))
            if declared is None:
                self.refuse(1, "this version of nmt cannot read the heading of the corrections file")
            is_turned = self.is_turned(declared)
            self.languages = (declared[1], declared[0]) if is_turned else declared
            self.has_tag_column = True
            yield from self.read_pairs(file, is_turned)

    def is_turned(self, declared: tuple[str, str]) -> bool:
        """Whether the options ask for the other direction. Raises DataError if they ask for other languages."""
        asked = self.options.source_language or "", self.options.target_language or ""
        if are_same_languages(declared, asked):
            return False
        if are_same_languages((declared[1], declared[0]), asked):
            return True
        raise DataError(
            f"{self.file.name} is {' -> '.join(declared)}",
            hint="name its languages with --source-language and --target-language, or leave both out",
        )

    def read_pairs(self, file: BinaryIO, is_turned: bool) -> Iterator[Row]:
        damaged: int | None = None
        for line, suggestion in read_suggestions(file):
            if damaged is not None:
                self.refuse(damaged, "not a correction", "remove the line")
            if suggestion is None:
                damaged = line  # of the last line, a part was written
                continue
            source, target, tags = suggestion
            yield (
                Row(line, target, source, tags=reverse_tags(tags))
                if is_turned
                else Row(line, source, target, tags=tags)
            )
        if damaged is not None:
            self.add_note(f"line {damaged:,} is incomplete, and was skipped")
