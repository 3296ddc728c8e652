import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError, OptionError
from nmt_cli.translation.result import FailedCheck, Translation
from support.documents import convert_bytes, list_texts, write_document
from support.translations import converted, louder

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\t"), max_size=12)


def read_table(name: str, source_language: str) -> int:
    source = DocumentSource(io.BytesIO(b"a\tb\n"), name, DocumentOptions(column=("1",)), "de", True, source_language)
    return len(list(open_document("tsv", source).read_units()))


@pytest.mark.parametrize(("name", "language"), [("m.fra-ita.tsv", "eng"), ("in/fr-it.tsv", "en")])
def test_a_table_of_other_languages_by_its_name_is_refused(name: str, language: str) -> None:
    with pytest.raises(DataError, match="by its name"):
        read_table(name, language)


@pytest.mark.parametrize("name", ["m.fra-eng.tsv", "to-do.tsv", "m.tsv"])
def test_a_table_whose_name_says_no_other_languages_is_read(name: str) -> None:
    assert read_table(name, "en") == read_table("fra-ita.tsv", "") == 1


def test_a_translation_of_several_lines_is_one_field() -> None:
    def by_line(text: str) -> Translation:
        whole = louder(text)
        best = whole.hypotheses[0]._replace(text="\n".join(text.upper().splitlines()))
        return whole._replace(hypotheses=(best,))

    assert converted("csv", 'a\n"x\ny"\n', by_line, column="a")[0] == 'a,a_de\n"x\ny","X\nY"\n'
    assert '"a_de": "X\\nY"' in converted("jsonl", '{"a": "x\\ny"}\n', by_line, column="a")[0]


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_each_line_of_tsv_begins_with_what_it_was(rows: list[tuple[str, str]]) -> None:
    lines = [f"{first}\t{second}" for first, second in rows]
    written = converted("tsv", "".join(line + "\n" for line in lines), column="1")[0].split("\n")
    assert written.pop() == ""
    assert len(written) == len(lines)
    for before, after in zip(lines, written, strict=True):
        assert after.startswith(before)
        assert after.count("\t") == before.count("\t") + bool(before.strip())


QUOTED = [  # tables that a spreadsheet has quoted, and as they are written
    (
        'text\tn\r\n"He said ""no""."\t1\r\n"Two\nlines, two."\t2\r\nYes, yes.\t3\r\n',
        'text\tn\ttext_de\r\n"He said ""no""."\t1\t"HE SAID ""NO""."\r\n'
        '"Two\nlines, two."\t2\tTWO LINES, TWO.\r\nYes, yes.\t3\tYES, YES.\r\n',
    ),
    ('text\n"Come, go."\nYes.\n', 'text\ttext_de\n"Come, go."\t"COME, GO."\nYes.\tYES.\n'),
    ('"text"\n"Yes."\n', '"text"\t"text_de"\n"Yes."\t"YES."\n'),
]


@pytest.mark.parametrize(("text", "written"), QUOTED)
def test_tsv_that_a_spreadsheet_quoted_is_written_in_the_same_quotes(text: str, written: str) -> None:
    assert convert_bytes("tsv", text.encode(), louder, is_file=True, column="text").decode() == written


@pytest.mark.parametrize("options", [{"is_file": True, "format": "tsv"}, {"is_file": False}])
def test_quotes_are_text_if_that_is_asked_for_or_a_pipe_would_wait(options: dict[str, object]) -> None:
    text = 'text\n"Come, go."\n'
    assert convert_bytes("tsv", text.encode(), louder, column="text", **options).endswith(b'\t"COME, GO."\n')
    assert list_texts("tsv", text.encode(), column="text", **options) == ['"Come, go."']


def test_a_translation_stands_in_its_own_column_behind_a_short_row() -> None:
    text, notes = converted("csv", "a,b,c\nx,1,2\ny\nz,1,2,3\n", column="a", new_column="n")[:2]
    assert text == "a,b,c,n\nx,1,2,X\ny,,,Y\nz,1,2,3,Z\n"
    assert sorted(notes.values()) == [1, 1]


