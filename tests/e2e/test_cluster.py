"""Commands on a cluster of two machines do what they do in one process, byte for byte."""

from pathlib import Path
from typing import Any

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import prepare
from nmt_cli.workers.choice import ExecutorOptions
from support.cluster import kill_machine
from support.commands import succeed
from support.corpora import toy_pairs, write_tsv

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_is_translated_as_by_one_process(tmp_path: Path, two_machines: Any) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    for number, name in enumerate(("a.txt", "sub/b.txt", "sub/c.html")):
        (tmp_path / "in" / name).write_text(f"The dog is {number} years old.\n\nWhere is the station?\n")
    command = ("translate", "in", "--model", "eng-deu", "--beam-size", "1")
    succeed(*command, "-o", "one/", cwd=tmp_path)
    succeed(*command, "-o", "two/", "--ray", two_machines.address, cwd=tmp_path)
    translated = read_files(tmp_path / "one")
    assert b"Bahnhof" in translated["a.txt"] and len(translated) == 3
    assert read_files(tmp_path / "two") == translated


def test_a_corpus_is_prepared_as_by_one_process_though_a_machine_is_killed(
    tmp_path: Path, two_machines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("reading", "encoding"):
        monkeypatch.setattr(f"nmt_cli.corpus.steps.{module}.CHUNK", 50)
    corpus, config = write_tsv(tmp_path / "a.tsv", toy_pairs(900)), PrepareOptions()
    seen: list[int] = []

    def watch(stage: str, done: int, total: int) -> None:
        if stage == "encoding":
            seen.append(done)
            if len(seen) == 8:  # the first five blocks are those of this process
                kill_machine(two_machines)

    prepare(corpus, tmp_path / "one", config)
    processes = ExecutorOptions(ray=two_machines.address)
    prepare(corpus, tmp_path / "two", config, processes=processes, report_progress=watch)
    assert len(seen) > 8 and read_files(tmp_path / "two") == read_files(tmp_path / "one")
