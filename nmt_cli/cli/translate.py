"""`nmt translate`: one line in, one line out, in order, as lines arrive; or a document whose form stays."""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from nmt_cli.api.line_layout import LayoutConfig
from nmt_cli.api.open_model import open_translator
from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.api.options.refusals import OF_MODEL, refuse_combinations
from nmt_cli.api.serve_config import ServeConfig
from nmt_cli.cli.check_options import check_report, require_calibration, require_room
from nmt_cli.cli.output_files import OutputFiles, name_outputs
from nmt_cli.cli.parsing.options import DEFAULT_MODEL, Force, Precision, ServedModelsOption, resolve_model
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cli.render import Screen, show_translation_progress
from nmt_cli.cli.serve import choose_model, serve_models
from nmt_cli.cli.terminal import prompt_for_lines
from nmt_cli.cli.translation_files import DocumentOpener, check_files
from nmt_cli.cli.translation_report import TranslationReport, open_qa_report, show_notes
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit
from nmt_cli.formats import TEXT
from nmt_cli.jobs.executor import ExecutorConfig, open_executor
from nmt_cli.jobs.job import Job, split_pair
from nmt_cli.jobs.pipeline import translate_units
from nmt_cli.search.config import SamplingConfig, SearchConfig
from nmt_cli.text.normalise import normalise
from nmt_cli.text.stream import batch_arriving, batch_blocks
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.config import CheckConfig, LineConfig, MemoryConfig, ModelRequest, RepairConfig
from nmt_cli.translation.truncation import SourceCuts

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelDirectory
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import Translation

READ_AHEAD = 1024  # lines translated together: enough for batches of similar length, few enough to wait for
PROFILED_FORMAT = 3  # the first format of models that know what their training text looked like
RAY_ENVIRONMENT = {  # no usage report, no notice
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


@with_settings
def translate(
    screen: Screen,
    explicit: ExplicitOptions,
    search: SearchConfig,
    sampling: SamplingConfig,
    repair: RepairConfig,
    checks: CheckConfig,
    text: LineConfig,
    memories: MemoryConfig,
    layout: LayoutConfig,
    document: DocumentConfig,
    processes: ExecutorConfig,
    server: ServeConfig,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Text with one sentence per line, or documents; default: standard input."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write; of several files a directory, or a pattern such as '{name}.{lang}{ext}'.",
            rich_help_panel="Files",
        ),
    ] = None,
    force: Force = False,
    model: ServedModelsOption = None,
    precision: Precision = None,
    ensemble: Annotated[
        list[Path] | None,
        typer.Option(
            "--ensemble",
            metavar="MODEL",
            help="Another model with the same subwords, to average probabilities with; may be repeated.",
            rich_help_panel="Files",
        ),
    ] = None,
    n_best: Annotated[
        int,
        typer.Option(
            "--n-best", min=1, help="Number of hypotheses written per line, best first.", rich_help_panel="Output"
        ),
    ] = 1,
    prefix: Annotated[
        str, typer.Option("--prefix", help="Text that every translation begins with.", rich_help_panel="Decoding")
    ] = "",
    score: Annotated[
        bool,
        typer.Option(
            "--score",
            help="Score given translations: each line is a source, a tab and its translation.",
            rich_help_panel="Output",
        ),
    ] = False,
) -> None:
    """Translate text, one line of output per line of input; or a document, whose form stays.

    Documents are tables, subtitles, catalogues, pages, and files of word processors, presentations and e-books. Blank
    lines stay blank; lines are translated as they arrive.
    """
    models = model or [DEFAULT_MODEL]
    template = ModelRequest(models[0], tuple(map(resolve_model, ensemble or ())), text, precision)
    if server.serve is not None:
        return serve_models(models, server, (search, sampling, repair, checks), template, memories, screen)
    # 1. Refuse what cannot work, before anything slow is loaded.
    check_report(checks)
    paths = check_files(files or [], model or [])
    model_directory = read_model_directory(choose_model(models))
    outputs = OutputFiles(name_outputs(output, paths, model_directory.card.target_language, force=force))
    card = model_directory.card
    known = {**vars(search), "card": card, "subwords": card.tokenizer["kind"]}
    refuse_combinations(OF_MODEL, explicit, known)
    search = complete_search(search, sampling, layout, n_best, prefix)
    require_calibration(checks, model_directory.card)
    # 2. Complete the settings: how a translation is written.
    warn_of_old_model(screen, model_directory)
    layout = dataclasses.replace(layout, scores=layout.scores or score, confidence=checks.confidence)
    form = document.format or ("text" if score else None)  # with --score also for pairs in a .tsv
    document = dataclasses.replace(document, format=form, confidence=checks.confidence)
    interactive = not paths and not outputs.targets and is_for_lines(explicit) and are_terminals()
    writer = Writer(layout, n_best, indent="  " if interactive else "")
    # 3. Open the input: documents, or a prompt; and earlier translations.
    memory = open_memory(memories, model_directory, screen, links_words=layout != LayoutConfig())
    opening = make_template(document, model_directory, text, memory)
    opener = DocumentOpener(opening, writer.write, is_bare=writer.is_bare, announce=screen.say)
    documents = opener.open_files(paths, outputs.targets)
    require_room(checks, documents)
    if interactive:
        batches = prompt_for_lines(model_directory.card, screen, writer.write, document.errors)
    else:
        batches = batch_documents(documents, paths, outputs, are_pairs=score)
    # 4. Translate batch by batch; write each as soon as it is there.
    job = Job(template, search, repair, checks, score=score, opener=open_translator, memory=memory)
    report = open_report(checks, documents, paths, model_directory)
    progress = show_translation_progress(screen, paths if outputs.targets else [])
    with progress as advance, outputs, open_executor(job, silence_ray(processes)) as executor:
        write_translations(translate_units(batches, executor, report.add), outputs, advance, writer.rows)
    # 5. Say what a person should look at.
    report.show(screen, search)
    show_notes(screen, documents, executor)
    report.write_qa(screen, checks.report)
    report.require_faultless(strict=checks.strict)


