"""Spreadsheets: all texts in place, or one column into further ones; numbers, dates, formulas and formats stay."""

import re

import pytest

from nmt_cli.documents.office.workbook import QUOTED_NOTE
from nmt_cli.documents.reading_back import copy_torn
from nmt_cli.errors import DataError, OptionError
from nmt_cli.translation.result import FailedCheck, Translation
from support.archives import make_ods, make_xlsx, pack, unpack
from support.documents import convert_bytes, list_texts, open_bytes, write_document
from support.translations import louder, same

STRINGS = (
    "<si><t>id</t></si><si><t>English</t></si><si><t>good day &amp; night</t></si>"
    '<si><t xml:space="preserve">one line\nand more </t></si>'
    '<si><r><rPr><b/></rPr><t>bold</t></r><r><t xml:space="preserve"> boats</t></r><rPh><t>yomi</t></rPh></si>'
)
ROWS = (
    '<row r="1" spans="1:3"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1" t="s"><v>1</v></c></row>'
    '<row r="2" spans="1:3"><c r="A2"><v>7</v></c><c r="B2" s="2" t="s"><v>2</v></c>'
    '<c r="C2" s="3"><v>43000</v></c></row>'
    '<row r="3"><c r="B3" t="s"><v>3</v></c></row><row r="4"/>'
    '<row r="5"><c r="B5" t="inlineStr"><is><t>in line</t></is></c><c r="C5"><f>SUM(C2:C2)</f><v>43000</v></c></row>'
    '<row r="6"><c r="B6" t="str"><f>B2&amp;"!"</f><v>good day!</v></c></row>'
    '<row r="7"><c r="A7" t="s"><v>99</v></c><c r="B7" t="s"><v>4</v></c></row>'
)
WIDTHS = '<col min="1" max="1" width="4"/><col min="2" max="3" width="40" customWidth="1"/>'
BEFORE = f'<dimension ref="A1:C7"/><cols>{WIDTHS}</cols>'
XLSX = make_xlsx(ROWS, STRINGS, BEFORE)
CELL = '<table:table-cell office:value-type="string">{}</table:table-cell>'
ODS_ROWS = (
    f"<table:table-row>{CELL.format('<text:p>id</text:p>')}{CELL.format('<text:p>English</text:p>')}"
    '<table:table-cell table:number-columns-repeated="1000"/></table:table-row>'
    f"<table:table-row>{CELL.format('<text:p>k1</text:p>')}"
    f"{CELL.format('<text:p>good day</text:p><text:p>friend</text:p>')}"
    '<table:table-cell office:value-type="float" office:value="7"><text:p>seven</text:p></table:table-cell>'
    '<table:table-cell table:number-columns-repeated="2"/><table:table-cell table:style-name="x"/></table:table-row>'
    '<table:table-row><table:table-cell/><table:table-cell table:formula="of:=[.B2]" office:value-type="string">'
    "<text:p>good day</text:p></table:table-cell></table:table-row>"
)
ODS = make_ods(ODS_ROWS)


def repeat(text: str, count: str) -> str:
    return CELL.format(text).replace(">", f' table:number-columns-repeated="{count}">', 1)


def rate(text: str) -> Translation:
    return louder(text)._replace(confidence=0.25, checks=(FailedCheck("numbers", "number 7 missing"),))


def read_part(data: bytes, name: str) -> str:
    return unpack(data)[name].decode()


@pytest.mark.parametrize(("name", "data"), [("xlsx", XLSX), ("ods", ODS)])
@pytest.mark.parametrize("column", [None, "English"])
def test_what_is_not_translated_is_kept_byte_for_byte(name: str, data: bytes, column: str | None) -> None:
    written = unpack(convert_bytes(name, data, same, column=column))
    changed = {part for part, content in unpack(data).items() if written[part] != content}
    assert changed == (set() if column is None else {"xl/worksheets/sheet1.xml" if name == "xlsx" else "content.xml"})


