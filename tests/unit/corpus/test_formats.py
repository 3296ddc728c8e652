import gzip
import hashlib
from pathlib import Path

import pytest

from nmt_cli.corpus.formats import PairReader, Row
from nmt_cli.errors import DataError, NotFoundError


def rows(path: Path, data: bytes) -> list[Row]:
    path.write_bytes(data)
    return list(PairReader(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "corpus.tsv"


def test_rows_carry_their_line_and_whether_there_was_more(path: Path) -> None:
    data = b"one\teins\r\n\ntwo\tzwei\tCC-BY (Anna)\tmore\nthree\t"
    assert rows(path, data) == [
        Row(1, "one", "eins", False),
        Row(2, "", "", False),
        Row(3, "two", "zwei", True),
        Row(4, "three", "", False),
    ]


def test_only_line_feeds_end_a_line(path: Path) -> None:
    assert rows(path, "a\u2028b\x0cc\u0085\td\n".encode()) == [Row(1, "a\u2028b\x0cc\u0085", "d", False)]


def test_a_byte_order_mark_is_no_part_of_the_text(path: Path) -> None:
    assert rows(path, b"\xef\xbb\xbfone\teins\n") == [Row(1, "one", "eins", False)]


def test_the_checksum_is_that_of_the_file(path: Path) -> None:
    data = b"\xef\xbb\xbfone\teins\r\n\ntwo\tzwei"
    path.write_bytes(data)
    reader = PairReader(path)
    assert len(list(reader)) == 3
    assert (reader.sha256, reader.bytes_read) == (hashlib.sha256(data).hexdigest(), reader.size)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"a\tb\nonly one\n", "line 2: one column"),
        (b"a\tb\n\xe9t\xe9\tb\n", "line 2: not UTF-8 (byte 0xe9 at position 1)"),
        (b"a\tb\nc\td\0e\n", "line 2: a NUL byte at column 4"),
        ("a\tb\n".encode("utf-16"), "line 1: not UTF-8"),
        (gzip.compress(b"a\tb\n"), "is compressed"),
    ],
)
def test_what_is_no_such_text_is_refused_with_file_and_line(path: Path, data: bytes, message: str) -> None:
    with pytest.raises(DataError) as caught:
        rows(path, data)
    assert str(path) in caught.value.message
    assert message in caught.value.message
    assert caught.value.hint


def test_utf16_is_recognised(path: Path) -> None:
    with pytest.raises(DataError) as caught:
        rows(path, "a\tb\n".encode("utf-16"))
    assert "UTF-16" in caught.value.hint


def test_a_missing_file_names_the_nearest_and_a_directory_is_none(path: Path) -> None:
    path.write_text("a\tb\n")
    with pytest.raises(NotFoundError) as caught:
        PairReader(path.with_name("corpsu.tsv"))
    assert "corpus.tsv" in caught.value.hint
    with pytest.raises(NotFoundError, match="is a directory"):
        PairReader(path.parent)
