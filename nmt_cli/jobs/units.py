"""Translates the units of documents: the one path for every format and every executor.

From a document to its translation:

1. `documents.open_document` opens a document in its format, and `Document.read_units` splits it into units. A unit has
the texts to translate, and a function that writes the unit with their translations; text that is kept becomes a unit
without texts.
2. `text.streams` collects units in batches: a fixed number from files, what has arrived from a pipe or a terminal.
3. `translate_units` numbers the texts through the whole input, and makes the texts of a batch a `Block`. Texts that are
   read in context are cut into windows.
4. The executor (this process, worker processes or Ray) has a `LineTranslator` translate each block, and yields the
   translations in the order of the blocks.
5. Each unit consumes the translations of its texts and writes itself; the concatenated units are the translated
   document. A unit on which nmt itself fails is written with copies of its texts.
6. `observe` receives every translation as it is written, to collect what a person should look at.

Of the lines "Yes.", "" and "No.", read in one batch, the block is `Block(0, ("Yes.", "", "No."))`, and "Ja.\\n", "\\n"
and "Nein.\\n" are written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from nmt_cli.documents.document import TranslationUnit
from nmt_cli.errors import NmtError
from nmt_cli.text.streams import PartTexts
from nmt_cli.translation.lines import ContextScope, ContextWindow, WindowCutter
from nmt_cli.translation.request import Block
from nmt_cli.workers.work import Executor

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

TranslationExecutor = Executor[Block, "list[Translation]"]


def translate_units(
    batches: Iterable[list[TranslationUnit]],
    executor: TranslationExecutor,
    observe: Callable[[Translation], None],
    scope: ContextScope = "nothing",
) -> Iterator[bytes]:
    """Yields the output of each batch of units, in order, with text as UTF-8; `observe` receives every translation.

    `scope` says what is read in context.
    """
    waiting: deque[list[TranslationUnit]] = deque()
    cutter = WindowCutter()

    def make_blocks() -> Iterator[Block]:
        first = 0
        for batch in batches:
            texts = batch[0].texts if len(batch) == 1 else tuple(text for unit in batch for text in unit.texts)
            domains = tuple(chain.from_iterable(repeat(unit.domain, len(unit.texts)) for unit in batch))
            waiting.append(batch)  # before the block is yielded: the executor may ask for blocks in another thread
            windows = cut_units(batch, cutter, scope)
            yield Block(first, texts, domains if any(domains) else (), windows)
            first += len(texts)

    # 3. and 4. The texts of each batch become a block; the executor translates the blocks in order.
    for searched in executor.map_blocks(make_blocks()):
        # 5. and 6. Write the batch of which these are the translations, unit by unit.
        remaining = iter(searched)
        units = ((unit, list(islice(remaining, len(unit.texts)))) for unit in waiting.popleft())
        yield b"".join(write_unit(unit, translations, observe) for unit, translations in units)
        del searched, remaining, units  # else they would take memory until those of the next block are there


def cut_units(units: list[TranslationUnit], cutter: WindowCutter, scope: ContextScope) -> tuple[ContextWindow, ...]:
    """Returns the windows of the texts of these units, which follow those that the cutter has seen."""
    row = 0
    for unit in units:
        if unit.begins_text:
            cutter.begin_text()
        if scope == "everything" or (scope == "documents" and unit.is_prose):
            for number, text in enumerate(unit.texts, row):
                cutter.add(number, text, unit.domain)
        row += len(unit.texts)
    return cutter.end_block()


def write_unit(unit: TranslationUnit, translations: list[Translation], observe: Callable[[Translation], None]) -> bytes:
    """Returns a unit, written with its translations or, if nmt itself fails on them, with copies of its texts."""
    try:
        written = unit.write(translations)
    except NmtError:
        raise
    except Exception as error:
        if not unit.texts:
            raise
        if isinstance(unit.texts, PartTexts) and len(unit.texts) > 1:  # of which most lines can be written
            lines = zip(unit.texts, translations, strict=True)
            return b"".join(write_unit(unit._replace(texts=(text,)), [line], observe) for text, line in lines)
        from nmt_cli.translation.stages import copy_line  # which few runs need

        translations = [copy_line(text, error) for text in unit.texts]
        written = unit.write(translations)
    for translation in translations:
        observe(translation)
    return written if isinstance(written, bytes) else written.encode("utf-8")
