"""Translates the units of documents: the one path for every format and every executor.

From a document to its translation:

1. `documents.open_document` opens a document in its format, and `Document.read_units` splits it into units. A unit has
   the texts to translate, and a function that writes the unit with their translations; text that is kept makes a unit
   without texts.
2. `text.stream` collects units in batches: a fixed number from files, what has arrived from a pipe or a terminal.
3. `translate_units` numbers the texts through the whole input, and makes the texts of a batch a `Block`.
4. The executor (this process, worker processes or Ray) has a `Translator` translate each block, and yields the
   translations in the order of the blocks.
5. `observe` receives every translation, to collect what a person should look at.
6. Each unit consumes the translations of its texts and writes itself; the concatenated units are the translated
   document.
"""

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
) -> Iterator[bytes]:
    """Yields the output of each batch of units, in order, text as UTF-8; `observe` receives every translation."""
    waiting: deque[list[TranslationUnit]] = deque()

    def make_blocks() -> Iterator[Block]:
        first = 0
        for batch in batches:
            texts = tuple(text for unit in batch for text in unit.texts)
            waiting.append(batch)  # before the block is yielded: the executor may ask for blocks in another thread
            yield Block(first, texts)
            first += len(texts)

    # 3. and 4. The texts of each batch become a block; the executor translates the blocks in order.
    for searched in executor.translate_blocks(make_blocks()):
        batch = waiting.popleft()
        translations = list(searched)
        # 5. Show every translation to the observer.
        for translation in translations:
            observe(translation)
        # 6. Write the batch of which these are the translations.
        yield b"".join(write_units(batch, translations))
        del searched, translations  # else they would take memory until those of the next block are there


def write_units(batch: list[TranslationUnit], translations: Iterable[Translation]) -> Iterator[bytes]:
    """Yields each unit, written with its translations."""
    remaining = iter(translations)
    for unit in batch:
        written = unit.write(list(islice(remaining, len(unit.texts))))
        yield written if isinstance(written, bytes) else written.encode("utf-8")
