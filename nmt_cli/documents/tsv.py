"""Tab-separated text: the translation becomes the last column, and everything before it stays byte for byte.

There is no quoting: a field is what is between two tabs.
"""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.documents.columns import (
    count_missing_fields,
    find_column_index,
    has_header,
    name_new_column,
    refuse_short_row,
    require_column,
    split_line_end,
)
from nmt_cli.documents.document import Document, TranslationUnit, keep_verbatim


class TsvDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        require_column(self.source)
        column = None
        for number, line in enumerate(self.source.decode_lines(ends=True), start=1):
            body, end = split_line_end(line)
            fields = body.split("\t")
            if column is None:
                names = [name.removeprefix("\ufeff") for name in fields]
                column, self.width = find_column_index(self.source, names), len(fields)
                if has_header(self.source):
                    yield keep_verbatim(f"{body}\t{name_new_column(self.source, names)}{end}")
                    continue
            yield self.make_unit(number, body, end, column)

    def make_unit(self, number: int, body: str, end: str, column: int) -> TranslationUnit:
        if not body.strip():
            return keep_verbatim(body + end)
        fields = body.split("\t")
        if len(fields) <= column:
            refuse_short_row(self.source, number, len(fields), column)
        before = body + "\t" * (1 + count_missing_fields(fields, self.width, self.notes))
        return TranslationUnit((fields[column],), lambda translations: f"{before}{translations[0].text}{end}")
