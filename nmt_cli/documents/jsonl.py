"""JSON Lines: the translation becomes the last entry of each object; everything before it is kept byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from nmt_cli.documents.columns import AddedColumn, format_cell, list_added_columns, require_column, split_line_end
from nmt_cli.documents.document import Content, Document, TranslationUnit, make_verbatim_unit
from nmt_cli.errors import find_nearest

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


MISSING = "objects without the key, left as they are"
NO_VALUE = object()
LISTED_PATHS = 10
COLON = re.compile(r"\s*:\s*")


class JsonLinesDocument(Document):
    holds_back = False
    is_exact = True

    def read_units(self) -> Iterator[TranslationUnit]:
        key = require_column(self.source)
        first_missing: tuple[int, dict[str, Any]] | None = None
        has_key = False
        for number, line in enumerate(self.source.decode_lines(ends=True), start=1):
            body, end = split_line_end(line)
            if not body.strip("\ufeff \t\r"):
                yield make_verbatim_unit(line)
                continue
            values = self.parse_line(number, body)
            columns = list_added_columns(self.source, list(values))
            filled = self.source.config.new_column
            if filled in values and values[filled] and not self.source.config.retranslate:
                has_key = True
                yield make_verbatim_unit(insert_entries(body, {added.name: None for added in columns}) + end)
                continue
            value = find_value(values, key)
            if value is NO_VALUE:
                first_missing = first_missing or (number, values)
                self.notes[MISSING] += 1
                yield make_verbatim_unit(line)
                continue
            has_key = True
            yield self.make_unit(columns, self.check_text(number, key, value, values), body, end)
        if first_missing is not None and not has_key:
            self.refuse_key(*first_missing, key)

    def make_unit(self, columns: Sequence[AddedColumn], text: str | None, body: str, end: str) -> TranslationUnit:
        if text is None:
            return make_verbatim_unit(insert_entries(body, {added.name: None for added in columns}) + end)

        def write_object(translations: Sequence[Translation]) -> str:
            texts = {added.name: added.format(translations[0]) for added in columns}
            return insert_entries(replace_entry(body, self.source.config.new_column, translations[0].text), texts) + end

        content = self.hold(json.loads(body.removeprefix("\ufeff")), text)
        return TranslationUnit((format_cell(text),), write_object, raw=body + end, content=content)

    def hold(self, values: dict[str, Any], text: str) -> Content:
        """Returns a text, and all values of an object beside its translation."""
        added = {column.name for column in list_added_columns(self.source, [])} | {self.source.config.new_column}
        return Content((text,), json.dumps({key: value for key, value in values.items() if key not in added}))

    def reopen(self, data: bytes) -> Iterator[TranslationUnit]:
        values = self.parse_line(1, split_line_end(data.decode("utf-8"))[0])
        text = values.get(list_added_columns(self.source, [])[0].name)
        yield TranslationUnit((), lambda _: data, raw=data, content=self.hold(values, format_cell(text or "")))

    def parse_line(self, number: int, body: str) -> dict[str, Any]:
        try:
            value = json.loads(body.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            self.source.refuse(number, f"invalid JSON ({str(error)[:100]})")
        if not isinstance(value, dict):
            self.source.refuse(number, "not a JSON object", 'each line must be one: {"text": "..."}')
        return value

    def refuse_key(self, number: int, values: dict[str, Any], key: str) -> NoReturn:
        """Raises DataError for a key missing from the object."""
        paths = list(islice(list_text_paths(values), LISTED_PATHS))
        nearest = find_nearest(key, paths)
        hint = f"did you mean {nearest!r}?" if nearest else f"its texts are {', '.join(paths)}"
        self.source.refuse(number, f"there is no key {key!r}, here or in any other object", hint)

    def check_text(self, number: int, key: str, value: Any, values: dict[str, Any]) -> str | None:
        """Returns the text to translate; None if it is null. Raises DataError for any other value."""
        if value is None or isinstance(value, str):
            return value
        paths = list(islice(list_text_paths(values), LISTED_PATHS))
        inside = next((path for path in paths if path.startswith(f"{key}.")), None)
        hint = f"name a text in it, such as {inside!r}" if inside else "use a string, or null for no text"
        self.source.refuse(number, f"{key!r} is {json.dumps(value)[:40]}, not a string", hint)


def get_entries(values: Any) -> dict[str, Any]:
    """Returns the values inside a value by their keys; the items of a list have numbers from 0."""
    if isinstance(values, list):
        return {str(index): item for index, item in enumerate(values)}
    return values if isinstance(values, dict) else {}


def find_value(values: Any, key: str) -> Any:
    """Returns the value under a key, or at the end of a path (`translation.en`, `messages.0.content`); else `NO_VALUE`.

    Data sets for translation have their texts inside an object, by language: then the language is enough.
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


def replace_entry(body: str, key: str | None, text: str) -> str:
    """Returns the object `body` with another value under a key, if it has it; all else keeps its spelling."""
    decoder, position = json.JSONDecoder(), body.index("{") + 1
    while (quote := body.find('"', position)) >= 0:
        name, after = decoder.raw_decode(body, quote)
        start = after + len(COLON.match(body[after:])[0])  # type: ignore[index]
        _, position = decoder.raw_decode(body, start)
        if name == key:
            return body[:start] + json.dumps(format_cell(text), ensure_ascii=False) + body[position:]
    return body


def insert_entries(body: str, values: Mapping[str, str | None]) -> str:
    """Appends entries to the object `body`, spaced as by `json.dumps`."""
    if not values:
        return body
    before, _, after = body.rpartition("}")
    comma = "" if before.rstrip().endswith("{") else ", "
    return f"{before}{comma}{json.dumps(values, ensure_ascii=False)[1:-1]}}}{after}"
