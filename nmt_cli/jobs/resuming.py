"""An executor that keeps finished blocks in a journal, and takes those of an interrupted run from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.errors import DataError
from nmt_cli.jobs.job import Block, TranslationExecutor
from nmt_cli.jobs.journal import BlockJournal, JournalBlock, hash_texts

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


class JournalledExecutor(NamedTuple):
    """Translates with another executor, except what an interrupted run has translated. Implements `Executor`."""

    executor: TranslationExecutor
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
        from nmt_cli.jobs.saved_translations import encode_value  # numpy; a job itself is light

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
        waiting: deque[Block] = deque()

        def keep_blocks() -> Iterator[Block]:
            for block in remaining:
                waiting.append(block)  # before it is yielded: the executor may ask for blocks in another thread
                yield block

        for translations in self.executor.map_blocks(keep_blocks()):
            texts = waiting.popleft().texts
            if texts:
                self.journal.append(texts, list(map(encode_value, translations)))
            yield translations