def complete_search(
    search: SearchConfig, sampling: SamplingConfig, layout: LayoutConfig, n_best: int, prefix: str
) -> SearchConfig:
    """Returns the settings of search with those that are options of their own, or follow from what is written."""
    scored = layout.scores or layout.json
    return dataclasses.replace(search, n_best=n_best, prefix=normalise(prefix), sampling=sampling, scored=scored)


def make_template(
    document: DocumentConfig, model: ModelDirectory, text: LineConfig, memory: TranslationMemory | None
) -> DocumentSource:
    """Returns standard input as the source of a document, from which those of files differ in their lines and names."""
    return DocumentSource(
        lines=(),
        name="standard input",
        config=document,
        target_language=model.card.target_language,
        split_sentences=text.split_sentences,
        source_language=model.card.source_language,
        memory=memory,
    )


def open_memory(
    memories: MemoryConfig, model: ModelDirectory, screen: Screen, *, links_words: bool
) -> TranslationMemory | None:
    """Returns the translation memory that is named; None if none is. Says how much it holds."""
    if not memories.tm:
        return None
    from nmt_cli.api.memory import load_memory  # readers of many formats, which few runs need

    languages = (model.card.source_language, model.card.target_language)
    memory = load_memory(memories.tm, languages, links_words=links_words)
    screen.say_detail(f"{', '.join(memories.tm)}: {format_count(len(memory), 'text')} with a translation")
    return memory


def open_report(
    checks: CheckConfig, documents: list[Document], paths: list[Path], model: ModelDirectory
) -> TranslationReport:
    """Returns an empty report, which counts in lines where all documents are plain text, else in texts."""
    thing = "line" if all(document.format is TEXT for document in documents) else "text"
    what = ", ".join(str(path) for path in paths) or "standard input"
    return TranslationReport(source_cuts=SourceCuts(thing), qa=open_qa_report(checks, what, model.card, thing))


def write_translations(
    batches: Iterable[bytes], outputs: OutputFiles, advance: Callable[[int], None], rows: int
) -> None:
    """Writes each batch as soon as it is there; `advance` receives how many lines are done, of `rows` rows each."""
    lines = 0
    for written in batches:
        outputs.write(written)
        lines += written.count(b"\n") // rows
        advance(lines)


def is_for_lines(explicit: ExplicitOptions) -> bool:
    """Whether no option is given that concerns documents or large input, for which a terminal is read like a pipe."""
    return not (explicit.select_fields(DocumentConfig) - {"errors"} or explicit.select_fields(ExecutorConfig))


def are_terminals() -> bool:
    """Whether a person types the input and reads the output."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class Writer(NamedTuple):
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
        """The number of rows that are written for each line."""
        return 1 if self.layout.json else self.n_best

    @property
    def is_bare(self) -> bool:
        """Whether the translation alone is written."""
        return self.n_best == 1 and dataclasses.replace(self.layout, confidence=False) == LayoutConfig()


def read_model_directory(model: Path) -> ModelDirectory:
    """Returns the model directory with its card. Its files are checked by whoever loads them."""
    from nmt_cli.runtime import model_directory  # SentencePiece, which `nmt --help` does not need

    card = model_directory.read_card(model)
    return model_directory.ModelDirectory(model, card, card.default_precision)


def warn_of_old_model(screen: Screen, model: ModelDirectory) -> None:
    """Says what a model of format 2 cannot do, since it does not know what its training text looked like."""
    if model.card.format < PROFILED_FORMAT and model.card.source.get("type", "text") == "text":
        screen.warn(
            f"{model.directory}/ has format {model.card.format}, without a profile of its training text: capitals and "
            "characters that training never had are read as they are; train it again with this nmt"
        )


def silence_ray(processes: ExecutorConfig) -> ExecutorConfig:
    """Returns the same settings, after the environment was set up so that Ray reports nothing to anybody."""
    if processes.ray is not None:
        for name, value in RAY_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
    return processes


def batch_documents(
    documents: list[Document], paths: list[Path], outputs: OutputFiles, *, are_pairs: bool
) -> Iterator[list[TranslationUnit]]:
    """Yields the batches of all documents: each by itself where each has a file, otherwise as one."""
    if len(outputs.targets) > 1:
        return outputs.batch_files(documents, partial(batch_units, paths=paths, are_pairs=are_pairs))
    units = itertools.chain.from_iterable(document.read_units() for document in documents)
    return batch_units(units, paths, are_pairs=are_pairs)


def batch_units(
    units: Iterator[TranslationUnit], paths: list[Path], *, are_pairs: bool
) -> Iterator[list[TranslationUnit]]:
    """Yields the units that are translated together: full batches of files, of a stream what has arrived."""
    units = check_pairs(units) if are_pairs else units
    are_files = bool(paths) and all(path.is_file() for path in paths)
    return batch_blocks(units, READ_AHEAD) if are_files else batch_arriving(units, READ_AHEAD)


def check_pairs(lines: Iterator[TranslationUnit]) -> Iterator[TranslationUnit]:
    """Yields the lines as they are. Raises DataError at the first that is no pair, once those before it are out."""
    for number, line in enumerate(lines, start=1):
        split_pair(line.texts[0], number)
        yield line
