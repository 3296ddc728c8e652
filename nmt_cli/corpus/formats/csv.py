"""Comma-separated text with quotes, as spreadsheets write it: `,`, `;` or a tab between fields; perhaps a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from nmt_cli.corpus.formats.reader import Reader, Row, column_number, is_name

# What the first line's first two fields are called when it is a header, beside the codes of the two languages.
HEADINGS = frozenset(
    "source target src trg tgt input output text translation original sentence english german deutsch french spanish "
    "source_text target_text source_sentence target_sentence source_language target_language".split()
)


class CsvReader(Reader):
    expects = "two columns, as spreadsheets write them"

    def rows(self) -> Iterator[Row]:
        options, source, target = self.options, 0, 1
        for number, (line, fields) in enumerate(self.records()):
            if number == 0:
                header = fields if self.has_header(fields) else None
                source = column_number(options.source_column, header, 0, self.given.name)
                target = column_number(options.target_column, header, 1, self.given.name)
                if header:
                    continue
            if len(fields) > max(source, target):
                more = len(fields) > 2 and options.source_column is None and options.target_column is None
                yield Row(line, fields[source], fields[target], more)
            elif any(map(str.strip, fields)):
                self.refuse(line, f"{len(fields)} columns; column {max(source, target) + 1} is needed")
            else:
                yield Row(line, "", "")

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The line on which each record begins, and its fields. A field has at most `csv.field_size_limit()`."""
        lines = (text for _, text in self.stream.lines())
        first = next(lines, "")
        records = csv.reader(self.joined(first, lines), delimiter=delimiter_of(first))
        while True:
            line = records.line_num + 1
            try:
                yield line, next(records)
            except StopIteration:
                return
            except csv.Error as error:
                self.refuse(line, f"{error}", "a quote that is opened here is perhaps never closed")

    @staticmethod
    def joined(first: str, lines: Iterator[str]) -> Iterator[str]:
        if first:
            yield first
        yield from lines

    def has_header(self, fields: list[str]) -> bool:
        """Whether the first record names the columns: if one was asked for by name, or the names are known ones."""
        options = self.options
        if is_name(options.source_column) or is_name(options.target_column):
            return True
        known = HEADINGS | {str(options.source_language).lower(), str(options.target_language).lower()}
        return len(fields) > 1 and all(field.strip().lower() in known for field in fields[:2])


def delimiter_of(line: str) -> str:
    """What stands most often between the fields of the first line; a comma if nothing does."""
    return max(",;\t", key=line.count)
