"""Waiting requests are one batch, long ones do not hold up short ones, and models come and go."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nmt_cli.errors import OptionError
from nmt_cli.server.batching import BATCH_LINES, LONG_LINE, Batcher
from nmt_cli.server.models import ModelPool
from support.served import make_pool


async def translate_all(pool: ModelPool, *requests: list[str], n_best: int = 1) -> list[tuple[list[str], int]]:
    """The translations of several requests that come at once, and after how many batches each was answered."""
    batcher = Batcher(pool, 100_000)

    async def ask(lines: list[str]) -> tuple[list[str], int]:
        translations = await batcher.translate(pool.models[0], lines, n_best)
        return [translation.text for translation in translations], batcher.batches

    try:
        return await asyncio.gather(*map(ask, requests))
    finally:
        batcher.close()


def test_requests_that_wait_are_translated_as_one_batch() -> None:
    pool, loaded = make_pool(seconds_per_line=0.001)
    requests = [[f"line {number}", "more"] for number in range(50)]
    answers = asyncio.run(translate_all(pool, *requests))
    assert [texts for texts, _ in answers] == [[f"LINE {number}", "MORE"] for number in range(50)]
    (fake,) = loaded.values()
    assert len(fake.batches) <= 2


def test_a_long_request_does_not_hold_up_a_short_one() -> None:
    pool, _ = make_pool(seconds_per_line=0.0005)
    long, short = asyncio.run(translate_all(pool, ["word"] * (8 * BATCH_LINES), ["short"]))
    assert short[0] == ["SHORT"]
    assert short[1] < long[1] / 3  # batches


def test_a_long_line_does_not_hold_up_a_short_one() -> None:
    pool, loaded = make_pool()
    long, _ = asyncio.run(translate_all(pool, ["word " * LONG_LINE, "a"], ["short"]))
    assert len(long[0]) == 2
    (fake,) = loaded.values()
    assert ["word " * LONG_LINE] in fake.batches


def test_a_client_that_is_gone_leaves_no_work() -> None:
    pool, loaded = make_pool(seconds_per_line=0.001)

    async def leave() -> None:
        batcher = Batcher(pool, 100_000)
        task = asyncio.create_task(batcher.translate(pool.models[0], ["word"] * 20 * BATCH_LINES))
        await asyncio.sleep(0.1)
        task.cancel()
        await batcher.translate(pool.models[0], ["next"])
        batcher.close()

    asyncio.run(leave())
    (fake,) = loaded.values()
    assert sum(map(len, fake.batches)) < 5 * BATCH_LINES


def test_an_error_of_a_model_reaches_its_request_and_no_other() -> None:
    pool, loaded = make_pool()

    async def fail() -> None:
        batcher = Batcher(pool, 100_000)
        await batcher.translate(pool.models[0], ["a"])
        (fake,) = loaded.values()
        rule, fake.rule = fake.rule, lambda line: 1 / 0  # type: ignore[assignment, return-value]
        with pytest.raises(ZeroDivisionError):
            await batcher.translate(pool.models[0], ["a"])
        fake.rule = rule
        assert len(await batcher.translate(pool.models[0], ["a"])) == 1
        batcher.close()

    asyncio.run(fail())


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
