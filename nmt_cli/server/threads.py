"""Has threads read documents and markup, whose blocks of text are translated with the lines of all other requests.

A thread waits for the translation of each block, so documents and markup have threads of their own and hold up neither
each other nor texts. A thread whose request is abandoned ends at once, or at its next block.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from nmt_cli.server.batching import USUAL, Batcher, RequestOptions
from nmt_cli.server.models import ServedModel

if TYPE_CHECKING:
    from nmt_cli.jobs.job import Block, TranslateBlock
    from nmt_cli.translation.result import Translation

Reading = TypeVar("Reading")

DOCUMENTS = 32  # documents that are read at a time; others wait for them
FRAGMENTS = 64  # pieces of markup that are read at a time
FRAGMENTS_OF_REQUEST = 8  # of these, how many one request may have


class BlockTranslator:
    """Translates the blocks of one thread; made in the event loop, called in the thread."""

    def __init__(self, batcher: Batcher, model: ServedModel, options: RequestOptions = USUAL) -> None:
        self.batcher = batcher
        self.model = model
        self.options = options
        self.loop = asyncio.get_running_loop()
        self.is_given_up = False
        self.pending: Future[list[Translation]] | None = None

    def __call__(self, block: Block) -> list[Translation]:
        """Returns the translations of a block. Raises CancelledError once the request is abandoned."""
        if self.is_given_up:
            raise CancelledError
        if not block.texts:
            return []
        if block.passages:
            return self.batcher.translate_block(self.model, block, self.options)
        of_model = self.model.card.domains
        is_asked = not of_model.isdisjoint(self.options.tags)  # for a domain, which then is that of all texts
        domains = ["" if is_asked or domain not in of_model else domain for domain in block.domains]
        domains = domains or [""] * len(block.texts)
        translations: dict[int, Translation] = {}
        for domain in dict.fromkeys(domains):
            rows = [row for row, of_row in enumerate(domains) if of_row == domain]
            texts = self.translate([block.texts[row] for row in rows], domain)
            translations |= zip(rows, texts, strict=True)
        return [translations[row] for row in range(len(domains))]

    def translate(self, texts: Sequence[str], domain: str) -> list[Translation]:
        """Returns the translations of texts of a domain, if it is none that is empty; waits for the event loop."""
        options = self.options._replace(tags=(*self.options.tags, *filter(None, (domain,))))
        pending = asyncio.run_coroutine_threadsafe(self.batcher.translate(self.model, texts, 1, options), self.loop)
        self.pending = pending
        if self.is_given_up:  # between the two lines above
            pending.cancel()
        return pending.result()

    def give_up(self) -> None:
        """Ends the thread, since nobody waits for it any more."""
        self.is_given_up = True
        if self.pending is not None:
            self.pending.cancel()


class ReadingThreads:
    """The threads that read documents and markup."""

    def __init__(self, batcher: Batcher) -> None:
        self.batcher = batcher
        self.documents = ThreadPoolExecutor(DOCUMENTS, "document")
        self.fragments = ThreadPoolExecutor(FRAGMENTS, "fragment")

    async def read_document(
        self, model: ServedModel, read: Callable[[TranslateBlock], Reading], options: RequestOptions = USUAL
    ) -> Reading:
        """Returns the result of `read`, which has the blocks of a document translated."""
        return await self.run(self.documents, model, read, options)

    async def read_fragments(
        self, model: ServedModel, reads: Sequence[Callable[[TranslateBlock], Reading]], options: RequestOptions = USUAL
    ) -> list[Reading]:
        """Returns the results of `reads`, each of which has the blocks of a piece of markup translated."""
        limit = asyncio.Semaphore(FRAGMENTS_OF_REQUEST)

        async def run_one(read: Callable[[TranslateBlock], Reading]) -> Reading:
            async with limit:
                return await self.run(self.fragments, model, read, options)

        tasks = [asyncio.ensure_future(run_one(read)) for read in reads]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:  # of which one has failed, or for which nobody waits
                task.cancel()

    async def run(
        self,
        executor: ThreadPoolExecutor,
        model: ServedModel,
        read: Callable[[TranslateBlock], Reading],
        options: RequestOptions = USUAL,
    ) -> Reading:
        translator = BlockTranslator(self.batcher, model, options)
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, read, translator)
        finally:
            translator.give_up()

    def close(self) -> None:
        for executor in (self.documents, self.fragments):
            executor.shutdown(wait=False, cancel_futures=True)
