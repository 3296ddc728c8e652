"""JSON Lines: one object or array per line.

The keys of the two texts are `--source-column` and `--target-column`, or "source" and "target" (or "src" and "tgt"), or
the codes of the two languages, known from the options or the file's name. The texts are in the object itself or in its
"translation".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.languages.file_names import guess_languages

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
            tags = self.read_tags(line, self.find_tags(value))
            yield Row(line, source, target, group=self.find_group(value), tags=tags)

    def find_group(self, value: Any) -> str:
        """Returns the value of the group column: the first of `--group-column` that is a key; empty for none."""
        if not self.options.group_columns or not isinstance(value, dict):
            return ""
        self.headings = self.headings or tuple(value)
        columns = [column for column in self.options.group_columns if column in value]
        self.group_columns = (*self.group_columns, *(column for column in columns if column not in self.group_columns))
        return next((str(value[column]) for column in columns if value[column] is not None), "")

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
