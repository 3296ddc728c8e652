import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.corpus.formats import READERS, format_of, open_reader
from nmt_cli.corpus.formats.inputs import Input, ReadOptions, parse_input
from nmt_cli.corpus.formats.reader import Row
from nmt_cli.errors import DataError, NmtError, NotFoundError, OptionError

PAIRS = [("one", "eins"), ('two "2", 二', "zwei; zwo"), ("three < 4 & 5", "drei\u2028x"), ("fünf", "five")]


def rows(path: Path, data: bytes | str, **options: str) -> list[Row]:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(open_reader(Input(path), ReadOptions(**options)))


def texts(path: Path, data: bytes | str, **options: str) -> list[tuple[str, str]]:
    return [(row.source, row.target) for row in rows(path, data, **options)]


def refusal(path: Path, data: bytes | str, **options: str) -> str:
    with pytest.raises(DataError) as caught:
        rows(path, data, **options)
    assert str(path) in caught.value.message
    return f"{caught.value.message}\n{caught.value.hint}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "corpus.tsv"


def test_rows_carry_their_line_and_whether_there_was_more(path: Path) -> None:
    data = b"one\teins\r\n\ntwo\tzwei\tCC-BY (Anna)\tmore\nthree\t"
    assert rows(path, data) == [
        Row(1, "one", "eins"),
        Row(2, "", ""),
        Row(3, "two", "zwei", has_more_columns=True),
        Row(4, "three", ""),
    ]


def test_only_line_feeds_end_a_line(path: Path) -> None:
    assert rows(path, "a\u2028b\x0cc\u0085\td\n") == [Row(1, "a\u2028b\x0cc\u0085", "d")]


def test_a_byte_order_mark_is_no_part_of_the_text(path: Path) -> None:
    assert rows(path, b"\xef\xbb\xbfone\teins\n") == [Row(1, "one", "eins")]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_packed_files_are_read_as_they_are_and_their_checksum_is_that_of_the_file(path: Path, pack: object) -> None:
    data = "".join(f"{number}\tä{number}\n" for number in range(9_000)).encode()
    packed = pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])  # type: ignore[operator]
    path.write_bytes(packed)
    reader = open_reader(Input(path), ReadOptions())
    assert [(row.source, row.target) for row in reader] == [(str(n), f"ä{n}") for n in range(9_000)]
    assert (reader.stream.sha256, reader.bytes_read) == (hashlib.sha256(packed).hexdigest(), reader.size)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_packed_file_that_is_cut_is_damaged(path: Path, pack: object) -> None:
    packed = pack("".join(f"{n * n}\tä{n}\n" for n in range(9_000)).encode())  # type: ignore[operator]
    assert "is damaged" in refusal(path, packed[: len(packed) // 2])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"a\tb\nonly one\n", "line 2: one column"),
        (b"a\tb\n\xe9t\xe9\tb\n", "line 2: not UTF-8 (byte 0xe9 at position 1)"),
        (b"a\tb\n\xe9t\xe9\tb\n", "--encoding cp1252"),
        (b"a\tb\nc\td\0e\n", "line 2: a NUL byte at column 4"),
        ("a\tb\n".encode("utf-16"), "--encoding utf-16"),
        ("a lot of\tletters\n".encode("utf-16-le"), "--encoding utf-16-le"),
        ("a lot of\tletters\n".encode("utf-16-be"), "--encoding utf-16-be"),
        (b"PK\x03\x04 and more", "is a zip archive"),
        (b"a\tb\n" + b"x" * (1 << 21), "line 2: longer than"),
        (b"\x1f\x8b and no gzip", "is damaged"),
        (b"BZh9 and no bzip2 at all", "is damaged"),
        (b"\xfd7zXZ and no xz", "is damaged"),
        (b"\x28\xb5\x2f\xfd and no zstandard", "is damaged"),
    ],
)
def test_what_is_no_such_text_is_refused_with_file_and_line(path: Path, data: bytes, message: str) -> None:
    assert message in refusal(path, data)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252", "utf-8", "utf-8-sig"])
