"""An executor that keeps finished blocks in a journal, and takes those of an interrupted run from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.errors import DataError
from nmt_cli.jobs.job import Block, Job, TranslateBlock
from nmt_cli.jobs.journal import BlockJournal, FinishedBlock, JournalBlock, hash_texts
from nmt_cli.workers.work import Executor

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


class JournalledAnswer(NamedTuple):
    """The translations of a block, and what the journal keeps of it."""

    translations: list[Translation]
    finished: FinishedBlock


class JournalledJob(NamedTuple):
    """A job whose answers come with their lines of the journal, so that whoever translates writes them."""

    job: Job

    def start(self, *, threads: int | None = None) -> Callable[[Block], JournalledAnswer]:
        """Starts the job, and raises what it raises."""
        return partial(answer_in_writing, self.job.start(threads=threads))

    def pack(self) -> JournalledJob:
        return JournalledJob(self.job.pack())

    def hold(self) -> JournalledJob:
        return JournalledJob(self.job.hold())


def answer_in_writing(translate: TranslateBlock, block: Block) -> JournalledAnswer:
    """Translates a block, and writes its line."""
    from nmt_cli.jobs.saved_translations import encode_value  # numpy; a job itself is light

    translations = translate(block)
    finished = FinishedBlock.write(block.texts, list(map(encode_value, translations)))
    return JournalledAnswer(translations, finished)


class JournalledExecutor(NamedTuple):
    """Has a journalled job done, except what an interrupted run has translated. Implements `Executor`."""

    executor: Executor[Block, JournalledAnswer]
    journal: BlockJournal
    resumes: bool

    @property
    def replacements(self) -> int:
        return self.executor.replacements

    def decode(self, saved: JournalBlock, count: int) -> list[Translation]:
        """Returns the translations of a block. Raises DataError if they are none, or not so many."""
        from nmt_cli.jobs.saved_translations import decode_translation  # numpy; a job itself is light

        try:
            translations = [decode_translation(row) for row in saved.results]
        except (KeyError, TypeError, ValueError, RecursionError):
            translations = []
        if len(translations) != count:
            raise DataError(f"the journal {self.journal.path} is damaged", hint="leave --resume out")
        return translations

    def map_blocks(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        remaining = iter(blocks)
        finished = self.journal.replay() if self.resumes else iter(())
        for block in remaining:
            saved = next(finished, None) if block.texts else None
            if block.texts and saved is None:
                remaining = chain([block], remaining)
                break
            if saved is not None and saved.digest != hash_texts(block.texts):
                raise DataError(f"the journal {self.journal.path} belongs to other texts", hint="leave --resume out")
            yield [] if saved is None else self.decode(saved, len(block.texts))
        for answer in self.executor.map_blocks(remaining):
            if answer.translations:
                self.journal.append(answer.finished)
            yield answer.translations
