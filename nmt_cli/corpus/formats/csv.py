"""Comma-separated text with quotes, as spreadsheets write it: `,`, `;` or a tab between fields; perhaps a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from nmt_cli.corpus.config import guess_languages
from nmt_cli.corpus.formats.reader import Reader, Row, column_numbers
from nmt_cli.text.columns import is_name

HEAD = 20  # lines by which the delimiter is told
# What the first line's first two fields are called when it is a header, beside the codes of the two languages.
HEADINGS = frozenset(
    "source target src trg tgt input output text translation original sentence english german deutsch french spanish "
    "source_text target_text source_sentence target_sentence source_language target_language".split()
)


class CsvReader(Reader):
    expects = "two columns, as spreadsheets write them"

    def read_rows(self) -> Iterator[Row]:
        options, source, target = self.options, 0, 1
        for number, (line, fields) in enumerate(self.read_records()):
            if number == 0:
                header = fields if self.has_header(fields) else None
                source, target = column_numbers(options, header, self.given.name)
                if header:
                    continue
            if len(fields) > max(source, target):
                more = len(fields) > 2 and options.source_column is None and options.target_column is None
                yield Row(line, fields[source], fields[target], more)
            elif any(map(str.strip, fields)):
                self.refuse(line, f"{len(fields)} columns; column {max(source, target) + 1} is needed")
            else:
                yield Row(line, "", "")

    def read_records(self) -> Iterator[tuple[int, list[str]]]:
        """The line on which each record begins, and its fields. A field has at most `csv.field_size_limit()`."""
        lines = (text for _, text in self.stream.read_lines())
        head = list(islice(lines, HEAD))
        records = csv.reader(chain(head, lines), delimiter=find_delimiter(head))
        while True:
            line = records.line_num + 1
            try:
                yield line, next(records)
            except StopIteration:
                return
            except csv.Error as error:
                self.refuse(line, f"{error}", "a quote that is opened here is perhaps never closed")

    def has_header(self, fields: list[str]) -> bool:
        """Whether the first record names the columns: if one was asked for by name, or the names are known ones."""
        options = self.options
        if is_name(options.source_column) or is_name(options.target_column):
            return True
        languages = (options.source_language, options.target_language, *guess_languages(self.given.files[0].name))
        known = HEADINGS | {str(language).lower() for language in languages}
        places = column_numbers(options, None, self.given.name)
        return len(fields) > max(places) and all(fields[column].strip().lower() in known for column in places)


def find_delimiter(head: Sequence[str]) -> str:
    """What parts the records that a file begins with into as many fields each, rather two than more.

    Of several such, or where there is none, what stands most often in the first line; a comma if nothing does.
    """

    def rate_delimiter(delimiter: str) -> tuple[bool, bool, int]:
        try:
            records = [fields for fields in csv.reader(head, delimiter=delimiter) if any(map(str.strip, fields))]
        except csv.Error:  # which is told with its line when the file is read
            return False, False, head[0].count(delimiter)
        whole = records[:-1] if len(head) == HEAD else records  # the last may go on behind the head
        counts = {len(fields) for fields in whole}
        return len(counts) == 1 and counts != {1}, counts == {2}, head[0].count(delimiter)

    return max(",;\t", key=rate_delimiter) if head else ","
