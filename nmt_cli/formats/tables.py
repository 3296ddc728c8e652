"""Tables of text: TSV and CSV, whose cells may be quoted; two columns hold the pairs.

    "a; b";c        TableRow(number=1, raw='"a; b";c', fields=["a; b", "c"])

    "He came, he saw."\tIta.        of TSV, if a spreadsheet has evidently quoted it: fields "He came, he saw.", "Ita."
    "Come," he said.\tDixit.        a sentence's own quotes stay

Documents take the same rows, and write them back as they are spelled (`documents/tables.py`): there, a quote must be
closed at the end of its cell, while pairs are read as leniently as in spreadsheets.
"""

from __future__ import annotations

import csv
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, islice
from shlex import quote
from typing import NamedTuple, NoReturn, TypeVar

from nmt_cli.formats.reader import Reader, Row
from nmt_cli.formats.sniffing import SEPARATOR
from nmt_cli.formats.table_columns import Layout, count_filled, count_titles, find_layout, find_single_column
from nmt_cli.languages.codes import guess_languages, is_same_language
from nmt_cli.text.tags import merge_tags
from nmt_cli.text.wrapping import shorten_text

# Shared by all tables: rows of cells, two columns of which are the pairs.
#
# The columns and the header are found in the first records (`table_columns.py`).


LONGEST_HEADER = 60  # characters that a note shows
SAMPLE = 500  # records by whose content columns are chosen

LineT = TypeVar("LineT", bound=Sequence[str])  # of a line, or of its cells
TableRecord = tuple[int, Sequence[str]]  # its number among the rows, and its cells
OPEN_QUOTE = "perhaps a quote that begins here is never closed"


class TableRow(NamedTuple):
    """A row of text: its spelling in the file, and its fields."""

    number: int  # among the rows of the file, from 1, as a spreadsheet shows it
    raw: str  # all its lines with their ends
    fields: list[str]


class TableReader(Reader):
    """The base class of table readers: a subclass yields the records."""

    has_columns = True
    layout = Layout(0, 1)  # found when reading begins
    awaits_header = True

    @abstractmethod
    def read_records(self) -> Iterator[TableRecord]:
        """Yields the records in order."""

    def read_rows(self) -> Iterator[Row]:
        records = self.read_records()
        if self.options.has_comments:
            records = ((line, [] if "".join(cells[:1]).startswith("#") else cells) for line, cells in records)
        sample = take_head(records, SAMPLE)
        titles = sample[: count_titles([cells for _, cells in sample], self.options)]
        del sample[: len(titles)]
        self.layout = self.choose_layout([cells for _, cells in sample])
        self.awaits_header = False
        if not self.layout.has_header:  # they are sentences without a translation
            yield from self.read_cells(titles)
        elif rows := [str(number) for number, cells in titles if any(map(str.strip, cells))]:
            self.add_note(f"left out as a title above the header: row{'s' * (len(rows) > 1)} {', '.join(rows)}")
        if self.layout.has_header and not self.options.one_side:
            self.add_note(
                f"left out as a header: {shorten_text(', '.join(filter(None, self.headings)), LONGEST_HEADER)}"
            )
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
                places = layout.group, layout.tags, layout.language
                group, tags, language = (read_cell(cells, column) for column in places)
                has_more = may_be_more and len(cells) > max(2, len(layout.headings), *layout.known)
                texts = cells[layout.source], cells[layout.target]
                tag = self.read_language(line, language) if language else ()
                all_tags = merge_tags(tag, self.read_tags(line, tags))
                yield Row(line, *texts, has_more, group=group, tags=all_tags)

    @property
    def has_chosen_columns(self) -> bool:
        return self.options.source_column is not None or self.options.target_column is not None

    def choose_layout(self, records: Sequence[Sequence[str]]) -> Layout:
        """Returns the layout of the table; languages named in its header become those of the file."""
        options = self.options
        if options.one_side and max(map(count_filled, records), default=0) == 1:
            return find_single_column(records)
        by_name = guess_languages(self.file.files[0].name)
        languages = [code for code in (*options.languages, *by_name) if code]
        layout = find_layout(records, options, self.file.name, languages)
        self.languages, self.headings, self.group_columns = layout.languages, layout.headings, tuple(layout.groups)
        self.language_names = layout.names
        is_free = not (any(options.languages) or self.has_chosen_columns)
        if is_free and self.usual and self.sides and all(map(is_same_language, self.sides, reversed(self.usual))):
            self.options = replace(options, source_language=self.usual[0], target_language=self.usual[1])
            return self.choose_layout(records)
        self.has_tag_column, self.has_language_column = layout.tags is not None, layout.language is not None
        if layout.language is not None and options.finds_languages:
            self.add_note(
                f"column {layout.language + 1} names the language of each target; if it does not: "
                "--target-language-column none"
            )
        if layout.note:
            self.add_note(layout.note)
        return layout

    def refuse_short_row(self, line: int, columns: int, needed: int) -> None:
        self.refuse_missing_column(line, columns, needed)


