"""A corpus of any size is prepared block by block, in files: the same directory, also after an interruption."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.arrays import scratch
from nmt_cli.corpus import pairs
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import NOTHING_TO_RESUME, prepare
from nmt_cli.corpus.steps import build, reading, subwords, workspace
from nmt_cli.corpus.steps.workspace import open_workspace
from nmt_cli.errors import DataError, NmtError, OptionError, OutputError
from nmt_cli.formats.inputs import STDIN, CorpusFile
from support.corpora import toy_pairs, write_tsv

ENDS = st.sampled_from(["", "!", " It is cold.", " 12", " x" * 40])


def read_files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def write_sentence(number: int, letters: str) -> str:
    """Returns six made-up words; those of two numbers are unlike."""
    random = Random(f"{number} {letters}")
    return " ".join("".join(random.choices(letters, k=random.randint(2, 9))) for _ in range(6))


def repeat_some(numbers: list[int], ends: list[str]) -> list[tuple[str, str]]:
    """Pairs, some of them again, as they are, with another end of a side, or with the target of another."""
    rows = [(write_sentence(number, "abcdefghij"), write_sentence(number, "lmnopqrstu")) for number in range(200)]
    for number, end in zip(numbers, ends, strict=False):
        rows.append((rows[number][0] + end, rows[number if end else -number - 1][1]))
    return rows


@settings(max_examples=6)
@given(
    st.lists(st.integers(0, 199), max_size=60),
    st.lists(ENDS, min_size=60, max_size=60),
    st.tuples(st.integers(5, 60), st.integers(5, 90)),
    st.booleans(),
)
def test_the_directory_does_not_depend_on_the_size_of_blocks(
    numbers: list[int], ends: list[str], sizes: tuple[int, int], near: bool
) -> None:
    config = PrepareOptions(near_duplicates=near, max_source_length=20)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        table = write_tsv(folder / "en-de.tsv", repeat_some(numbers, ends))
        prepare(table, folder / "whole", config)
        patch.setattr(scratch, "BLOCK", sizes[0])
        patch.setattr(scratch, "SMALL", 0)
        patch.setattr(scratch, "PARTITION", sizes[1])
        patch.setattr(pairs, "SELECTED", sizes[0])
        patch.setattr(subwords, "CHUNK", sizes[1])
        patch.setattr(build, "CHUNK", sizes[1])
        patch.setattr(build, "MOVED", sizes[0])
        prepare(table, folder / "in_blocks", config)
        assert read_files(folder / "in_blocks") == read_files(folder / "whole")
        assert sorted(path.name for path in folder.iterdir()) == ["en-de.tsv", "in_blocks", "whole"]


class Interruption:
    """A report of progress that interrupts the work when a stage has got somewhere."""

    def __init__(self, stage: str, calls: int) -> None:
        self.stage, self.calls = stage, calls

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.calls -= stage == self.stage
        if stage == self.stage and not self.calls:
            raise KeyboardInterrupt


@pytest.fixture
def many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A corpus of 20 chunks, in which every second is noted."""
    monkeypatch.setattr(reading, "CHUNK", 20)
    monkeypatch.setattr(workspace, "COMMITTED", 2)
    yield write_tsv(tmp_path / "en-de.tsv", [*toy_pairs(380), *[(f"a &amp; b {n}", f"ü {n}") for n in range(20)]])


@pytest.mark.parametrize(("stage", "calls", "left"), [("reading", 12, 10), ("checking", 5, 0), ("encoding", 1, 0)])
def test_an_interrupted_preparation_goes_on_and_gives_the_same(
    many_chunks: Path, monkeypatch: pytest.MonkeyPatch, stage: str, calls: int, left: int
) -> None:
    directory, config = many_chunks.parent / "prepared", PrepareOptions()
    prepare(many_chunks, many_chunks.parent / "whole", config)
    with pytest.raises(KeyboardInterrupt):
        prepare(many_chunks, directory, config, report_progress=Interruption(stage, calls))
    assert not directory.exists()
    examined, whole = list[int](), reading.examine
    monkeypatch.setattr(reading, "examine", lambda chunk: examined.append(len(chunk.rows)) or whole(chunk))
    report = prepare(many_chunks, directory, config, resume=True)
    assert read_files(directory) == read_files(many_chunks.parent / "whole")
    assert len(examined) == left and NOTHING_TO_RESUME not in report.notes
    assert sorted(path.name for path in many_chunks.parent.iterdir()) == ["en-de.tsv", "prepared", "whole"]


def test_what_was_appended_after_the_last_note_is_read_again(many_chunks: Path) -> None:
    """As after kill -9, when files are longer than the journal says."""
    directory = many_chunks.parent / "prepared"
    with pytest.raises(KeyboardInterrupt):
        prepare(many_chunks, directory, PrepareOptions(), report_progress=Interruption("reading", 12))
    for name in ("flags", "source.texts"):
        with (many_chunks.parent / ".prepared.unfinished" / "pairs" / name).open("ab") as file:
            file.write(bytes(range(100)))
    prepare(many_chunks, directory, PrepareOptions(), resume=True)
    prepare(many_chunks, many_chunks.parent / "whole", PrepareOptions())
    assert read_files(directory) == read_files(many_chunks.parent / "whole")


def test_another_preparation_is_not_resumed_and_starting_over_is_possible(many_chunks: Path) -> None:
    directory = many_chunks.parent / "prepared"
    with pytest.raises(KeyboardInterrupt):
        prepare(many_chunks, directory, PrepareOptions(), report_progress=Interruption("reading", 12))
    with pytest.raises(DataError, match="was started with different options"):
        prepare(many_chunks, directory, PrepareOptions(seed=2), resume=True)
    with many_chunks.open("a") as file:
        file.write("one more\teine mehr\n")
    with pytest.raises(DataError, match="was started with different inputs"):
        prepare(many_chunks, directory, PrepareOptions(), resume=True)
    prepare(many_chunks, directory, PrepareOptions(seed=2))
    assert not (many_chunks.parent / ".prepared.unfinished").exists()


def test_without_an_interruption_it_starts_from_the_beginning(many_chunks: Path) -> None:
    report = prepare(many_chunks, many_chunks.parent / "prepared", PrepareOptions(), resume=True)
    assert NOTHING_TO_RESUME in report.notes


def test_standard_input_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="standard input"):
        prepare(CorpusFile(STDIN), tmp_path / "prepared", PrepareOptions(), resume=True)


def test_two_processes_do_not_prepare_one_directory(tmp_path: Path) -> None:
    with (
        open_workspace(tmp_path / "prepared", {}, resume=False),
        pytest.raises(OutputError, match="by another process"),
        open_workspace(tmp_path / "prepared", {}, resume=False),
    ):
        pass


def test_an_input_at_fault_leaves_nothing(tmp_path: Path) -> None:
    table = write_tsv(tmp_path / "en-de.tsv", [("a", "b"), ("c\0", "d")])
    with pytest.raises(NmtError):
        prepare(table, tmp_path / "prepared", PrepareOptions())
    assert [path.name for path in tmp_path.iterdir()] == ["en-de.tsv"]
