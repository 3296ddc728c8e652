"""From the units of a document to its translated text: the one way that all formats and all executors go."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from nmt_cli.documents.document import TranslationUnit
from nmt_cli.jobs.job import Block, Executor

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


def translate_units(
    batches: Iterable[list[TranslationUnit]], executor: Executor, observe: Callable[[Translation], None]
) -> Iterator[str]:
    """What each batch of units reads once it is translated, in order; `observe` is shown every translation."""
    waiting: deque[list[TranslationUnit]] = deque()

    def make_blocks() -> Iterator[Block]:
        first = 0
        for batch in batches:
            texts = tuple(text for unit in batch for text in unit.texts)
            waiting.append(batch)  # before the block is given out: the executor may ask for blocks in another thread
            yield Block(first, texts)
            first += len(texts)

    for translations in executor.translate_blocks(make_blocks()):
        for translation in translations:
            observe(translation)
        yield "".join(write_units(waiting.popleft(), translations))


def write_units(batch: list[TranslationUnit], translations: Iterable[Translation]) -> Iterator[str]:
    """The units, each with its share of the translations."""
    remaining = iter(translations)
    for unit in batch:
        yield unit.written(list(islice(remaining, len(unit.texts))))
