"""Tests of `formats/tables.py`.

CSV: quotes, delimiters, headers. Tab-separated text: columns by number or name. Spreadsheets: their cells as text,
and what is refused."""

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from nmt_cli.errors import DataError
from nmt_cli.formats.inputs import CorpusFile, ReadOptions, require_input
from nmt_cli.formats.opening import open_reader
from nmt_cli.formats.reader import Row
from nmt_cli.formats.usfm import MAXIMUM_VERSE
from support.archives import make_ods, make_xlsx, pack, unpack
from support.formats import refusal, rows, texts


def test_csv_is_read_with_quotes_line_breaks_and_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data = 'source,target\n"a, ""b""",x\n"two\nlines",y\n,\nlast,z,more\n'
    assert rows(path, data) == [
        Row(2, 'a, "b"', "x"),
        Row(3, "two\nlines", "y"),
        Row(4, "", ""),
        Row(5, "last", "z", has_more_columns=True),
    ]
    assert texts(path, "en;de\na,b;c\n", source_language="en", target_language="de") == [("a,b", "c")]
    assert texts(path, "no;header\na;b\n") == [("no", "header"), ("a", "b")]
    assert texts(path, "a,b,c\n1,2,3\n", source_column="c", target_column="a") == [("3", "1")]
    data = "id,split,source,target\n1,train,one,eins\n"
    assert texts(path, data, source_column="3", target_column="4") == [("one", "eins")]
    assert "row 2: 1 column," in refusal(path, "a,b\nonly\n")


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


def test_an_unclosed_quote_is_reported_with_the_row_that_opened_it(tmp_path: Path) -> None:
    data = 'a,b\nc,"d\n' + "e,f\n" * 100_000
    assert "row 2: field larger than" in refusal(tmp_path / "a.csv", data)


