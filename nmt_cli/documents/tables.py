"""CSV, TSV and JSON Lines: the translation becomes the last field of each row, or fills an empty one.

    id;text                     id;text;text_de                 --column text
    1;"a; b"                    1;"a; b";"A; B"                 quoted, since it has the delimiter
    {"text": "a"}               {"text": "a", "text_de": "A"}

Rows and their quotes are read by `formats/tables.py`, as for pairs.
"""

from __future__ import annotations

import csv
import io
import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from nmt_cli.documents.columns import (
    AddedColumn,
    count_missing_fields,
    find_column_indexes,
    find_filled_column,
    fit_columns,
    has_header,
    keep_translation,
    list_added_columns,
    require_columns,
    require_languages,
    split_line_end,
)
from nmt_cli.documents.document import (
    Content,
    Document,
    DocumentSource,
    Location,
    TranslationUnit,
    make_verbatim_unit,
)
from nmt_cli.errors import DataError, find_nearest
from nmt_cli.formats.jsonl import NO_VALUE, find_value, list_text_paths, parse_json
from nmt_cli.formats.sniffing import list_columns
from nmt_cli.formats.tables import (
    SAMPLE,
    NumberedLine,
    TableRow,
    find_delimiter,
    find_quoting,
    read_csv_records,
    split_line,
    take_head,
    take_separator,
)
from nmt_cli.text.wrapping import format_count, replace_surrogates
from nmt_cli.translation.result import Translation

# CSV and TSV: the translation becomes the last field of each row, or fills an empty one; all else is kept as it is.
#
# In TSV a field is the text between two tabs, unless a spreadsheet has evidently quoted the file. In CSV fields may be
# quoted and have several lines, which are translated separately; the delimiter is `,`, `;` or a tab, whichever splits
# the first line into the most fields.


BYTE_ORDER_MARK = "\ufeff"


class PlainFields(NamedTuple):
    """How rows of TSV are spelled: a field is the text between two tabs."""

    delimiter: str = "\t"

    def read_rows(self, lines: Iterable[NumberedLine], source: DocumentSource) -> Iterator[TableRow]:
        """Yields the rows. Raises DataError for invalid ones, naming them by number."""
        for number, line in lines:
            yield TableRow(number, line, split_line(line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line))

    def parse(self, text: str) -> list[list[str]]:
        """Returns the fields of each row of a table. Raises ValueError if the text is not a table."""
        return [line.split("\t") for line in split_line_end(text)[0].split("\n")]

    def write(self, text: str) -> str:
        """Returns the spelling of a field."""
        return text

    def split(self, body: str) -> list[str]:
        """Returns the fields of a row as they are spelled."""
        return body.split("\t")


class QuotedFields(NamedTuple):
    """The spelling of rows with quoted fields; a field is quoted if it contains a delimiter, a quote or a line end."""

    delimiter: str
    marks: Sequence[str]

    def read_rows(self, lines: Iterable[NumberedLine], source: DocumentSource) -> Iterator[TableRow]:
        return read_csv_records(lines, self.delimiter, source.refuse, strict=True)

    def parse(self, text: str) -> list[list[str]]:
        try:
            return list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            raise ValueError(str(error)) from error

    def write(self, text: str) -> str:
        needs_quotes = any(mark in text for mark in self.marks)
        return '"{}"'.format(text.replace('"', '""')) if needs_quotes else text

    def split(self, body: str) -> list[str]:
        mark = re.escape(self.delimiter)
        return [match[1] for match in re.finditer(rf'(?:\A|{mark})((?:"(?:[^"]|"")*")?[^{mark}]*)', body)]


