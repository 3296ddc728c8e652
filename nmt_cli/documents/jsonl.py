"""JSON Lines: the translation becomes the last entry of each object; everything before it is kept byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from nmt_cli.documents.columns import AddedColumn, format_cell, list_added_columns, require_column, split_line_end
from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit
from nmt_cli.errors import find_nearest

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


MISSING = "objects without the key, left as they are"


class JsonLinesDocument(Document):
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
            holder = find_holder(values, key)
            if holder is None:
                first_missing = first_missing or (number, values)
                self.notes[MISSING] += 1
                yield make_verbatim_unit(line)
                continue
            has_key = True
            yield self.make_unit(columns, self.check_text(number, key, holder), body, end)
        if first_missing is not None and not has_key:
            self.refuse_key(*first_missing, key)

    def make_unit(self, columns: Sequence[AddedColumn], text: str | None, body: str, end: str) -> TranslationUnit:
        if text is None:
            return make_verbatim_unit(insert_entries(body, {added.name: None for added in columns}) + end)

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

    def refuse_key(self, number: int, values: dict[str, Any], key: str) -> NoReturn:
        """Raises DataError for a key missing from the object."""
        nearest = find_nearest(key, values)
        names = ", ".join(list(values)[:10])
        hint = f"did you mean {nearest!r}?" if nearest else f"the keys are {names}; one inside another is a.b"
        self.source.refuse(number, f"there is no key {key!r}, here or in any other object", hint)

    def check_text(self, number: int, key: str, values: dict[str, Any]) -> str | None:
        """Returns the text to translate; None if it is null. Raises DataError for any other value."""
        text = values[find_last_key(values, key)]
        if text is not None and not isinstance(text, str):
            self.source.refuse(
                number, f"{key!r} is {json.dumps(text)[:40]}, not a string", "use a string, or null for no text"
            )
        return text


def find_holder(values: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Returns the object with the key: this one, the one at a path (`translation.en`), or the only nested one.

    Translation data sets often nest their texts in an object by language, so that the language suffices.
    """
    if key in values:
        return values
    outer, point, inner = key.partition(".")
    if point and isinstance(values.get(outer), dict):
        return find_holder(values[outer], inner)
    inside = values.get("translation")
    return inside if isinstance(inside, dict) and key in inside else None


def find_last_key(values: dict[str, Any], key: str) -> str:
    """Returns the name of a key within the object that holds it."""
    while key not in values:
        key = key.partition(".")[2]
    return key


def insert_entries(body: str, values: Mapping[str, str | None]) -> str:
    """Appends entries to the object `body`, spaced as by `json.dumps`."""
    before, _, after = body.rpartition("}")
    comma = "" if before.rstrip().endswith("{") else ", "
    return f"{before}{comma}{json.dumps(values, ensure_ascii=False)[1:-1]}}}{after}"
