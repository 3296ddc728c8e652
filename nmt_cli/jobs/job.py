"""Jobs: everything a process needs to translate, and the blocks of text that it receives. Light; picklable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from nmt_cli.errors import DataError
from nmt_cli.files import make_folder_of_process
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, merge_tags
from nmt_cli.translation.config import CheckConfig, ModelRequest, RepairConfig
from nmt_cli.translation.passages import ContextScope, TextPassage
from nmt_cli.workers.work import Executor

if TYPE_CHECKING:
    from nmt_cli.jobs.packing import PackedFiles
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import Translator


class Block(NamedTuple):
    """Texts translated together; `first` is the 0-based number of the first of them in the whole input."""

    first: int
    texts: Sequence[str]  # `PartTexts`, if whoever translates reads them from a file
    domains: tuple[str, ...] = ()  # of each text; empty if none has any
    passages: tuple[TextPassage, ...] = ()  # that are read in context

    def __str__(self) -> str:
        return f"texts {self.first + 1:,} to {self.first + len(self.texts):,}"

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


class SearchOptions(NamedTuple):
    """How texts are translated."""

    search: SearchConfig
    repair: RepairConfig | None
    checks: CheckConfig | None
    memory: TranslationMemory | None = None  # of earlier translations
    known_domains: frozenset[str] = frozenset()  # to the model
    scope: ContextScope = "nothing"  # that is read in context

    def translate(
        self,
        translator: Translator,
        lines: Sequence[str],
        progress: Callable[[int], None] | None = None,
        *,
        first_line: int = 0,
        domains: Sequence[str] = (),
        passages: Sequence[TextPassage] = (),
    ) -> list[Translation]:
        """Translates lines, the first of which has this number in the whole input, each in its domain, if any.

        Those of `passages` are read in context.
        """
        from nmt_cli.translation.by_tags import translate_passages  # numpy

        memory = None
        if self.memory is not None:
            from nmt_cli.translation.memory.recall import RecallingMemory  # which few runs need

            memory = RecallingMemory(self.memory)

        options = {"repair": self.repair, "checks": self.checks, "memory": memory}
        tags = [self.add_domain(domain) for domain in domains or [""] * len(lines)]
        return translate_passages(
            translator, lines, tags, passages, self.search, progress, first_line=first_line, **options
        )

    def translate_block(self, translator: Translator, block: Block) -> list[Translation]:
        """Translates the texts of a block."""
        first, domains, passages = block.first, block.domains, block.passages
        return self.translate(translator, tuple(block.texts), first_line=first, domains=domains, passages=passages)

    def add_domain(self, domain: str) -> TagSet:
        """Returns the tags of the search, with a domain that the model knows where they name none."""
        tags = (Tag(TagPurpose.DOMAIN, domain),) if domain in self.known_domains else ()
        return merge_tags(tags, self.search.tags)


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
        options = SearchOptions(self.search, self.repair, self.checks, self.memory, self.known_domains)
        answer = partial(self.score_block if self.score else options.translate_block, translator)
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
