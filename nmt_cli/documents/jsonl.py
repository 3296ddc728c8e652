"""JSON Lines: the translation becomes the last entry of each object, and everything before it stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from nmt_cli.documents.columns import format_cell, name_new_column, require_column, split_line_end
from nmt_cli.documents.document import Document, TranslationUnit, keep_verbatim
from nmt_cli.errors import find_nearest


class JsonLinesDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        key = require_column(self.source)
        for number, line in enumerate(self.source.decode_lines(ends=True), start=1):
            body, end = split_line_end(line)
            if not body.strip("\ufeff \t\r"):
                yield keep_verbatim(line)
                continue
            value = self.parse_line(number, body)
            yield self.make_unit(number, key, value, body, end)

    def make_unit(self, number: int, key: str, value: dict[str, Any], body: str, end: str) -> TranslationUnit:
        new_key = name_new_column(self.source, list(value))
        text = self.find_text(number, key, value)
        if text is None:
            return keep_verbatim(insert_entry(body, new_key, None) + end)
        return TranslationUnit(
            (format_cell(text),), lambda translations: insert_entry(body, new_key, translations[0].text) + end
        )

    def parse_line(self, number: int, body: str) -> dict[str, Any]:
        try:
            value = json.loads(body.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            self.source.refuse(number, f"no JSON ({str(error)[:100]})")
        if not isinstance(value, dict):
            self.source.refuse(number, "no JSON object", 'each line should hold one: {"text": "..."}')
        return value

    def find_text(self, number: int, key: str, value: dict[str, Any]) -> str | None:
        """The text to translate; None where the object says that there is none."""
        if key not in value:
            like = find_nearest(key, value)
            names = ", ".join(list(value)[:10])
            hint = f"did you mean {like!r}?" if like else f"the keys are {names}"
            self.source.refuse(number, f"there is no {key!r}", hint)
        text = value[key]
        if text is not None and not isinstance(text, str):
            self.source.refuse(
                number, f"{key!r} is {json.dumps(text)[:40]}, which is no text", "texts are in quotes; null is none"
            )
        return text


def insert_entry(body: str, key: str, text: str | None) -> str:
    """The object `body` with one more entry at its end, spaced as `json.dumps` does."""
    before, _, after = body.rpartition("}")
    comma = "" if before.rstrip().endswith("{") else ", "
    return f"{before}{comma}{json.dumps(key, ensure_ascii=False)}: {json.dumps(text, ensure_ascii=False)}}}{after}"
