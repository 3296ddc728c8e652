"""CSV as written by spreadsheets: quoted fields, separated by `,`, `;` or a tab, possibly with a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from nmt_cli.corpus.formats.table import TableReader, TableRecord
from nmt_cli.corpus.formats.table_records import read_csv_records, take_head, take_separator

HEAD_LINES = 20  # lines from which the delimiter is inferred


class CsvReader(TableReader):
    guesses_encoding = True
    expects = "two columns, as in a spreadsheet"

    def read_records(self) -> Iterator[TableRecord]:
        lines = self.stream.read_lines()
        head = take_head(lines, HEAD_LINES)
        delimiter = take_separator(head) or find_delimiter([text for _, text in head])
        yield from read_csv_records(self, head, lines, delimiter)


def find_delimiter(head: Sequence[str]) -> str:
    """Returns the delimiter that splits the first records of a file into the same number of fields, preferably two.

    Among several such delimiters, or without any, returns the most frequent one of the first line, by default a comma.
    """

    def rate_delimiter(delimiter: str) -> tuple[bool, bool, int]:
        try:
            records = [fields for fields in csv.reader(head, delimiter=delimiter) if any(map(str.strip, fields))]
        except csv.Error:  # reported with its line when the file is read
            return False, False, head[0].count(delimiter)
        complete = records[:-1] if len(head) == HEAD_LINES else records  # the last one may continue after the head
        counts = {len(fields) for fields in complete}
        return len(counts) == 1 and counts != {1}, counts == {2}, head[0].count(delimiter)

    return max(",;\t", key=rate_delimiter) if head else ","