def test_texts_of_cells_are_translated_and_no_numbers_or_formulas() -> None:
    texts = {"id", "English", "good day & night", "one line", "and more", "bold boats", "in line"}
    assert set(list_texts("xlsx", XLSX)) == texts
    written = convert_bytes("xlsx", XLSX, louder)
    strings = read_part(written, "xl/sharedStrings.xml")
    assert "<t>GOOD DAY &amp; NIGHT</t>" in strings and '"preserve">ONE LINE\nAND MORE </t>' in strings
    assert "<rPr><b/></rPr><t>BOLD</t></r>" in strings and "<rPh><t>yomi</t></rPh>" in strings
    sheet = read_part(written, "xl/worksheets/sheet1.xml")
    assert "<is><t>IN LINE</t></is>" in sheet and "<v>good day!</v>" in sheet and 'B2&amp;"!"' in sheet
    assert list_texts("ods", ODS) == ["id", "English", "k1", "good day", "friend"]
    content = read_part(convert_bytes("ods", ODS, louder), "content.xml")
    assert "<text:p>GOOD DAY</text:p><text:p>FRIEND</text:p>" in content and "<text:p>seven</text:p>" in content


def test_headings_of_tables_stay_since_formulas_name_them() -> None:
    table = '<table xmlns="x"><tableColumns><tableColumn id="1" name="English"/></tableColumns></table>'
    texts = list_texts("xlsx", make_xlsx(ROWS, STRINGS, table=table))
    assert "English" not in texts and "good day & night" in texts


def test_a_column_of_a_workbook_gets_columns_with_its_format_and_width() -> None:
    written = convert_bytes("xlsx", XLSX, rate, column="English", confidence=True, qa_column="qa")
    sheet = read_part(written, "xl/worksheets/sheet1.xml")
    assert '<dimension ref="A1:F7"/>' in sheet and '<col min="4" max="6" width="40" customWidth="1"/></cols>' in sheet
    assert '<c r="D1" s="1" t="inlineStr"><is><t xml:space="preserve">English_de</t></is></c>' in sheet
    assert (
        '<c r="D2" s="2" t="inlineStr"><is><t xml:space="preserve">GOOD DAY &amp; NIGHT</t></is></c>'
        '<c r="E2" s="2" t="inlineStr"><is><t xml:space="preserve">number 7 missing</t></is></c>'
        '<c r="F2" s="2"><v>0.2500</v></c></row>'
    ) in sheet
    assert 'spans="1:6"' in sheet and '"D6"' not in sheet and '"D4"' not in sheet and '"D5"' in sheet


@pytest.mark.parametrize(("name", "data"), [("xlsx", XLSX), ("ods", ODS)])
def test_several_columns_of_a_sheet_are_translated_at_once(name: str, data: bytes) -> None:
    document = open_bytes(name, data, column=("English", "id"))
    texts = [unit.texts for unit in document.read_units() if unit.texts]
    assert texts[0][0].startswith("good day") and ("k1" in texts[0][1]) == (name == "ods")
    written = convert_bytes(name, data, louder, column=("English", "id"))
    again = [
        unit.texts for unit in open_bytes(name, written, column=("English_de", "id_de")).read_units() if unit.texts
    ]
    assert again == [tuple(louder(text).text for text in row) for row in texts]


def test_a_column_of_opendocument_gets_columns_behind_the_last() -> None:
    content = read_part(convert_bytes("ods", ODS, rate, column="2", confidence=True), "content.xml")
    assert content.count("ENGLISH") == 1 and 'table:number-columns-repeated="997"/></table:table-row>' in content
    row = content[content.index("k1") :]
    assert row.index("seven") < row.index("GOOD DAY FRIEND") < row.index('office:value="0.2500"')
    assert row.index("0.2500") < row.index('table:style-name="x"') and content.count("GOOD DAY") == 1


