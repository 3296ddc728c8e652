"""CSV as spreadsheets write it: quoted fields, separated by `,`, `;` or a tab, perhaps with a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from nmt_cli.corpus.config import guess_languages
from nmt_cli.corpus.formats.reader import Reader, Row, find_columns
from nmt_cli.text.columns import is_name

HEAD_LINES = 20  # lines from which the delimiter is inferred
# The first line is a header if its two columns have these names, or are the codes of the two languages.
HEADINGS = frozenset(
    "source target src trg tgt input output text translation original sentence english german deutsch french spanish "
    "source_text target_text source_sentence target_sentence source_language target_language".split()
)


class CsvReader(Reader):
    expects = "two columns, as in a spreadsheet"

    def read_rows(self) -> Iterator[Row]:
        options, source, target = self.options, 0, 1
        for number, (line, fields) in enumerate(self.read_records()):
            if number == 0:
                header = fields if self.has_header(fields) else None
                source, target = find_columns(options, header, self.file.name)
                if header:
                    continue
            if len(fields) > max(source, target):
                more = len(fields) > 2 and options.source_column is None and options.target_column is None
                yield Row(line, fields[source], fields[target], more)
            elif any(map(str.strip, fields)):
                self.refuse_missing_column(line, len(fields), max(source, target) + 1)
            else:
                yield Row(line, "", "")

    def read_records(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the line on which each record begins, and its fields; `csv.field_size_limit()` limits their length."""
        lines = (text for _, text in self.stream.read_lines())
        head = list(islice(lines, HEAD_LINES))
        records = csv.reader(chain(head, lines), delimiter=find_delimiter(head))
        while True:
            line = records.line_num + 1
            try:
                yield line, next(records)
            except StopIteration:
                return
            except csv.Error as error:
                self.refuse(line, f"{error}", "perhaps a quote that opens here is never closed")

    def has_header(self, fields: list[str]) -> bool:
        """Whether the first record names the columns: a column is given by name, or the names are known."""
        options = self.options
        if is_name(options.source_column) or is_name(options.target_column):
            return True
        languages = (options.source_language, options.target_language, *guess_languages(self.file.files[0].name))
        known = HEADINGS | {str(language).lower() for language in languages}
        columns = find_columns(options, None, self.file.name)
        return len(fields) > max(columns) and all(fields[column].strip().lower() in known for column in columns)


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
