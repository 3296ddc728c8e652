"""The suggestions that a server keeps: a heading, then one pair per line, all of it JSON.

    {"format": "nmt suggestions 1", "source": "eng", "target": "deu"}
    {"source": "Hello there.", "target": "Moin zusammen."}
    {"source": "Sit.", "target": "Setzen Sie sich.", "tags": ["formal"]}

The heading says what the file is and in which languages, so no text below can say anything else: a file is recognised
by it or not at all. A line is written whole, with its end; a last line that was cut off is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.errors import DataError, NmtError
from nmt_cli.languages.codes import are_same_languages
from nmt_cli.text.streams import MAXIMUM_LINE
from nmt_cli.text.tags import TagSet, merge_tags, parse_tag_name, reverse_tags
from nmt_cli.text.wrapping import replace_surrogates

FORMAT = "nmt suggestions 1"
MARK = b"\xef\xbb\xbf"  # that some editors put before the heading


class SuggestedPair(NamedTuple):
    """A text and its translation, as somebody suggested it."""

    source: str
    target: str
    tags: TagSet = ()

    def write(self) -> bytes:
        """Returns its line."""
        tags = {"tags": list(map(str, self.tags))} if self.tags else {}
        return write_line({"source": self.source, "target": self.target, **tags})


def write_line(value: dict[str, Any]) -> bytes:
    """Returns a line of JSON; every line end within a text is escaped in it."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def write_heading(languages: tuple[str, str]) -> bytes:
    """Returns the first line of a file of suggestions."""
    return write_line({"format": FORMAT, "source": languages[0], "target": languages[1]})


def parse_heading(line: bytes) -> tuple[str, str] | None:
    """Returns the languages that the first line of a file names; None if it is no file of suggestions."""
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
    """Returns the suggestion of a line; None for a line that is none, such as one that was cut off."""
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
    """Yields the number of each line below the heading, and its suggestion; None for a line that is none.

    `file` stands at its second line. Blank lines are left out.
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
    expects = "the suggestions that a server of nmt keeps"

    def read_rows(self) -> Iterator[Row]:
        with self.stream.open() as file:
            declared = parse_heading(file.readline(MAXIMUM_LINE))
            if declared is None:
                self.refuse(1, "no heading of suggestions that this version of nmt reads")
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
                self.refuse(damaged, "no suggestion", "take the line out")
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
            self.add_note(f"line {damaged:,} was cut off, and is left out")
