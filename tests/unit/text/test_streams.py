"""Tests of streams: parts of files: together they are the file, whatever its lines."""

import gzip
import io
import lzma
import os
import pickle
import queue
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import DataError
from nmt_cli.text.streams import (
    FileLines,
    LinePart,
    MissingPartError,
    PartReader,
    PartTexts,
    batch_arriving,
    batch_blocks,
    cut_file,
    decode_lines,
)
from nmt_cli.text.words import FEW, LONGEST_REMEMBERED, KnownWords, choose_word_pattern, count_strings, remember_by_word


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=20))
def test_lines_end_at_line_feeds_and_nowhere_else(lines: list[str]) -> None:
    file = io.BytesIO("".join(line + "\n" for line in lines).encode())
    assert list(decode_lines(file, "x")) == [line.removesuffix("\r") for line in lines]


def test_a_missing_final_newline_and_windows_line_ends_change_nothing() -> None:
    assert list(decode_lines([b"a\r\n", b"\r\n", b"b"], "x")) == ["a", "", "b"]


def test_bytes_that_are_not_utf8_are_an_error_with_name_and_line() -> None:
    lines = decode_lines([b"good\n", b"caf\xe9\n"], "in.txt")
    assert next(lines) == "good"
    with pytest.raises(DataError, match=r"in\.txt, line 2: byte 0xe9"):
        next(lines)


@pytest.mark.parametrize(
    ("compress", "command"), [(gzip.compress, "gzip"), (lzma.compress, "xz"), (zstandard.compress, "zstd")]
)
def test_compressed_input_is_refused_with_the_command_that_decompresses_it(
    compress: Callable[[bytes], bytes], command: str
) -> None:
    with pytest.raises(DataError, match="line 1: byte") as problem:
        list(decode_lines(compress(b"good\n" * 100).splitlines(keepends=True), "in.txt"))
    assert problem.value.hint == f"the file is compressed; decompress it first, with {command} -dc"


def test_what_has_arrived_is_given_out_before_more_arrives() -> None:
    sent: queue.Queue[str | None] = queue.Queue()
    batches = batch_arriving(iter(sent.get, None), limit=10)
    for line in ("one", "two"):
        sent.put(line)
        assert next(batches) == [line]
    sent.put(None)
    assert list(batches) == []


def test_what_is_there_together_is_given_out_together_up_to_the_limit() -> None:
    all_read = threading.Event()

    def lines() -> Iterator[str]:
        yield from ("a", "b", "c", "d", "e")
        all_read.set()

    batches = batch_arriving(lines(), limit=3)
    first = next(batches)
    all_read.wait(5)
    rest = list(batches)
    assert [*first, *(line for batch in rest for line in batch)] == ["a", "b", "c", "d", "e"]
    assert all(1 <= len(batch) <= 3 for batch in [first, *rest])


def test_blocks_are_full_but_for_the_last() -> None:
    assert list(batch_blocks("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(batch_blocks("abcd", 2)) == [["a", "b"], ["c", "d"]]
    assert [len(block) for block in batch_blocks(range(20), 8, first=2)] == [2, 4, 8, 6]
    assert [len(block) for block in batch_blocks(range(3), 2, first=9)] == [2, 1]


@pytest.mark.parametrize("together", [batch_arriving, batch_blocks])
def test_an_error_comes_after_the_lines_before_it(
    together: Callable[[Iterator[str], int], Iterator[list[str]]],
) -> None:
    batches = together(decode_lines([b"a\n", b"b\n", b"\xff\n"], "x"), 10)
    seen: list[str] = []
    with pytest.raises(DataError, match="line 3"):
        for batch in batches:
            seen += batch
    assert seen == ["a", "b"]


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
    with pytest.raises(MissingPartError, match="disappeared"):
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


def test_every_combining_mark_stays_with_its_letter() -> None:
    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"]
    assert [mark for mark in marks if not choose_word_pattern(f"a{mark}b").fullmatch(f"a{mark}b")] == []


@given(st.text(st.characters(max_codepoint=0x2FF)))
def test_words_are_the_same_whatever_stands_beside_them(text: str) -> None:
    alone, beside = choose_word_pattern(text).findall(text), f"{text} \u0301"
    assert choose_word_pattern(beside).findall(beside) == [*alone, "\u0301"]


@given(st.text("ab{", max_size=60), st.sets(st.text("ab{", min_size=1, max_size=4), max_size=3 * FEW))
def test_many_strings_are_counted_as_each_by_itself(text: str, strings: set[str]) -> None:
    assert count_strings(text, strings) == {string: text.count(string) for string in strings}


LONG = "a" * (LONGEST_REMEMBERED + 1)


def test_an_answer_is_found_once_unless_the_word_is_long() -> None:
    asked: list[str] = []

    @remember_by_word(3)
    def count(word: str) -> int:
        asked.append(word)
        return len(word)

    assert [count(word) for word in ("a", LONG, LONG[1:], "a", LONG[1:], LONG)] == [1, 101, 100, 1, 100, 101]
    assert asked == ["a", LONG, LONG[1:], LONG]


def test_a_memory_holds_no_more_than_it_may() -> None:
    words = [str(number) for number in range(10)]
    count = remember_by_word(3)(len)
    known = KnownWords(3)
    for word in words:
        assert count(word) == 1
        known.learn([word, LONG])
        assert len(count.__self__) <= 3  # type: ignore[attr-defined]
        assert word in known
        assert len(known) <= 3
        assert LONG not in known
