"""The request of `nmt translate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.open_model import open_translator
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.translating.line_layout import LayoutConfig
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.errors import OptionError
from nmt_cli.formats import TEXT, find_by_name
from nmt_cli.jobs.job import Job
from nmt_cli.search.config import SamplingConfig, SearchConfig
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tags import TagSet
from nmt_cli.translation.config import (
    CheckConfig,
    ContextConfig,
    LineConfig,
    MemoryConfig,
    ModelRequest,
    RepairConfig,
    TagConfig,
)
from nmt_cli.workers.choice import ExecutorConfig

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import Translation


class TranslationRequest(NamedTuple):
    """What is translated, with which model, and where to; and which options were set explicitly."""

    models: tuple[Path, ...]
    search: SearchConfig
    sampling: SamplingConfig
    repair: RepairConfig
    checks: CheckConfig
    lines: LineConfig
    memories: MemoryConfig
    tags: TagConfig
    before: ContextConfig
    layout: LayoutConfig
    document: DocumentConfig
    processes: ExecutorConfig
    explicit: ExplicitOptions
    are_models_named: bool = False  # explicitly
    files: tuple[Path, ...] = ()  # none: standard input
    output: str | None = None
    force: bool = False
    resume: bool = False
    precision: str | None = None
    ensemble: tuple[Path, ...] = ()
    check_with: Path | None = None  # a model of the other direction
    rerank: Path | None = None
    n_best: int = 1
    prefix: str = ""
    score: bool = False  # whether translations are given, and only scored

    @property
    def model(self) -> Path:
        """The only model. Raises OptionError for several."""
        if len(self.models) > 1:
            hint = "name one, or average them with --ensemble"
            raise OptionError("several --model need --serve, which chooses by language", hint=hint)
        return self.models[0]

    @property
    def context(self) -> int | None:
        """The sentences before that are read; none with options for which each line stands alone."""
        return 0 if self.score or self.prefix or self.sampling.sample else self.before.context

    @property
    def model_request(self) -> ModelRequest:
        model, reverse = self.models[0], self.check_with
        return ModelRequest(model, self.ensemble, self.lines, self.precision, check_with=reverse, rerank=self.rerank)

    @property
    def is_for_lines(self) -> bool:
        """Whether no set option concerns documents or large input, for which a terminal is read like a pipe."""
        explicit = self.explicit
        return not (explicit.select_fields(DocumentConfig) - {"errors"} or explicit.select_fields(ExecutorConfig))

    @property
    def complete_search(self) -> SearchConfig:
        """The search settings, including those that are options of their own or follow from the output."""
        scored, prefix = self.layout.scores or self.layout.json, normalise(self.prefix)
        return replace(self.search, n_best=self.n_best, prefix=prefix, sampling=self.sampling, scored=scored)

    @property
    def complete_document(self) -> DocumentConfig:
        """The document settings; with `score`, the pairs in a .tsv are lines, too."""
        form = self.document.format or ("text" if self.score else None)
        return replace(self.document, format=form, confidence=self.checks.confidence)

    @property
    def has_folder(self) -> bool:
        return any(path.is_dir() for path in self.files)

    @property
    def has_json_summary(self) -> bool:
        """Whether `--json` describes files with a form of their own, rather than each line of plain text."""
        return self.layout.json and (self.has_folder or (self.output is not None and any(map(has_form, self.files))))

    def make_writer(self, *, is_prompt: bool) -> LineWriter:
        """Returns the formatter of translations as plain text, below a typed line or beside it."""
        scores, is_json = self.layout.scores or self.score, self.layout.json and not self.has_json_summary
        layout = replace(self.layout, scores=scores, confidence=self.checks.confidence, json=is_json)
        return LineWriter(layout, self.n_best, indent="  " if is_prompt else "")

    def make_job(self, memory: TranslationMemory | None, tags: TagSet, card: ModelCard, *, is_plain: bool) -> Job:
        """Returns everything a process needs to translate with a model, with `tags` before each source.

        `is_plain` says that no document has marks to be placed.
        """
        search, checks = replace(self.complete_search, tags=tags), self.checks
        opener = open_translator
        job = Job(self.model_request, search, self.repair, checks, score=self.score, opener=opener, memory=memory)
        keeps_network = not is_plain or self.layout.alignments or self.layout.json or bool(self.memories.tm)
        return replace(job, known_domains=card.domains, keeps_network=keeps_network)


def has_form(path: Path) -> bool:
    """Whether a file is a document by its name."""
    return find_by_name(path) not in (None, TEXT)


class LineWriter(NamedTuple):
    """Formats translations as plain text."""

    layout: LayoutConfig
    n_best: int
    indent: str

    def write(self, translation: Translation) -> str:
        lines = self.layout.format_lines(translation, self.n_best, indent=self.indent)
        if self.indent and not self.layout.json:  # on a terminal, below the translation itself
            lines += "".join(f"{self.indent}! {check.message}\n" for check in translation.checks)
        return lines

    @property
    def rows(self) -> int:
        """The number of rows written per line."""
        return 1 if self.layout.json else self.n_best

    @property
    def is_bare(self) -> bool:
        """Whether only the translation is written."""
        return self.n_best == 1 and replace(self.layout, confidence=False) == LayoutConfig()