def add_sheet(data: bytes) -> bytes:
    """The workbook with its sheet once more."""
    parts = unpack(data)
    for name, tag in (
        ("xl/workbook.xml", '<sheet name="Texts" sheetId="1" r:id="r1"/>'),
        ("xl/_rels/workbook.xml.rels", '<Relationship Id="r1" Type="x" Target="worksheets/sheet1.xml"/>'),
        (
            "[Content_Types].xml",
            re.findall("<Override[^>]*sheet1.xml[^>]*>", read_part(data, "[Content_Types].xml"))[0],
        ),
    ):
        more = tag.replace("Texts", "More").replace('"1"', '"2"').replace("r1", "r2").replace("sheet1", "sheet2")
        parts[name] = parts[name].replace(tag.encode(), f"{tag}{more}".encode())
    return pack({**parts, "xl/worksheets/sheet2.xml": parts["xl/worksheets/sheet1.xml"]})


@pytest.mark.parametrize(
    ("name", "data"),
    [("xlsx", add_sheet(XLSX)), ("ods", make_ods(f"{ODS_ROWS}</table:table><table:table table:name='B'>{ODS_ROWS}"))],
)
@pytest.mark.parametrize(("column", "sheets"), [("English", 1), ("2", 0)])
def test_further_sheets_with_the_column_are_noted(name: str, data: bytes, column: str, sheets: int) -> None:
    document = open_bytes(name, data, column=column)
    list(write_document(document, louder))
    assert document.notes["further sheets with that column, left unchanged"] == sheets


@pytest.mark.parametrize(("name", "data"), [("xlsx", XLSX), ("ods", ODS)])
def test_what_cannot_be_is_said(name: str, data: bytes) -> None:
    with pytest.raises(DataError, match="there is no column 'Englisch'") as caught:
        convert_bytes(name, data, louder, column="Englisch")
    assert "did you mean 'English'" in caught.value.hint and "separately" not in caught.value.hint
    document = open_bytes(name, data, column="Englisch")
    document.source = document.source._replace(is_among_others=True)
    with pytest.raises(DataError, match="there is no column 'Englisch'") as caught:
        list(document.read_units())
    assert "'English'" in caught.value.hint and "translate it separately, without --column" in caught.value.hint
    for several, hint in (
        ("English,id", "repeat --column for each column: English, id"),
        ("1,2", "repeat --column for each column: 1, 2"),
    ):
        with pytest.raises(OptionError, match="names a single column, not") as refused:
            convert_bytes(name, data, louder, column=several)
        assert hint in refused.value.hint
    with pytest.raises(DataError, match="formulas") as refused:
        convert_bytes(name, data, louder, column="English", sort_by_confidence=True)
    assert "sort by the column of --confidence" in refused.value.hint
    with pytest.raises(OptionError, match="needs --column"):
        convert_bytes(name, data, louder, sort_by_confidence=True)


MERGED = "<table:table-row table:number-rows-repeated='9'/>" + ODS_ROWS.replace("k1", "k2")


@pytest.mark.parametrize(
    ("name", "data", "column", "cells"),
    [
        ("xlsx", XLSX, "English", ["Texts!B2", "Texts!B3", "Texts!B5", "Texts!B7"]),
        ("xlsx", XLSX, "2", ["Texts!B1", "Texts!B2", "Texts!B3", "Texts!B5", "Texts!B7"]),
        ("ods", make_ods(ODS_ROWS + MERGED), "English", ["Texts!B2", "Texts!B13", "Texts!B14"]),
    ],
)
def test_texts_of_a_column_are_located_by_their_cells(name: str, data: bytes, column: str, cells: list[str]) -> None:
    units = open_bytes(name, data, column=column).read_units()
    assert [unit.location and unit.location.name for unit in units if unit.texts] == cells


WORDS = ["sure", "doubtful", "", "middling"]
SHEETS = {
    "xlsx": make_xlsx(
        "".join(
            f'<row r="{number}" ht="{number}"><c r="A{number}"><v>{number}</v></c>'
            f'<c r="B{number}" t="inlineStr"><is><t>{text}</t></is></c></row>'
            for number, text in enumerate(["English", *WORDS], start=1)
        ),
        "",
        "",
    ),
    "ods": make_ods(
        "".join(
            f'<table:table-row><table:table-cell office:value-type="float" office:value="{number}"/>'
            f"{CELL.format(f'<text:p>{text}</text:p>') if text else '<table:table-cell/>'}</table:table-row>"
            for number, text in enumerate(["English", *WORDS], start=1)
        )
    ),
}