class TableDocument(Document):
    """A table in which some columns are translated."""

    holds_back = False
    is_exact = True
    fields: PlainFields | QuotedFields  # how its rows are spelled

    @abstractmethod
    def open_rows(self) -> tuple[str, Iterable[NumberedLine]]:
        """Returns what precedes the first row, and the lines of all rows; sets `fields` to how they are spelled."""

    def read_units(self) -> Iterator[TranslationUnit]:
        require_languages(self.source)
        preamble, lines = self.open_rows()
        if preamble:
            yield TranslationUnit((), lambda _: preamble)  # which is no row
        self.columns: list[int] = []
        for row in self.fields.read_rows(lines, self.source):
            if not self.columns:
                fit_columns(self, row.fields)
                self.columns, self.width = find_column_indexes(self.source, row.fields), len(row.fields)
                names = row.fields if has_header(self.source) else []
                self.added, self.filled = list_added_columns(self.source, names), find_filled_column(self.source, names)
                if has_header(self.source):
                    yield make_verbatim_unit(self.add_fields(row, [added.name for added in self.added]))
                    continue
            yield self.make_unit(row)
        require_columns(self.source)  # of a table without rows, too

    def make_unit(self, row: TableRow) -> TranslationUnit:
        if not any(map(str.strip, row.fields)):
            return make_verbatim_unit(row.raw)
        if len(row.fields) <= max(self.columns):
            problem = f"{format_count(len(row.fields), 'column')}; there is no column {max(self.columns) + 1}"
            hint = "every row needs that column, even if it is empty; blank lines are fine"
            hint = list_columns(row.fields) if row.number == 1 else hint
            self.source.refuse(row.number, problem, hint)
        empty = count_missing_fields(row.fields, self.width, self.notes)
        if kept := self.find_kept(row):
            location = Location(name=f"{row.number:,}", kind="row")
            keep_translation(self, row.fields[self.columns[0]], kept, row.number, location)
            return make_verbatim_unit(self.add_fields(row, [""] * len(self.added), empty=empty))

        def write_row(translations: Sequence[Translation]) -> str:
            texts = [added.format(translations) for added in self.added]
            if self.filled is None:
                return self.add_fields(row, texts, empty=empty)
            padded = row._replace(raw=self.add_fields(row, [], empty=empty))
            return self.add_fields(self.replace_field(padded, self.filled, translations[0].text), texts)

        texts = tuple(replace_surrogates(row.fields[column]) for column in self.columns)
        others = self.join_others([*row.fields, *[""] * empty])
        return TranslationUnit(texts, write_row, raw=row.raw, content=Content(texts, others))

    def join_others(self, fields: Sequence[str]) -> str:
        """Joins the fields of a row that stay as they are."""
        return "\n".join(field for index, field in enumerate(fields) if index != self.filled)

    def reopen(self, data: bytes) -> Iterator[TranslationUnit]:
        try:
            rows = self.fields.parse(data.decode("utf-8").removeprefix(BYTE_ORDER_MARK))
        except ValueError as error:
            raise DataError(f"{self.source.name}: {error}") from error
        width = len(rows[0]) - len(self.added)
        if len(rows) == 1:
            first = width if self.filled is None else self.filled
            texts = rows[0][first : first + len(self.columns)]
            content = Content(tuple(texts), self.join_others(rows[0][:width]))
            yield TranslationUnit((), lambda _: data, raw=data, content=content)

    def find_kept(self, row: TableRow) -> str:
        """Returns the existing translation that a row keeps; empty if there is none."""
        if self.filled is None or self.source.config.retranslate:
            return ""
        return "".join(row.fields[self.filled : self.filled + 1]).strip()

    def replace_field(self, row: TableRow, index: int, text: str) -> TableRow:
        """Returns a row with one field replaced; all others keep their spelling."""
        body, end = split_line_end(row.raw)
        spelled = self.fields.split(body)
        spelled[index] = self.fields.write(text)
        return row._replace(raw=self.fields.delimiter.join(spelled) + end)

    def add_fields(self, row: TableRow, texts: Iterable[str], *, empty: int = 0) -> str:
        """Appends the fields `texts` to a row, after `empty` empty ones."""
        body, end = split_line_end(row.raw)
        return self.fields.delimiter.join([body, *[""] * empty, *map(self.fields.write, texts)]) + end


class TsvDocument(TableDocument):
    def open_rows(self) -> tuple[str, Iterable[NumberedLine]]:
        """Looks ahead only in files, since a pipe may wait for the translation of a line before it sends the next."""
        lines = enumerate(self.source.decode_lines(ends=True), start=1)
        looks_ahead = self.source.is_file and self.source.config.format is None
        head = take_head(lines, SAMPLE) if looks_ahead else []
        marks = find_quoting([text for _, text in head])
        self.fields = PlainFields() if marks is None else QuotedFields("\t", marks)
        return "", chain(head, lines)


class CsvDocument(TableDocument):
    def open_rows(self) -> tuple[str, Iterable[NumberedLine]]:
        """Keeps the line that names the delimiter, if there is one. Reads at most one more line."""
        lines = enumerate(self.source.decode_lines(ends=True), start=1)
        head = list(islice(lines, 1))
        first, separator = "".join(text for _, text in head), take_separator(head)
        if separator is not None:
            head = list(islice(lines, 1))
        delimiter = separator or find_delimiter([text for _, text in head])
        self.fields = QuotedFields(delimiter, (delimiter, '"', "\r", "\n"))
        return "" if separator is None else first, chain(head, lines)


# JSON Lines: the translation becomes the last entry of each object; everything before it is kept byte for byte.


MISSING = "objects without the key, left unchanged"
LISTED_PATHS = 10
COLON = re.compile(r"\s*:\s*")


