"""Tab-separated text: the translation becomes the last column, and everything before it stays as it is.

No quoting: what stands between two tabs is the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.documents.columns import SHORT_ROW, column_index, has_header, missing, new_name, parted, required_column
from nmt_cli.documents.document import Document, TranslationUnit, verbatim


class TsvDocument(Document):
    def units(self) -> Iterator[TranslationUnit]:
        required_column(self.source)
        column = None
        for number, line in enumerate(self.source.text_lines(ends=True), start=1):
            body, end = parted(line)
            fields = body.split("\t")
            if column is None:
                names = [name.removeprefix("\ufeff") for name in fields]
                column, self.width = column_index(self.source, names), len(fields)
                if has_header(self.source):
                    yield verbatim(f"{body}\t{new_name(self.source, names)}{end}")
                    continue
            yield self.row(number, body, end, column)

    def row(self, number: int, body: str, end: str, column: int) -> TranslationUnit:
        if not body.strip():
            return verbatim(body + end)
        fields = body.split("\t")
        if len(fields) <= column:
            self.source.refuse(number, f"{len(fields)} columns; column {column + 1} is to be translated", SHORT_ROW)
        before = body + "\t" * (1 + missing(fields, self.width, self.notes))
        return TranslationUnit((fields[column],), lambda translations: f"{before}{translations[0].text}{end}")