@pytest.mark.parametrize("name", SHEETS)
def test_rows_of_a_sheet_are_sorted_by_confidence_for_review(name: str) -> None:
    rates = {"sure": 0.9, "doubtful": 0.1, "middling": 0.5}
    written = convert_bytes(
        name,
        SHEETS[name],
        lambda text: louder(text)._replace(confidence=rates.get(text)),
        column="English",
        sort_by_confidence=True,
    )
    part = read_part(written, "xl/worksheets/sheet1.xml" if name == "xlsx" else "content.xml")
    rows = re.split(r"(?=<(?:table:table-)?row\b)", part)[1:]
    assert [next((word for word in ("English", *rates) if word in row), "") for row in rows] == [
        *("English", "doubtful", "middling", "", "sure")
    ]
    assert [word.upper() in row for word, row in zip(rates, (rows[4], rows[1], rows[2]), strict=True)] == [True] * 3
    if name == "xlsx":  # a row brings its format and its values, and gets the number of its place
        assert re.findall(r'<row r="(\d)"', part) == ["1", "2", "3", "4", "5"]
        assert re.findall(r'ht="(\d)"', part) == ["1", "3", "5", "4", "2"]
        assert re.findall(r'<c r="(A\d)"><v>(\d)', part) == [
            *(("A1", "1"), ("A2", "3"), ("A3", "5"), ("A4", "4"), ("A5", "2"))
        ]


@pytest.mark.parametrize(("name", "column"), [("tsv", "text"), ("csv", "1"), ("jsonl", "text")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_of_a_table_are_sorted_by_confidence_for_review(name: str, column: str, end: str) -> None:
    words = ["sure", "doubtful", "", "middling"]
    rows = [f'{{"text": "{word}"}}' if name == "jsonl" else f"{word}\tx" for word in words]
    head = [] if name == "jsonl" or column == "1" else ["text\tx"]
    rates = {"sure": 0.9, "doubtful": 0.1, "middling": 0.5}
    written = convert_bytes(
        name,
        end.join([*head, *rows]).encode(),
        lambda text: louder(text)._replace(confidence=rates.get(text)),
        column=column,
        sort_by_confidence=True,
    ).decode()
    lines = written.split(end)[len(head) : -1]
    assert [next((word for word in rates if word in line), "") for line in lines] == [
        "doubtful",
        "middling",
        "sure",
        "",
    ]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("xlsx", make_xlsx(f'{ROWS}<row r="8"><c r="B8" t="s"><v>{"9" * 5_000}</v></c></row>', STRINGS, BEFORE)),
        ("xlsx", make_xlsx(ROWS, STRINGS, f'<cols><col min="x" max="{"9" * 5_000}"/></cols>')),
        ("xlsx", make_xlsx(ROWS, STRINGS, "<cols></cols><dimension/>")),
        ("ods", make_ods(f"<table:table-row>{repeat('a', '9' * 5_000)}{CELL.format('b')}</table:table-row>")),
    ],
)
def test_numbers_that_no_program_writes_are_none(name: str, data: bytes) -> None:
    assert unpack(convert_bytes(name, data, same, column="2"))


@pytest.mark.parametrize("count", ["1000000000", "16385"])
def test_a_sheet_of_more_columns_than_any_program_has_is_refused(count: str) -> None:
    with pytest.raises(DataError, match="more than 16,384 columns"):
        convert_bytes("ods", make_ods(f"<table:table-row>{repeat('x', count)}</table:table-row>"), same, column="2")
    empty = f'<table:table-cell table:number-columns-repeated="{count}"/>'
    with pytest.raises(DataError, match="more than 16,384 columns"):
        convert_bytes(
            "ods", make_ods(f"<table:table-row>{empty}{CELL.format('x')}</table:table-row>"), same, column="2"
        )