def test_other_encodings_are_read_when_they_are_named(path: Path, encoding: str) -> None:
    assert texts(path, "café\t“a”\r\nb\tß\n".encode(encoding), encoding=encoding) == [("café", "“a”"), ("b", "ß")]


def test_a_wrong_encoding_is_told_and_one_that_is_none_is_refused(path: Path) -> None:
    assert "not utf-16" in refusal(path, b"abc", encoding="utf-16-le")
    assert "give the encoding" in refusal(path, b"a\t\xe9\n", encoding="utf-8")
    for name in ("utf-17", "zlib", "hex", ""):
        with pytest.raises(OptionError, match="there is no encoding"):
            rows(path, b"a\tb\n", encoding=name)


def test_a_missing_file_names_the_nearest_and_a_directory_is_none(path: Path) -> None:
    path.write_text("a\tb\n")
    with pytest.raises(NotFoundError) as caught:
        open_reader(Input(path.with_name("corpsu.tsv")), ReadOptions())
    assert "corpus.tsv" in caught.value.hint
    with pytest.raises(NotFoundError, match="is a directory"):
        open_reader(Input(path.parent), ReadOptions())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.tsv", "tsv"),
        ("a.CSV.gz", "csv"),
        ("a.jsonl.zst", "jsonl"),
        ("a.xlf", "xliff"),
        ("a.pot", "po"),
        ("a", "tsv"),
    ],
)
def test_the_format_is_that_of_the_suffix_unless_it_is_given(name: str, expected: str) -> None:
    assert format_of(Input(Path(name)), ReadOptions()) == expected
    assert format_of(Input(Path(name)), ReadOptions(format="tmx")) == "tmx"
    with pytest.raises(OptionError, match="there is no format 'tsvv'") as caught:
        format_of(Input(Path(name)), ReadOptions(format="tsvv"))
    assert caught.value.hint == "did you mean 'tsv'?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.tsv", Input(Path("a.tsv"))),
        ("a.tsv=2", Input(Path("a.tsv"), None, 2.0)),
        ("a.en,a.de=0.5", Input(Path("a.en"), Path("a.de"), 0.5)),
        ("-", Input(Path("-"))),
    ],
)
def test_an_input_is_a_name_or_two_with_a_weight(text: str, expected: Input) -> None:
    assert parse_input(text) == expected


def test_a_name_that_exists_is_no_weight_and_a_weight_has_bounds(tmp_path: Path) -> None:
    odd = tmp_path / "a,b=2"
    odd.touch()
    assert parse_input(str(odd)) == Input(odd)
    for text in ("a.tsv=0", "a.tsv=5000"):
        with pytest.raises(OptionError, match="a weight is"):
            parse_input(text)


# --- TSV and CSV


def test_columns_of_a_table_are_chosen_by_number_or_name(path: Path) -> None:
    data = "id\tEnglish\tGerman\n1\tone\teins\n2\ttwo\tzwei\n"
    expected = [("one", "eins"), ("two", "zwei")]
    assert texts(path, data, source_column="English", target_column="3") == expected
    assert texts(path, data, source_column="2", target_column="3")[1:] == expected
    assert "did you mean 'German'" in refusal(path, data, target_column="Germn")
    assert "line 2: 2 columns" in refusal(path, "a\tb\tc\nd\te\n", target_column="3")


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
    assert "line 2: 1 columns" in refusal(path, "a,b\nonly\n")


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
    assert texts(tmp_path / "news.en-fr.csv", "en,de\none,eins\n") == [("en", "de"), ("one", "eins")]


def test_the_flag_of_an_obsolete_entry_is_its_own(tmp_path: Path) -> None:
    text = '#, fuzzy\n#~ msgid "old"\n#~ msgstr "alt"\n\nmsgid "new"\nmsgstr "neu"\n'
    assert [(row.source, row.is_unfinished) for row in rows(tmp_path / "x.po", text)] == [("new", False)]


def test_a_quote_that_is_never_closed_is_told_with_the_line_where_it_was_opened(tmp_path: Path) -> None:
    data = 'a,b\nc,"d\n' + "e,f\n" * 100_000
    assert "line 2: field larger than" in refusal(tmp_path / "a.csv", data)


