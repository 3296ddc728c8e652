"""Reading inputs: what is normalised, what is reported, and that the number of processes changes nothing."""

import errno
import gzip
import json
import random
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import Finding, FindingExample
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.build import write_rejected
from nmt_cli.corpus.steps.reading import Chunk, ChunkOfFile, CorpusInputs, read_chunks, read_pairs
from nmt_cli.corpus.steps.run_checks import refuse_findings, run_checks
from nmt_cli.errors import DataError, OptionError, convert_os_error
from nmt_cli.formats.inputs import CorpusFile
from nmt_cli.formats.reader import Reader, Row
from nmt_cli.languages.codes import load_identifier
from nmt_cli.workers.choice import ExecutorOptions
from support.corpora import check_rows, examine_rows, toy_pairs, write_tsv


def silent(stage: str, done: int, total: int) -> None:
    """A progress callback that tells nobody."""


def test_text_is_normalised_before_it_is_judged(tmp_path: Path) -> None:
    rows = [("Tom\u00a0 ran.", "Tom lief."), ("Cafe\u0301", "Café"), ("\u200b", "x"), ("Tom ran.", " Tom lief.")]
    inputs = CorpusInputs({"train": [CorpusFile(write_tsv(tmp_path / "a.tsv", rows))]}, PrepareOptions())
    pairs = read_pairs(inputs, PrepareOptions(), silent)
    assert pairs.source[:] == ["Tom ran.", "Café", "", "Tom ran."]
    run_checks(pairs, PrepareOptions(), lambda done: None)
    write_rejected(tmp_path / "r.gz", pairs)
    assert gzip.decompress((tmp_path / "r.gz").read_bytes()).decode() == (
        "empty\t\tx\t3\ta.tsv\nduplicate\tTom ran.\tTom lief.\t4\ta.tsv\n"
    )


@pytest.mark.parametrize(
    ("first", "second", "options", "last"),
    [
        ("Woruna,English", "English,Woruna", {}, ("nele kwa tuma", "He eats it")),
        ("en,de", "German,English", {}, ("nele kwa tuma", "He eats it")),
        ("Woruna,English", "English,Other", {}, ("He eats it", "nele kwa tuma")),
        (
            "Woruna,English",
            "English,Woruna",
            {"source_column": "1", "target_column": "2"},
            ("He eats it", "nele kwa tuma"),
        ),
    ],
)
def test_files_are_read_in_the_order_of_the_first_by_their_headings(
    tmp_path: Path, first: str, second: str, options: dict[str, str], last: tuple[str, str]
) -> None:
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path, rows in zip(
        paths, ([first, *["kwa nele,She eats"] * 9], [second, *["He eats it,nele kwa tuma"] * 9]), strict=True
    ):
        path.write_text("\n".join(rows))
    config = PrepareOptions(**options)  # type: ignore[arg-type]
    pairs = read_pairs(CorpusInputs({"train": [*map(CorpusFile, paths)]}, config), config, silent)
    assert (pairs.source[-1], pairs.target[-1]) == last


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = write_tsv(tmp_path / "a.tsv", toy_pairs(50))
    inputs = CorpusInputs({"train": [CorpusFile(path)]}, PrepareOptions())
    read_pairs(inputs, PrepareOptions(), lambda *what: told.append(what))
    size = path.stat().st_size
    assert told == [("reading", 0, size), ("reading", size, size)]


def test_several_processes_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.corpus.steps.reading.CHUNK", 50)
    path = write_tsv(tmp_path / "a.tsv", [*toy_pairs(900), ("a &amp; b", "ü\u200b")])
    read = []
    for processes in (1, 2):
        inputs = CorpusInputs({"train": [CorpusFile(path), CorpusFile(path)]}, PrepareOptions())
        read.append(read_pairs(inputs, PrepareOptions(), silent, processes=ExecutorOptions(workers=processes)))
    one, two = read
    assert list(one.source) == list(two.source) and one.originals == two.originals
    for name, array in vars(one.facts).items():
        assert np.array_equal(array, getattr(two.facts, name)), name


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=9)
SIDES = st.lists(st.tuples(TEXT, TEXT, st.sampled_from(["\n", "\r\n"])), min_size=1, max_size=30)


