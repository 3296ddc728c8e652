"""Documents and markup are read by threads that hold up nobody, and that end when nobody waits for them."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from nmt_cli.server.batching import DOCUMENTS, FRAGMENTS_OF_REQUEST
from nmt_cli.server.service import Service
from support.served import make_pool

pytestmark = pytest.mark.whole
LONG = "a line\n" * 5_000


def list_threads() -> set[threading.Thread]:
    """Returns the threads that read documents and markup, of all services of this process."""
    return {thread for thread in threading.enumerate() if thread.name.startswith(("document", "fragment"))}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "long.txt"
    path.write_text(LONG, encoding="utf-8")
    return path


def test_long_documents_and_markup_hold_up_nothing(document: Path) -> None:
    async def ask() -> None:
        service = Service(make_pool(("eng", "deu"), ("deu", "eng"), seconds_per_line=0.0005)[0])
        documents = [
            asyncio.create_task(service.translate_document(document, "long.txt", "en", "de"))
            for _ in range(DOCUMENTS + 2)
        ]
        markup = [
            asyncio.create_task(service.translate_texts(["<p>a</p>"] * 1_000, "en", "de", are_markup=True))
            for _ in range(2)
        ]
        await asyncio.sleep(0.3)
        assert (await service.translate_texts(["<p>hello</p>"], "en", "de", are_markup=True)).texts == ["<p>HELLO</p>"]
        assert len(await service.detect_languages(["hello"])) == 1
        assert not any(task.done() for task in (*documents, *markup))
        for task in (*documents, *markup):
            task.cancel()
        await asyncio.gather(*documents, *markup, return_exceptions=True)
        service.close()

    asyncio.run(ask())


def test_work_for_nobody_ends(document: Path) -> None:
    pool, loaded = make_pool(seconds_per_line=0.001)

    async def leave() -> None:
        service = Service(pool)
        reading = asyncio.create_task(service.translate_document(document, "long.txt", "en", "de"))
        markup = asyncio.create_task(service.translate_texts(["<p>a</p>" * 5_000], "en", "de", are_markup=True))
        while not any(fake.batches for fake in loaded.values()):  # until work has begun
            await asyncio.sleep(0.01)
        for task in (reading, markup):
            task.cancel()
        await asyncio.gather(reading, markup, return_exceptions=True)
        service.close()

    of_other_tests = list_threads()
    asyncio.run(leave())
    (fake,) = loaded.values()
    for _ in range(600):
        if not list_threads() - of_other_tests:
            break
        time.sleep(0.05)
    assert not list_threads() - of_other_tests
    assert 0 < sum(map(len, fake.batches)) < 4_000


def test_pieces_of_markup_come_back_in_order() -> None:
    async def ask() -> list[str]:
        service = Service(make_pool()[0])
        texts = [f"<p>line {number}</p>" for number in range(4 * FRAGMENTS_OF_REQUEST)]
        try:
            return (await service.translate_texts(texts, "en", "de", are_markup=True)).texts
        finally:
            service.close()

    assert asyncio.run(ask()) == [f"<p>LINE {number}</p>" for number in range(4 * FRAGMENTS_OF_REQUEST)]
