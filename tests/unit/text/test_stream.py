from __future__ import annotations

import gzip
import io
import lzma
import queue
import threading
from collections.abc import Callable, Iterator

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import DataError
from nmt_cli.text.stream import batch_arriving, batch_blocks, decode_lines


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
    assert problem.value.hint == f"it is compressed; decompress it first, with {command} -dc"


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
