"""What is given as input, and the format that it is read in."""

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
from hypothesis import example, given
from hypothesis import strategies as st

from nmt_cli.errors import DataError, NmtError, NotFoundError, OptionError
from nmt_cli.formats import list_formats
from nmt_cli.formats.inputs import CorpusFile, ReadOptions, parse_input
from nmt_cli.formats.opening import find_format, open_reader
from nmt_cli.formats.reader import Row
from nmt_cli.text.tags import parse_tag_list
from support.formats import TMX, UNIT, refusal, rows, texts


def test_a_missing_file_names_the_nearest_and_a_directory_is_none(path: Path) -> None:
    path.write_text("a\tb\n")
    with pytest.raises(NotFoundError) as caught:
        open_reader(CorpusFile(path.with_name("corpsu.tsv")), ReadOptions())
    assert "corpus.tsv" in caught.value.hint
    with pytest.raises(NotFoundError, match="is a directory"):
        open_reader(CorpusFile(path.parent), ReadOptions())


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
    assert find_format(CorpusFile(Path(name)), ReadOptions()) == expected
    assert find_format(CorpusFile(Path(name)), ReadOptions(format="tmx")) == "tmx"
    with pytest.raises(OptionError, match="there is no format 'tsvv'") as caught:
        find_format(CorpusFile(Path(name)), ReadOptions(format="tsvv"))
    assert caught.value.hint == "did you mean 'tsv'?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.tsv", CorpusFile(Path("a.tsv"))),
        ("a.tsv=2", CorpusFile(Path("a.tsv"), None, 2.0)),
        ("a.en,a.de=0.5", CorpusFile(Path("a.en"), Path("a.de"), 0.5)),
        ("-", CorpusFile(Path("-"))),
        ("a.tsv=ui", CorpusFile(Path("a.tsv"), tags=parse_tag_list("ui"))),
        ("a.tsv=2=train=nl=formal", CorpusFile(Path("a.tsv"), None, 2.0, True, parse_tag_list("to:nl formal"))),
        ("a.en,a.nl=>nl", CorpusFile(Path("a.en"), Path("a.nl"), tags=parse_tag_list("to:nl"))),
        ("a=b.tsv", CorpusFile(Path("a=b.tsv"))),
    ],
)
def test_an_input_is_a_name_or_two_with_a_weight_and_tags(text: str, expected: CorpusFile) -> None:
    assert parse_input(text) == expected


def test_a_name_that_exists_is_no_weight_and_a_weight_has_bounds(tmp_path: Path) -> None:
    odd = tmp_path / "a,b=2"
    odd.touch()
    assert parse_input(str(odd)) == CorpusFile(odd)
    for text in ("a.tsv=0", "a.tsv=5000"):
        with pytest.raises(OptionError, match="a weight must be"):
            parse_input(text)


# Test sets of WMT, in SGML and in XML.


SOURCE = """<srcset setid="t" srclang="any">
<doc docid="a" origlang="en"><p>
<seg id="1">Salt & pepper &amp; more.</seg>
<seg id="2">Two
lines.</seg></p></doc>
<DOC docid="b"><seg id="1">Other.</seg><seg id="3">Alone.</seg></DOC>
</srcset>
"""
TARGET = """<refset setid="t" srclang="en" trglang="la">
<doc docid="b" sysid="r"><hl><seg id="1">Aliud.</seg></hl></doc>
<doc docid="a" sysid="r"><seg id="2">Duae lineae.</seg><seg id="1">Sal.</seg></doc>
<doc docid="a" sysid="second"><seg id="1">Sal et piper.</seg></doc>
</refset>
"""


def test_segments_of_two_files_are_paired_by_document_and_number(tmp_path: Path) -> None:
    source, target = tmp_path / "src.sgm", tmp_path / "ref.sgm"
    source.write_text(SOURCE)
    target.write_text(TARGET)
    reader = open_reader(CorpusFile(source, target), ReadOptions())
    assert [(row.line, row.source, row.target) for row in reader] == [
        (3, "Salt & pepper & more.", "Sal."),
        (4, "Two lines.", "Duae lineae."),
        (6, "Other.", "Aliud."),
    ]
    assert reader.languages == ("en", "la")
    assert reader.notes == ["src.sgm + ref.sgm: 1 segment only on one side, left out"]


