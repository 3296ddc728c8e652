"""Translations killed with SIGKILL: they go on where they were, and write what an uninterrupted one writes."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from base64 import b85decode, b85encode
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from types import SimpleNamespace
from typing import Any

import pytest

from nmt_cli.api.translating.outputs import OutputState, WrittenFiles
from nmt_cli.api.translating.resume import ResumableJob
from nmt_cli.runtime.installed_models import find_model
from support.archives import make_docx, unpack

PROJECT = Path(__file__).parents[2]
LINES = 96
BLOCK = 8  # units translated together
CODE = f"""
import sys
from nmt_cli.api.translating import translate
from nmt_cli.cli.app import main
from nmt_cli.translation.request import TranslationRequest
from support.fakes import FakeTranslator, make_card

class SlowTranslator(FakeTranslator):
    def translate(self, lines, options, progress=None, **others):
        translations = super().translate(lines, options, progress, **others)
        with open("translated.log", "a") as log:
            log.write("x" * bool(lines) + chr(10))
        return translations

TranslationRequest.open = lambda self, threads: SlowTranslator(seconds_per_line=0.004)
translate.READ_AHEAD = {BLOCK}
main()
"""


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """A directory with a folder of a text and of a document to translate, and the card of a model."""
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/a.txt").write_text("".join(f"line {number} of it.\n" for number in range(LINES)))
    paragraphs = (f"<w:p><w:r><w:t>part {number}</w:t></w:r></w:p>" for number in range(LINES // 2))
    (tmp_path / "in/sub/b.docx").write_bytes(make_docx("".join(paragraphs)))
    (tmp_path / "model").mkdir()
    copyfile(PROJECT / "data/models/eng-deu/nmt_model_eng_deu/model/model.json", tmp_path / "model/model.json")
    return tmp_path


def start(interrupted: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CODE, "translate", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(PROJECT), str(PROJECT / "tests")))}
    return subprocess.Popen(
        command, cwd=interrupted, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(interrupted: Path, *arguments: str) -> str:
    """Runs to the end, and returns what was said."""
    _, said = (process := start(interrupted, *arguments)).communicate(timeout=120)
    assert process.returncode == 0, said
    return " ".join(said.split())


def count_translated(interrupted: Path) -> int:
    log = interrupted / "translated.log"
    return log.read_text().count("x") if log.exists() else 0


def kill_after(interrupted: Path, blocks: int, wait: float, arguments: Sequence[str]) -> None:
    """Starts the job, and kills it a moment after it has translated so many blocks."""
    process = start(interrupted, *arguments)
    before = count_translated(interrupted)
    while count_translated(interrupted) < before + blocks and process.poll() is None:
        time.sleep(0.002)
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_killed_at_several_moments_a_folder_is_written_as_if_never_killed(interrupted: Path) -> None:
    finish(interrupted, "in", "-o", "whole")
    blocks, moments = count_translated(interrupted), random.Random(7)
    (interrupted / "translated.log").unlink()
    arguments, kills = ["in", "-o", "out", "--resume", "--report", "qa.json"], 5
    for number in range(kills):
        kill_after(interrupted, 1 + number % 3, moments.uniform(0, 0.04), arguments)
        assert not list((interrupted / "out").rglob("*.docx")) or number == kills - 1
    said = finish(interrupted, *arguments)
    assert "continues where it was interrupted" in said and "in/a.txt: 96 texts" in said
    assert blocks <= count_translated(interrupted) <= blocks + kills
    for name in ("a.txt", "sub/b.docx"):
        assert (interrupted / "out" / name).read_bytes() == (interrupted / "whole" / name).read_bytes()
    assert "PART 7" in unpack((interrupted / "out/sub/b.docx").read_bytes())["word/document.xml"].decode()
    assert sorted(path.name for path in (interrupted / "out").rglob("*")) == [
        *(".nmt.written", ".nmt.written", "a.txt", "b.docx", "sub")  # no journal
    ]


def refuse(interrupted: Path, *arguments: str) -> str:
    """Runs a command that is refused with status 73, and returns its error."""
    _, said = (process := start(interrupted, *arguments)).communicate(timeout=120)
    assert process.returncode == 73, said
    return " ".join(said.split())


def test_a_file_that_a_person_has_edited_is_not_replaced_by_going_on(interrupted: Path) -> None:
    (interrupted / "in/sub/b.docx").rename(interrupted / "in/b.docx")
    arguments = ["in", "-o", "out", "--context", "0"]  # the fake knows no lines that are context alone
    kill_after(interrupted, LINES // BLOCK + 3, 0.01, arguments)
    written = interrupted / "out/a.txt"
    said = refuse(interrupted, *arguments)
    assert (
        "the translation was interrupted; continue with: nmt translate in" in said and "--output out --resume" in said
    )
    written.write_text("corrected by hand\n")
    again = {path: path.read_bytes() for path in (interrupted / "out").iterdir()}
    said = finish(interrupted, *arguments, "--force")  # which starts over
    assert "1 edited file is kept: out/a.txt;" in said and "in/b.docx: 48 texts" in said and "in/a.txt" not in said
    (interrupted / "out/b.docx").unlink()
    for path, content in again.items():
        path.write_bytes(content)
    kept = "1 edited file is kept: out/a.txt;"
    said = finish(interrupted, *arguments, "--resume")
    assert kept in said and "continues where it was interrupted" in said
    assert written.read_text() == "corrected by hand\n"
    said = finish(interrupted, *arguments, "--resume")  # nothing is interrupted any more
    assert kept in said and "1 file is up to date" in said


def test_a_file_edited_without_a_record_is_kept_too_but_not_by_force(interrupted: Path) -> None:
    arguments, written = ["in", "-o", "out", "--context", "0"], interrupted / "out/a.txt"
    kill_after(interrupted, LINES // BLOCK + 3, 0.01, arguments)
    (interrupted / "out/.nmt.written").unlink()
    written.write_text("corrected by hand\n")
    edited = written.stat().st_mtime + 100
    os.utime(written, (edited, edited))
    for _ in range(2):
        assert "1 edited file is kept: out/a.txt;" in finish(interrupted, *arguments, "--resume")
        assert written.read_text() == "corrected by hand\n"
    (interrupted / "out/.nmt.written").unlink()
    said = finish(interrupted, *arguments, "--force")
    assert "--force replaces 1 file that nmt has no record of: out/a.txt" in said
    assert written.read_text() != "corrected by hand\n"


@pytest.mark.parametrize(("written", "state"), [(b"old", "outdated"), (b"new", "current"), (b"by hand", "edited")])
def test_a_run_killed_before_a_file_gets_its_name_leaves_what_is_known(
    tmp_path: Path, written: bytes, state: OutputState
) -> None:
    content, target = tmp_path / "content", tmp_path / "a.txt"
    for text, cause in ((b"old", "o:1"), (b"new", "o:2")):
        content.write_bytes(text)
        WrittenFiles().add(target, content, tmp_path / "source.txt", cause)
    with (tmp_path / ".nmt.written").open("a") as record:
        record.write('\n{"a.t')  # killed while it wrote
    target.write_bytes(written)
    assert WrittenFiles().find_state(target, "o:2") == state


def test_a_second_run_translates_what_changed_and_replaces_no_edited_file(interrupted: Path) -> None:
    arguments, written = ["in", "-o", "out"], interrupted / "out/a.txt"
    finish(interrupted, *arguments)
    (interrupted / "in/c.txt").write_text("a new line\n")
    said = finish(interrupted, *arguments)
    assert "2 files are up to date" in said and "in/c.txt: 1 line" in said and "in/a.txt" not in said
    written.write_text("corrected by hand\n")
    assert "1 edited file is kept: out/a.txt;" in finish(interrupted, *arguments, "--force")
    (interrupted / "in/a.txt").write_text("other lines\n")
    (interrupted / "in/c.txt").write_text("another line\n")
    assert "out/c.txt already exists" in refuse(interrupted, *arguments)
    said = finish(interrupted, *arguments, "--force")
    assert "1 file is up to date" in said and "kept: out/a.txt (its source has changed since);" in said
    texts = [(interrupted / "out" / name).read_text() for name in ("a.txt", "c.txt")]
    assert texts == ["corrected by hand\n", "ANOTHER LINE\n"]
    said = finish(interrupted, *arguments, "--force", "--report", "qa.html")  # which needs all texts
    assert "in/c.txt: 1 text" in said and "b.docx: 48 texts" in said and "in/a.txt" not in said
    assert "in/c.txt: 1 text" in finish(interrupted, *arguments, "--json")  # which replaces files by the same
    assert "qa.html: 0 texts to check" in finish(interrupted, *arguments, "--report", "qa.html")  # which nmt wrote
    (interrupted / "qa.html").write_text("my remarks\n")
    assert "qa.html already exists" in refuse(interrupted, *arguments, "--report", "qa.html")
    (interrupted / "in/t.csv").write_text("id,text\n1,hello\n")
    _, said = start(interrupted, *arguments).communicate(timeout=120)
    assert "in/t.csv: not translated" in said
    assert "in/t.csv: 1 text" in finish(interrupted, *arguments, "--column", "text")  # which no other file has
    (interrupted / "out/.nmt.written").write_text('{"a.txt": 3')
    assert "a.txt already exists" in refuse(interrupted, *arguments)


def test_a_memory_that_cannot_be_read_is_refused_even_if_all_files_are_kept(interrupted: Path) -> None:
    arguments = ["in/sub", "-o", "out"]
    finish(interrupted, *arguments)
    (interrupted / "out/b.docx").write_bytes(b"corrected by hand")
    (interrupted / "model/profile.txt").write_bytes((find_model(Path("eng-deu")) / "profile.txt").read_bytes())
    assert "1 edited file is kept: out/b.docx;" in finish(interrupted, *arguments)
    _, said = (process := start(interrupted, *arguments, "--tm", "in/a.txt")).communicate(timeout=120)
    assert process.returncode == 65 and "hint: write a source sentence, a tab" in said


def test_no_file_is_replaced_unasked(interrupted: Path) -> None:
    arguments = ["in/sub/b.docx", "-o", "b.docx", "--report", "qa.html"]
    (interrupted / "b.docx").touch()  # in which nothing is lost
    finish(interrupted, *arguments)
    assert "qa.html already exists" in refuse(interrupted, *arguments)
    assert "b.docx already exists hint: replace it with --force" in refuse(interrupted, *arguments[:3])
    finish(interrupted, *arguments, "--force")


def test_another_input_model_or_option_is_refused_with_the_line_to_type(interrupted: Path) -> None:
    arguments = ["in/a.txt", "-o", "out.txt", "--beam-size", "2"]
    kill_after(interrupted, 3, 0.01, arguments)
    assert (interrupted / ".out.txt.journal").is_file()
    others = [*arguments[:3], "--beam-size", "3"]
    original = (interrupted / "in/a.txt").read_text()
    for changed, text, what in (
        (others, original, "a different --beam-size"),
        (arguments, original.replace("line 90", "row 90"), "different text in in/a.txt"),
    ):
        (interrupted / "in/a.txt").write_text(text)
        _, said = (process := start(interrupted, *changed, "--resume")).communicate(timeout=60)
        said = " ".join(said.split())
        assert process.returncode == 65 and f"error: out.txt was started with {what}" in said
        assert f"start over: nmt translate in/a.txt --beam-size {changed[-1]} --output out.txt --force" in said
    (interrupted / "in/a.txt").write_text(original)
    card = interrupted / "model/model.json"
    card.write_text((old := card.read_text()) + "\n")
    assert "was started with a different model" in start(interrupted, *arguments, "--resume").communicate(timeout=60)[1]
    card.write_text(old)
    read_alone = start(interrupted, *arguments, "--context", "0", "--resume")
    assert "out.txt was started with a different --context" in read_alone.communicate(timeout=60)[1]
    before = count_translated(interrupted)
    assert "run instead: nmt translate in/a.txt" in finish(interrupted, *arguments)  # it starts over, and says so
    assert count_translated(interrupted) - before == LINES // BLOCK
    assert "replace it with --force" in refuse(interrupted, *arguments, "--resume")
    (interrupted / "out.txt").unlink()
    assert "there is nothing to resume" in finish(interrupted, *arguments, "--resume")


def test_a_journal_of_other_types_is_damaged_whatever_is_asked(interrupted: Path) -> None:
    arguments = ["in/a.txt", "-o", "out.txt", "--resume"]
    kill_after(interrupted, 3, 0.01, arguments)
    journal = interrupted / ".out.txt.journal"
    first, second, *_ = journal.read_bytes().split(b"\n")
    digest, content = second.split(b" ", 1)
    rows = json.loads(zlib.decompress(b85decode(content)))
    rows[0][0] = -1
    changed = digest + b" " + b85encode(zlib.compress(json.dumps(rows).encode()))
    for lines, code in (((first, changed), 65), ((b'{"options": 5, "version": 1}', second), 65)):
        journal.write_bytes(b"\n".join([*lines, b""]))
        _, said = (process := start(interrupted, *arguments)).communicate(timeout=60)
        assert process.returncode == code and "error: " in said and len(said.splitlines()) <= 4, said


def test_a_second_process_is_refused_in_a_line_and_harms_nothing(interrupted: Path) -> None:
    arguments = ["in/a.txt", "-o", "out.txt"]
    finish(interrupted, *arguments)
    whole = (interrupted / "out.txt").read_bytes()
    for before in range(2):
        (interrupted / "out.txt").unlink()
        first = start(interrupted, *arguments)
        seen = count_translated(interrupted)
        while count_translated(interrupted) == seen and first.poll() is None:
            time.sleep(0.002)
        first.send_signal(signal.SIGSTOP)
        _, said = (second := start(interrupted, *arguments, *["--resume"][before:])).communicate(timeout=60)
        first.send_signal(signal.SIGCONT)
        assert second.returncode == 73 and "out.txt is being written by another process" in " ".join(said.split())
        first.communicate(timeout=60)
        assert first.returncode == 0 and (interrupted / "out.txt").read_bytes() == whole
    assert sorted(path.name for path in interrupted.glob(".out*")) == []


def test_what_is_interrupted_says_how_to_go_on(interrupted: Path) -> None:
    process = start(interrupted, "in/a.txt", "-o", "out.txt")
    while count_translated(interrupted) < 3 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    said = " ".join(said.split())
    assert process.returncode == 143 and "texts are translated; continue with: nmt translate in/a.txt" in said
    assert "--resume needs files to read and to write" in start(interrupted, "--resume").communicate(timeout=60)[1]


@pytest.mark.parametrize("kept", ["written", "saved"])
def test_an_interruption_before_the_first_block_says_that_nothing_is_kept(kept: str) -> None:
    job: Any = ResumableJob.__new__(ResumableJob)
    job.command, job.outputs = SimpleNamespace(files=["a.txt"]), SimpleNamespace(has_written=False)
    job.journal = SimpleNamespace(blocks=0, close=lambda: None) if kept == "saved" else None
    said: list[str] = []
    console = SimpleNamespace(say=said.append)
    with pytest.raises(KeyboardInterrupt), job.keep_journal(console):  # type: ignore[arg-type]
        raise KeyboardInterrupt
    together = " (the first 128 are saved together)" if kept == "saved" else ""
    assert said == [f"stopped before the first texts were finished: nothing was {kept}{together}"]
