"""Commands on a cluster of two machines do what they do in one process, byte for byte."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import prepare
from nmt_cli.model.config import ModelConfig
from nmt_cli.training import synthetic
from nmt_cli.training.export import publish as publishing
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.step import Trainer
from nmt_cli.training.synthetic import train_with_synthetic
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import Watcher
from nmt_cli.workers.choice import ExecutorOptions
from support.cluster import kill_machine
from support.commands import succeed
from support.corpora import prepare_pairs, toy_pairs, write_tsv
from support.training import export_once, nudge, weigh

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
    assert b"Bahnhof" in translated["a.txt"] and len(translated) == 3 + 2  # and what was written in each folder
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


# The text of a training with synthetic pairs is translated by a cluster of two machines as by one process.


def read_translated(folder: Path) -> dict[str, bytes]:
    """Returns the files of translations, and those of the mixture with them."""
    paths = [*folder.glob("*.journal"), *(path for path in folder.glob("mixture/**/*") if path.is_file())]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


class MachineKiller(Watcher):
    """Kills the second machine once the first sentences are translated."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.translated: list[int] = []

    def report_translations(self, done: int, total: int, seconds_left: float) -> None:
        if not self.translated:
            kill_machine(self.cluster)
        self.translated.append(done)


def test_text_is_translated_as_by_one_process_though_a_machine_is_killed(
    tmp_path: Path, two_machines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name, substitute in (
        (Trainer, "update", nudge),
        (Validator, "validate", weigh),
        (publishing, "export", export_once(tmp_path)),
        (synthetic, "BLOCK", 10),
    ):
        monkeypatch.setattr(owner, name, substitute)
    pairs, text = toy_pairs(400), tmp_path / "text.de"
    text.write_text("".join(f"{target}\n" for _, target in pairs[300:]), encoding="utf-8")
    corpus = prepare_pairs(tmp_path, pairs[:300], monolingual_target=(str(text),), dev="20", test="20")
    network = ModelConfig.from_options(embedding=16, units=16, attention="none", bidirectional=False)
    training = TrainOptions(epochs=1, batch=64, mixed_precision=False)
    alone = TrainRequest(corpus, tmp_path / "one", network, training, keep_stages=True)
    train_with_synthetic(alone)
    killer = MachineKiller(two_machines)
    train_with_synthetic(replace(alone, directory=tmp_path / "two", ray=two_machines.address, watcher=killer))
    assert len(killer.translated) > 5
    stages = [read_translated(tmp_path / name / "stages") for name in ("one", "two")]
    assert len(stages[0]) > 5 and stages[0] == stages[1]