def test_one_side_alone_or_beside_plain_text_is_refused(tmp_path: Path) -> None:
    source, lines = tmp_path / "src.sgm", tmp_path / "lines.txt"
    lines.write_text("a\n")
    assert "nmt needs both" in refusal(source, SOURCE)
    with pytest.raises(DataError, match="not one sentence per line"):
        open_reader(CorpusFile(source, lines), ReadOptions())
    source.write_text("<srcset>\n<doc docid='a'><seg id='1'>" + "x\n" * 10)
    with pytest.raises(DataError, match="line 2: a segment that does not end"):
        list(open_reader(CorpusFile(source, source), ReadOptions()))


def test_test_sets_in_xml_have_a_pair_for_each_reference(tmp_path: Path) -> None:
    data = """<?xml version='1.0'?><dataset id="t"><doc id="a">
<src lang="en"><p><seg id="1">One.</seg><seg id="2">Two.</seg></p></src>
<ref lang="la" translator="A"><p><seg id="2">Duo.</seg><seg id="1">Unum.</seg></p></ref>
<ref lang="la" translator="B"><p><seg id="1">Una.</seg></p></ref>
<hyp system="x" language="la"><p><seg id="1">Nihil.</seg></p></hyp></doc></dataset>"""
    assert texts(tmp_path / "a.xml", data) == [("One.", "Unum."), ("Two.", "Duo."), ("One.", "Una."), ("Two.", "")]


# What holds for every format.


SENTENCES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=30)


def empty_blanks(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(source if source.strip() else "", target if target.strip() else "") for source, target in pairs]


@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=12))
@example([("", " ")])
def test_every_format_gives_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, pairs: list) -> None:
    """A text of blanks alone may come back as an empty one, which says as much."""
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
        assert empty_blanks(texts(folder / f"a.{name}", data)) == empty_blanks(pairs), name