# --- JSON Lines


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('{"source": "a", "target": "b"}', {}),
        ('{"src": "a", "tgt": "b"}', {}),
        ('{"translation": {"en": "a", "de": "b"}}', {"source_language": "en", "target_language": "de"}),
        ('{"x": "a", "y": "b", "source": 1}', {"source_column": "x", "target_column": "y"}),
        ('["a", "b"]', {}),
        ('["c", "b", "a"]', {"source_column": "3"}),
    ],
)
def test_json_lines_of_all_usual_shapes_are_read(tmp_path: Path, line: str, options: dict[str, str]) -> None:
    assert rows(tmp_path / "a.jsonl", f"\n{line}\n", **options) == [Row(1, "", ""), Row(2, "a", "b")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: no JSON"),
        ("[" * 100_000, "line 1: no JSON"),
        ('{"source": 1, "target": "b"}', "no text under 'source'"),
        ('{"en": "a", "de": "b"}', "name one of these with --source-column and --target-column: en, de"),
        ('["a"]', "no text under"),
        ("7", "no text under"),
    ],
)
def test_json_without_the_two_texts_is_refused(tmp_path: Path, line: str, message: str) -> None:
    assert message in refusal(tmp_path / "a.jsonl", line)


# --- TMX and XLIFF

TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US"/><body>
{}
</body></tmx>"""
UNIT = '<tu><tuv xml:lang="de"><seg>{}</seg></tuv>\n<tuv xml:lang="en-US"><seg>{}</seg></tuv></tu>'


def test_tmx_is_read_without_its_inline_codes(tmp_path: Path) -> None:
    code = 'a <bpt i="1">&lt;b&gt;</bpt><hi>b</hi><ept i="1">&lt;/b&gt;</ept> <ph>x<sub>y</sub></ph>c'
    data = TMX.format(UNIT.format("eins", code) + "\n\n" + UNIT.format("zwei &amp; mehr", "two"))
    assert rows(tmp_path / "a.tmx", data) == [Row(4, "a b c", "eins"), Row(7, "two", "zwei & mehr")]
    assert texts(tmp_path / "a.tmx", data, source_language="de") == [("eins", "a b c"), ("zwei & mehr", "two")]


def test_of_several_languages_two_must_be_named(tmp_path: Path) -> None:
    unit = UNIT.replace("</tu>", '<tuv lang="fr"><seg>un</seg></tuv></tu>').format("eins", "one")
    assert "has the languages de, en-US, fr" in refusal(tmp_path / "a.tmx", TMX.format(unit))
    options = {"source_language": "fr", "target_language": "en"}
    assert texts(tmp_path / "a.tmx", TMX.format(unit + UNIT.format("x", "y")), **options) == [("un", "one"), ("", "y")]


def test_xliff_of_both_versions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    first = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"
target-language="de"><body>
<trans-unit id="1"><source>a <g id="1">b</g><x id="2"/></source><target>c<ph id="1">code</ph></target></trans-unit>
<trans-unit id="2"><source>d</source><target state="new">e</target></trans-unit>
<trans-unit id="3"><source>f</source></trans-unit></body></file></xliff>"""
    expected = [Row(3, "a b", "c"), Row(4, "d", "e", is_unfinished=True), Row(5, "f", "")]
    assert rows(path, first) == expected
    second = """<xliff version="2.0" srcLang="en" trgLang="de"><file><unit id="1">
<segment state="final"><source>a <pc id="1">b</pc><ph id="2"/></source><target>c</target></segment>
<segment state="initial"><source>d</source><target>e</target></segment>
<segment><source>f</source></segment></unit></file></xliff>"""
    assert [row._replace(line=row.line + 1) for row in rows(path, second)] == expected
    reader = open_reader(Input(path), ReadOptions())
    list(reader)
    assert reader.languages == ("en", "de")