def test_equal_cells_that_are_spelled_once_are_columns_of_their_own() -> None:
    data = make_ods(f"<table:table-row>{repeat('<text:p>good day</text:p>', '3')}</table:table-row>")
    content = read_part(convert_bytes("ods", data, louder, column="2"), "content.xml")
    assert repeat("<text:p>good day</text:p>", "3") + CELL.format("<text:p>GOOD DAY</text:p>") in content


def write_cells(number: int, *cells: str, behind: str = "") -> str:
    """Returns a row of a worksheet with texts, or with cells as they are spelled."""
    named = zip("ABC", cells, strict=False)
    written = (cell if cell[0] == "<" else TEXT_CELL.format(f"{letter}{number}", cell) for letter, cell in named)
    return f'<row r="{number}" spans="1:3">{"".join(written)}{behind}</row>'


def write_calc_row(*cells: str) -> str:
    written = (cell if cell[0] == "<" else CELL.format(f"<text:p>{cell}</text:p>") for cell in cells)
    return f"<table:table-row>{''.join(written)}</table:table-row>"


TEXT_CELL = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
HALF_DONE = make_xlsx(
    write_cells(1, "en", "de", "note")
    + write_cells(2, "one", "eins")
    + write_cells(3, "two", '<c r="B3" s="7"/>', "x")
    + write_cells(4, TEXT_CELL.format("A4", "six").replace(" t=", ' s="5" t='), behind='<c r="D4" s="1"/>')
    + write_cells(5, "ten", '<c r="B5" t="str"><f>C5</f><v></v></c>'),
    "",
    '<dimension ref="A1:C5"/><cols><col min="1" max="2" width="9"/></cols>',
)
EMPTY = '<table:table-cell table:style-name="s"{}/>'
HALF_DONE_CALC = make_ods(
    write_calc_row("en", "de", "note")
    + write_calc_row("one", "eins")
    + write_calc_row("two", EMPTY.format(""), "x")
    + write_calc_row("six", EMPTY.format(' table:number-columns-repeated="9"'))
    + write_calc_row("ten", '<table:table-cell table:formula="of:=[.C5]" office:value-type="string"/>')
)
FILLED = '<c r="{}"{} t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>'


def test_empty_cells_of_an_existing_column_of_a_workbook_are_filled() -> None:
    sheet = read_part(
        convert_bytes("xlsx", HALF_DONE, rate, column="en", new_column="de", qa_column="qa"), "xl/worksheets/sheet1.xml"
    )
    assert sheet.count("eins") == 1 and "ONE" not in sheet and "TEN" not in sheet and "<f>C5</f>" in sheet
    assert FILLED.format("B3", ' s="7"', "TWO") + TEXT_CELL.format("C3", "x") in sheet
    assert FILLED.format("B4", ' s="5"', "SIX") + FILLED.format("D4", ' s="1"', "number 7 missing") in sheet
    assert 'ref="A1:D5"' in sheet and sheet.count('r="B3"') == sheet.count('r="D4"') == 1
    only = read_part(convert_bytes("xlsx", HALF_DONE, louder, column="en", new_column="de"), "xl/worksheets/sheet1.xml")
    assert '<dimension ref="A1:C5"/><cols><col min="1" max="2" width="9"/></cols>' in only


def test_empty_cells_of_an_existing_column_of_opendocument_are_filled() -> None:
    content = read_part(convert_bytes("ods", HALF_DONE_CALC, louder, column="en", new_column="de"), "content.xml")
    cell = '<table:table-cell table:style-name="s" office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    assert content.count("eins") == 1 and "ONE" not in content and "TEN" not in content and "[.C5]" in content
    assert cell.format("TWO") + CELL.format("<text:p>x</text:p>") in content
    assert cell.format("SIX") + EMPTY.format(' table:number-columns-repeated="8"') in content


