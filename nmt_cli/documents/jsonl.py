"""JSON Lines: the translation becomes the last entry of each object, and everything before it stays byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nmt_cli.documents.columns import format_cell, list_added_columns, require_column, split_line_end
from nmt_cli.documents.document import Document, TranslationUnit, keep_verbatim
from nmt_cli.errors import find_nearest

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


class JsonLinesDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        key = require_column(self.source)
        for number, line in enumerate(self.source.decode_lines(ends=True), start=1):
            body, end = split_line_end(line)
            if not body.strip("\ufeff \t\r"):
                yield keep_verbatim(line)
                continue
            values = self.parse_line(number, body)
            yield self.make_unit(number, key, values, body, end)

    def make_unit(self, number: int, key: str, values: dict[str, Any], body: str, end: str) -> TranslationUnit:
        columns = list_added_columns(self.source, list(values))
        text = self.find_text(number, key, values)
        if text is None:
            return keep_verbatim(insert_entries(body, {added.name: None for added in columns}) + end)

        def write_object(translations: Sequence[Translation]) -> str:
            return insert_entries(body, {added.name: added.format(translations[0]) for added in columns}) + end

        return TranslationUnit((format_cell(text),), write_object)

    def parse_line(self, number: int, body: str) -> dict[str, Any]:
        try:
            value = json.loads(body.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            self.source.refuse(number, f"invalid JSON ({str(error)[:100]})")
        if not isinstance(value, dict):
            self.source.refuse(number, "not a JSON object", 'each line must be one: {"text": "..."}')
        return value

    def find_text(self, number: int, key: str, values: dict[str, Any]) -> str | None:
        """Returns the text to translate; None if it is null. Raises DataError for any other value."""
        if key not in values:
            nearest = find_nearest(key, values)
            names = ", ".join(list(values)[:10])
            hint = f"did you mean {nearest!r}?" if nearest else f"the keys are {names}"
            self.source.refuse(number, f"there is no key {key!r}", hint)
        text = values[key]
        if text is not None and not isinstance(text, str):
            self.source.refuse(
                number, f"{key!r} is {json.dumps(text)[:40]}, not a string", "use a string, or null for no text"
            )
        return text


def insert_entries(body: str, values: Mapping[str, str | None]) -> str:
    """Returns the object `body` with more entries at its end, spaced as `json.dumps` does."""
    before, _, after = body.rpartition("}")
    comma = "" if before.rstrip().endswith("{") else ", "
    return f"{before}{comma}{json.dumps(values, ensure_ascii=False)[1:-1]}}}{after}"
