"""Parts of files: together they are the file, whatever its lines."""

from __future__ import annotations

import io
import os
import pickle
from itertools import chain, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.line_parts import FileLines, LinePart, MissingPartError, PartReader, PartTexts, cut_file
from nmt_cli.text.stream import decode_lines

LINES = st.lists(
    st.one_of(st.sampled_from(["", "\r", " ", "a\u2028b", "é\tü", "x" * 100_000]), st.text(max_size=12)), max_size=30
)


@pytest.fixture(scope="module")
def lines_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts") / "lines"


@given(LINES, st.booleans(), st.integers(1, 7))
def test_parts_have_all_lines_once(lines_path: Path, lines: list[str], ends: bool, count: int) -> None:
    content = ("\n".join(lines) + "\n" * ends).encode("utf-8", "replace")
    lines_path.write_bytes(content)
    parts = list(cut_file(lines_path, count))
    assert b"".join(part.read() for part in parts) == content
    read = list(chain.from_iterable(part.read_lines() for part in parts))
    assert read == list(enumerate(map(bytes.decode, io.BytesIO(content)), 1))
    assert all(part.read().count(b"\n") == count for part in parts[:-1])


def test_lines_that_were_looked_at_are_still_read(lines_path: Path) -> None:
    lines_path.write_text("a\nb\nc\nd")
    with lines_path.open("rb") as file:
        reader = PartReader(file, LinePart.begin(lines_path))
        assert reader.read() == b"a\n"
        assert reader.look_ahead(2) == [b"b\n", b"c\n"] == reader.look_ahead(2)
        assert reader.read() == b"b\n"
        assert [part.read() for part in reader.take_parts(reader.look_ahead(9))] == [b"c\nd"]
        assert reader.read() == b""


def test_a_file_that_changed_is_none_of_its_parts(lines_path: Path) -> None:
    lines_path.write_text("a\nb\n")
    part, second = cut_file(lines_path, 1)
    carried = pickle.loads(pickle.dumps(second.pack()))
    lines_path.write_text("a\nb\nc\n")
    with pytest.raises(MissingPartError, match="changed while it was read"):
        part.read()
    lines_path.unlink()
    with pytest.raises(MissingPartError, match="went away"):
        part.read()
    assert list(carried.read_lines()) == [(2, "b\n")]


def test_a_pipe_has_no_parts() -> None:
    assert LinePart.begin(Path("/dev/null")) is None
    assert list(islice(PartReader(io.BytesIO(b"a")).take_parts([]), 1)) == []


def read_texts(path: Path, size: int) -> list[PartTexts]:
    return [texts for texts, _ in FileLines(path).read_parts(size)]


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 7))
def test_texts_are_the_lines_here_and_where_they_are_sent(
    lines_path: Path, lines: list[str], end: str, last: bool, size: int
) -> None:
    content = (end.join(lines) + end * last).encode("utf-8", "replace")
    lines_path.write_bytes(content)
    parts = read_texts(lines_path, size)
    sent = [pickle.dumps(texts) for texts in parts]
    assert all(len(pickled) < 300 + len(str(lines_path)) for pickled in sent)  # the lines are not in it
    expected = list(decode_lines(io.BytesIO(content), "x"))
    assert list(chain.from_iterable(parts)) == list(chain.from_iterable(map(pickle.loads, sent))) == expected
    assert [len(texts) for texts in parts] == [len(list(texts)) for texts in parts]


@pytest.mark.parametrize("content", [None, b"a\nb\nc\n", b"a\nx\n"])
def test_texts_of_a_file_that_changed_are_here_alone(lines_path: Path, content: bytes | None) -> None:
    lines_path.write_bytes(b"a\nb\n")
    status = lines_path.stat()
    _, texts = read_texts(lines_path, 1)
    lines_path.unlink()
    if content is not None:
        lines_path.write_bytes(content)
        os.utime(lines_path, ns=(status.st_atime_ns, status.st_mtime_ns))  # the last has even its size
    with pytest.raises(MissingPartError):
        list(pickle.loads(pickle.dumps(texts)))
    assert list(texts) == ["b"]