BOMB = '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(10)
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (f'{BOMB}]><tmx><body><tu><tuv lang="a"><seg>&k;</seg></tuv></tu></body></tmx>', "declares entities"),
        ('<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx><tu>&x;</tu></tmx>', "declares entities"),
        ("<tmx>" + "<a>" * 100_000, "more than 200 elements within each other"),
        ("<tmx><tu><tuv>" + "x" * (1 << 23), "a unit of more than"),
        ("<html></html>", "the root is <html>, not <tmx>"),
        ("<tmx><body>", "is no XML"),
        ("a\tb\n", "is no XML"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', "klingon"),
        ("<tmx></tmx>", "is empty"),
    ],
)
def test_xml_that_is_a_trap_or_no_translation_memory_is_refused(tmp_path: Path, data: str, message: str) -> None:
    assert message in refusal(tmp_path / "a.tmx", data)


# --- PO

PO = r"""
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

# comment
#: file.c:10
msgctxt "menu"
msgid "Open \"%s\""
msgstr ""
"„%s“ "
"öffnen"

#, fuzzy, c-format
msgid "one"
msgstr "eins"

msgid "file"
msgid_plural "files"
msgstr[0] "Datei"
msgstr[1] "Dateien"
msgid "untranslated"
msgstr ""

#~ msgid "old"
#~ msgstr "alt"
"""


def test_catalogues_are_read_with_plurals_and_marks(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.po", PO) == [
        Row(7, 'Open "%s"', "„%s“ öffnen"),
        Row(14, "one", "eins", is_unfinished=True),
        Row(17, "file", "Datei"),
        Row(17, "files", "Dateien"),
        Row(21, "untranslated", ""),
    ]


@pytest.mark.parametrize("data", ['msgid "a', "garbage", '"before any keyword"', 'msgid "a"\nmsgstr x'])
def test_what_is_no_catalogue_is_refused(tmp_path: Path, data: str) -> None:
    assert "line" in refusal(tmp_path / "a.po", data)


# --- parallel files


def test_parallel_files_are_read_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(b"\xef\xbb\xbfone\ttab\n\nthree\n")
    (tmp_path / "a.de.gz").write_bytes(gzip.compress(b"eins\r\nzwei\r\ndrei"))
    given = parse_input(f"{tmp_path / 'a.en'},{tmp_path / 'a.de.gz'}")
    assert list(open_reader(given, ReadOptions())) == [
        Row(1, "one\ttab", "eins"),
        Row(2, "", "zwei"),
        Row(3, "three", "drei"),
    ]


def test_parallel_files_of_unequal_length_name_the_line_where_they_come_apart(tmp_path: Path) -> None:
    lines = [f"{'word ' * (1 + (7 * n * n) % 23)}{n}" for n in range(1000)]
    (tmp_path / "a.en").write_text("\n".join(lines) + "\n")
    (tmp_path / "a.de").write_text("\n".join(lines[:400] + lines[401:]) + "\n")
    with pytest.raises(DataError) as caught:
        list(open_reader(Input(tmp_path / "a.en", tmp_path / "a.de"), ReadOptions()))
    assert f"a.en has 1,000 lines, {tmp_path}/a.de has 999" in caught.value.message
    line = int(caught.value.hint.split("from about line ")[1].split()[0])
    assert abs(line - 401) <= 3


# --- all of them

SENTENCES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=30)


@settings(deadline=None)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=12))
def test_every_format_gives_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, pairs: list) -> None:
    folder = tmp_path_factory.mktemp("formats")
    table = io.StringIO()
    csv.writer(table, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *pairs])
    written = {
        "tsv": "".join(f"{a}\t{b}\n" for a, b in pairs),
        "csv": table.getvalue(),
        "jsonl": "".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in pairs),
        "tmx": TMX.format("".join(UNIT.format(escape(b), escape(a)) for a, b in pairs)),
    }
    for name, data in written.items():
        if name == "tmx" and any(ord(c) in (0xFFFE, 0xFFFF) for c in data):
            continue  # XML cannot hold them
        assert texts(folder / f"a.{name}", data) == pairs, name


@settings(deadline=None)
@given(name=st.sampled_from(sorted(READERS)), data=st.one_of(st.binary(max_size=300), st.text(max_size=200)))
def test_any_bytes_end_in_rows_or_in_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes | str
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"a.{name}"
    try:
        assert all(isinstance(row, Row) for row in rows(path, data))
    except NmtError as error:
        assert error.message
