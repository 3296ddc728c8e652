"""Records of text whose cells may be quoted, as written by spreadsheets. Knows nothing of columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.text.columns import SEPARATOR

NumberedLine = tuple[int, str]

HEAD_SIZE = 1 << 22  # in characters
QUOTED_CELL = re.compile(r'(?:^|(?<=\t)|(?<=\n))"((?:[^"]|"")*)"(?=[\t\r\n]|$)')


def take_head(lines: Iterator[NumberedLine], count: int) -> list[NumberedLine]:
    """Consumes the first `count` lines, or fewer if they are long."""
    head: list[NumberedLine] = []
    size = 0
    for line in islice(lines, count):
        head.append(line)
        size += len(line[1])
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
    reader: Reader, head: Sequence[NumberedLine], lines: Iterator[NumberedLine], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yields the first line number of each record, and its fields; `csv.field_size_limit()` limits their length."""
    skipped = head[0][0] - 1 if head else 0
    records = csv.reader((text for _, text in chain(head, lines)), delimiter=delimiter)
    while True:
        line = records.line_num + 1 + skipped
        try:
            yield line, next(records)
        except StopIteration:
            return
        except csv.Error as error:
            reader.refuse(line, f"{error}", "perhaps a quote that opens here is never closed")


def is_quoted(head: Sequence[str]) -> bool:
    """Whether a spreadsheet has quoted the cells of tab-separated lines: all of them, or those that need it.

    A cell needs quotes for a quote, a tab, a line break or, in Excel, a comma. In running text, quoted sentences occur
    beside others with a comma or an inner quote, which no spreadsheet would have left bare. A cell with a tab or a line
    break leaves lines of several widths.
    """
    text = "".join(head)
    try:
        has_cells = any(csv.reader(head, delimiter="\t", strict=True))
    except csv.Error:
        return False
    if text.count('"') < 2 or not has_cells:
        return False
    bare = [cell for line in QUOTED_CELL.sub("\t\t", text).splitlines() for cell in line.split("\t") if cell]
    quoted = [match[1].replace('""', '"') for match in QUOTED_CELL.finditer(text)]
    if not quoted or any('"' in cell for cell in bare):
        return False
    if len({line.count("\t") for line in head}) == 1 and re.search(r"[\t\n]", "".join(quoted)):
        return False
    if not bare:
        return True
    needs = '"\t\n' if any("," in cell for cell in bare) else '"\t\n,'
    return all(any(mark in cell for mark in needs) for cell in quoted)