@pytest.mark.parametrize(("name", "data"), [("xlsx", HALF_DONE), ("ods", HALF_DONE_CALC)])
def test_translations_in_cells_are_replaced_if_that_is_asked_for(name: str, data: bytes) -> None:
    written = unpack(convert_bytes(name, data, louder, column="en", new_column="de", retranslate=True))
    text = b"".join(written.values()).decode()
    assert "ONE" in text and "eins" not in text and "TEN" not in text


def test_texts_of_formulas_that_cells_have_too_are_counted() -> None:
    strings = "".join(f"<si><t>{text}</t></si>" for text in ("Yes", "No", "7"))
    formulas = ("IF(A1=&quot;Yes&quot;,1,0)", 'COUNTIF(A1:A9,"Yes")&"yes"&"Maybe"&"7"', "Yes")
    cells = (f'<c r="B{row}"><f t="No">{formula}</f><v>1</v></c>' for row, formula in enumerate(formulas, 1))
    rows = "".join(f'<row r="{row}">{cell}</row>' for row, cell in enumerate(cells, 1))
    document = open_bytes("xlsx", make_xlsx(rows, strings))
    assert list(write_document(document, louder))
    assert dict(document.notes) == {QUOTED_NOTE: 2}


KEPT_ROWS = [("en", "de"), ("3 dogs", "7 Hunde"), ("one", "eins"), ("", "x"), ("Open {a}", "Auf"), ("two", "")]


@pytest.mark.parametrize(
    ("name", "data", "places"),
    [
        ("csv", "".join(f"{a},{b}\n" for a, b in KEPT_ROWS).encode(), ["row 2", "row 5"]),
        ("jsonl", "".join(f'{{"en": "{a}", "de": "{b}"}}\n' for a, b in KEPT_ROWS[1:]).encode(), ["line 1", "line 4"]),
        (
            "xlsx",
            make_xlsx(
                "".join(write_cells(row, a or "<c/>", b or "<c/>") for row, (a, b) in enumerate(KEPT_ROWS, 1)), ""
            ),
            ["Texts!A2", "Texts!A5"],
        ),
        (
            "ods",
            make_ods("".join(write_calc_row(a or EMPTY.format(""), b or EMPTY.format("")) for a, b in KEPT_ROWS)),
            ["Texts!A2", "Texts!A5"],
        ),
    ],
)
def test_kept_translations_are_counted_and_checked_for_the_numbers_and_codes_of_their_sources(
    name: str, data: bytes, places: list[str]
) -> None:
    document = open_bytes(name, data, column=("en",), new_column="de")
    assert list(write_document(document, louder))
    assert document.notes == {"existing translations that were kept (--retranslate replaces them)": 3}
    assert [str(text.location) for text in document.torn] == places
    assert [(text.check, text.kept) for text in document.torn] == [("numbers", "7 Hunde"), ("spans", "Auf")]
    assert copy_torn(document.torn[0])[0] == "3 dogs" and copy_torn(document.torn[0]).text == "7 Hunde"
    replaced = open_bytes(name, data, column=("en",), new_column="de", retranslate=True)
    assert list(write_document(replaced, louder)) and not (replaced.notes or replaced.torn)


@pytest.mark.parametrize("name", ["xlsx", "ods"])
def test_the_headings_may_be_below_a_title(name: str) -> None:
    rows = (["Texts of 2019"], [], ["id", "English"], ["k1", "good day"])
    if name == "ods":
        cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
        lines = ("".join(map(cell.format, row)) for row in rows)
        data = make_ods("".join(f"<table:table-row>{line}</table:table-row>" for line in lines))
    else:
        cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
        data = make_xlsx("".join(f"<row>{''.join(map(cell.format, row))}</row>" for row in rows), "")
    written = convert_bytes(name, data, louder, column="English")
    units = [unit.texts for unit in open_bytes(name, written, column="English_de").read_units() if unit.texts]
    assert units == [(louder("good day").text,)]