def read_cell(cells: Sequence[str], column: int | None) -> str:
    """Returns the content of a cell; empty without a `column`, and in a row that ends before it."""
    return cells[column].strip() if column is not None and column < len(cells) else ""


# Records of text whose cells may be quoted, as written by spreadsheets. Does not depend on columns.


NumberedLine = tuple[int, str]

HEAD_SIZE = 1 << 22  # in characters
QUOTED_FOR = ('"', "\t", "\n", "\r")
ALL_QUOTED = ("",)  # which every text holds
QUOTED_CELL = re.compile(r'(?:^|(?<=\t)|(?<=\n))"((?:[^"]|"")*)"(?=[\t\r\n]|$)')


def take_head(lines: Iterator[tuple[int, LineT]], count: int) -> list[tuple[int, LineT]]:
    """Consumes the first `count` lines or records, or fewer if they are long."""
    head: list[tuple[int, LineT]] = []
    size = 0
    for line in islice(lines, count):
        head.append(line)
        size += len("".join(line[1]))
        if size > HEAD_SIZE:
            break
    return head


def take_separator(head: list[NumberedLine]) -> str | None:
    """Removes a line `sep=;` from the beginning and returns its delimiter; None if there is no such line."""
    match = SEPARATOR.fullmatch(head[0][1].removeprefix("\ufeff")) if head else None
    if match is None:
        return None
    del head[0]
    return match[1]


def read_csv_records(
    lines: Iterable[NumberedLine], delimiter: str, refuse: Callable[[int, str, str], NoReturn], *, strict: bool = False
) -> Iterator[TableRow]:
    """Yields the rows; `csv.field_size_limit()` limits the length of a field.

    `strict` refuses text after a closed quote, which could not be written back.
    """
    consumed: list[NumberedLine] = []

    def note_lines() -> Iterator[str]:
        for numbered in lines:
            consumed.append(numbered)
            yield numbered[1].removeprefix("\ufeff")

    records = csv.reader(note_lines(), delimiter=delimiter, strict=strict)
    for number in count(1):
        try:
            fields = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            returns = "new-line character" in str(error)  # which a carriage return alone is to the reader
            hint = "lines end in carriage returns only; convert them: tr '\\r' '\\n'" if returns else OPEN_QUOTE
            refuse(number, str(error), hint)
        yield TableRow(number, "".join([text for _, text in consumed]), fields)
        consumed.clear()


def find_quoting(head: Sequence[str]) -> Sequence[str] | None:
    """Returns the signs that made a spreadsheet quote cells of tab-separated lines; None if it quoted none.

    A cell is quoted if it has a quote, a tab, a line break or, in Excel, a comma; some programs quote all cells. In
    running text, quoted sentences occur next to unquoted ones with commas or inner quotes, which a spreadsheet would
    have quoted. A cell with a tab or a line break makes lines differ in their number of tabs.
    """
    text = "".join(head)
    try:
        has_cells = any(csv.reader(head, delimiter="\t", strict=True))
    except csv.Error:
        return None
    if text.count('"') < 2 or not has_cells:
        return None
    bare = [cell for line in QUOTED_CELL.sub("\t\t", text).splitlines() for cell in line.split("\t") if cell]
    quoted = [match[1].replace('""', '"') for match in QUOTED_CELL.finditer(text)]
    if not quoted or any('"' in cell for cell in bare):
        return None
    if len({line.count("\t") for line in head}) == 1 and re.search(r"[\t\n]", "".join(quoted)):
        return None
    if not bare:
        return ALL_QUOTED
    marks = QUOTED_FOR if any("," in cell for cell in bare) else (*QUOTED_FOR, ",")
    return marks if all(any(mark in cell for mark in marks) for cell in quoted) else None


