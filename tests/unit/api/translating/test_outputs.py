"""Tests of `api/translating/outputs.py`.

The names that `nmt translate -o` gives to files, and what is never overwritten. What is counted for each file and
chapter, which of many are shown, and what is low.
"""

import errno
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from nmt_cli.api.translating.outputs import (
    ROWS_SHOWN,
    FileSummaries,
    OutputFiles,
    name_outputs,
    require_name,
    track_locations,
)
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import Document, DocumentSource, Location, TranslationUnit, make_verbatim_unit
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import BY_NAME, FORMATS, TEXT
from nmt_cli.text.wrapping import protect_terminal
from nmt_cli.translation.result import FailedCheck, Translation
from support.archives import make_xlsx
from support.documents import open_bytes
from support.translations import louder


class Lines(Document):
    """A document of lines that are kept."""

    def read_units(self) -> Iterator[TranslationUnit]:
        yield from map(make_verbatim_unit, self.source.lines)


def make_files(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    return [folder / name for name in names]


def open_as(name: str, format: str) -> Lines:
    document = Lines(DocumentSource([], name, DocumentOptions(), "de"))
    document.format = BY_NAME[format]
    return document


DOCUMENT_ENDINGS = [ending for format in FORMATS for ending in format.extensions if format.name not in ("text", "tsv")]


@pytest.mark.parametrize(
    ("source", "format", "target"),
    [
        *(
            ("a.srt", "srt", "a.vtt"),
            ("a.docx", "docx", "a.txt"),
            ("a.docx", "docx", "a.pdf"),
            ("a.csv", "csv", "a.tsv"),
        ),
        *(("a.txt", "text", f"a{ending}") for ending in DOCUMENT_ENDINGS),
        *(("a.txt", "text", "a.txt.gz"), ("a.log", "text", "A.DOCX"), ("notes", "text", "b.po")),
    ],
)
def test_a_translation_has_the_ending_of_its_source(tmp_path: Path, source: str, format: str, target: str) -> None:
    with pytest.raises(OptionError, match=f"in the format of {source}, ") as raised:
        OutputFiles([tmp_path / target], io.BytesIO()).require_formats([open_as(source, format)])
    suffix = Path(source).suffix or ".txt"
    assert raised.value.hint == f"use its extension: {tmp_path / Path(target.removesuffix('.gz')).stem}{suffix}"
    with pytest.raises(OptionError) as raised:  # whose proposal is not the source itself
        OutputFiles([Path(source).with_suffix(Path(target).suffix)], io.BytesIO()).require_formats(
            [open_as(source, format)]
        )
    same = Path(source).with_stem(f"{Path(source).stem}-translated") if Path(source).suffix else "notes.txt"
    assert raised.value.hint == f"use its extension: {same}"


@pytest.mark.parametrize(
    ("source", "format", "target"),
    [
        ("a.srt", "srt", "b.srt"),
        ("a.txt", "text", "a.tsv"),  # scores stand before lines, and tabs in them
        ("a.html", "text", "b.html"),  # read as lines with --format text
        ("a.txt", "text", "a.de"),
        ("a.txt", "text", "a.TXT"),
        ("a.jsonl", "jsonl", "a.json"),
        ("a.srt", "srt", "a.txt"),  # which a person can read
        ("a.docx", "docx", "a.new"),
        ("strings.xml", "android", "other.xml"),
        ("a.tsv", "tsv", "a.de"),
    ],
)
def test_other_names_are_free(tmp_path: Path, source: str, format: str, target: str) -> None:
    OutputFiles([tmp_path / target], io.BytesIO()).require_formats([open_as(source, format)])


@pytest.mark.parametrize("target", ["a.so", "a.ts"])  # which are also endings of programs
def test_a_name_may_end_in_the_code_of_the_language(target: str) -> None:
    code = target.removeprefix("a.")
    require_name(Path(target), DocumentSource([], "a.txt", DocumentOptions(), code), TEXT)
    with pytest.raises(OptionError):
        require_name(Path(target), DocumentSource([], "a.txt", DocumentOptions(), "de"), TEXT)


def test_lines_of_json_may_be_called_so(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.json"):
        outputs = OutputFiles([tmp_path / name], io.BytesIO())
        outputs.require_formats([open_as("a.txt", "text")], BY_NAME["jsonl"])
        with pytest.raises(OptionError):
            outputs.require_formats([open_as("a.txt", "text")])


def test_a_terminal_gets_no_binary_document() -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    OutputFiles([], io.BytesIO()).require_formats([open_as("a.docx", "docx")])
    protected = protect_terminal(Terminal())
    OutputFiles([], protected).require_formats([open_as("a.srt", "srt")])
    with pytest.raises(OptionError, match="a terminal cannot show") as raised:
        OutputFiles([], protected).require_formats([open_as("a.docx", "docx")])
    assert raised.value.hint == "name a file: -o a-translated.docx"


def test_a_name_is_one_file_and_a_directory_or_pattern_one_for_each(tmp_path: Path) -> None:
    paths = make_files(tmp_path, "a.md", "b/c.po")
    assert name_outputs(None, paths, "de") == name_outputs("-", paths, "de") == []
    assert name_outputs(f"{tmp_path}/x", paths, "de") == [tmp_path / "x"]
    assert name_outputs(f"{tmp_path}/new/", paths, "de") == [tmp_path / "new/a.md", tmp_path / "new/c.po"]
    (tmp_path / "old").mkdir()
    assert name_outputs(f"{tmp_path}/old", paths[:1], "de") == [tmp_path / "old/a.md"]
    beside = name_outputs("{name}.{lang}{ext}", paths, "de")
    assert beside == [tmp_path / "a.de.md", tmp_path / "b/c.de.po"]
    assert name_outputs("{name}.{lang}{ext}", paths, "deu") == beside
    elsewhere = name_outputs(f"{tmp_path}/{{lang}}/{{name}}{{ext}}", paths, "de")
    assert elsewhere == [tmp_path / "de/a.md", tmp_path / "de/c.po"]


def test_an_output_is_never_the_input_nor_that_of_two(tmp_path: Path) -> None:
    paths = make_files(tmp_path, "a.md", "b/a.md", "a.de.md")
    assert name_outputs("{name}.{lang}{ext}", paths[:1], "de") == [paths[2]]
    assert name_outputs(str(paths[2]), paths[:1], "de") == [paths[2]]
    (tmp_path / "link").symlink_to(paths[0])
    for output in (str(paths[0]), f"{tmp_path}/", "{name}{ext}", f"{tmp_path}/link"):
        with pytest.raises(OptionError, match="is the input"):
            name_outputs(output, paths[:1], "de")
    with pytest.raises(OptionError, match="two inputs would be written to"):
        name_outputs(f"{tmp_path}/x/", paths[:2], "de")
    for output in ("{nom}.x", "{name", "{name.x}"):
        with pytest.raises(OptionError, match="not a valid file-name pattern"):
            name_outputs(output, paths[:1], "de")
    with pytest.raises(OptionError, match="standard input has no name"):
        name_outputs("x/", [], "de")


def open_lines(*files: Sequence[bytes | Exception]) -> list[Document]:
    """Documents that yield these lines, or raise these errors."""
    return [
        Lines(DocumentSource(read(lines), name, DocumentOptions(), "de"))
        for name, lines in zip("abc", files, strict=False)
    ]


def read(lines: Sequence[bytes | Exception]) -> Iterator[bytes]:
    for line in lines:
        if isinstance(line, Exception):
            raise line
        yield line


def write_all(outputs: OutputFiles, documents: list[Document], summaries: FileSummaries) -> Iterator[bytes]:
    """Writes the documents unit by unit, and yields what each wrote."""
    for batch in outputs.batch_files(documents, lambda units: ([unit] for unit in units), summaries):
        for unit in batch:
            written = unit.write([])
            outputs.write(written if isinstance(written, bytes) else written.encode())
            yield written if isinstance(written, bytes) else written.encode()


def read_folder(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_each_file_takes_its_name_when_it_is_complete(tmp_path: Path) -> None:
    targets = [tmp_path / "x" / name for name in "abc"]
    documents = open_lines(*([b"%d %d\n" % (file, line) for line in range(3)] for file in range(3)))
    outputs = OutputFiles(targets, io.BytesIO(), is_apart=True)
    with pytest.raises(KeyboardInterrupt), outputs:
        for written in write_all(outputs, documents, FileSummaries()):
            if written == b"2 1\n":
                raise KeyboardInterrupt
    assert read_folder(tmp_path / "x") == {"a": b"0 0\n0 1\n0 2\n", "b": b"1 0\n1 1\n1 2\n"}


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (DataError("it is damaged"), "translated; run the same command again to translate the rest"),
        (DataError("it is damaged", hint="save it"), "translated; save it; run the same command again to"),
        (DataError("it is damaged", hint="leave out --column"), "all others were translated; leave out --column$"),
        (PermissionError(errno.EACCES, "Permission denied", "b"), "run the same command again to translate the rest"),
    ],
)
def test_a_file_that_fails_costs_itself_alone(tmp_path: Path, error: Exception, hint: str) -> None:
    (tmp_path / "b").write_bytes(b"before\n")
    documents, summaries = open_lines([b"1\n"], [b"2\n", error], [b"3\n"]), FileSummaries()
    with OutputFiles([tmp_path / name for name in "abc"], io.BytesIO(), is_apart=True) as outputs:
        assert b"".join(write_all(outputs, documents, summaries)) == b"1\n2\n3\n"
    assert read_folder(tmp_path) == {"a": b"1\n", "b": b"before\n", "c": b"3\n"}
    assert [file.error is None for file in summaries.files] == [True, False, True]
    with pytest.raises(DataError, match=r"1 of 3 files not translated: .*(damaged|permission denied)") as incomplete:
        summaries.require_complete()
    assert re.search(hint, incomplete.value.hint)


def test_a_unit_that_cannot_be_written_ends_its_file_alone(tmp_path: Path) -> None:
    def refuse(_: object) -> str:
        raise DataError("no such character")

    documents, summaries = open_lines([b"1\n", b"2\n"], [b"3\n"]), FileSummaries()
    units = [TranslationUnit((), refuse), *documents[0].read_units()]
    documents[0].read_units = lambda: iter(units)  # type: ignore[method-assign]
    with OutputFiles([tmp_path / name for name in "ab"], io.BytesIO(), is_apart=True) as outputs:
        assert b"".join(write_all(outputs, documents, summaries)) == b"3\n"
    assert read_folder(tmp_path) == {"b": b"3\n"}


def test_a_file_that_cannot_be_begun_is_told_by_the_name_that_was_typed(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)  # the temporary name is too long
    with pytest.raises(OSError) as caught, OutputFiles([path], io.BytesIO()):
        pass
    assert caught.value.filename == str(path)


def test_a_terminal_named_as_a_file_shows_control_characters(tmp_path: Path) -> None:
    import tty

    person, terminal = os.openpty()
    tty.setraw(terminal)  # else it changes the line ends
    with os.fdopen(person, "rb", buffering=0) as screen:
        for path, expected in ((Path(os.ttyname(terminal)), b"a\\x1b[2J\n"), (tmp_path / "file", b"a\x1b[2J\n")):
            with OutputFiles([path], io.BytesIO()) as outputs:
                outputs.write(b"a\x1b[2J\n")
            assert (path.read_bytes() if path.is_file() else screen.read(100)) == expected
    os.close(terminal)


def translate(confidence: float | None = None, **fields: object) -> Translation:
    return louder("a b")._replace(confidence=confidence, **fields)  # type: ignore[arg-type]


def summarise_book() -> FileSummaries:
    """Two chapters of two verses in one file, and a file without chapters."""
    summaries = FileSummaries("text", threshold=0.5, are_apart=True)
    summaries.begin_file("GEN.usfm")
    for number, confidence in enumerate((0.9, 0.7, 0.4, 0.2)):
        chapter = f"GEN {1 + number // 2}"
        summaries.begin_location(Location(chapter, f"{chapter}:{1 + number % 2}"))
        summaries.add(translate(confidence, carried=("Adam",)))
    summaries.add(translate())  # a footnote of the last verse
    summaries.begin_file("notes.txt")
    summaries.add(translate(checks=(FailedCheck("numbers", "x"),)))
    summaries.add(louder(""))
    return summaries


def test_files_and_chapters_have_a_line_each_and_low_ones_are_marked() -> None:
    assert list(summarise_book().describe()) == [
        "  GEN.usfm: 5 texts, 4 words copied, confidence 0.55",
        "    GEN 1: 2 texts, 2 words copied, confidence 0.80",
        "    GEN 2: 3 texts, 2 words copied, confidence 0.30 (low)",
        "  notes.txt: 1 text, 1 failed a check",
    ]


def test_json_has_an_object_per_file_with_its_chapters_and_verses() -> None:
    book, notes = map(json.loads, summarise_book().write_json().decode().splitlines())
    assert (book["name"], book["texts"], book["is_low"]) == ("GEN.usfm", 5, False)
    assert [(chapter["name"], chapter["is_low"]) for chapter in book["chapters"]] == [("GEN 1", False), ("GEN 2", True)]
    assert book["chapters"][1]["places"] == [
        {"name": "GEN 2:1", "confidence": 0.4},
        {"name": "GEN 2:2", "confidence": 0.2},
    ]
    assert notes["confidence"] is None and notes["failed"] == 1 and "chapters" not in notes


def test_a_report_names_the_file_and_the_verse() -> None:
    summaries = summarise_book()
    assert summaries.where == "notes.txt"
    summaries.begin_location(Location("GEN 3", "GEN 3:16"))
    assert summaries.where == "notes.txt GEN 3:16"
    alone = FileSummaries()
    alone.begin_file("a.txt")
    alone.begin_location(Location(""))
    assert alone.where == "" and list(alone.describe()) == []


COLUMNS = dict.fromkeys(("csv", "tsv", "jsonl"), "t")
CELLS = (
    '<row r="1"><c r="A1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c>'
    '<c r="C2" t="inlineStr"><is><t>Three</t></is></c></row>'
)


@pytest.mark.parametrize(
    ("format", "data", "places"),
    [
        ("md", b"# One\n\nTwo\nis long.\n\n- Three\n", ["line 1", "line 3", "line 6"]),
        ("html", b"<p>One</p>\n<p>\nTwo <b>b</b>\n</p><p>Three</p>", ["line 1", "line 2", "line 4"]),
        ("po", b'msgid "One"\nmsgstr ""\n\n#, fuzzy\nmsgid "Two"\nmsgstr ""\n', ["line 1", "line 4"]),
        ("json", b'{"a": "One two",\n "b": {"c": "Two three"}}', ["line 1", "line 2"]),
        ("csv", b'sep=;\nid;t\n1;"One\ntwo"\n\n2;Three\n', ["row 2", "row 4"]),
        ("tsv", b"a\tt\n1\tOne\n", ["row 2"]),
        ("jsonl", b'{"t": "One"}\n\n{"t": "Two"}\n', ["line 1", "line 3"]),
        ("eml", b"Subject: One two\n\nThree four.\n", ["", ""]),
        (
            "xlsx",
            make_xlsx(CELLS, "<si><t>One</t></si><si><r><t>Two</t></r></si>"),
            ["Texts!C2", "Texts!A2", "Texts!A1 and 1 more cell"],
        ),
    ],
)
def test_a_report_names_the_line_or_the_cell_of_a_text(format: str, data: bytes, places: list[str]) -> None:
    document, summaries, seen = open_bytes(format, data, column=COLUMNS.get(format)), FileSummaries(), []
    document.format = BY_NAME[format]
    summaries.begin_file("x")
    for unit in track_locations(document, summaries):
        unit.write([louder(text) for text in unit.texts])
        seen += [summaries.where] * len(unit.texts)
    assert seen == places


def test_of_many_files_those_that_need_a_look_are_shown_in_order() -> None:
    summaries = FileSummaries(are_apart=True)
    for number in range(2 * ROWS_SHOWN):
        summaries.begin_file(f"{number}.txt").error = DataError("9.txt: it is damaged") if number == 9 else None
        summaries.add(translate(1 - number / 100))
    lines = list(summaries.describe())
    assert lines[:2] == ["  9.txt: not translated: it is damaged", "  21.txt: 1 line, confidence 0.79"]
    assert lines[-1] == f"  and {ROWS_SHOWN} more, less urgent" and len(lines) == ROWS_SHOWN + 1
    with pytest.raises(DataError, match=r"1 of 40 files not translated: 9\.txt: it is damaged"):
        summaries.require_complete()
