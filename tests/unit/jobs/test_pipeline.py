from __future__ import annotations

import io
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents import find_format, open_document
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.jobs.job import Block, InProcess
from nmt_cli.jobs.pipeline import translate_units
from nmt_cli.text.stream import batch_arriving, batch_blocks
from nmt_cli.translation.result import Translation
from support.translations import louder

IN_PROCESS = InProcess(lambda block: [louder(text) for text in block.texts])
# All that some program takes for the end of a line, and characters that are easily lost.
AWKWARD = st.sampled_from(
    ["\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\0", "\ufeff", "\u202e", "😀", "שלום"]
)
LINES = st.lists(st.lists(AWKWARD | st.text(max_size=5), max_size=4).map("".join), max_size=30)


def encodable(text: str) -> str:
    return text.encode("utf-8", "ignore").decode().replace("\n", "")


@given(lines=LINES, ends=st.sampled_from(["\n", "\r\n"]), last=st.booleans(), limit=st.integers(1, 7))
def test_a_line_in_is_a_line_out_for_all_text(lines: list[str], ends: str, last: bool, limit: int) -> None:
    lines = [encodable(line) for line in lines]
    data = ends.join([*lines, ""] if last and lines else lines).encode()
    expected = data.count(b"\n") + bool(data and not data.endswith(b"\n"))
    for gather in (batch_blocks, batch_arriving):
        units = open_document("text", DocumentSource(io.BytesIO(data), "x", DocumentConfig(), "de")).read_units()
        seen: list[Translation] = []
        written = b"".join(translate_units(gather(units, limit), IN_PROCESS, seen.append)).decode()
        assert written.count("\n") == len(written.splitlines()) == len(seen) == expected
        assert not written or written.endswith("\n")


@given(st.binary(max_size=60))
def test_a_line_in_is_a_line_out_for_all_bytes_where_bad_ones_are_replaced(data: bytes) -> None:
    source = DocumentSource(io.BytesIO(data), "x", DocumentConfig(errors="replace"), "de")
    units = open_document("text", source).read_units()
    written = b"".join(translate_units(batch_blocks(units, 3), IN_PROCESS, lambda _: None)).decode()
    assert len(written.splitlines()) == data.count(b"\n") + bool(data and not data.endswith(b"\n"))


def test_each_unit_gets_its_own_translations_and_blocks_are_numbered() -> None:
    blocks: list[Block] = []

    def translate(block: Block) -> list[Translation]:
        blocks.append(block)
        return [louder(text) for text in block.texts]

    def write(translations: Sequence[Translation]) -> str:
        return "+".join(translation.text for translation in translations) + ";"

    batches = [
        [TranslationUnit(("a", "b"), write), make_verbatim_unit("|"), TranslationUnit(("c",), write)],
        [make_verbatim_unit("end")],
        [TranslationUnit((), write)],
    ]
    assert list(translate_units(batches, InProcess(translate), lambda _: None)) == [b"A+B;|C;", b"end", b";"]
    assert blocks == [Block(0, ("a", "b", "c")), Block(3, ()), Block(3, ())]


def test_the_format_is_told_by_the_ending_unless_it_is_given() -> None:
    from pathlib import Path

    assert find_format(Path("a.b/README.MD"), None).name == "md"
    assert find_format(Path("x.pot"), None).name == "po"
    assert find_format(Path("x.unknown"), None).name == find_format(None, None).name == "text"
    assert find_format(Path("x.md"), "text").name == "text"
