"""Tab-separated text: one pair per line. There is no quoting, unless a spreadsheet has evidently quoted the cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.formats.table import SAMPLE, TableReader, TableRecord
from nmt_cli.corpus.formats.table_records import NumberedLine, is_quoted, read_csv_records, take_head, take_separator


class TsvReader(TableReader):
    guesses_encoding = True
    expects = "one sentence pair per line, separated by a tab"
    is_quoted = False  # so that a record may have several lines

    def read_records(self) -> Iterator[TableRecord]:
        lines = self.stream.read_lines()
        head = take_head(lines, SAMPLE)
        separator = take_separator(head)
        quoted = self.options.format is None and is_quoted([text for _, text in head])
        self.is_quoted = separator is not None or quoted
        if self.is_quoted:
            if quoted:
                self.add_note("the quotes that a spreadsheet put around cells were removed")
            yield from read_csv_records(self, head, lines, separator or "\t")
            return
        yield from split_cells(chain(head, lines))

    @property
    def has_parts(self) -> bool:
        return not (self.is_quoted or self.awaits_header)

    def parse_lines(self, *sides: Iterable[NumberedLine]) -> Iterator[Row]:
        return self.read_cells(split_cells(*sides))

    def refuse_short_row(self, line: int, columns: int, needed: int) -> None:
        if columns > 1 or self.has_chosen_columns:
            self.refuse_missing_column(line, columns, needed)
        self.refuse(
            line,
            "one column, but two are needed, separated by a tab",
            "join two files of sentences with --source-file and --target-file",
        )


def split_cells(lines: Iterable[NumberedLine]) -> Iterator[TableRecord]:
    """Yields the number of each line, and its cells."""
    for line, text in lines:
        yield line, text.rstrip("\r\n").split("\t")
