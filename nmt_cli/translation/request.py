"""A request to translate: the models and the options. The caller makes it once, and passes it on unchanged.

    request = TranslationRequest(Path("model"), options=TranslateOptions(SearchOptions(beam_size=1)))
    request.start()(Block(0, ("Where is it?", "Here.")))

loads the models and returns one `Translation` per text. A request can be pickled. A *packed* request contains the
models and the glossary, for machines that lack these files. A request on *hold* keeps the current versions of the
files, even if another process replaces them. The module is fast to import, because the command line makes a request
before it loads any slow package.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from nmt_cli.errors import DataError
from nmt_cli.files import count_cores, make_folder_of_process, require_file
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import TagSet
from nmt_cli.translation.config import CheckOptions, LineOptions, TranslateOptions
from nmt_cli.translation.lines import ContextWindow, Line, lay_out_lines
from nmt_cli.workers.work import DoneReporter

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelDirectory
    from nmt_cli.search.step_model import StepModel
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import LineTranslator


class Block(NamedTuple):
    """Texts translated together; `first` is the 0-based number of the first of them in the whole input."""

    first: int
    texts: Sequence[str]  # `PartTexts`, if whoever translates reads them from a file: less to send to a worker
    domains: tuple[str, ...] = ()  # of each text; empty if none has any
    windows: tuple[ContextWindow, ...] = ()  # of the texts that are read in context

    def __str__(self) -> str:
        return f"texts {self.first + 1:,} to {self.first + len(self.texts):,}"

    def lay_out(self, options: TranslateOptions) -> Sequence[str | Line]:
        """Returns the lines of the block, each with its domain, if the model knows it, and its window, if any."""
        tags = [options.add_domain(domain) for domain in self.domains]
        return lay_out_lines(tuple(self.texts), tags, self.windows)

    def pack(self) -> Block:
        """Returns the block with its texts, for a machine that cannot read their file."""
        return self._replace(texts=tuple(self.texts))


TranslateBlock = Callable[[Block], "list[Translation]"]
Opener = Callable[["TranslationRequest"], "LineTranslator"]


class PackedFiles(NamedTuple):
    """The contents of the model directories and the glossary that a request names, for machines that lack them."""

    models: tuple[dict[str, bytes], ...]  # file name to content, of each model
    glossary: bytes | None


@dataclass(frozen=True)
class TranslationRequest:
    """The model or ensemble to load, how to run it, and how it translates. Implements `workers.work.Work`.

    With `score`, each text is a source sentence, a tab and a translation, which the model scores; only the tags,
    `max_source_length` and the checks of the options are used. `opener` is a top-level function, so that it can be
    pickled; by default it is `load`.
    """

    model: Path
    ensemble: tuple[Path, ...] = ()  # further models; the probabilities of all are averaged
    lines: LineOptions = field(default_factory=LineOptions)
    precision: str | None = None  # of the weights: float or int8; None: as the model card says
    threads: int | None = None  # None: one per core
    check_with: Path | None = None  # a model of the other direction, by which translations are read back
    rerank: Path | None = None  # a model of the other direction, which ranks the hypotheses
    options: TranslateOptions = field(default_factory=lambda: TranslateOptions(SearchOptions()))
    score: bool = False
    opener: Opener | None = None
    keeps_network: bool = True  # whether translations keep what only places marks and alignments
    is_private: bool = False  # whether nobody else writes to the directories, so that weights can be mapped there
    packed: PackedFiles | None = None  # files that the request names, for a machine that lacks them

    @property
    def paths(self) -> tuple[Path, ...]:
        """The directories of all models."""
        return (self.model, *self.ensemble, *filter(None, (self.check_with, self.rerank)))

    # Not a function of `LineTranslator`, which knows no directories: training makes one around its own network.
    def load(self) -> LineTranslator:
        """Loads the model or ensemble of models, and nothing else.

        Raises NotFoundError and DamagedError (see `runtime.model_directory`), OptionError for models that read or write
        different subwords, and DataError for an invalid glossary.
        """
        # numpy, SentencePiece and ONNX Runtime, for which the command line does not wait
        from nmt_cli.runtime.model_directory import ModelDirectory, require_same_sides
        from nmt_cli.translation.translator import LineTranslator, make_rewriter

        first, *others = models = [ModelDirectory.open(path, self.precision) for path in (self.model, *self.ensemble)]
        for other in others:
            require_same_sides(first, other)
        source, target, profile = first.load_source(), first.load_target_tokenizer(), first.load_profile()
        return LineTranslator(
            self.open_engine(models, target.vocabulary_size),
            source,
            target,
            card=first.card,
            lines=self.lines,
            copies_placeholders=first.card.training.get("placeholders", 0) > 0,  # older cards have no such entry
            threads=self.threads or count_cores(),
            rewriter=make_rewriter(first.card, profile),
            profile=profile,
        )

    def open_engine(self, models: Sequence[ModelDirectory], vocabulary: int) -> StepModel[Any]:
        """Returns the network of one model, or an ensemble of several; `vocabulary` is its number of target ids."""
        from nmt_cli.runtime.onnx_engine import OnnxEngine
        from nmt_cli.search.mixing import Ensemble

        engines = [
            OnnxEngine(
                model.directory, precision=model.precision, checksums=model.card.checksums, is_private=self.is_private
            )
            for model in models
        ]
        return Ensemble(engines, vocabulary) if len(engines) > 1 else engines[0]

    def open(self, threads: int | None) -> LineTranslator:
        """Opens the models, with the `opener` if there is one, for `threads` threads (None: one per core)."""
        request = replace(self.unpack(), threads=threads)  # a worker has one core, whatever the user's process has
        return request.load() if self.opener is None else self.opener(request)

    def start(self, *, threads: int | None = None, report: DoneReporter | None = None) -> TranslateBlock:
        """Opens the models for `threads` threads and returns the function that translates a block.

        Raises NotFoundError, DamagedError, OptionError and DataError as `load` does.
        """
        translator, options, search = self.open(threads), self.options, self.options.search
        limit, tags, checks = search.max_source_length, search.tags, options.checks
        answer = (
            partial(score_pairs, translator, limit=limit, tags=tags, checks=checks)
            if self.score
            else answer_blocks(translator, options, report)
        )
        if self.keeps_network:
            return answer
        return lambda block: [translation.drop_network() for translation in answer(block)]

    def pack(self) -> Self:
        """Returns the request with the models and the glossary that it names, read and checked here.

        Raises NotFoundError, DamagedError, OptionError and DataError here, where their paths mean something to the
        user.
        """
        from nmt_cli.runtime.model_directory import ModelDirectory, require_reverse, require_same_sides

        first, *others = models = [ModelDirectory.open(path, self.precision) for path in self.paths]
        for other in others[: len(self.ensemble)]:
            require_same_sides(first, other)
        for other in others[len(self.ensemble) :]:
            require_reverse(first, other)
        packed = PackedFiles(tuple(map(read_model_files, models)), read_glossary(self.lines, first.card.languages))
        return replace(self, packed=packed)

    def hold(self) -> Self:
        """Returns the request with copies of the models and the glossary. Raises the errors of `pack`."""
        return self.pack().unpack()

    def unpack(self) -> Self:
        """Returns the request; unpacks a packed one to files on this machine that last as long as this process."""
        return self if self.packed is None else self.unpack_to(make_folder_of_process())

    def unpack_to(self, folder: Path) -> Self:
        """Writes the models and the glossary to a folder, and returns the request that names them there."""
        if self.packed is None:
            return self
        models = [folder / str(number) for number, _ in enumerate(self.packed.models)]  # two may have one name
        for model, files in zip(models, self.packed.models, strict=True):
            model.mkdir()
            for name, content in files.items():
                (model / name).write_bytes(content)
        lines = self.lines
        if self.packed.glossary is not None:
            terms = folder / "glossary.tsv"
            terms.write_bytes(self.packed.glossary)
            lines = replace(lines, glossary=str(terms))
        return replace(self.name_models(iter(models)), lines=lines, is_private=True, packed=None)

    def name_models(self, models: Iterator[Path]) -> Self:
        """Returns the request with other directories, in the order of `paths`."""
        return replace(
            self,
            model=next(models),
            ensemble=tuple(next(models) for _ in self.ensemble),
            check_with=self.check_with and next(models),
            rerank=self.rerank and next(models),
        )


def read_model_files(model: ModelDirectory) -> dict[str, bytes]:
    """Returns the files of a model that translation needs, and the weights that read pictures, if any."""
    from nmt_cli.runtime.model_directory import CARD
    from nmt_cli.sources.images import IMAGE_WEIGHTS

    names = (*model.files, *({IMAGE_WEIGHTS} & model.card.checksums.keys()))
    card = json.dumps(model.card._asdict(), ensure_ascii=False).encode()  # the file may be another by now
    return {CARD: card} | {name: model.read(name) for name in names}


def read_glossary(lines: LineOptions, languages: tuple[str, str]) -> bytes | None:
    """Returns the content of the glossary, if one is named. Raises NotFoundError, and DataError for an invalid one."""
    if lines.glossary is None:
        return None
    from nmt_cli.carrying.glossary import Glossary

    path = require_file(Path(lines.glossary))
    Glossary.load(path, languages)
    return path.read_bytes()


def answer_blocks(
    translator: LineTranslator, options: TranslateOptions, report: DoneReporter | None = None
) -> TranslateBlock:
    """Returns the function that translates a block; `report` receives how many texts of it are done."""

    def answer(block: Block) -> list[Translation]:
        count = None if report is None else partial(report, block.first)
        return translator.translate(block.lay_out(options), options, count, first_line=block.first)

    return answer


def score_pairs(
    translator: LineTranslator,
    block: Block,
    limit: int | None = None,
    tags: TagSet = (),
    checks: CheckOptions | None = None,
) -> list[Translation]:
    """Scores the translation given in each line (a source, a tab, its translation) with the model, after `tags`.

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
            hint="with --score, each line must contain a source sentence, a tab and a translation",
        )
    return source, target
