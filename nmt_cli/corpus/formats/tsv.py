"""Tab-separated text: a pair a line. No quoting: what stands between two tabs is the text."""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.corpus.formats.reader import Reader, Row, column_numbers
from nmt_cli.text.columns import is_name


class TsvReader(Reader):
    expects = "a sentence pair a line, separated by a tab"

    def read_rows(self) -> Iterator[Row]:
        options = self.options
        if options.source_column is not None or options.target_column is not None:
            yield from self.chosen_columns()
            return
        for line, text in self.stream.read_lines():
            columns = text.rstrip("\r\n").split("\t", 2)
            if len(columns) > 1:
                yield Row(line, columns[0], columns[1], len(columns) > 2)
                continue
            if text and not text.isspace():
                self.refuse_single_column(line)
            yield Row(line, "", "")

    def chosen_columns(self) -> Iterator[Row]:
        """Rows of the columns that were asked for; the first line is a header if one of them is a name."""
        options, source, target = self.options, 0, 1
        has_header = is_name(options.source_column) or is_name(options.target_column)
        for line, text in self.stream.read_lines():
            fields = text.rstrip("\r\n").split("\t")
            if line == 1:
                header = fields if has_header else None
                source, target = column_numbers(options, header, self.given.name)
            if (line == 1 and has_header) or max(source, target) >= len(fields):
                if text.strip() and max(source, target) >= len(fields):
                    self.refuse(line, f"{len(fields)} columns; column {max(source, target) + 1} was asked for")
                if line > 1 or not has_header:
                    yield Row(line, "", "")
                continue
            yield Row(line, fields[source], fields[target])

    def refuse_single_column(self, line: int) -> None:
        self.refuse(
            line,
            "one column; two, separated by a tab, are needed",
            "join two files of sentences with --source-file and --target-file",
        )
