"""Waiting requests are one batch, long ones do not hold up short ones, and models come and go."""

import asyncio
import threading
from pathlib import Path

import pytest

from nmt_cli.errors import OptionError
from nmt_cli.server.batching import BATCH_LINES, LONG_LINE, Batcher, RequestOptions
from nmt_cli.server.models import ModelPool
from nmt_cli.translation.result import Translation
from support.fakes import fake_loaded, make_card
from support.scripted_translator import ScriptedTranslator
from support.served import make_pool
from support.translations import louder


async def translate_all(pool: ModelPool, *requests: list[str], n_best: int = 1) -> list[tuple[list[str], int]]:
    """The translations of several requests that come at once, and after how many batches each was answered."""
    batcher = Batcher(pool)

    async def ask(lines: list[str]) -> tuple[list[str], int]:
        translations = await batcher.translate(pool.models[0], lines, RequestOptions(n_best=n_best))
        return [translation.text for translation in translations], batcher.batches

    try:
        return await asyncio.gather(*map(ask, requests))
    finally:
        batcher.close()


class Gate:
    """A rule of a fake model whose first batch waits until the gate is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def __call__(self, line: str) -> Translation:
        assert self.opened.wait(30)
        return louder(line)

    async def begin(self, batcher: Batcher, lines: list[str]) -> asyncio.Task[list[Translation]]:
        """Asks for a translation, and returns as soon as a worker waits at the gate with its first batch."""
        task = asyncio.create_task(batcher.translate(batcher.pool.models[0], lines))
        while not batcher.batches:
            await asyncio.sleep(0.001)
        return task


def test_requests_that_wait_are_translated_as_one_batch() -> None:
    gate = Gate()
    pool, loaded = make_pool(rule=gate)

    async def ask() -> list[list[Translation]]:
        batcher = Batcher(pool)
        first = await gate.begin(batcher, ["first"])
        others = [
            asyncio.create_task(batcher.translate(pool.models[0], [f"line {number}", "more"])) for number in range(50)
        ]
        await asyncio.sleep(0)  # until all of them wait
        gate.opened.set()
        answers = await asyncio.gather(first, *others)
        batcher.close()
        return answers

    first, *others = asyncio.run(ask())
    assert [translation.text for translation in first] == ["FIRST"]
    assert [[each.text for each in answer] for answer in others] == [[f"LINE {n}", "MORE"] for n in range(50)]
    (fake,) = loaded.values()
    assert [len(batch) for batch in fake.batches] == [1, 100]


def test_a_long_request_does_not_hold_up_a_short_one() -> None:
    pool, loaded = make_pool()
    long, short = asyncio.run(translate_all(pool, ["word"] * (24 * BATCH_LINES), ["short"]))
    assert short[0] == ["SHORT"]
    (fake,) = loaded.values()
    assert "short" in fake.batches[0]
    assert short[1] < long[1] / 3  # batches


def test_a_long_line_does_not_hold_up_a_short_one() -> None:
    pool, loaded = make_pool()
    long, _ = asyncio.run(translate_all(pool, ["word " * LONG_LINE, "a"], ["short"]))
    assert len(long[0]) == 2
    (fake,) = loaded.values()
    assert ["word " * LONG_LINE] in fake.batches


def test_a_client_that_is_gone_leaves_no_work() -> None:
    gate = Gate()
    pool, loaded = make_pool(rule=gate)

    async def leave() -> None:
        batcher = Batcher(pool)
        task = await gate.begin(batcher, ["word"] * 20 * BATCH_LINES)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        gate.opened.set()
        await batcher.translate(pool.models[0], ["next"])
        batcher.close()

    asyncio.run(leave())
    (fake,) = loaded.values()
    assert [len(batch) for batch in fake.batches] == [BATCH_LINES, 1]


def test_a_line_on_which_a_model_fails_costs_no_other() -> None:
    pool, _ = make_pool()
    translator = ScriptedTranslator(lambda text: text.upper() if text != "secret" else str(1 / 0))
    translator._card = make_card()
    pool.opener = lambda path: fake_loaded(translator)  # type: ignore[arg-type]

    async def ask() -> list[list[Translation]]:
        batcher = Batcher(pool)
        requests = [["a"], ["b", "secret"], ["c", "d"]]
        answers = await asyncio.gather(*(batcher.translate(pool.models[0], lines) for lines in requests))
        batcher.close()
        return answers

    answers = asyncio.run(ask())
    assert [[each.text for each in answer] for answer in answers] == [["A"], ["B", "secret"], ["C", "D"]]
    assert [each.failure is not None for answer in answers for each in answer] == [False, False, True, False, False]


def test_a_model_that_cannot_be_opened_fails_no_later_request() -> None:
    pool, _ = make_pool()
    opener = pool.opener

    async def ask() -> None:
        batcher = Batcher(pool)
        pool.opener = lambda path: 1 / 0  # type: ignore[assignment, return-value]
        with pytest.raises(ZeroDivisionError):
            await batcher.translate(pool.models[0], ["a"])
        pool.opener = opener
        assert len(await batcher.translate(pool.models[0], ["a"])) == 1
        batcher.close()

    asyncio.run(ask())


def test_the_model_that_was_not_used_for_longest_makes_room() -> None:
    pool, loaded = make_pool(("eng", "deu"), ("deu", "eng"), ("eng", "vie"), memory_limit=250)
    first, second, third = pool.models
    for model in (first, second, first, third):
        pool.open(model)
    assert [model.translator is not None for model in pool.models] == [True, False, True]
    assert list(loaded) == [Path("eng-deu"), Path("deu-eng"), Path("eng-vie")]
    pool.open(second)
    assert [model.translator is not None for model in pool.models] == [False, True, True]


def test_a_single_model_is_served_whatever_the_limit() -> None:
    pool, _ = make_pool(memory_limit=1)
    assert pool.open(pool.models[0]) is pool.open(pool.models[0])


def test_two_models_of_a_direction_are_refused() -> None:
    with pytest.raises(OptionError):
        pool, _ = make_pool(("eng", "deu"))
        twin, _ = make_pool(("en", "de"))
        ModelPool([*pool.models, *twin.models], pool.opener)
