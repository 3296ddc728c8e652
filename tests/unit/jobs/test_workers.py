from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt_cli.errors import DamagedError, DataError, WorkerError
from nmt_cli.jobs.job import Block
from nmt_cli.jobs.workers import Workers
from nmt_cli.search.config import SearchConfig
from support.jobs import BrokenJob, LoudJob


def blocks(*texts: str) -> list[Block]:
    return [Block(number, (text,)) for number, text in enumerate(texts)]


@pytest.fixture
def job(tmp_path: Path) -> LoudJob:
    return LoudJob(model=tmp_path, search=SearchConfig(), mark=tmp_path / "died")


def test_blocks_come_back_in_order_also_from_a_worker_that_is_killed(job: LoudJob) -> None:
    texts = [f"text {number}" for number in range(20)]
    texts[5] = "die"
    with Workers(job, 2) as workers:
        found = [block[0].text for block in workers.translate_blocks(blocks(*texts))]
        assert workers.replaced == 1
    assert found == [text.upper() for text in texts]
    assert not any(worker.process.is_alive() for worker in workers.staff)


def test_a_block_that_kills_every_worker_is_named(job: LoudJob) -> None:
    with Workers(job, 1) as workers:
        found = workers.translate_blocks(blocks("good", "die!"))
        assert next(found)[0].text == "GOOD"
        with pytest.raises(WorkerError, match="texts 2 to 2"):
            next(found)


def test_an_answer_does_not_wait_for_the_next_block(job: LoudJob) -> None:
    sent: queue.Queue[Block | None] = queue.Queue()
    with Workers(job, 2) as workers:
        found = workers.translate_blocks(iter(sent.get, None))
        for number, text in enumerate(["one", "two", "three"]):
            sent.put(Block(number, (text,)))
            assert next(found)[0].text == text.upper()
        sent.put(None)
        assert list(found) == []


def test_what_goes_wrong_in_a_worker_or_before_it_is_raised_in_its_place(job: LoudJob) -> None:
    def broken() -> Iterator[Block]:
        yield from blocks("good")
        raise DataError("line 2")

    with Workers(job, 2) as workers:
        found = workers.translate_blocks(broken())
        assert next(found)[0].text == "GOOD"
        with pytest.raises(DataError, match="line 2"):
            next(found)
        with pytest.raises(ValueError, match="cannot be"):
            list(workers.translate_blocks(blocks("fail")))


def test_a_model_that_cannot_be_loaded_is_told_as_it_is_without_workers(tmp_path: Path) -> None:
    with Workers(BrokenJob(tmp_path, SearchConfig()), 2) as workers, pytest.raises(DamagedError) as problem:
        list(workers.translate_blocks(blocks("good")))
    assert (problem.value.message, problem.value.hint) == ("model.json is damaged", "make it anew")


def test_no_more_blocks_are_read_ahead_than_the_workers_need(job: LoudJob) -> None:
    taken: list[int] = []

    def endless() -> Iterator[Block]:
        for number in range(10_000):
            taken.append(number)
            yield Block(number, ("x",))

    with Workers(job, 2) as workers:
        next(workers.translate_blocks(endless()))
        assert len(taken) < 20
