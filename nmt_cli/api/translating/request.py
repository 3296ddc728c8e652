"""The request of `nmt translate`: its models, inputs, outputs and options.

`nmt translate --model eng-deu notes.txt -o out/` is `TranslateCommand(TranslationRequest(Path("eng-deu"), ...),
files=(Path("notes.txt"),), output="out/", ...)`; with `--serve`, its request holds the defaults of the server.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.translating.line_layout import LayoutOptions
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.errors import OptionError
from nmt_cli.formats import TEXT, find_by_name
from nmt_cli.settings import Settings, option_fields
from nmt_cli.translation.config import CheckOptions, ContextOptions, MemoryOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.workers.choice import ExecutorOptions

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


class TranslateCommand(NamedTuple):
    """The request, inputs and outputs of a command, and the options that were set explicitly."""

    request: TranslationRequest
    models: tuple[Path, ...]  # several to be served; the request names the first
    memories: MemoryOptions
    before: ContextOptions
    layout: LayoutOptions
    document: DocumentOptions
    processes: ExecutorOptions
    explicit: ExplicitOptions
    are_models_named: bool = False  # explicitly
    files: tuple[Path, ...] = ()  # none: standard input
    output: str | None = None
    force: bool = False
    resume: bool = False

    def require_single_model(self) -> None:
        """Raises OptionError for several models."""
        if len(self.models) > 1:
            hint = "name one model, or combine them with --ensemble"
            raise OptionError("more than one --model needs --serve, which chooses by language", hint=hint)

    @property
    def checks(self) -> CheckOptions:
        return self.request.options.checks or CheckOptions()

    @property
    def settings(self) -> tuple[Settings, ...]:
        """The settings that determine the translations."""
        request, options = self.request, self.request.options
        groups = (options.search, options.search.sampling, options.repair, options.checks, request.lines)
        return (*filter(None, groups), self.memories, options.tags, self.layout, self.document)

    @property
    def option_values(self) -> dict[str, Any]:
        """The values of all options, by the names that a user types."""
        request, search = self.request, self.request.options.search
        values: dict[str, Any] = {"model": self.models, "output": self.output, "score": request.score}
        values |= {"n_best": search.n_best, "prefix": search.prefix, "precision": request.precision}
        values |= {"ensemble": request.ensemble, "check_with": request.check_with, "rerank": request.rerank}
        return values | dict(list_options(*self.settings, self.before, self.processes))

    @property
    def is_for_lines(self) -> bool:
        """Whether no option for documents or large input is set; if one is, a terminal is read like a pipe."""
        explicit = self.explicit
        return not (
            explicit.select_fields(DocumentOptions) - {"errors", "confidence"}
            or explicit.select_fields(ExecutorOptions)
        )

    @property
    def complete_document(self) -> DocumentOptions:
        """The document settings; with `score`, a .tsv of pairs is read as lines, too."""
        form = self.document.format or ("text" if self.request.score else None)
        return replace(self.document, format=form)

    @property
    def has_folder(self) -> bool:
        return any(path.is_dir() for path in self.files)

    @property
    def has_json_summary(self) -> bool:
        """Whether `--json` summarises documents or folders, rather than describing each line of plain text."""
        return self.layout.json and (self.has_folder or (self.output is not None and any(map(has_form, self.files))))

    def make_writer(self, *, is_prompt: bool) -> LineWriter:
        """Returns the formatter of translations as plain text, indented below the typed line at a prompt."""
        scores, is_json = self.layout.scores or self.request.score, self.layout.json and not self.has_json_summary
        layout = replace(self.layout, scores=scores, confidence=self.document.confidence, json=is_json)
        return LineWriter(layout, self.request.options.search.n_best, indent="  " if is_prompt else "")


def list_options(*groups: Settings) -> Iterator[tuple[str, Any]]:
    """Yields the options of settings, each with its value."""
    for group in groups:
        yield from ((field.name, getattr(group, field.name)) for field in option_fields(type(group)))


def has_form(path: Path) -> bool:
    """Whether a file's name implies a document."""
    return find_by_name(path) not in (None, TEXT)


class LineWriter(NamedTuple):
    """Formats translations as plain text."""

    layout: LayoutOptions
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
        return self.n_best == 1 and replace(self.layout, confidence=False) == LayoutOptions()
