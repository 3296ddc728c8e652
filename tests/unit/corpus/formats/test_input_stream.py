"""The bytes of files of any format: lines, compression, encodings."""

import bz2
import gzip
import hashlib
import lzma
from pathlib import Path

import pytest
import zstandard

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.corpus.formats.reader import Row
from nmt_cli.errors import OptionError
from support.formats import refusal, rows, texts


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
        (b"a\tb\nonly one\n", "line 2: one column"),
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
    monkeypatch.setattr("nmt_cli.corpus.formats.input_stream.LARGE", 1 << 21)
    data = compress((b"a" * 10_000 + b"\tb\n") * 300)  # type: ignore[operator]
    assert "times as large" in refusal(path, data)
    monkeypatch.undo()
    assert len(rows(path, data)) == 300


def test_empty_lines_without_end_are_refused(path: Path) -> None:
    assert "100,000 empty lines" in refusal(path, zstandard.compress(b"\n" * (1 << 25)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252", "utf-8", "utf-8-sig"])
def test_other_encodings_are_read_when_they_are_named(path: Path, encoding: str) -> None:
    assert texts(path, "café\t“a”\r\nb\tß\n".encode(encoding), encoding=encoding) == [("café", "“a”"), ("b", "ß")]


def test_a_wrong_encoding_is_told_and_one_that_is_none_is_refused(path: Path) -> None:
    assert "not utf-16" in refusal(path, b"abc", encoding="utf-16-le")
    assert "give the right encoding" in refusal(path, b"a\t\xe9\n", encoding="utf-8")
    for name in ("utf-17", "zlib", "hex", ""):
        with pytest.raises(OptionError, match="there is no encoding"):
            rows(path, b"a\tb\n", encoding=name)
