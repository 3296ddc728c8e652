"""Translates the lines of all waiting requests as one batch, so that many small requests cost as much as a large one.

1. A request adds its lines to the queue and waits.
2. As soon as a worker is free, it takes lines of one model: the same number from each request, in turn, so that a long
   request does not hold up a short one.
3. The worker, a thread, translates them; requests whose lines are all done are answered.

Lines of thousands of characters have a worker of their own, since a batch takes as long as its longest line."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nmt_cli.api.translator import answer_with_memory
from nmt_cli.server.admission import DEFAULT_LIMITS, Limits, RequestError
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.request import Block

if TYPE_CHECKING:
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.translation.request import TranslateBlock
    from nmt_cli.translation.result import Translation


BATCH_LINES = 256  # lines that are translated together
BATCH_CHARACTERS = 16_000
LONG_LINE = 2_000  # characters from which a line counts as long
GATHERING = 0.002  # seconds to wait for the lines of other requests, where several came at a time before


class RequestOptions(NamedTuple):
    """How the texts of a request are translated; only requests with equal ones share a batch."""

    tags: tuple[str, ...] = ()
    glossary: Glossary | None = None  # instead of the server's
    n_best: int = 1  # hypotheses of each line

    def add_tags(self, model: ServedModel) -> RequestOptions:
        """Returns these options, with the tags of a model first."""
        return self._replace(tags=(*map(str, model.tags), *self.tags))


USUAL = RequestOptions()


@dataclass(eq=False)
class WaitingRequest:
    """The lines of a request, and their translations so far."""

    model: ServedModel
    options: RequestOptions
    lines: Sequence[str]
    order: Sequence[int]  # indices of the lines that go through this lane
    translations: list[Translation | None]
    done: asyncio.Future[None]
    taken_count: int = 0  # lines of `order` that a worker has taken
    finished_count: int = 0

    @property
    def key(self) -> tuple[int, RequestOptions]:
        """The properties shared by requests that are translated together."""
        return id(self.model), self.options

    @property
    def is_waiting(self) -> bool:
        return self.taken_count < len(self.order) and not self.done.done()

    def take_line(self) -> int:
        """Returns the index of the next line."""
        index = self.order[self.taken_count]
        self.taken_count += 1
        return index


LineBatch = list[tuple[WaitingRequest, int]]  # lines by their requests and indices


class Lane:
    """A queue of requests with one worker, which runs in the event loop and translates in a thread."""

    def __init__(self, translate: Callable[[LineBatch], list[Translation]]) -> None:
        self.translate = translate
        self.queue: deque[WaitingRequest] = deque()
        self.arrival = asyncio.Event()
        self.executor = ThreadPoolExecutor(1, "translate")
        self.task: asyncio.Task[None] | None = None
        self.was_shared = False  # whether the last batch had lines of several requests

    @property
    def waiting_lines(self) -> int:
        return sum(len(request.order) - request.taken_count for request in self.queue)

    def add(self, request: WaitingRequest) -> None:
        self.queue.append(request)
        self.arrival.set()
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self.run())

    async def run(self) -> None:
        """Translates batch after batch, forever."""
        while True:
            await self.arrival.wait()
            if self.was_shared:
                await asyncio.sleep(GATHERING)
            batch = self.collect_batch()
            if not batch:
                self.arrival.clear()
                continue
            await self.finish_batch(batch)

    def collect_batch(self) -> LineBatch:
        """Takes lines in turn from requests of one kind, until there are enough for a batch."""
        self.queue = deque(request for request in self.queue if request.is_waiting)
        if not self.queue:
            return []
        key = self.queue[0].key
        batch: LineBatch = []
        characters = 0
        turn = deque(request for request in self.queue if request.key == key)
        self.was_shared = len(turn) > 1
        while turn and len(batch) < BATCH_LINES and characters < BATCH_CHARACTERS:
            request = turn.popleft()
            index = request.take_line()
            batch.append((request, index))
            characters += len(request.lines[index])
            if request.is_waiting:
                turn.append(request)
        if len(turn) < len(self.queue):  # the next batch begins with another request, perhaps of another model
            self.queue.rotate(-1)
        return batch

    async def finish_batch(self, batch: LineBatch) -> None:
        """Has a batch translated, and answers the requests whose lines are all done."""
        loop = asyncio.get_running_loop()
        try:
            translations = await loop.run_in_executor(self.executor, self.translate, batch)
        except Exception as error:
            for request, _ in batch:
                if not request.done.done():
                    request.done.set_exception(error)
            return
        for (request, index), translation in zip(batch, translations, strict=True):
            request.translations[index] = translation
            request.finished_count += 1
            if request.finished_count == len(request.order) and not request.done.done():
                request.done.set_result(None)

    def close(self) -> None:
        if self.task is not None:
            self.task.cancel()
        self.executor.shutdown(wait=False, cancel_futures=True)


class Batcher:
    """Translates lines with the models of a pool; used in one event loop."""

    def __init__(self, pool: ModelPool, limits: Limits = DEFAULT_LIMITS) -> None:
        self.pool = pool
        self.limits = limits
        self.lanes = {False: Lane(self.translate_batch), True: Lane(self.translate_batch)}  # by whether lines are long
        self.batches = 0  # translated so far
        self.line_count = 0  # of them
        self.lock = threading.Lock()
        self.in_context = threading.Lock()  # held while a block of a document is translated beside the lanes

    def check_lengths(self, lines: Sequence[str]) -> None:
        """Raises RequestError for a line so long that it would hold up others."""
        longest = max(map(len, lines), default=0)
        if longest > self.limits.characters:
            length = format_count(longest, "character")
            raise RequestError(413, f"a line of {length}; this server takes at most {self.limits.characters:,}")

    @property
    def waiting_lines(self) -> int:
        return sum(lane.waiting_lines for lane in self.lanes.values())

    async def translate(
        self, model: ServedModel, lines: Sequence[str], options: RequestOptions = USUAL
    ) -> list[Translation]:
        """Returns the translation of each line, after the tags of the model and of `options`.

        Raises RequestError if too many lines are already waiting, and for a line so long that it would hold up others.
        """
        self.check_lengths(lines)
        if self.waiting_lines + len(lines) > self.limits.waiting:
            raise RequestError(503, "too many requests are waiting; try again in a moment", retry_after=2)
        translations: list[Translation | None] = [None] * len(lines)
        requests, options = [], options.add_tags(model)
        for are_long, lane in self.lanes.items():
            order = [index for index, line in enumerate(lines) if (len(line) >= LONG_LINE) == are_long]
            if order:
                done = asyncio.get_running_loop().create_future()
                request = WaitingRequest(model, options, lines, order, translations, done)
                requests.append(request)
                lane.add(request)
        try:
            await asyncio.gather(*(request.done for request in requests))
        finally:
            for request in requests:  # of a client that is gone, the rest need not be translated
                request.done.cancel()
        return [translation for translation in translations if translation is not None]

    def translate_batch(self, batch: LineBatch) -> list[Translation]:
        """Translates the lines of a batch; runs in the thread of a lane."""
        first = batch[0][0]
        with self.lock:
            self.batches += 1
            self.line_count += len(batch)
        lines = [request.lines[index] for request, index in batch]
        return self.answer(first.model, first.options)(Block(0, lines))

    def translate_in_context(
        self, model: ServedModel, block: Block, options: RequestOptions = USUAL
    ) -> list[Translation]:
        """Returns the translations of a block whose texts are read in context, each after the one before it.

        Runs in the thread of a document, one block at a time. Raises RequestError for a line that is too long.
        """
        self.check_lengths(block.texts)
        with self.in_context:
            return self.answer(model, options.add_tags(model))(block)

    def answer(self, model: ServedModel, options: RequestOptions) -> TranslateBlock:
        """Returns the function that translates blocks with a model and the options of a request."""
        loaded = self.pool.open(model)
        tags: dict[str, Any] = {"tag": options.tags} if options.tags else {}
        return answer_with_memory(
            loaded,
            n_best=options.n_best,
            beam_size=max(loaded.beam_size, options.n_best),
            terms=options.glossary,
            memory=model.find_memory(options.tags),
            **tags,
        )

    def close(self) -> None:
        for lane in self.lanes.values():
            lane.close()


# Has threads read documents and markup, whose blocks of text are translated with the lines of all other requests.
#
# A thread waits for the translation of each block, so documents and markup have threads of their own and hold up
# neither each other nor texts. A thread whose request is abandoned ends at once, or at its next block.


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
        if block.windows:
            return self.batcher.translate_in_context(self.model, block, self.options)
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
        """Returns the translations of texts in a domain, or in none if it is empty; waits for the event loop."""
        options = self.options._replace(tags=(*self.options.tags, *filter(None, (domain,))))
        pending = asyncio.run_coroutine_threadsafe(self.batcher.translate(self.model, texts, options), self.loop)
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
        """Returns the result of `read`, which reads a document and has its blocks translated."""
        return await self.run(self.documents, model, read, options)

    async def read_fragments(
        self, model: ServedModel, reads: Sequence[Callable[[TranslateBlock], Reading]], options: RequestOptions = USUAL
    ) -> list[Reading]:
        """Returns the results of `reads`; each of them reads a piece of markup and has its blocks translated."""
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
