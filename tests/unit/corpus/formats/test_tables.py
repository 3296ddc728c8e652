"""Tests of `corpus/formats/tables.py`.

CSV: quotes, delimiters, headers. Tab-separated text: columns by number or name. Spreadsheets: their cells as text,
and what is refused.
"""

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.corpus.formats.reader import Row
from nmt_cli.errors import DataError
from support.formats import refusal, rows, texts


def test_csv_is_read_with_quotes_line_breaks_and_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data = 'source,target\n"a, ""b""",x\n"two\nlines",y\n,\nlast,z,more\n'
    assert rows(path, data) == [
        Row(2, 'a, "b"', "x"),
        Row(3, "two\nlines", "y"),
        Row(5, "", ""),
        Row(6, "last", "z", has_more_columns=True),
    ]
    assert texts(path, "en;de\na,b;c\n", source_language="en", target_language="de") == [("a,b", "c")]
    assert texts(path, "no;header\na;b\n") == [("no", "header"), ("a", "b")]
    assert texts(path, "a,b,c\n1,2,3\n", source_column="c", target_column="a") == [("3", "1")]
    data = "id,split,source,target\n1,train,one,eins\n"
    assert texts(path, data, source_column="3", target_column="4") == [("one", "eins")]
    assert "line 2: 1 column," in refusal(path, "a,b\nonly\n")


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Hello, my dear, hi;Hallo, du\nNo;Nein\n", [("Hello, my dear, hi", "Hallo, du"), ("No", "Nein")]),
        ('"a; b",c\nd,"e; f; g"\n', [("a; b", "c"), ("d", "e; f; g")]),
        ("a\tb, c, d\ne\tf\n", [("a", "b, c, d"), ("e", "f")]),
        ("a,b,c\nd,e,f\n", [("a", "b"), ("d", "e")]),
        ('"x, y";"z\nz"\n' * 30, [("x, y", "z\nz")] * 30),
    ],
)
def test_fields_of_csv_are_parted_as_all_its_lines_say(tmp_path: Path, text: str, pairs: list[tuple[str, str]]) -> None:
    assert texts(tmp_path / "x.csv", text) == pairs


def test_the_languages_that_a_file_is_named_by_are_a_header(tmp_path: Path) -> None:
    assert texts(tmp_path / "news.en-de.csv", "en,de\none,eins\n") == [("one", "eins")]
    assert texts(tmp_path / "news.csv", "en,de\none,eins\n") == [("one", "eins")]
    assert texts(tmp_path / "news.csv", "no,such\none,eins\n") == [("no", "such"), ("one", "eins")]


def test_an_unclosed_quote_is_reported_with_the_line_that_opened_it(tmp_path: Path) -> None:
    data = 'a,b\nc,"d\n' + "e,f\n" * 100_000
    assert "line 2: field larger than" in refusal(tmp_path / "a.csv", data)


def test_what_is_not_utf_8_is_read_as_cp1252_where_plausible_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes("Go.\tLos!\nAs is.\tWie gehabt – für “uns”.\n".encode("cp1252"))
    reader = open_reader(CorpusFile(tmp_path / "a.tsv"), ReadOptions())
    assert [row.target for row in reader] == ["Los!", "Wie gehabt – für “uns”."]
    assert len(reader.notes) == 1 and "cp1252" in reader.notes[0] and "--encoding" in reader.notes[0]


@pytest.mark.parametrize(
    "data",
    [
        "Go.\tИди сюда!\n".encode("cp1251"),
        "Go.\tfür\n".encode() + "Stay.\tübrig\n".encode("cp1252"),  # damaged
        "Go.\tñu\n".encode("cp1252") + "Stay.\tОстанься дома.\n".encode("koi8-r"),
        "Go.\t行け今すぐ\n".encode("shift_jis"),
    ],
)
def test_other_encodings_than_cp1252_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.tsv").write_bytes(data)
    with pytest.raises(DataError) as problem:
        list(open_reader(CorpusFile(tmp_path / "a.tsv"), ReadOptions()))
    assert "--encoding" in problem.value.hint


def test_columns_of_a_table_are_chosen_by_number_or_name(path: Path) -> None:
    data = "id\tEnglish\tGerman\n1\tone\teins\n2\ttwo\tzwei\n"
    expected = [("one", "eins"), ("two", "zwei")]
    assert texts(path, data, source_column="English", target_column="3") == expected
    assert texts(path, data, source_column="2", target_column="3") == expected
    assert "did you mean 'German'" in refusal(path, data, target_column="Germn")
    assert "line 2: 2 columns" in refusal(path, "a\tb\tc\nd\te\n", target_column="3")


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
    monkeypatch.setattr("nmt_cli.corpus.formats.tables.MAXIMUM_CONTENT", 1 << 20)
    with pytest.raises(DataError, match="when it is unpacked"):
        texts(path, path.read_bytes())


def test_a_damaged_workbook_is_told(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"]])
    for data in (path.read_bytes()[:-30], path.read_bytes()[:60]):
        with pytest.raises(DataError, match="is damaged"):
            texts(path, data)
