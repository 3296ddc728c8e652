"""Tab-separated text: the translation becomes the last column; everything before it is kept byte for byte.

There is no quoting: a field is the text between two tabs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.columns import (
    count_missing_fields,
    find_column_index,
    has_header,
    list_added_columns,
    refuse_short_row,
    require_column,
    split_line_end,
)
from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


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
                self.added = list_added_columns(self.source, names if has_header(self.source) else [])
                if has_header(self.source):
                    yield make_verbatim_unit("\t".join([body, *(added.name for added in self.added)]) + end)
                    continue
            yield self.make_unit(number, body, end, column)

    def make_unit(self, number: int, body: str, end: str, column: int) -> TranslationUnit:
        if not body.strip():
            return make_verbatim_unit(body + end)
        fields = body.split("\t")
        if len(fields) <= column:
            refuse_short_row(self.source, number, len(fields), column)
        before = body + "\t" * (1 + count_missing_fields(fields, self.width, self.notes))

        def write_row(translations: Sequence[Translation]) -> str:
            return before + "\t".join(added.format(translations[0]) for added in self.added) + end

        return TranslationUnit((fields[column],), write_row)