def write_inputs(folder: Path, rows: list[tuple[str, str, str]], *, has_end: bool) -> dict[str, CorpusFile]:
    """Writes pairs in each format of lines."""
    sides = [("a.tsv", "{0}\t{1}{2}"), ("a.en", "{0}{2}"), ("a.de", "{1}{2}"), ("a.jsonl", "[{3}, {4}]{2}")]
    for name, form in sides:
        text = "".join(form.format(*row, json.dumps(row[0]), json.dumps(row[1])) for row in rows)
        (folder / name).write_text(text if has_end else text.rstrip("\r\n"), encoding="utf-8", newline="")
    two = CorpusFile(folder / "a.en", folder / "a.de")
    return {"tsv": CorpusFile(folder / "a.tsv"), "two": two, "jsonl": CorpusFile(folder / "a.jsonl")}


def shorten_samples(patch: pytest.MonkeyPatch) -> None:
    """Has the columns of tables found in few lines, so that parts begin behind these."""
    patch.setattr("nmt_cli.formats.tables.SAMPLE", 5)


@pytest.mark.parametrize("kind", ["tsv", "two", "jsonl"])
@given(rows=SIDES, has_end=st.booleans(), is_reversed=st.booleans(), chunk=st.integers(1, 9))
def test_parts_of_a_file_are_read_as_its_lines(
    tmp_path_factory: pytest.TempPathFactory,
    kind: str,
    rows: list[tuple[str, str, str]],
    has_end: bool,
    is_reversed: bool,
    chunk: int,
) -> None:
    file = write_inputs(tmp_path_factory.mktemp("in"), [("First line", "Erste Zeile", "\n"), *rows], has_end=has_end)[
        kind
    ]
    config = PrepareOptions(reverse=is_reversed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmt_cli.corpus.steps.reading.CHUNK", chunk)
        shorten_samples(patch)
        try:
            by_parts = read_rows(file, config)
        except DataError as error:
            by_parts = error.message
        patch.setattr(Reader, "take_parts", lambda reader, count: ())
        try:
            by_lines = read_rows(file, config)
        except DataError as error:
            by_lines = error.message
    assert by_parts == by_lines


def read_rows(file: CorpusFile, config: PrepareOptions) -> tuple[list[Row], str, int]:
    """Returns all rows, the checksum and the size of the input."""
    inputs = CorpusInputs({"train": [file]}, config)
    chunks = [
        chunk.read() if isinstance(chunk, ChunkOfFile) else chunk for chunk in read_chunks(inputs.readers, config)
    ]
    (record, *_) = inputs.records.values()
    return [row for chunk in chunks for row in chunk.rows], record.sha256, record.bytes


def test_what_follows_the_first_chunk_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.corpus.steps.reading.CHUNK", 10)
    shorten_samples(monkeypatch)
    plain = write_tsv(tmp_path / "a.tsv", toy_pairs(35))
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    (tmp_path / "b.tsv").write_bytes(plain.read_bytes() + "caf\u00e9\tcaf\u00e9\n".encode("cp1252"))
    kinds = {
        name: [type(chunk) for chunk in read_chunks(open_input(tmp_path / name).readers, PrepareOptions())]
        for name in ("a.tsv", "a.tsv.gz", "b.tsv")
    }
    assert kinds["a.tsv"] == [Chunk, *[ChunkOfFile] * 3]
    assert kinds["a.tsv.gz"] == [Chunk] * 4
    assert kinds["b.tsv"] == [Chunk, ChunkOfFile, ChunkOfFile, Chunk]  # whose encoding is guessed


def open_input(path: Path) -> CorpusInputs:
    return CorpusInputs({"train": [CorpusFile(path)]}, PrepareOptions())


@pytest.mark.parametrize("blank", ["\n", "\t\n", " \r\n"])
def test_too_many_empty_lines_are_refused_within_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    monkeypatch.setattr("nmt_cli.corpus.steps.reading.CHUNK", 10)
    shorten_samples(monkeypatch)
    monkeypatch.setattr("nmt_cli.formats.reader.MAXIMUM_EMPTY", 33)
    (tmp_path / "a.tsv").write_text("a\tb\n" * 15 + blank * 33 + "a\tb\n" * 9 + blank * 34, newline="")
    with pytest.raises(DataError, match="row 91: 33 empty rows in succession"):
        list(read_chunks(open_input(tmp_path / "a.tsv").readers, PrepareOptions()))


# Running the checks: what is dropped, kept, mended and reported, and what `--strict` refuses.


def test_given_test_data_is_not_cleaned_but_for_empty_sides() -> None:
    rows = [("a", "1"), ("b b b b", "b b b b"), ("b b b b", "b b b b"), ("", "x")]
    pairs = examine_rows(rows, roles=["train", "test"], inputs=[0, 1, 1, 1])
    run_checks(pairs, PrepareOptions(), lambda done: None)
    assert pairs.is_kept.tolist() == [True, True, True, False]


def test_what_is_kept_is_still_reported_and_neither_dropped_nor_mended() -> None:
    rows = [("a &amp; b", "x"), ("c c c c", "c c c c")]
    config = PrepareOptions(keep=("markup", "identical"))
    pairs = examine_rows(rows, keep=config.keep)
    findings = {finding.check: finding.action for finding in run_checks(pairs, config, lambda done: None)}
    assert findings == {"markup": "kept", "identical": "kept"}
    assert pairs.is_kept.all() and pairs.source[0] == "a &amp; b"


def test_examples_of_mended_pairs_show_what_was_there() -> None:
    finding = check_rows([("x", "y"), ("a &amp; b", "z")])["markup"]
    assert (finding.examples[0].source, finding.examples[0].line, finding.count) == ("a &amp; b", 2, 1)


@pytest.mark.parametrize(("checks", "hint"), [(["held-out"], "report.html"), (["held-out", "empty"], "--keep empty")])
def test_what_strict_advises_to_keep_can_be_kept(checks: list[str], hint: str) -> None:
    place = FindingExample(file="a.tsv", line=1, source="x", target="y")
    bad = [Finding(check=name, problem="", count=1, action="dropped", note="", examples=(place,)) for name in checks]
    with pytest.raises(DataError) as caught:
        refuse_findings(tuple(bad))
    assert caught.value.hint.endswith(hint)


CELLS = st.one_of(st.text(alphabet="ab \u00a0\t&;<", max_size=20), st.text(max_size=8))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=40))
def test_any_pairs_are_kept_or_dropped_for_a_reason(rows: list[tuple[str, str]]) -> None:
    pairs = examine_rows(rows)
    findings = run_checks(pairs, PrepareOptions(max_length=4), lambda done: None)
    assert sum(finding.count for finding in findings if finding.action == "dropped") == int((~pairs.is_kept).sum())
    assert all(0 < len(finding.examples) <= 3 and finding.count >= len(finding.examples) for finding in findings)


