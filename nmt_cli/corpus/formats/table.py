"""Shared by all tables: rows of cells, two columns of which are the pairs.

The columns and the header are found in the first records (`table_columns.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.corpus.formats.table_columns import Layout, count_filled, find_layout, find_single_column
from nmt_cli.languages.file_names import guess_languages

SAMPLE = 500  # records by whose content columns are chosen
SAMPLE_SIZE = 1 << 22  # characters

TableRecord = tuple[int, Sequence[str]]  # the line on which it begins, and its cells


class TableReader(Reader):
    """The base of readers of tables: a subclass yields the records."""

    has_columns = True
    layout = Layout(0, 1)  # found when reading begins
    awaits_header = True

    @abstractmethod
    def read_records(self) -> Iterator[TableRecord]:
        """Yields the records in order."""

    def read_rows(self) -> Iterator[Row]:
        records = self.read_records()
        sample = take_sample(records)
        self.layout = self.choose_layout([cells for _, cells in sample])
        self.awaits_header = self.layout.has_header
        yield from self.read_cells(chain(sample, records))

    def read_cells(self, records: Iterable[TableRecord]) -> Iterator[Row]:
        """Yields the rows of records, except the header if it is still to come."""
        layout = self.layout
        needed = 1 + max(layout.source, layout.target)
        may_be_more = (layout.source, layout.target) == (0, 1) and not self.has_chosen_columns
        for line, cells in records:
            if len(cells) < needed or not any(map(str.strip, cells)):
                if any(map(str.strip, cells)):
                    self.refuse_short_row(line, len(cells), needed)
                yield Row(line, "", "")
            elif self.awaits_header:
                self.awaits_header = False
            else:
                group, tags = (read_cell(cells, column) for column in (layout.group, layout.tags))
                has_more = may_be_more and len(cells) > max(2, len(layout.headings))
                texts = cells[layout.source], cells[layout.target]
                yield Row(line, *texts, has_more, group=group, tags=self.read_tags(line, tags))

    @property
    def has_chosen_columns(self) -> bool:
        return self.options.source_column is not None or self.options.target_column is not None

    def choose_layout(self, records: Sequence[Sequence[str]]) -> Layout:
        """Returns the layout of the table; languages named in its header become those of the file."""
        options = self.options
        if options.one_side and max(map(count_filled, records), default=0) == 1:
            return find_single_column(records)
        by_name = guess_languages(self.file.files[0].name)
        languages = [code for code in (options.source_language, options.target_language, *by_name) if code]
        layout = find_layout(records, options, self.file.name, languages)
        self.languages, self.headings, self.group_columns = layout.languages, layout.headings, tuple(layout.groups)
        self.has_tag_column = layout.tags is not None
        if layout.note:
            self.add_note(layout.note)
        return layout

    def refuse_short_row(self, line: int, columns: int, needed: int) -> None:
        self.refuse_missing_column(line, columns, needed)


def read_cell(cells: Sequence[str], column: int | None) -> str:
    """Returns the content of a cell; empty without a `column`, and in a row that ends before it."""
    return cells[column].strip() if column is not None and column < len(cells) else ""


def take_sample(records: Iterator[TableRecord]) -> list[TableRecord]:
    """Consumes the first records: SAMPLE of them, or fewer if they are long."""
    sample: list[TableRecord] = []
    size = 0
    for record in records:
        sample.append(record)
        size += sum(map(len, record[1]))
        if len(sample) == SAMPLE or size > SAMPLE_SIZE:
            break
    return sample