@pytest.mark.parametrize(
    ("name", "text"),
    [("csv", 'a\n"pay 10\u00a0€ <a  href=x>\r\nnow"\n'), ("jsonl", '{"a": "pay 10\\u00a0€ <a  href=x>\\r\\nnow"}\n')],
)
def test_blanks_and_line_breaks_reach_the_translator_as_they_are(name: str, text: str) -> None:
    seen: list[str] = []

    def noted(text: str) -> Translation:
        seen.append(text)
        return louder(text)

    converted(name, text, noted, column="a")
    assert seen == ["pay 10\u00a0€ <a  href=x>\r\nnow"]


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_csv_as_it_is_read_again_has_one_field_more(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([("head", "text"), *rows])
    written = converted("csv", file.getvalue(), column="text")[0]
    again = list(csv.reader(io.StringIO(written, newline="")))
    for before, after in zip(rows, again[1:], strict=True):
        assert after[:2] == list(before)
        assert len(after) == 3 or not any(map(str.strip, before))


@given(
    st.lists(
        st.dictionaries(st.text(max_size=5), st.none() | st.floats(allow_nan=False) | st.text(max_size=9), max_size=3),
        max_size=4,
    )
)
def test_jsonl_as_it_is_read_again_has_one_entry_more(values: list[dict[str, object]]) -> None:
    entries = [{**{key: value for key, value in entry.items() if key != "q_de"}, "q": "hello"} for entry in values]
    written = converted("jsonl", "".join(json.dumps(entry) + "\n" for entry in entries), column="q")[0]
    assert [json.loads(line) for line in written.splitlines()] == [{**entry, "q_de": "HELLO"} for entry in entries]


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("tsv", "a\tb\n", {"column": "c"}, "x.tsv: there is no column 'c'"),
        ("tsv", "a\tb\nx\n", {"column": "b"}, "x.tsv, row 2: 1 column; there is no column 2"),
        ("tsv", "a\tb\n", {"column": "3"}, "x.tsv, row 1: 2 columns; there is no column 3"),
        ("tsv", "a\tb\n", {"column": "0"}, "x.tsv: there is no column '0'"),
        ("tsv", "a\ta_de\n", {"column": "a"}, "the column 'a_de' already exists"),
        ("csv", 'a,b\n1,"2\n3,4\n', {"column": "a"}, "x.csv, row 2"),
        ("csv", "a,b\r1,2\r", {"column": "a"}, "x.csv, row 1: new-line character"),
        ("jsonl", '{"a": "x"}\n[1]\n', {"column": "a"}, "x.jsonl, line 2: not a JSON object"),
        ("jsonl", '{"texts": "x"}\n', {"column": "text"}, "x.jsonl, line 1: there is no key 'text'"),
        ("jsonl", '{"a": 7}\n', {"column": "a"}, "'a' is 7, not a string"),
    ],
)
def test_what_will_not_do_is_told_with_its_line(name: str, text: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(DataError) as problem:
        converted(name, text, **options)
    assert message in problem.value.message
    assert problem.value.hint


def test_options_that_a_format_has_no_use_for_are_refused() -> None:
    for name, text in (("csv", "a,b\n"), ("jsonl", '{"a": "x", "b": "y"}\n')):
        with pytest.raises(OptionError, match="--column is missing") as needed:
            converted(name, text)
        assert "the columns are a, b;" in needed.value.hint
    with pytest.raises(OptionError, match="has no columns"):
        converted("text", "a\n", column="a")
    with pytest.raises(OptionError, match="--retranslate"):
        converted("md", "a\n", retranslate=True)
    with pytest.raises(OptionError, match="--new-column"):
        converted("tsv", "a\n", new_column="b")
    with pytest.raises(OptionError, match="--new-column needs a header"):
        converted("tsv", "a\tb\n", column="2", new_column="b")
    for name in ("a\tb", "a\nb"):
        with pytest.raises(OptionError, match="--new-column cannot be"):
            converted("tsv", "a\n", column="a", new_column=name)


def doubtful(text: str) -> Translation:
    """The text in capitals, which fails two checks if there is a digit in it."""
    failed = (FailedCheck("numbers", "number 7\tmissing"), FailedCheck("length", "too\nshort")) if "7" in text else ()
    return louder(text)._replace(checks=failed)


def test_a_further_column_says_what_is_wrong() -> None:
    options = {"column": "a", "qa_column": "qa"}
    wrong = "number 7 missing; too short"
    assert converted("tsv", "a\tb\nx7\t1\ny\t2\n", doubtful, **options)[0] == (
        f"a\tb\ta_de\tqa\nx7\t1\tX7\t{wrong}\ny\t2\tY\t\n"
    )
    assert converted("csv", "a;b\nx7;1\ny;2\n", doubtful, **options)[0] == (f'a;b;a_de;qa\nx7;1;X7;"{wrong}"\ny;2;Y;\n')
    written = converted("jsonl", '{"a": "x7"}\n{"a": "y"}\n{"a": null}\n', doubtful, **options)[0]
    assert [json.loads(row) for row in written.splitlines()] == [
        {"a": "x7", "a_de": "X7", "qa": wrong},
        {"a": "y", "a_de": "Y", "qa": ""},
        {"a": None, "a_de": None, "qa": None},
    ]
    assert converted("csv", "x7,1\n", doubtful, column="1", qa_column="qa")[0] == f"x7,1,X7,{wrong}\n"


def test_a_further_column_needs_a_name_of_its_own_and_a_table() -> None:
    with pytest.raises(DataError, match="already exists"):
        converted("tsv", "a\tb\n", column="a", qa_column="b")
    with pytest.raises(DataError, match="already exists"):
        converted("tsv", "a\tb\n", column="a", qa_column="a_de")
    with pytest.raises(OptionError, match=r"--qa-column: .* which has no columns"):
        converted("text", "a\n", qa_column="b")
    with pytest.raises(OptionError, match="--qa-column needs --column"):
        converted("tsv", "a\tb\n", qa_column="c")


def test_several_columns_are_translated_at_once() -> None:
    options = {"column": ("a", "c"), "qa_column": "qa", "confidence": True}
    header = "a,b,c,a_de,c_de,qa,a_de_confidence,c_de_confidence\n"
    rows = 'x,1,"y, z",X,"Y, Z",,,\n,2,x7,,X7,c: number 7 missing; too short,,\n'
    assert converted("csv", 'a,b,c\nx,1,"y, z"\n,2,x7\n', doubtful, **options)[0] == header + rows
    assert converted("tsv", "x\t1\ty\n", column=("3", "1"))[0] == "x\t1\ty\tY\tX\n"
    lines = '{"a": "x", "c": {"d": "y"}}\n{"a": null, "c": {"d": "z"}}\n{"c": 1}\n{"a": "x"}\n'
    written, notes = converted("jsonl", lines, column=("a", "c.d"))
    added = [json.loads(line) for line in written.splitlines()]
    assert [(row.get("a_de", "-"), row.get("c.d_de", "-")) for row in added] == [
        ("X", "Y"), (None, "Z"), ("-", "-"), ("X", None)
    ]  # fmt: skip
    assert list(notes.values()) == [2]
    for column, options, message in (
        (("a", "x"), {}, "there is no column 'x'"),
        (("a", "a"), {}, "names a column twice"),
        (("a", "c"), {"new_column": "n"}, "--new-column needs one --column"),
    ):
        with pytest.raises((DataError, OptionError), match=message):
            converted("csv", "a,b,c\n", column=column, **options)


@pytest.mark.parametrize(
    ("name", "table", "written"),
    [
        ("csv", "id,a\n1,x\n", "id,a,a_de\n1,x,X\n"),
        ("jsonl", '{"a": "x"}\n', '{"a": "x", "a_de": "X", "b_de": null}\n'),
        ("csv", "id,c\n", None),
        ("jsonl", '{"c": "x"}\n', None),
    ],
)
def test_a_table_among_others_takes_the_columns_that_it_has(name: str, table: str, written: str | None) -> None:
    config = DocumentOptions(column=("a", "b"))
    source = DocumentSource(
        table.encode().splitlines(keepends=True), "x", config, "de", source_language="en", is_among_others=True
    )
    document = open_document(name, source)
    if written is None:
        with pytest.raises(DataError, match=r"there is no (column|key) 'a'"):
            list(write_document(document, louder))
        return
    assert b"".join(write_document(document, louder)).decode() == written
    assert list(document.notes.values()) == [1]


def test_an_object_without_the_key_is_passed_through_and_counted() -> None:
    text = '{"id": 1, "text": "one"}\n{"id": 2}\n{"id": 3, "text": null}\n'
    written, notes = converted("jsonl", text, column="text")
    assert written == (
        '{"id": 1, "text": "one", "text_de": "ONE"}\n{"id": 2}\n{"id": 3, "text": null, "text_de": null}\n'
    )
    assert list(notes.values()) == [1]


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        ("messages.content", "did you mean 'messages.0.content'?"),
        ("messages", "name a key inside it, such as 'messages.0.content'"),
        ("x", "its texts are messages.0.content, id"),
    ],
)
def test_the_hint_about_a_key_names_one_that_works(column: str, hint: str) -> None:
    with pytest.raises(DataError) as problem:
        converted("jsonl", '{"messages": [{"content": "one"}], "id": "two"}\n', column=column)
    assert problem.value.hint == hint


def test_empty_values_of_json_lines_are_filled_in_their_places() -> None:
    first = '{"de" : "", "en": "a \\"b\\"", "x": {"de": ""}}'
    text = first + '\n{"en": "b", "de": "schon"}\n{"en":"c","de":null}\n{"en": "d"}\n'
    lines = converted("jsonl", text, column="en", new_column="de")[0].splitlines()
    assert lines[0] == '{"de" : "A \\"B\\"", "en": "a \\"b\\"", "x": {"de": ""}}'
    assert lines[1:3] == ['{"en": "b", "de": "schon"}', '{"en":"c","de":"C"}']
    assert json.loads(lines[3]) == {"en": "d", "de": "D"}


def test_a_column_that_exists_by_chance_is_not_filled() -> None:
    with pytest.raises(DataError, match="already exists") as caught:
        converted("tsv", "text\ttext_de\na\t\n", column="text")
    assert "--new-column text_de fills its empty cells" in caught.value.hint