@given(name=st.sampled_from(list_formats("pairs")), data=st.one_of(st.binary(max_size=300), st.text(max_size=200)))
def test_any_bytes_end_in_rows_or_in_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes | str
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"a.{name}"
    try:
        assert all(isinstance(row, Row) for row in rows(path, data))
    except NmtError as error:
        assert error.message


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
@pytest.mark.parametrize("options", [{"source_column": "2"}, {"target_column": "1"}, {"source_column": "German"}])
def test_one_column_is_not_both_sides(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    data = "English,German\none,eins\n".replace(",", "\t" if name == "a.tsv" else ",")
    assert "source and target are both column" in refusal(tmp_path / name, data, **options)


def test_parallel_files_are_read_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(b"\xef\xbb\xbfone\ttab\n\nthree\n")
    (tmp_path / "a.de.gz").write_bytes(gzip.compress(b"eins\r\nzwei\r\ndrei"))
    file = parse_input(f"{tmp_path / 'a.en'},{tmp_path / 'a.de.gz'}")
    assert list(open_reader(file, ReadOptions())) == [
        Row(1, "one\ttab", "eins"),
        Row(2, "", "zwei"),
        Row(3, "three", "drei"),
    ]


def test_parallel_files_of_unequal_length_name_the_line_where_they_part(tmp_path: Path) -> None:
    lines = [f"{'word ' * (1 + (7 * n * n) % 23)}{n}" for n in range(1000)]
    (tmp_path / "a.en").write_text("\n".join(lines) + "\n")
    (tmp_path / "a.de").write_text("\n".join(lines[:400] + lines[401:]) + "\n")
    with pytest.raises(DataError) as caught:
        list(open_reader(CorpusFile(tmp_path / "a.en", tmp_path / "a.de"), ReadOptions()))
    assert f"a.en has 1,000 lines, {tmp_path}/a.de has 999" in caught.value.message
    line = int(caught.value.hint.split("from about line ")[1].split()[0])
    assert abs(line - 401) <= 3


# The bytes of files of any format: lines, compression, encodings.


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


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_packed_files_are_read_and_their_checksum_is_that_of_the_file(path: Path, compress: object) -> None:
    data = "".join(f"{number}\tä{number}\n" for number in range(9_000)).encode()
    compressed = compress(data[: len(data) // 2]) + compress(data[len(data) // 2 :])  # type: ignore[operator]
    path.write_bytes(compressed)
    reader = open_reader(CorpusFile(path), ReadOptions())
    assert [(row.source, row.target) for row in reader] == [(str(n), f"ä{n}") for n in range(9_000)]
    assert (reader.stream.sha256, reader.bytes_read) == (hashlib.sha256(compressed).hexdigest(), reader.size)


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_a_packed_file_that_is_cut_is_damaged(path: Path, compress: object) -> None:
    compressed = compress("".join(f"{n * n}\tä{n}\n" for n in range(9_000)).encode())  # type: ignore[operator]
    assert "is damaged" in refusal(path, compressed[: len(compressed) // 2])
    assert "is damaged" in refusal(path, compressed[:-1])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"a\tb\nonly one\n", "row 2: one column"),
        (b"a\tb\nonly one\n", "add the translation, or remove the line"),
        (b"only one\nb\n", ",TRANSLATIONS"),
        (b"a\tb\n\xe9\xf2\xe9\tb\n", "line 2: invalid UTF-8 (byte 0xe9 at position 1)"),
        (b"a\tb\n\xe9\xf2\xe9\tb\n", "--encoding cp1251"),
        (b"a\tb\nc\td\0e\n", "line 2: a NUL byte at column 4"),
        (b"PK\x03\x04 and more", "is a zip archive"),
        (b"a\tb\rc\td\r", "has carriage returns but no line feeds"),
        (b"a\tb\n" + b"x" * (1 << 21), "line 2: longer than"),
        (b"\x1f\x8b and no gzip", "is damaged"),
        (b"BZh9 and no bzip2 at all", "is damaged"),
        (b"\xfd7zXZ and no xz", "is damaged"),
        (b"\x28\xb5\x2f\xfd and no zstandard", "is damaged"),
    ],
)
def test_what_is_no_such_text_is_refused_with_file_and_line(path: Path, data: bytes, message: str) -> None:
    assert message in refusal(path, data)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_recognised(path: Path, encoding: str) -> None:
    assert texts(path, "a lot of\tletters\nmore\tof them\n".encode(encoding)) == [
        ("a lot of", "letters"),
        ("more", "of them"),
    ]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_what_grows_without_measure_when_it_is_decompressed_is_refused(
    path: Path, compress: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt_cli.formats.input_stream.LARGE", 1 << 21)
    data = compress((b"a" * 10_000 + b"\tb\n") * 300)  # type: ignore[operator]
    assert "times its size" in refusal(path, data)
    monkeypatch.undo()
    assert len(rows(path, data)) == 300


def test_empty_lines_without_end_are_refused(path: Path) -> None:
    assert "100,000 empty rows" in refusal(path, zstandard.compress(b"\n" * (1 << 25)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252", "utf-8", "utf-8-sig"])
def test_other_encodings_are_read_when_they_are_named(path: Path, encoding: str) -> None:
    assert texts(path, "café\t“a”\r\nb\tß\n".encode(encoding), encoding=encoding) == [("café", "“a”"), ("b", "ß")]


def test_a_wrong_encoding_is_told_and_one_that_is_none_is_refused(path: Path) -> None:
    assert "not utf-16" in refusal(path, b"abc", encoding="utf-16-le")
    assert "give the right encoding" in refusal(path, b"a\t\xe9\n", encoding="utf-8")
    for name in ("utf-17", "zlib", "hex", ""):
        with pytest.raises(OptionError, match="there is no encoding"):
            rows(path, b"a\tb\n", encoding=name)