def test_what_is_not_utf_8_is_read_as_cp1252_where_plausible_and_said(tmp_path: Path) -> None:
    targets = ["Los!", "Wie gehabt – für “uns”.", "Educação.", "Suûë ñã."]
    (tmp_path / "a.tsv").write_bytes("".join(f"Go.\t{target}\n" for target in targets).encode("cp1252"))
    reader = open_reader(CorpusFile(tmp_path / "a.tsv"), ReadOptions())
    assert [row.target for row in reader] == targets
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
    assert "row 2: 2 columns" in refusal(path, "a\tb\tc\nd\te\n", target_column="3")


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
    monkeypatch.setattr("nmt_cli.formats.archives.MAXIMUM_PART", 1 << 20)
    write_xlsx(path, [["a", "b"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/bomb.xml", b"\0" * (1 << 21))  # which nothing reads
    assert texts(path, path.read_bytes()) == [("a", "b")]
    write_xlsx(path, [["a", "b"]], " " * (1 << 20))
    with pytest.raises(DataError, match="has more than 1 MiB"):
        texts(path, path.read_bytes())
    path.write_bytes(make_ods(ODS_ROW.replace("row>", 'row table:number-rows-repeated="9000000">', 1)))
    with pytest.raises(DataError, match="a sheet of 2 columns and 1,048,577 rows"):
        texts(path, path.read_bytes())


STYLES = (
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="d\\. mmm"/><numFmt numFmtId="165" formatCode="[h]:mm"/>'
    '<numFmt numFmtId="166" formatCode="[Red]0 &quot;days&quot;;d"/></numFmts><cellStyleXfs><xf numFmtId="14"/>'
    '</cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    '<xf numFmtId="166"/><xf numFmtId="10"/></cellXfs></styleSheet>'
)
STRINGS = (
    '<si><t>plain</t></si><si><t xml:space="preserve"> kept </t></si><si><t> cut </t></si>'
    '<si><r><t>rich</t></r><r><rPr><b/></rPr><t xml:space="preserve"> text</t></r><rPh><t>yomi</t></rPh></si>'
    "<si><t>a_x000D_b_x005F_x0041_</t></si>"
)
CELLS = {  # how a cell of a workbook is spelled, and its text
    't="s"><v>0</v>': "plain",
    't="s"><v>1</v>': " kept ",
    't="s"><v>2</v>': "cut",
    't="s"><v>3</v>': "rich text",
    't="s"><v>4</v>': "a\rb_x0041_",
    't="s"><f>A1</f><v>0</v>': "plain",
    't="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is>': "inline",
    't="str"><f>A1</f><v> result </v>': " result ",
    "><f>SUM(A1)</f><v>8</v>": "8",
    "><f>A1</f>": "",
    't="b"><v>1</v>': "True",
    't="e"><v>#N/A</v>': "",
    "><v>7.50</v>": "7.5",
    "><v>1E+20</v>": "100000000000000000000",
    's="5"><v>0.25</v>': "0.25",
    's="1"><v>43831</v>': "2020-01-01",
    's="1"><v>43831.5</v>': "2020-01-01 12:00:00",
    's="1"><v>0.5</v>': "12:00:00",
    's="1"><v>59</v>': "1900-02-28",
    's="1"><v>3000000</v>': "3000000",
    's="2"><v>43831</v>': "2020-01-01",
    's="3"><v>1.5</v>': "1 day, 12:00:00",
    's="4"><v>43831</v>': "43831",
    's="1" t="s"><v>0</v>': "plain",
    't="d"><v>2020-05-01T10:20:30</v>': "2020-05-01 10:20:30",
}
CALC_CELLS = {
    '"string"><text:p>two</text:p><text:p>lines</text:p>': "two\nlines",
    '"string"><text:p>a<text:s text:c="2"/>b<text:span>c</text:span><text:line-break/>d</text:p>': "a  bc\nd",
    '"string"><text:p>a<office:annotation><text:p>note</text:p></office:annotation>b</text:p>': "ab",
    '"string" office:string-value="kept"><text:p>shown</text:p>': "kept",
    '"float" office:value="7.50"><text:p>7,5</text:p>': "7.5",
    '"percentage" office:value="0.25"><text:p>25 %</text:p>': "0.25",
    '"date" office:date-value="2020-05-01T10:20:30"><text:p>1. 5.</text:p>': "2020-05-01 10:20:30",
    '"time" office:time-value="PT12H30M05S"><text:p>x</text:p>': "12:30:05",
    '"boolean" office:boolean-value="true"><text:p>WAHR</text:p>': "True",
}
ODS_ROW = (
    '<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
    '<table:table-cell office:value-type="string"><text:p>b</text:p></table:table-cell></table:table-row>'
)


def read_first_column(path: Path) -> list[str]:
    reader = open_reader(CorpusFile(path), ReadOptions(source_column="1", target_column="2"))
    return [row.source for row in reader]


def test_cells_have_one_text_whatever_they_show(tmp_path: Path) -> None:
    cells = enumerate(CELLS, start=1)
    rows = "".join(f'<row r="{y}"><c r="A{y}" {cell}</c><c r="B{y}"><v>1</v></c></row>' for y, cell in cells)
    parts = unpack(make_xlsx(rows, STRINGS))
    (tmp_path / "a.xlsx").write_bytes(pack({**parts, "xl/styles.xml": STYLES}))
    assert dict(zip(CELLS, read_first_column(tmp_path / "a.xlsx"), strict=True)) == CELLS
    rows = "".join(
        f"<table:table-row><table:table-cell office:value-type={cell}</table:table-cell>"
        '<table:table-cell office:value-type="float" office:value="1"/></table:table-row>'
        for cell in CALC_CELLS
    )
    (tmp_path / "a.ods").write_bytes(make_ods(rows))
    assert dict(zip(CALC_CELLS, read_first_column(tmp_path / "a.ods"), strict=True)) == CALC_CELLS


def test_rows_and_cells_that_are_not_spelled_are_there(tmp_path: Path) -> None:
    rows = '<row r="2"><c r="B2"><v>1</v></c><c><v>2</v></c></row><row><c/><c t="str"><v>x</v></c></row>'
    path = tmp_path / "a.xlsx"
    reader = [Row(1, "", ""), Row(2, "1", "2"), Row(3, "x", "")]
    path.write_bytes(make_xlsx(rows, ""))
    assert list(open_reader(CorpusFile(path), ReadOptions(source_column="2", target_column="3"))) == reader
    path = tmp_path / "a.ods"
    path.write_bytes(make_ods(ODS_ROW.replace("row>", 'row table:number-rows-repeated="2">', 1)))
    assert [row.line for row in open_reader(CorpusFile(path), ReadOptions())] == [1, 2]


@pytest.mark.parametrize(("rows", "sheet"), [(3, "Texts"), (30, "About")])
def test_a_small_sheet_about_the_pairs_is_not_read(tmp_path: Path, rows: int, sheet: str) -> None:
    parts = unpack(make_ods(ODS_ROW.replace("a<", "c<") * 40))
    about = f'"About">{ODS_ROW * rows}</table:table>'
    content = parts["content.xml"].decode().replace('"Empty"/>', about)
    (tmp_path / "a.ods").write_bytes(pack({**parts, "content.xml": content}))
    reader = open_reader(CorpusFile(tmp_path / "a.ods"), ReadOptions())
    assert {row.source for row in reader} == {{"Texts": "c", "About": "a"}[sheet]}
    other = {"Texts": "About", "About": "Texts"}[sheet]
    note = f"a.ods: sheets read: {sheet}; not read: {other}; to read another, save it as .csv"
    assert reader.notes == [f"! {note}" if other == "Texts" else note]


def test_sheets_with_the_same_headings_are_read_together(tmp_path: Path) -> None:
    parts = unpack(make_ods(""))

    def write(name: str, *texts: str) -> str:
        cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
        rows = (f"{cell.format(text)}{cell.format(f'{text}x')}" for text in texts)
        lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
        return f'<table:table table:name="{name}">{lines}</table:table>'

    tables = write("One", "German", "a", "b") + write("Two", "Notes", "German", "c") + write("Three", "English", "d")
    start, _, rest = parts["content.xml"].decode().partition("<table:table ")
    content = f"{start}{tables}{rest[rest.rindex('</table:table>') + len('</table:table>') :]}"
    (tmp_path / "a.ods").write_bytes(pack({**parts, "content.xml": content}))
    reader = open_reader(CorpusFile(tmp_path / "a.ods"), ReadOptions(source_column="German", target_column="Germanx"))
    assert [(row.line, row.source) for row in reader] == [(2, "a"), (3, "b"), (4, "c")]
    assert reader.notes[0] == "a.ods: sheets read: One, Two; not read: Three; to read another, save it as .csv"


def test_a_workbook_whose_texts_are_missing_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(make_xlsx('<row><c t="s"><v>9</v></c><c t="s"><v>0</v></c></row>', STRINGS))
    with pytest.raises(DataError, match="damaged: some of its texts are missing"):
        list(open_reader(CorpusFile(tmp_path / "a.xlsx"), ReadOptions()))


def test_a_damaged_workbook_is_told(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"]])
    for data in (path.read_bytes()[:-30], path.read_bytes()[:60]):
        with pytest.raises(DataError, match="a spreadsheet must be a zip archive"):
            texts(path, data)


# Which columns of a table are the pairs, and whether its first row is a header.


ANIMALS = ["dog", "cat", "horse", "cow", "bird", "fish"]
PAIRS = [(f"The {one} sees the {two}.", f"{one} {two} videt.") for one in ANIMALS for two in ANIMALS]


def table(*columns: str, separator: str = "\t") -> str:
    """A table whose columns are the sides of the pairs, or a format with {n}, where ? leaves every third cell empty."""

    def write(column: str, n: int) -> str:
        if column in ("source", "target"):
            return PAIRS[n][column == "target"]
        return "" if column.startswith("?") and n % 3 == 0 else column.removeprefix("?").format(n=n)

    return "".join(separator.join(write(column, n) for column in columns) + "\n" for n in range(len(PAIRS)))


SENTENCES = ("source", "target")
NOTED = (*SENTENCES, "?a note of several words, {n}", "?AB")
TABLES: list[tuple[str, tuple[str, ...], tuple[str, str] | None, str]] = [
    # what stands above the pairs, the columns, the languages, and what is noted; columns that are no text are left out
    ("", ("{n}", "source", "9{n}", "target"), None, ""),
    ("", (*SENTENCES, "0.{n}81"), None, ""),
    ("", ("https://a.example/{n}", "https://b.example/{n}", *SENTENCES, "1.0{n}"), None, ""),
    ("", ("news-{n}", *SENTENCES, "CC-BY 2.0 (France) #{n} (anna) & #1{n} (bob)"), None, ""),
    ("", ("2024-01-0{n}", "eng", "source", "lat", "target", "forum"), None, ""),
    ("", ("dialog|label", *SENTENCES), None, ""),
    ("", ("{n}", *SENTENCES), None, "columns 2 and 3 contain text and are used; ignored: 1 numbers"),
    # of many columns of text the two with sentences
    ("", ("word{n}", "gloss{n}", *SENTENCES), None, ""),
    ("lx\tge\tPhrase\tText\n", ("word{n}", "gloss{n}", *SENTENCES), None, ""),
    # a header is no pair, and names the languages
    ("source\ttarget\n", SENTENCES, None, ""),
    ("Source text\tTarget text\n", SENTENCES, None, ""),
    ("English\tLatin\n", SENTENCES, ("en", "la"), ""),
    ("text_en\ttext_la\n", SENTENCES, ("en", "la"), ""),
    ("eng\tlat\n", SENTENCES, ("eng", "lat"), ""),
    ("English (US)\tlatin translation\n", SENTENCES, ("en", "la"), ""),
    # the two headings that name languages choose the columns
    ("English\tdeu\tmsgctxt\tcatalogue\n", (*SENTENCES, "target", "source"), ("en", "de"), ""),
    ("key\tEnglish\tGerman\tremark\n", ("This is the key of {n}.", *SENTENCES, "source"), ("en", "de"), ""),
    # also languages without two letters, one of several, and below a title
    ("Español\tShipibo\tNotas\tHablante\n", NOTED, ("es", "shp"), ""),
    ("Spanish\tTok Pisin\tnotes\tspeaker\n", NOTED, ("es", "tpi"), ""),
    ("castellano\tRARÁMURI\tglosa\tfecha\n", NOTED, ("es", "tar"), ""),
    ("Spanish\tShipibo\tnotes\tid\n", NOTED, ("es", "shp"), ""),
    ("Spanish\tChatino\tnotes\tspeaker\n", NOTED, ("es", "target"), ""),
    ("Palabras de 2019\t\t\t\nEspañol\tShipibo\tNotas\tHablante\n", NOTED, ("es", "shp"), ""),
    # one language that is known makes a header above sentences
    ("English\tWet\u00e1n\n", SENTENCES, ("en", "target"), ""),
    ("Wet\u00e1n (Letwurung)\tEnglish\tSpeaker\n", ("target", "source", "AB"), ("source", "en"), ""),
    # so does a code, a word of headings, or one beside the other, in any language
    ("en\tworuna\n", SENTENCES, ("en", "target"), "left out as a header: en, woruna"),
    ("WORUNA\tES\n", SENTENCES, ("source", "ES"), ""),
    ("Frase en espa\u00f1ol\tFrase en wet\u00e1n\n", SENTENCES, ("es", "target"), ""),
    ("woruna\tFree translation\n", SENTENCES, None, ""),
    ("gloss\ttext\n", SENTENCES, None, ""),
    ("Meaning\tForm\n", SENTENCES, None, ""),
    ("source\tlang2\n", SENTENCES, None, ""),
    ("Language 1\tLanguage 2\n", SENTENCES, None, ""),
    ("\\tx\t\\ft\n", SENTENCES, None, ""),
    ("\u043f\u0435\u0440\u0435\u0432\u043e\u0434\t\u0442\u0435\u043a\u0441\u0442\n", SENTENCES, None, ""),
    # glosses and notes of field linguists are no text by their headings
    (
        "ID\tLatin\tSegmentación\tGlosa\tTraducción libre\tFecha\n",
        ("L{n}", "target", "the {n} a-b c-d", "the {n} 3SG-see", "source", "2021-03-0{n}"),
        ("la", "target"),
        "",
    ),
    (
        "Woruna\tMorpheme breakdown\tInterlinear gloss\tFree translation\n",
        ("source", "the {n} a-b c-d", "the {n} 3SG-see", "target"),
        None,
        "columns 1 and 4 contain text and are used; ignored: 2 Morpheme breakdown, 3 Interlinear gloss",
    ),
    (
        "Texto\tTranscripción fonética\tAnálisis\tGlosado\tTrad. latín\n",
        ("source", "source", "the {n} a-b c-d", "the {n} 3SG-see", "target"),
        ("source", "la"),
        "columns 1 and 5 contain text and are used; ignored: 2 Transcripción fonética, 3 Análisis, 4 Glosado",
    ),
    # a column in a language that nmt does not know comes before the second of two that it knows, and this is said
    (
        "Qato\ua78ca\tEspañol\tEnglish\n",
        ("source", "target", "a{n} b{n} c{n}"),
        ("source", "es"),
        "columns 1 and 2 contain text and are used; ignored: 3 English; for others: --source-column, --target-column",
    ),
    ("Begin Time - hh:mm:ss.ms\ttx@A\tft@A\n", ("00:00:{n}.100", *SENTENCES), None, ""),
    # a title, or names with values, above the headings
    ("Words of 2019\t\nsource\ttarget\n", SENTENCES, None, "left out as a title above the header: row 1"),
    (
        "Words of 2019\nSpeaker:\tM. V.\n\nID\tShipibo (practical spelling)\tSpanish (free)\tAudio\n",
        ("S-{n}", "target", "source", "s{n}.wav"),
        ("shp", "es"),
        "left out as a title above the header: rows 1, 2",
    ),
]


@pytest.mark.parametrize(("head", "columns", "languages", "note"), TABLES)
def test_the_columns_of_text_are_the_pairs_whatever_is_beside_and_above_them(
    path: Path, head: str, columns: tuple[str, ...], languages: tuple[str, str] | None, note: str
) -> None:
    path.write_text(head + table(*columns), encoding="utf-8")
    reader = open_reader(CorpusFile(path), ReadOptions())
    read = list(reader)
    order = slice(None, None, 1 if columns.index("source") < columns.index("target") else -1)
    assert [(row.source, row.target) for row in read] == [pair[order] for pair in PAIRS]
    assert not (languages and any(row.has_more_columns for row in read))
    assert reader.languages == languages
    assert not note or reader.notes[0] == f"{path.name}: {note}"


@pytest.mark.parametrize(
    ("source", "target", "columns"),
    [
        (None, None, (0, 2)),
        ("Qato\ua78ca", "la", (0, 2)),
        ("la", "Qato\ua78ca", (2, 0)),
        (None, "eng", (0, 3)),
        ("es", None, (0, 2)),
        ("en", "lat", (3, 2)),
        ("qat", "es", (0, 2)),
        ("la", "la-VA", (2, 0)),
    ],
)
def test_a_heading_that_names_a_language_of_the_options_chooses_its_column_and_a_gloss_none(
    path: Path, source: str | None, target: str | None, columns: tuple[int, int]
) -> None:
    head = "Qato\ua78ca\tEnglish gloss\tLatin\tEnglish\n"
    path.write_text(head + table("a{n} b{n} c{n}", "the {n} x-y", "target", "source"), encoding="utf-8")
    reader = open_reader(CorpusFile(path), ReadOptions(source_language=source, target_language=target))
    cells = [row.split("\t") for row in path.read_text(encoding="utf-8").splitlines()]
    assert [(row.source, row.target) for row in reader] == [(row[columns[0]], row[columns[1]]) for row in cells[1:]]
    assert "ignored: " in reader.notes[0]


def test_one_known_language_makes_no_header_above_words(path: Path) -> None:
    words = "".join(f"{word}\t{word}x\n" for word in ANIMALS)
    assert texts(path, f"English\tAnglica\n{words}")[0] == ("English", "Anglica")
    dictionary = "".join(f"{word}{n}\t{word}x{n}\n" for word in ANIMALS for n in "abcd")
    assert texts(path, f"English\tAnglica\n{dictionary}French\tGallica\n")[0] == ("English", "Anglica")
    assert texts(path, f"English\tAnglica\n{dictionary}")[0] == ("doga", "dogxa")
    tagged = "".join(f"{word}{n}\tn.\t{word}x{n}\n" for word in ANIMALS for n in "abcd")
    assert texts(path, f"Anglica\tCat.\tEnglish\n{tagged}")[0] == ("doga", "dogxa")


def test_more_or_fewer_than_two_texts_are_asked_about(path: Path) -> None:
    message = refusal(path, table("{n}", "source", "target", "source"))
    assert "3 columns hold text, of 4: 1: '0'  2: 'The dog sees the dog.'" in message
    assert "--source-column 2 --target-column 3" in message
    assert "only one column holds text, of 2" in refusal(path, table("{n}", "source"))
    assert "column 2 is empty" in refusal(path, table("source", "?"))
    assert "each row needs both texts" in refusal(path, table("tx@A", "{n}", "source"))  # as of tiers of ELAN
    assert texts(path, table("{n}", "source", "target", "source"), source_column="4", target_column="3")[0] == (
        PAIRS[0][0],
        PAIRS[0][1],
    )


@pytest.mark.parametrize("header", ["", "one\tother\tpage\n", "Number\tEnglish\tLatin\tpage\n"])
def test_the_group_column_is_no_text_and_its_values_are_read(path: Path, header: str) -> None:
    numbers = ["{n}"] if header.startswith("Number") else []
    path.write_text(header + table(*numbers, "source", "target", "see page {n}"))
    column = "page" if header else "3"
    reader = open_reader(CorpusFile(path), ReadOptions(group_columns=("chapter", column)))
    read = list(reader)
    assert [(row.source, row.target, row.group) for row in read] == [
        (*pair, f"see page {number}") for number, pair in enumerate(PAIRS)
    ]
    assert list(reader.group_columns) == [column]


def test_a_name_with_two_languages_chooses_the_first_two_columns_of_text(tmp_path: Path) -> None:
    text = table("source", "target", "source", "target")
    assert texts(tmp_path / "eng-lat.ui.tsv", text) == PAIRS
    assert "4 columns hold text" in refusal(tmp_path / "ui.tsv", text)


def test_a_header_of_many_columns_is_recognised_by_most_of_its_names(tmp_path: Path) -> None:
    text = "Nr;Source text;Target text;Score\n" + table("{n}", "source", "target", "0.9", separator=";")
    assert texts(tmp_path / "a.csv", text) == PAIRS


def test_a_column_that_names_the_language_of_the_sources_is_not_that_of_the_targets(path: Path) -> None:
    for heading, expected in (("Otomí", ()), ("Español", "oto")):
        path.write_text(f"{heading}\tTraducción\tLengua\n" + table("source", "target", "otomi"), encoding="utf-8")
        read = list(open_reader(CorpusFile(path), ReadOptions(finds_languages=True)))
        assert {tag.value for row in read for tag in row.tags} == set([expected] if expected else [])


FIRST_PAIRS = (
    *(("Hello.", "Salve."), ("There is hope.", "Spes est."), ("even", "label"), ("Text", "Texto"), ("Hi", "Hola")),
    *(("Hungarian", "Ungarisch"), ("LEN(text)", "UND(text)"), ("Original", "Principale"), ("chi'rama", "los labios")),
)


@pytest.mark.parametrize("first", FIRST_PAIRS)
def test_a_first_pair_that_is_no_header_stays(path: Path, first: tuple[str, str]) -> None:
    assert texts(path, f"{first[0]}\t{first[1]}\n" + table("source", "target"))[0] == first


@pytest.mark.parametrize("mark", ["sep=;", '"sep=;"', "\ufeffsep=;"])
def test_the_line_that_tells_excel_the_delimiter_is_no_row(tmp_path: Path, mark: str) -> None:
    text = f"{mark}\r\nEnglish;Latin\r\n" + table("source", "target", separator=";")
    assert texts(tmp_path / "a.csv", text) == PAIRS
    assert texts(tmp_path / "a.tsv", text) == PAIRS


def test_quotes_around_cells_that_a_spreadsheet_put_there_are_taken_off(path: Path) -> None:
    written = 'He came, he saw.\t"Venit, ""vidit""."\nYes.\tIta.\n"Two\nlines."\tDuae lineae.\n'.replace(
        "He came, he saw.", '"He came, he saw."'
    )
    assert texts(path, written) == [
        ("He came, he saw.", 'Venit, "vidit".'),
        ("Yes.", "Ita."),
        ("Two\nlines.", "Duae lineae."),
    ]
    everything = '"Yes."\t"Ita."\n"No."\t"Non."\n'
    assert texts(path, everything) == [("Yes.", "Ita."), ("No.", "Non.")]
    assert texts(path, everything, format="tsv")[0] == ('"Yes."', '"Ita."')


@pytest.mark.parametrize(
    "text",
    [
        '"Yes."\tIta.\nNo.\tNon.\n',  # no spreadsheet quotes such a cell
        '"Yes, Tom."\t"Ita, Toma."\nNo, Tom.\tNon.\n',  # or this one and not that below
        '"Yes, Tom."\t"Ita, Toma."\nHe said "no".\tNegavit.\n',
        '"Come," he said.\tDixit.\n',
    ],
)
def test_quotes_of_the_sentences_themselves_stay(path: Path, text: str) -> None:
    assert texts(path, text) == [tuple(line.split("\t")) for line in text.splitlines()]


# USFM: verses without headings, notes and marks, and verses that are joined.


KEYED_BOOK = r"""\id RUT A made-up book
\h Ruth
\mt1 The Book
\ip An introduction, \bk which\bk* is no verse.
\c 1
\s1 A heading
\p
\v 1 In the days \f + \fr 1:1 \ft A note.\f*of old,
\q1 there was \add a\add* man.
\s2 Another heading
\p and he went on.
\v 2-3 The \w name|lemma="name" strong="H1"\w* of the man\x - \xo 1:2 \xt See 4.\x* was long.
\v 4 \zaln-s |x-strong="H2"\*\w They\w*\zaln-e\* died.
\v 5 ...
\c 2
\d A title.
\v 1a First part,
\v 1b second part.
"""
OTHER = r"""\id RUT
\c 1
\p
\v 1 Unus.
\v 2 Duo.
\v 3 Tria.
\v 4 Quattuor.
\v 5 Quinque.
\c 2 \p \v 1 Secundum.
\v 9 Solum.
"""
EXPECTED = [
    ("In the days of old, there was a man. and he went on.", "Unus."),
    ("The name of the man was long.", "Duo. Tria."),
    ("They died.", "Quattuor."),
    ("First part, second part.", "Secundum."),
]


def read_pairs(source: Path, target: Path) -> list[tuple[str, str]]:
    require_input(CorpusFile(source, target))
    return [(row.source, row.target) for row in open_reader(CorpusFile(source, target), ReadOptions())]


def test_verses_are_paired_by_book_chapter_and_number(tmp_path: Path) -> None:
    (tmp_path / "a.usfm").write_text(KEYED_BOOK)
    (tmp_path / "b.SFM").write_text("\ufeff" + OTHER.replace("\n", "\r\n"), newline="")
    assert read_pairs(tmp_path / "a.usfm", tmp_path / "b.SFM") == EXPECTED
    swapped = [(target, source) for source, target in EXPECTED]
    assert read_pairs(tmp_path / "b.SFM", tmp_path / "a.usfm") == swapped


def test_a_verse_whose_number_was_there_before_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.usfm").write_text("\\id RUT\n\\c 1\n\\v 1a One,\n\\v 1b two.\n\\v 2 Three.\n\\v 2 Four.\n")
    (tmp_path / "b.usfm").write_text("\\id RUT\n\\c 1\n\\v 1 Unum duo.\n\\v 2 Tria.\n")
    reader = open_reader(CorpusFile(tmp_path / "a.usfm", tmp_path / "b.usfm"), ReadOptions())
    assert [(row.source, row.target) for row in reader] == [("One, two.", "Unum duo."), ("Three.", "Tria.")]
    assert reader.notes == ["a.usfm + b.usfm: 1 verse has a repeated number (left out): RUT 1:2 in line 6"]


@pytest.mark.parametrize(
    ("lines", "pair"),
    [
        ("a dog ||| ein Hund\na cat |||  eine Katze\n", ("a dog", "ein Hund")),
        ("a dog ||| x\tein Hund\na cat\teine Katze\n", ("a dog ||| x", "ein Hund")),
    ],
)
def test_bars_of_word_aligners_separate_both_sides(tmp_path: Path, lines: str, pair: tuple[str, str]) -> None:
    path = tmp_path / "corpus.en-de"
    path.write_text(lines)
    (first, second) = open_reader(CorpusFile(path), ReadOptions())
    assert (first.source, first.target) == pair and (second.source, second.target) == ("a cat", "eine Katze")


def test_folders_of_books_are_read_whole(tmp_path: Path) -> None:
    for side, book in (("en", KEYED_BOOK), ("la", OTHER)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "08RUT.usfm").write_text(book)
        (tmp_path / side / "09JON.usfm").write_text(f"\\id JON\n\\c 1\n\\v 1 {side}\n")
        (tmp_path / side / "readme.txt").write_text("no book")
    reader = open_reader(CorpusFile(tmp_path / "en", tmp_path / "la"), ReadOptions())
    assert [(row.source, row.target) for row in reader] == [*EXPECTED, ("en", "la")]
    assert reader.notes == ["en + la: 2 verses only on one side, left out"]


def test_a_note_that_never_ends_costs_its_verse_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.usfm"
    path.write_text("\\id RUT\n\\c 1\n\\v 1 Good \\f + never ends\n\\p more\n\\v 2 better\n")
    assert read_pairs(path, path) == [("Good", "Good"), ("better", "better")]


def test_a_verse_of_notes_that_does_not_end_is_refused(tmp_path: Path) -> None:
    path, note = tmp_path / "a.usfm", "\\f + e\n"
    path.write_text(f"\\id RUT\n\\c 1\n\\v 1 Good\n{note * (MAXIMUM_VERSE // 8)}\\v 2 better\n")
    assert read_pairs(path, path) == [("Good", "Good"), ("better", "better")]
    path.write_text(f"\\id RUT\n\\c 1\n\\v 1 Good\n{note * (MAXIMUM_VERSE // 4)}")
    with pytest.raises(DataError, match="line 3: a verse of more than 1,048,576 characters"):
        read_pairs(path, path)


def test_one_bible_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.usfm").write_text(KEYED_BOOK)
    with pytest.raises(DataError, match="has only one side of the verses"):
        open_reader(CorpusFile(tmp_path / "a.usfm"), ReadOptions())


def test_an_address_of_a_verse_keeps_its_slashes(tmp_path: Path) -> None:
    path = tmp_path / "a.usfm"
    path.write_text("\\id RUT\n\\c 1\n\\v 1 See https://a.test/b, //and HTTP://C.TEST//now~then\n")
    assert read_pairs(path, path) == [("See https://a.test/b, and HTTP://C.TEST now then",) * 2]