class JsonLinesDocument(Document):
    holds_back = False
    is_exact = True

    def read_units(self) -> Iterator[TranslationUnit]:
        keys = self.source.config.column
        first_missing: tuple[int, dict[str, Any]] | None = None
        known: set[str] = set()  # keys that an object has
        for number, line in enumerate(self.source.decode_lines(ends=True), start=1):
            body, end = split_line_end(line)
            if not body.strip("\ufeff \t\r"):
                yield make_verbatim_unit(line)
                continue
            values = self.parse_line(number, body)
            if not keys:
                require_columns(self.source, [*islice(list_text_paths(values), LISTED_PATHS)])
            columns = list_added_columns(self.source, list(values))
            filled = self.source.config.new_column
            if filled in values and values[filled] and not self.source.config.retranslate:
                known |= {*keys}
                text, kept = find_value(values, keys[0]), values[filled]
                if isinstance(text, str) and isinstance(kept, str):
                    keep_translation(self, text, kept, number, Location(name=f"{number:,}", kind="line"))
                yield make_verbatim_unit(insert_entries(body, {added.name: None for added in columns}) + end)
                continue
            present = {key: value for key in keys if (value := find_value(values, key)) is not NO_VALUE}
            known |= present.keys()
            if len(present) < len(keys):
                first_missing = first_missing or (number, values)
                self.notes[MISSING] += 1
            if not present:
                yield make_verbatim_unit(line)
                continue
            texts = [self.check_text(number, key, present.get(key), values) for key in keys]
            yield self.make_unit(columns, texts, body, end)
        require_columns(self.source)
        lacking = [key for key in keys if key not in known]
        if first_missing is not None and lacking and not (known and self.source.is_among_others):
            key, (number, values) = lacking[0], first_missing
            paths = list(islice(list_text_paths(values), LISTED_PATHS))
            nearest = find_nearest(key, paths)
            hint = f"did you mean {nearest!r}?" if nearest else f"its texts are {', '.join(paths)}"
            self.source.refuse(number, f"there is no key {key!r}, here or in any other object", hint)

    def make_unit(
        self, columns: Sequence[AddedColumn], texts: Sequence[str | None], body: str, end: str
    ) -> TranslationUnit:
        if not any(text is not None for text in texts):
            return make_verbatim_unit(insert_entries(body, {added.name: None for added in columns}) + end)

        def write_object(translations: Sequence[Translation]) -> str:
            written = {
                added.name: None
                if added.number is not None and texts[added.number] is None
                else added.format(translations)
                for added in columns
            }
            return (
                insert_entries(replace_entry(body, self.source.config.new_column, translations[0].text), written) + end
            )

        content = self.hold(json.loads(body.removeprefix("\ufeff")), texts)
        return TranslationUnit(content.texts, write_object, raw=body + end, content=content)

    def hold(self, values: dict[str, Any], texts: Iterable[str | None]) -> Content:
        """Returns the texts of an object, and all its values except translations."""
        added = {column.name for column in list_added_columns(self.source, [])} | {self.source.config.new_column}
        others = {key: value for key, value in values.items() if key not in added}
        return Content(tuple(replace_surrogates(text or "") for text in texts), json.dumps(others))

    def reopen(self, data: bytes) -> Iterator[TranslationUnit]:
        values = self.parse_line(1, split_line_end(data.decode("utf-8"))[0])
        names = [added.name for added in list_added_columns(self.source, []) if added.number is not None]
        yield TranslationUnit((), lambda _: data, raw=data, content=self.hold(values, map(values.get, names)))

    def parse_line(self, number: int, body: str) -> dict[str, Any]:
        value = parse_json(number, body.removeprefix("\ufeff"), self.source.refuse)
        if not isinstance(value, dict):
            self.source.refuse(number, "not a JSON object", 'each line must be a JSON object: {"text": "..."}')
        return value

    def check_text(self, number: int, key: str, value: Any, values: dict[str, Any]) -> str | None:
        """Returns the text to translate; None if it is null. Raises DataError for any other value."""
        if value is None or isinstance(value, str):
            return value
        paths = list(islice(list_text_paths(values), LISTED_PATHS))
        inside = next((path for path in paths if path.startswith(f"{key}.")), None)
        hint = f"name a key inside it, such as {inside!r}" if inside else "use a string, or null for no text"
        self.source.refuse(number, f"{key!r} is {json.dumps(value)[:40]}, not a string", hint)


def replace_entry(body: str, key: str | None, text: str) -> str:
    """Returns the object `body` with `text` as the value of `key`, if it has that key; all else keeps its spelling."""
    decoder, position = json.JSONDecoder(), body.index("{") + 1
    while (quote := body.find('"', position)) >= 0:
        name, after = decoder.raw_decode(body, quote)
        start = after + len(COLON.match(body[after:])[0])  # type: ignore[index]
        _, position = decoder.raw_decode(body, start)
        if name == key:
            return body[:start] + json.dumps(replace_surrogates(text), ensure_ascii=False) + body[position:]
    return body


def insert_entries(body: str, values: Mapping[str, str | None]) -> str:
    """Appends entries to the object `body`, spaced as by `json.dumps`."""
    if not values:
        return body
    before, _, after = body.rpartition("}")
    comma = "" if before.rstrip().endswith("{") else ", "
    return f"{before}{comma}{json.dumps(values, ensure_ascii=False)[1:-1]}}}{after}"