# CSV as written by spreadsheets: quoted fields, separated by `,`, `;` or a tab, possibly with a header.


HEAD_LINES = 20  # lines from which the delimiter is inferred


class CsvReader(TableReader):
    guesses_encoding = True
    expects = "two columns, as in a spreadsheet"

    def read_records(self) -> Iterator[TableRecord]:
        lines = self.stream.read_lines()
        head = take_head(lines, HEAD_LINES)
        delimiter = take_separator(head) or find_delimiter(
            [text for _, text in head if not (self.options.has_comments and text.startswith("#"))]
        )
        yield from ((row.number, row.fields) for row in read_csv_records(chain(head, lines), delimiter, self.refuse))


def find_delimiter(head: Sequence[str]) -> str:
    """Returns the delimiter that splits the first records of a file into the same number of fields, preferably two.

    If several delimiters do, or none does, returns the one that occurs most often in the first record, by default a
    comma. If there is only one line, as from a pipe that waits for its translation, only this count decides.
    """

    def rate_delimiter(delimiter: str) -> tuple[bool, bool, int]:
        lines = (line.removeprefix("\ufeff") for line in head)
        try:
            records = [fields for fields in csv.reader(lines, delimiter=delimiter) if any(map(str.strip, fields))]
        except csv.Error:  # reported with its line when the file is read
            return False, False, 0
        complete = records[:-1] if len(head) == HEAD_LINES else records  # the last one may continue after the head
        counts = {len(fields) for fields in complete}
        is_alike = len(counts) == 1 and counts != {1}
        return is_alike, len(head) > 1 and counts == {2}, max(map(len, records[:1]), default=0)

    return max(",;\t", key=rate_delimiter) if head else ","


# Tab-separated text: one pair per line. There is no quoting, unless a spreadsheet has evidently quoted the cells. Word
# aligners (fast_align) separate both sides by bars instead: `a house ||| ein Haus`.


BARS = "|||"


class TsvReader(TableReader):
    guesses_encoding = True
    expects = "one sentence pair per line, separated by a tab"
    is_quoted = False  # so that a record may have several lines
    separator = "\t"

    def read_records(self) -> Iterator[TableRecord]:
        lines = self.stream.read_lines()
        head = take_head(lines, SAMPLE)
        separator = take_separator(head)
        texts = [text for _, text in head]
        quoted = self.options.format is None and find_quoting(texts) is not None
        self.is_quoted = separator is not None or quoted
        if self.is_quoted:
            if quoted:
                self.add_note("the quotes that a spreadsheet put around cells were removed")
            rows = read_csv_records(chain(head, lines), separator or "\t", self.refuse)
            yield from ((row.number, row.fields) for row in rows)
            return
        self.separator = find_bars(texts)
        yield from split_cells(chain(head, lines), self.separator)

    @property
    def has_parts(self) -> bool:
        return not (self.is_quoted or self.awaits_header or self.separator == BARS)

    def parse_lines(self, *sides: Iterable[NumberedLine]) -> Iterator[Row]:
        (lines,) = sides
        return self.read_cells(split_cells(lines, self.separator))

    def refuse_short_row(self, line: int, columns: int, needed: int) -> None:
        if columns > 1 or self.has_chosen_columns:
            self.refuse_missing_column(line, columns, needed)
        first = quote(self.file.name) if self.file.is_file else "SENTENCES"
        hint = f"give two files of sentences, separated by a comma: nmt prepare {first},TRANSLATIONS"
        hint = hint if line == 1 else "add the translation, or remove the line"
        self.refuse(line, "one column, but a pair needs two, separated by a tab", hint)


def find_bars(head: Sequence[str]) -> str:
    """Returns the separator of cells: bars if every line except blank ones has bars and none has a tab; else a tab."""
    filled = [text for text in head if text.strip()]
    has_bars = bool(filled) and all(f" {BARS} " in text and "\t" not in text for text in filled)
    return BARS if has_bars else "\t"


def split_cells(lines: Iterable[NumberedLine], separator: str = "\t") -> Iterator[TableRecord]:
    """Yields the number of each line, and its cells."""
    for line, text in lines:
        cells = split_line(text, separator)
        yield line, cells if separator == "\t" else [cell.strip() for cell in cells]


def split_line(text: str, separator: str = "\t") -> list[str]:
    """Returns the cells of a line of text, by default tab-separated."""
    return text.rstrip("\r\n").split(separator)
