"""Tests of job: ."""

import io
import pickle
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from operator import add
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents import find_format, open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.errors import DataError
from nmt_cli.jobs.units import translate_units
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.streams import FileLines, batch_arriving, batch_blocks
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import Block, TranslationRequest
from nmt_cli.translation.result import Translation
from nmt_cli.workers.work import InProcess
from support.adversary import adversarial_translator
from support.archives import make_docx
from support.scripted_translator import ScriptedTranslator
from support.translations import Rule, louder, same


def test_a_scored_translation_has_the_text_that_was_given_on_a_single_line() -> None:
    translator = adversarial_translator("word")
    job = TranslationRequest(
        Path(), options=TranslateOptions(SearchOptions()), score=True, opener=lambda request: translator
    )
    (scored,) = job.start()(Block(0, ("bade lu.\t  x\u3000y\tz ",)))
    assert scored.text == "x y z"
    assert UNKNOWN_PIECE in scored.hypotheses[0].pieces


def test_an_answer_without_the_network_differs_in_nothing_else() -> None:
    translator = ScriptedTranslator(str.upper)
    job = TranslationRequest(
        Path(),
        options=TranslateOptions(SearchOptions(), RepairOptions(), CheckOptions()),
        opener=lambda request: translator,
    )
    block = Block(0, ("we have 3 cats.", "", "they came."))
    whole, short = (replace(job, keeps_network=keeps).start()(block) for keeps in (True, False))
    assert short != whole and short == [each.drop_network() for each in whole]
    assert [each.text for each in short] == ["WE HAVE 3 CATS.", "", "THEY CAME."]
    assert all(not hypothesis.attentions for each in short for hypothesis in each.hypotheses)


def test_the_texts_of_a_block_are_reported_as_they_are_finished() -> None:
    translator, reported = adversarial_translator("word"), list[tuple[int, int]]()
    options = TranslateOptions(SearchOptions())
    job = TranslationRequest(Path(), options=options, opener=lambda request: translator)
    job.start(report=lambda *done: reported.append(done))(Block(1000, ("we have 3 cats.", "", "they came.") * 100))
    assert reported == sorted(reported) and reported[-1] == (1000, 300) and len({*reported}) > 1


SECRET = "secret"
IN_PROCESS = InProcess(lambda block: [louder(text) for text in block.texts])
# All that some program takes for the end of a line, and characters that are easily lost.
AWKWARD = st.sampled_from(
    ["\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\0", "\ufeff", "\u202e", "😀", "שלום"]
)
LINES = st.lists(st.lists(AWKWARD | st.text(max_size=5), max_size=4).map("".join), max_size=30)


def encodable(text: str) -> str:
    return text.encode("utf-8", "ignore").decode().replace("\n", "")


@given(lines=LINES, ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1), limit=st.integers(1, 7))
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("is_complete", [True, False])
def test_a_line_in_is_a_line_out_with_its_end_for_all_text(
    lines: list[str], ends: list[str], last: bool, is_complete: bool, limit: int
) -> None:
    text = "".join(map(add, (encodable(line).rstrip("\r") for line in lines), cycle(ends)))
    data = (text if last else re.sub(r"\r?\n\Z", "", text)).encode()
    expected = re.findall(r"\r?\n", data.decode())
    is_open = bool(data) and not data.endswith(b"\n")
    expected += ["\n"] * (is_open and not is_complete)
    for gather in (batch_blocks, batch_arriving):
        source = DocumentSource(io.BytesIO(data), "x", DocumentOptions(), "de", is_complete=is_complete)
        seen: list[Translation] = []
        units = open_document("text", source).read_units()
        written = b"".join(translate_units(gather(units, limit), IN_PROCESS, seen.append)).decode()
        assert re.findall(r"\r?\n", written) == expected and len(seen) == len(expected) + (is_open and is_complete)
        assert len(written.splitlines()) == len(seen) - (is_open and is_complete and not written.rpartition("\n")[2])


@given(st.binary(max_size=60))
def test_a_line_in_is_a_line_out_for_all_bytes_where_bad_ones_are_replaced(data: bytes) -> None:
    source = DocumentSource(io.BytesIO(data), "x", DocumentOptions(errors="replace"), "de")
    units = open_document("text", source).read_units()
    written = b"".join(translate_units(batch_blocks(units, 3), IN_PROCESS, lambda _: None)).decode()
    assert len(written.splitlines()) == data.count(b"\n") + bool(data and not data.endswith(b"\n"))


