"""Ray: blocks are answered once and in order, whoever dies. The test that kills a machine comes last."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from time import sleep
from typing import Any, NamedTuple

import pytest

from nmt_cli.errors import DataError, WorkerError
from nmt_cli.text.streams import LinePart, cut_file
from nmt_cli.workers.pool import RayCluster
from nmt_cli.workers.work import DoneReporter
from support.cluster import kill_machine

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
BLOCKS = 24


@dataclass(frozen=True)
class LoudWork:
    """Answers a text by capitals, slowly; notes each text and process when it begins.

    "wait" waits for another process to begin something; "die" kills the first process that gets it, "die!" each.
    """

    begun: Path

    def pack(self) -> LoudWork:
        return self

    def start(self, *, threads: int | None = None, report: DoneReporter | None = None) -> Callable[[str], str]:
        return self.answer_text

    def list_begun(self) -> list[tuple[str, str]]:
        lines = self.begun.read_text().splitlines() if self.begun.exists() else []
        return [(text, process) for text, _, process in (line.partition("|") for line in lines)]

    def answer_text(self, text: str) -> str:
        has_begun, process = text in dict(self.list_begun()), str(os.getpid())
        with self.begun.open("a") as file:
            file.write(f"{text}|{process}\n")
        if text == "die!" or (text == "die" and not has_begun):
            os.kill(os.getpid(), SIGKILL)
        if text == "fail":
            raise ValueError("this text cannot be")
        while text == "wait" and {other for _, other in self.list_begun()} == {process}:
            sleep(0.05)
        sleep(0.1)
        return text.upper()


def test_errors_are_raised_after_what_came_before(two_machines: Any, tmp_path: Path) -> None:
    answered: list[str] = []

    def answer_all(texts: Iterable[str]) -> None:
        answered.extend(cluster.map_blocks(texts))

    def unreadable() -> Iterator[str]:
        yield "b"
        raise DataError("line 2 is not valid UTF-8")

    with RayCluster(LoudWork(tmp_path / "begun"), two_machines.address) as cluster:
        with pytest.raises(ValueError, match="this text cannot be"):
            answer_all(["a", "fail", "c"])
        with pytest.raises(DataError, match="line 2"):
            answer_all(unreadable())
        with pytest.raises(WorkerError, match="3 workers in a row died at die!"):
            answer_all(["d", "die!"])
    assert answered == ["A", "B", "D"]


class PartOfFile(NamedTuple):
    """A block, as of a file that no machine of the cluster sees."""

    part: LinePart

    def pack(self) -> PartOfFile:
        return PartOfFile(self.part._replace(content=b"text\n"))


class PartWork(LoudWork):
    """Answers a part of a file by its lines."""

    def start(self, *, threads: int | None = None, report: DoneReporter | None = None) -> Callable[[Any], Any]:
        return lambda block: list(block.part.read_lines())


def test_a_file_that_a_machine_does_not_see_is_sent(two_machines: Any, tmp_path: Path) -> None:
    (tmp_path / "seen").write_text("a\nb\n")
    blocks = [PartOfFile(part) for part in cut_file(tmp_path / "seen", 1)]
    blocks[:1] = [PartOfFile(LinePart(str(tmp_path / "unseen"), (5, 0), end=5))]
    with RayCluster(PartWork(tmp_path / "begun"), two_machines.address) as cluster:
        assert list(cluster.map_blocks(blocks)) == [[(1, "text\n")], [(2, "b\n")]]


def test_no_more_blocks_are_read_ahead_than_the_workers_need(two_machines: Any, tmp_path: Path) -> None:
    read: list[int] = []

    def endless() -> Iterator[str]:
        for number in range(10_000):
            read.append(number)
            yield str(number)

    with RayCluster(LoudWork(tmp_path / "begun"), two_machines.address) as cluster:
        next(cluster.map_blocks(endless()))
        assert len(read) < 10


def test_nothing_is_lost_or_twice_though_a_machine_is_killed(two_machines: Any, tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(BLOCKS)]
    texts[0], texts[4] = "wait", "die"
    work, answers = LoudWork(tmp_path / "begun"), list[str]()
    with RayCluster(work, two_machines.address) as cluster:
        for answer in cluster.map_blocks(texts):
            answers.append(answer)
            if len(answers) == BLOCKS // 3:  # both machines are at work
                kill_machine(two_machines)
    assert answers == [text.upper() for text in texts]
    begun = Counter(text for text, _ in work.list_begun())
    assert begun["die"] == 2 and begun.keys() == set(texts)
    assert BLOCKS < begun.total() <= BLOCKS + 4  # again was begun what the killed processes had begun
