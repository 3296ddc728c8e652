"""Spreadsheets: their cells as text, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from nmt_cli.errors import DataError
from support.formats import texts

pytest.importorskip("python_calamine")
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
TYPES = (
    f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}"/></Types>'
)
RELATION = f'<Relationship Id="r1" Type="{OFFICE}/%s" Target="%s"/>'
RELATIONS = f'<Relationships xmlns="{PACKAGE}/relationships">{RELATION}</Relationships>'
SHEETS = '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
BOOK = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{SHEETS}</workbook>'
SHEET = f'<worksheet xmlns="{MAIN}"><sheetData>%s</sheetData></worksheet>'
CELL = '<c r="%s%d" t="inlineStr"><is><t>%s</t></is></c>'


def write_xlsx(path: Path, rows: list[list[str]], extra: str = "") -> Path:
    """Writes a workbook with one sheet of texts."""
    lines = []
    for y, row in enumerate(rows, 1):
        lines.append("".join(CELL % (chr(65 + x), y, escape(cell)) for x, cell in enumerate(row)))
    cells = "".join(f'<row r="{y}">{line}</row>' for y, line in enumerate(lines, 1))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS % ("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/workbook.xml", BOOK)
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS % ("worksheet", "worksheets/s.xml"))
        archive.writestr("xl/worksheets/s.xml", SHEET % (cells + extra))
    return path


def test_the_cells_of_a_sheet_are_pairs(tmp_path: Path) -> None:
    rows = [["Nr", "English", "Latin"], *([str(n), f"line {n} & more", f"linea {n}\net cetera"] for n in range(8))]
    path = write_xlsx(tmp_path / "a.xlsx", rows)
    assert texts(path, path.read_bytes()) == [(row[1], row[2]) for row in rows[1:]]
    assert texts(tmp_path / "b.dat", path.read_bytes())[0] == ("line 0 & more", "linea 0\net cetera")


def test_what_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"]], far)
    with pytest.raises(DataError, match="a sheet of 16,384 columns and 1,048,576 rows"):
        texts(path, path.read_bytes())
    write_xlsx(path, [["a", "b"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/bomb.xml", b"\0" * (1 << 21))
    assert texts(path, path.read_bytes()) == [("a", "b")]
    monkeypatch.setattr("nmt_cli.corpus.formats.spreadsheet.MAXIMUM_CONTENT", 1 << 20)
    with pytest.raises(DataError, match="when it is unpacked"):
        texts(path, path.read_bytes())


def test_a_damaged_workbook_is_told(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"]])
    for data in (path.read_bytes()[:-30], path.read_bytes()[:60]):
        with pytest.raises(DataError, match="is damaged"):
            texts(path, data)