# What the languages of a corpus are called.

ENGLISH = "My brother wants to visit the old castle number {} near the river."
GERMAN = "Mein Bruder möchte das alte Schloss Nummer {} am Fluss besuchen."


def prepare_lines(folder: Path, lines: list[str], name: str = "corpus.tsv", **options: object) -> tuple[str, str, str]:
    """The languages of a corpus of these lines, and what was noted."""
    (folder / name).write_text("\n".join(lines) + "\n")
    report = prepare(folder / name, folder / "d", PrepareOptions(**options), replace=True)
    return report.manifest.source_language, report.manifest.target_language, " ".join(report.notes)


def test_the_text_names_the_languages_if_it_leaves_no_doubt(tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    lines = [f"{ENGLISH.format(n)}\t{GERMAN.format(n)}" for n in range(400)]
    source, target, note = prepare_lines(tmp_path, lines)
    assert (source, target) == ("en", "de")
    assert "by the text" in note and "--source-language" in note
    assert prepare_lines(tmp_path, lines, "corpus.en-nds.tsv")[:2] == ("en", "nds")
    assert prepare_lines(tmp_path, lines, source_language="sco")[:2] == ("sco", "de")
    assert prepare_lines(tmp_path, lines, target_language="en")[:2] == ("source", "en")
    assert "the source language is en, judging by the text" in prepare_lines(tmp_path, lines, target_language="pdt")[2]
    draws = random.Random(1)
    words = ["".join(draws.choices("aeiou", k=1) + draws.choices("bdgklmnprstuz", k=2)) for _ in range(2_000)]
    unheard = [f"{ENGLISH.format(n)}\t{' '.join(draws.choices(words, k=8))}." for n in range(400)]
    assert prepare_lines(tmp_path, unheard)[:2] == ("en", "target")
    headed = ["English\tWoruna sentence", *unheard]
    assert prepare_lines(tmp_path, headed)[:2] == ("en", "Woruna")
    assert prepare_lines(tmp_path, headed, reverse=True)[:2] == ("Woruna", "en")
    assert prepare_lines(tmp_path, ["English\tVersion", *lines])[:2] == ("en", "de")  # the text says more than the word
    assert "left out as a header: English, Version" in prepare_lines(tmp_path, ["English\tVersion", *lines])[2]


def test_a_full_disk_is_told_with_the_folder_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    langid = pytest.importorskip("py3langid.langid")
    load_identifier.cache_clear()

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(langid.LanguageIdentifier, "from_model_file", fail)
    with pytest.raises(OSError) as caught:
        prepare_lines(tmp_path, [f"{ENGLISH.format(n)}\t{GERMAN.format(n)}" for n in range(400)])
    assert convert_os_error(caught.value).message == f"the disk is full: {gettempdir()} could not be written"


def test_few_lines_or_mixed_ones_name_nothing(tmp_path: Path) -> None:
    few = [f"{ENGLISH.format(n)}\t{GERMAN.format(n)}" for n in range(100)]
    assert prepare_lines(tmp_path, few)[:2] == ("source", "target")
    mixed = few * 3 + [f"{GERMAN.format(n)} x{n}\t{ENGLISH.format(n)} x{n}" for n in range(300)]
    assert prepare_lines(tmp_path, mixed, keep=("swapped", "duplicate"))[:2] == ("source", "target")


@pytest.mark.parametrize(
    ("options", "languages"),
    [
        ({}, ("en", "de")),
        ({"reverse": True}, ("de", "en")),
        ({"reverse": True, "source_language": "en"}, ("de", "en")),
        ({"reverse": True, "source_language": "de"}, ("en", "de")),
        ({"source_language": "de"}, ("de", "en")),
    ],
)
def test_options_name_the_languages_of_the_file_and_reverse_swaps_them(
    tmp_path: Path, options: dict[str, object], languages: tuple[str, str]
) -> None:
    unit = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv></tu>'
    units = [unit.format(ENGLISH.format(n), GERMAN.format(n)) for n in range(30)]
    text = ['<tmx version="1.4"><header srclang="en"/><body>', *units, "</body></tmx>"]
    assert prepare_lines(tmp_path, text, "m.tmx", **options)[:2] == languages
    first, second = (tmp_path / "d" / "train.tsv").read_text().splitlines()[0].split("\t")
    assert ("castle" in first, "castle" in second) == (languages[0] == "en", languages[1] == "en")


def test_an_error_about_too_few_pairs_says_which_check_dropped_them(tmp_path: Path) -> None:
    same = [f"the same text number {n} here\tthe same text number {n} here" for n in range(30)]
    with pytest.raises(DataError, match="dropped: 30 identical") as caught:
        prepare_lines(tmp_path, same)
    assert "--keep identical" in caught.value.hint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dev": "60%", "test": "0.5"}, "leave nothing to train on"),
        ({"dev": "0"}, "at least 1 pair"),
        ({"source_column": "2", "target_column": "2"}, "are both 2"),
    ],
)
def test_options_that_cannot_work_are_refused_before_the_corpus_is_read(
    tmp_path: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        prepare_lines(tmp_path, ["one column"], **options)
    with pytest.raises(OptionError, match="has no columns"):
        prepare_lines(tmp_path, ["<tmx/>"], "a.tmx", source_column="2")