def write_all(units: Iterator[TranslationUnit], rule: Rule, limit: int) -> tuple[bytes, list[Translation], str]:
    """What is written, seen and raised of units, by a worker who gets pickled blocks."""
    written, seen, error = b"", list[Translation](), ""
    executor = InProcess(lambda block: [rule(text) for text in pickle.loads(pickle.dumps(block)).texts])
    try:
        for part in translate_units(batch_blocks(units, limit), executor, seen.append):
            written += part
    except DataError as problem:
        error = f"{problem.message} {problem.hint}"
    return written, seen, error


@given(
    data=st.lists(st.binary(max_size=9) | AWKWARD.map(str.encode), max_size=9).map(b"\n".join), size=st.integers(1, 4)
)
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_parts_of_a_file_are_written_as_lines(tmp_path: Path, errors: Any, data: bytes, size: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(data)
    source = DocumentSource(FileLines(path), "x", DocumentOptions(errors=errors), "de")
    by_line = write_all(open_document("text", source).read_with_domain(), louder, 3 * size)
    by_part = write_all(open_document("text", source._replace(part_size=size)).read_with_domain(), louder, 3)
    assert repr(by_part) == repr(by_line)


def test_of_a_part_only_the_line_that_cannot_be_written_is_copied(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text(f"one\n{SECRET}\ntwo\n")

    def write(translation: Translation) -> str:
        return f"{translation.text}{translation.hypotheses[0].attentions[0].shape}\n"

    source = DocumentSource(FileLines(path), "x", DocumentOptions(), "de")
    results = [
        write_all(open_document("text", source._replace(part_size=size), write).read_units(), untraceable, 9)
        for size in (0, 9)
    ]
    assert repr(results[0]) == repr(results[1])
    written, seen, _ = results[1]
    assert written.startswith(b"ONE(2, 2)\nsecret(") and written.endswith(b"TWO(2, 2)\n")
    assert [each.failure is not None for each in seen] == [False, True, False]


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
    assert find_format(Path("a.b/README.MD"), None).name == "md"
    assert find_format(Path("x.pot"), None).name == "po"
    assert find_format(Path("x.unknown"), None).name == find_format(None, None).name == "text"
    assert find_format(Path("x.md"), "text").name == "text"


def untraceable(text: str) -> Translation:
    """The text in capitals; of a secret, without the attention that places its marks."""
    translation = louder(text)
    (hypothesis,) = translation.hypotheses
    return translation if SECRET not in text else translation._replace(hypotheses=(hypothesis._replace(attentions=()),))


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("md", "# A *man*\n\nThe {0} is *here*.\n\n* his *dog*\n"),
        ("html", "<p>A <b>man</b>.</p><p>The {0} is <i>here</i>.</p><p>His <b>dog</b>.</p>"),
        (
            "srt",
            "1\n00:00:01,000 --> 00:00:02,000\n<i>A man.</i>\n\n2\n00:00:03,000 --> 00:00:04,000\n{0}.\nHis dog.\n",
        ),
        (
            "docx",
            "<w:p><w:r><w:t>A man</w:t></w:r></w:p><w:p><w:r><w:t>The {0}</w:t></w:r><w:r><w:t>s</w:t></w:r></w:p>",
        ),
    ],
)
def test_a_text_that_cannot_be_written_is_copied_and_costs_no_other(name: str, pattern: str) -> None:
    def convert(word: str, rule: Rule) -> tuple[bytes, list[Translation]]:
        content = pattern.format(word)
        data = make_docx(content) if name == "docx" else content.encode()
        units = open_document(name, DocumentSource([data], f"x.{name}", DocumentOptions(), "de")).read_units()
        executor, seen = InProcess(lambda block: [rule(text) for text in block.texts]), list[Translation]()
        return b"".join(translate_units(batch_blocks(units, 2), executor, seen.append)), seen

    written, seen = convert(SECRET, untraceable)
    expected, _ = convert(SECRET, lambda text: same(text) if SECRET in text else louder(text))
    assert written == expected
    assert [SECRET in each.source for each in seen] == [each.failure is not None for each in seen]
    (failure,) = filter(None, (each.failure for each in seen))
    assert failure.startswith("nmt failed (") and SECRET not in failure


def test_errors_of_the_user_and_of_copies_end_a_document() -> None:
    def refuse(translations: Sequence[Translation]) -> str:
        raise DataError("the encoding lacks a character")

    def fail(translations: Sequence[Translation]) -> str:
        raise IndexError

    for write, texts, problem in ((refuse, ("a",), DataError), (fail, ("a",), IndexError), (fail, (), IndexError)):
        with pytest.raises(problem):
            list(translate_units([[TranslationUnit(texts, write)]], IN_PROCESS, lambda _: None))
