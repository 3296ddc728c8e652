"""Tab-separated text: one pair per line. There is no quoting: everything between two tabs is text."""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.corpus.formats.reader import Reader, Row, find_columns
from nmt_cli.text.columns import is_name


class TsvReader(Reader):
    expects = "one sentence pair per line, separated by a tab"

    def read_rows(self) -> Iterator[Row]:
        options = self.options
        if options.source_column is not None or options.target_column is not None:
            yield from self.read_chosen_columns()
            return
        for line, text in self.stream.read_lines():
            columns = text.rstrip("\r\n").split("\t", 2)
            if len(columns) > 1:
                yield Row(line, columns[0], columns[1], len(columns) > 2)
                continue
            if text and not text.isspace():
                self.refuse_single_column(line)
            yield Row(line, "", "")

    def read_chosen_columns(self) -> Iterator[Row]:
        """Yields rows of the columns that the options name; the first line is a header if one of them is a name."""
        options, source, target = self.options, 0, 1
        has_header = is_name(options.source_column) or is_name(options.target_column)
        for line, text in self.stream.read_lines():
            fields = text.rstrip("\r\n").split("\t")
            if line == 1:
                header = fields if has_header else None
                source, target = find_columns(options, header, self.file.name)
            if (line == 1 and has_header) or max(source, target) >= len(fields):
                if text.strip() and max(source, target) >= len(fields):
                    self.refuse_missing_column(line, len(fields), max(source, target) + 1)
                if line > 1 or not has_header:
                    yield Row(line, "", "")
                continue
            yield Row(line, fields[source], fields[target])

    def refuse_single_column(self, line: int) -> None:
        self.refuse(
            line,
            "one column, but two are needed, separated by a tab",
            "join two files of sentences with --source-file and --target-file",
        )
