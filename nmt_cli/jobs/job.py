"""Jobs: everything a process needs to translate, and the one path of units and blocks through any executor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, NamedTuple, Self

from nmt_cli.documents.document import TranslationUnit
from nmt_cli.errors import DataError, NmtError
from nmt_cli.files import make_folder_of_process
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.streams import PartTexts
from nmt_cli.text.tags import TagSet
from nmt_cli.translation.config import CheckConfig, ModelRequest, RepairConfig, TranslateOptions
from nmt_cli.translation.lines import ContextScope, ContextWindow, Line, WindowCutter, lay_out_lines
from nmt_cli.workers.work import Executor

if TYPE_CHECKING:
    from nmt_cli.jobs.packing import PackedFiles
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import Translator


# Jobs: everything a process needs to translate, and the blocks of text that it receives. Light; picklable.


class Block(NamedTuple):
    """Texts translated together; `first` is the 0-based number of the first of them in the whole input."""

    first: int
    texts: Sequence[str]  # `PartTexts`, if whoever translates reads them from a file
    domains: tuple[str, ...] = ()  # of each text; empty if none has any
    windows: tuple[ContextWindow, ...] = ()  # of the texts that are read in context

    def __str__(self) -> str:
        return f"texts {self.first + 1:,} to {self.first + len(self.texts):,}"

    def lay_out(self, options: TranslateOptions) -> Sequence[str | Line]:
        """Returns the lines of the block, each in its domain, if the model knows that, and in its window, if any."""
        tags = [options.add_domain(domain) for domain in self.domains]
        return lay_out_lines(tuple(self.texts), tags, self.windows)

    def pack(self) -> Block:
        """Returns the block with its texts, for a machine that does not see their file."""
        return self._replace(texts=tuple(self.texts))


TranslateBlock = Callable[[Block], "list[Translation]"]
TranslationExecutor = Executor[Block, "list[Translation]"]
Opener = Callable[[ModelRequest], "Translator"]


def open_text_translator(request: ModelRequest) -> Translator:
    """Opens models that read text."""
    from nmt_cli.translation.translator import Translator  # numpy and ONNX Runtime; a job itself is light

    return Translator.load(request)


@dataclass(frozen=True)
class Job:
    """A request for a model, and the task: search for translations, or score given ones.

    With `score`, only `max_source_length` and the tags of the search are used. `opener` is a top-level function, so
    that it can be pickled.
    """

    request: ModelRequest
    search: SearchConfig
    repair: RepairConfig | None = None
    checks: CheckConfig | None = None
    score: bool = False
    opener: Opener = open_text_translator
    memory: TranslationMemory | None = None  # of earlier translations
    known_domains: frozenset[str] = frozenset()  # to the model
    files: PackedFiles | None = None  # those that the request names, for a machine that lacks them
    keeps_network: bool = True  # whether translations keep what only places marks and alignments

    def start(self, *, threads: int | None = None) -> TranslateBlock:
        """Loads the model for `threads` threads (None: all cores) and returns the function that translates a block.

        Raises NotFoundError, DamagedError and OptionError as `Translator.load` does.
        """
        translator = self.open_translator(threads)
        options = TranslateOptions(self.search, self.repair, self.checks, self.memory, self.known_domains)
        answer = partial(self.score_block, translator) if self.score else partial(translate_block, translator, options)
        return (
            answer
            if self.keeps_network
            else lambda block: [translation.drop_network() for translation in answer(block)]
        )

    def open_translator(self, threads: int | None) -> Translator:
        """Loads the model for `threads` threads, as `start` does."""
        return self.opener(self.unpack()._replace(threads=threads))

    def pack(self) -> Self:
        """Returns the job with the models and the glossary that it names. Raises what `PackedFiles.pack` does."""
        from nmt_cli.jobs.packing import PackedFiles  # which only a cluster needs

        return replace(self, files=PackedFiles.pack(self.request))

    def hold(self) -> Self:
        """Returns the job with copies of the models and the glossary. Raises what `PackedFiles.pack` does."""
        return replace(self, request=self.pack().unpack())

    def unpack(self) -> ModelRequest:
        """Returns the request; that of a packed job names files of this machine, which live as long as the process."""
        if self.files is None:
            return self.request
        return self.files.unpack(self.request, make_folder_of_process())

    def score_block(self, translator: Translator, block: Block) -> list[Translation]:
        """Scores the given translations by the model, and checks them like its own."""
        return score_pairs(translator, block, self.search.max_source_length, self.search.tags, self.checks)


def translate_block(translator: Translator, options: TranslateOptions, block: Block) -> list[Translation]:
    return translator.translate(block.lay_out(options), options, first_line=block.first)


def score_pairs(
    translator: Translator,
    block: Block,
    limit: int | None = None,
    tags: TagSet = (),
    checks: CheckConfig | None = None,
) -> list[Translation]:
    """Scores the given translation of each line (a source, a tab, its translation) by the model, behind `tags`.

    Sources are truncated to `limit` tokens. Raises DataError for a line that is not a pair.
    """
    from nmt_cli.translation.forced import JUDGING, force_translations

    pairs = [split_pair(line, number) for number, line in enumerate(block.texts, start=block.first + 1)]
    targets = [target for _, target in pairs]
    sources = [source for source, _ in pairs]
    return force_translations(translator, sources, targets, limit=limit, tags=tags, stages=JUDGING, checks=checks)


def split_pair(line: str, number: int) -> tuple[str, str]:
    """Returns the source and the target of a line, both empty if it is blank. Raises DataError for any other line."""
    source, tab, target = line.partition("\t")
    if line.strip() and not (tab and source.strip()):
        raise DataError(
            f"line {number:,} of the input is not a pair: {line[:40]!r}",
            hint="with --score, each line is a source, a tab and its translation",
        )
    return source, target


# Translates the units of documents: the one path for every format and every executor.
#
# From a document to its translation:
#
# 1. `documents.open_document` opens a document in its format, and `Document.read_units` splits it into units. A unit
#    has the texts to translate, and a function that writes the unit with their translations; text that is kept makes a
#    unit without texts.
# 2. `text.streams` collects units in batches: a fixed number from files, what has arrived from a pipe or a terminal.
# 3. `translate_units` numbers the texts through the whole input, and makes the texts of a batch a `Block`. Texts that
#    are read in context are cut into windows.
# 4. The executor (this process, worker processes or Ray) has a `Translator` translate each block, and yields the
#    translations in the order of the blocks.
# 5. Each unit consumes the translations of its texts and writes itself; the concatenated units are the translated
#    document. A unit on which nmt itself fails is written with copies of its texts.
# 6. `observe` receives every translation as it is written, to collect what a person should look at.


def translate_units(
    batches: Iterable[list[TranslationUnit]],
    executor: TranslationExecutor,
    observe: Callable[[Translation], None],
    scope: ContextScope = "nothing",
) -> Iterator[bytes]:
    """Yields the output of each batch of units, in order, text as UTF-8; `observe` receives every translation.

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
    """Returns a unit as written with its translations, or with copies of its texts if nmt itself fails on these."""
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
