""""""

import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmt_cli.errors import DamagedError, DataError, WorkerError
from nmt_cli.text.streams import FileLines
from nmt_cli.translation.request import Block
from nmt_cli.workers.pool import WorkerPool
from support.jobs import BrokenJob, LoudJob

pytestmark = pytest.mark.whole


def blocks(*texts: str) -> list[Block]:
    return [Block(number, (text,)) for number, text in enumerate(texts)]


@pytest.fixture
def job(tmp_path: Path) -> LoudJob:
    return LoudJob(tmp_path, mark=tmp_path / "died")


def test_blocks_come_back_in_order_also_from_a_worker_that_is_killed(job: LoudJob) -> None:
    texts = [f"text {number}" for number in range(20)]
    texts[5] = "die"
    reported: dict[int, int] = {}
    with WorkerPool(job, 2, reported.__setitem__) as workers:
        translations = [block[0].text for block in workers.map_blocks(blocks(*texts))]
        assert workers.replacements == 1
    assert translations == [text.upper() for text in texts] and reported == dict.fromkeys(range(20), 1)
    assert not any(worker.process.is_alive() for worker in workers.workers)


def test_a_block_that_kills_every_worker_is_named(job: LoudJob) -> None:
    with WorkerPool(job, 1) as workers:
        translations = workers.map_blocks(blocks("good", "die!"))
        assert next(translations)[0].text == "GOOD"
        with pytest.raises(WorkerError, match="texts 2 to 2"):
            next(translations)


@pytest.mark.parametrize("change", [Path.touch, Path.unlink, lambda path: path.write_text("x\n" * 9)])
def test_lines_of_a_file_that_changed_are_sent(job: LoudJob, tmp_path: Path, change: Callable[[Path], object]) -> None:
    path = tmp_path / "lines"
    path.write_text("".join(f"line {number}\n" for number in range(9)))

    def read_blocks() -> Iterator[Block]:
        for number, (texts, _) in enumerate(FileLines(path).read_parts(2)):
            yield Block(2 * number, texts)
            if number == 1:
                change(path)

    with WorkerPool(job, 2) as workers:
        translated = [each.text for answer in workers.map_blocks(read_blocks()) for each in answer]
    assert translated == [f"LINE {number}" for number in range(9)]


def test_an_answer_does_not_wait_for_the_next_block(job: LoudJob) -> None:
    sent: queue.Queue[Block | None] = queue.Queue()
    with WorkerPool(job, 2) as workers:
        translations = workers.map_blocks(iter(sent.get, None))
        for number, text in enumerate(["one", "two", "three"]):
            sent.put(Block(number, (text,)))
            assert next(translations)[0].text == text.upper()
        sent.put(None)
        assert list(translations) == []


def test_what_goes_wrong_in_a_worker_or_before_it_is_raised_in_its_place(job: LoudJob) -> None:
    def broken() -> Iterator[Block]:
        yield from blocks("good")
        raise DataError("line 2")

    with WorkerPool(job, 2) as workers:
        translations = workers.map_blocks(broken())
        assert next(translations)[0].text == "GOOD"
        with pytest.raises(DataError, match="line 2"):
            next(translations)
        with pytest.raises(ValueError, match="cannot be"):
            list(workers.map_blocks(blocks("fail")))


def test_a_model_that_cannot_be_loaded_is_told_as_it_is_without_workers(tmp_path: Path) -> None:
    job = BrokenJob(tmp_path)
    with WorkerPool(job, 2) as workers, pytest.raises(DamagedError) as problem:
        list(workers.map_blocks(blocks("good")))
    assert (problem.value.message, problem.value.hint) == ("model.json is damaged", "train it again")


def test_no_more_blocks_are_read_ahead_than_the_workers_need(job: LoudJob) -> None:
    numbers: list[int] = []

    def endless() -> Iterator[Block]:
        for number in range(10_000):
            numbers.append(number)
            yield Block(number, ("x",))

    with WorkerPool(job, 2) as workers:
        next(workers.map_blocks(endless()))
        assert len(numbers) < 20
