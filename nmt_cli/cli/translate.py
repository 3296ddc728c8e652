"""The command `nmt translate`: translates lines as they arrive, or documents, which keep their layout.

    $ echo "Where is the station?" | nmt translate --model eng-deu
    Wo ist der Bahnhof?

The options become one `TranslateCommand`, which `api/translating/translate.py` runs, or `cli/serve.py` with `--serve`;
its report is printed here.
"""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from nmt_cli.api.open_model import ExportFormat, describe_exported_tags, open_translator, write_export
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.serve_config import ServeOptions
from nmt_cli.api.translating.inputs import Console
from nmt_cli.api.translating.line_layout import LayoutOptions
from nmt_cli.api.translating.report import Remark
from nmt_cli.api.translating.request import TranslateCommand
from nmt_cli.api.translating.translate import run_translation
from nmt_cli.cli.parsing.options import (
    DEFAULT_MODEL,
    Force,
    Precision,
    Rerank,
    ServedModelsOption,
    declare_option,
    resolve_model,
    with_settings,
)
from nmt_cli.cli.render import Screen, show_translation_progress
from nmt_cli.cli.serve import serve_models
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import TranslationUnit
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats.sniffing import HEAD
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.text.normalise import normalise
from nmt_cli.text.wrapping import protect_terminal
from nmt_cli.translation.config import (
    CheckOptions,
    ContextOptions,
    LineOptions,
    MemoryOptions,
    RepairOptions,
    TagOptions,
    TranslateOptions,
)
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.workers.choice import ExecutorOptions

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.result import Translation


# The console of `nmt translate`: streams, and on a terminal a prompt: one sentence typed, its translation below.


def make_console(screen: Screen, *, can_prompt: bool) -> Console:
    """Returns standard input and output, a prompt if both are terminals, and a screen for messages."""
    return Console(
        can_prompt,
        protect_terminal(sys.stdout.buffer),
        open_input,
        partial(prompt_for_lines, screen),
        partial(show_translation_progress, screen),
        screen.say,
        screen.say_detail,
    )


def open_input() -> IO[bytes]:
    """Opens a reader of our own, because Python cannot exit while a thread waits for a line from `sys.stdin`."""
    raw = getattr(sys.stdin.buffer, "raw", None)
    return sys.stdin.buffer if raw is None else io.BufferedReader(raw, HEAD)


def prompt_for_lines(
    screen: Screen, card: ModelCard, write: Callable[[Translation], str], errors: str
) -> Iterator[list[TranslationUnit]]:
    """Yields lines typed on a terminal one by one, with editing and history if the system provides them.

    `write` formats a translation; `errors` is how invalid UTF-8 is handled ("strict" or "replace").
    """
    with suppress(ImportError):
        import readline  # noqa: F401 (its import gives `input` a history)

    greet(card, screen)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors=errors)  # whatever the locale says
    for number in itertools.count(1):
        try:
            text = read_line(number)
        except EOFError:
            typer.echo()
            return
        yield [TranslationUnit((text,), lambda translations: write(translations[0]))]


def greet(card: ModelCard, screen: Screen) -> None:
    """Prints the model, its score, and how to enter lines and how to stop."""
    bleu = f" (dev BLEU {card.development_bleu:.1f})" if card.development_bleu is not None else ""
    screen.say(f"{card.direction}{bleu}. {card.side.line}; Ctrl-D to stop.")


def read_line(number: int) -> str:
    """Returns the typed line of this number. Raises EOFError at Ctrl-D, DataError for invalid UTF-8."""
    try:
        return input("› ")
    except UnicodeDecodeError as error:
        raise DataError(
            f"typed line {number:,} is invalid UTF-8: byte 0x{error.object[error.start]:02x}",
            hint="set the terminal to UTF-8, or use --errors replace",
        ) from error


EXPORT_HELP = "Export the model to the directory --output: for CTranslate2, or as a web page."
ASSETS_HELP = "Folder with Pyodide, its NumPy, and ONNX Runtime Web, for --export page."
FILES_HELP = "Text with one sentence per line, documents, or folders of these; default: standard input."
BEST_HELP = "Number of hypotheses written per line, best first."
PREFIX_HELP = "Begin every translation with this text."
INFO_HELP = "Print the languages, sizes, scores and licence of the model; without a model, of all installed models."
SCORE_HELP = "Score existing translations: each line contains a source sentence, a tab and a translation."
OUTPUT_HELP = (
    "Output file; for several files, a directory or a pattern such as '{name}.{lang}{ext}'. Existing files are only "
    "replaced with --force."
)
RESUME_HELP = "Continue an interrupted translation of files."
ENSEMBLE_HELP = "Another model with the same subwords, to average probabilities with; can be repeated."
CHECK_HELP = (
    "Model for the opposite direction, which reads every translation back; source words that it finds "
    "unlikely fail a check."
)


@with_settings
def translate(
    screen: Screen,
    explicit: ExplicitOptions,
    search: SearchOptions,
    sampling: SamplingOptions,
    repair: RepairOptions,
    checks: CheckOptions,
    text: LineOptions,
    tags: TagOptions,
    before: ContextOptions,
    memories: MemoryOptions,
    layout: LayoutOptions,
    document: DocumentOptions,
    processes: ExecutorOptions,
    server: ServeOptions,
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help=FILES_HELP)] = None,
    output: Annotated[str | None, declare_option("--output", OUTPUT_HELP, "Files", short="-o")] = None,
    force: Force = False,
    resume: Annotated[bool, declare_option("--resume", RESUME_HELP, "Files")] = False,
    model: ServedModelsOption = None,
    precision: Precision = None,
    ensemble: Annotated[
        list[Path] | None, declare_option("--ensemble", ENSEMBLE_HELP, "Files", metavar="MODEL", harmless=True)
    ] = None,
    check_with: Annotated[
        Path | None, declare_option("--check-with", CHECK_HELP, "Checks", metavar="MODEL", harmless=True)
    ] = None,
    rerank: Rerank = None,
    n_best: Annotated[int, declare_option("--n-best", BEST_HELP, "Output", min=1)] = 1,
    prefix: Annotated[str, declare_option("--prefix", PREFIX_HELP, "Decoding", harmless=True)] = "",
    export: Annotated[ExportFormat | None, declare_option("--export", EXPORT_HELP, "Output", harmless=False)] = None,
    assets: Annotated[Path | None, declare_option("--assets", ASSETS_HELP, "Output", metavar="FOLDER")] = None,
    info: Annotated[bool, declare_option("--info", INFO_HELP, "Output")] = False,
    score: Annotated[bool, declare_option("--score", SCORE_HELP, "Output")] = False,
) -> None:
    """Translate text, one output line per input line; or a document, which keeps its layout.

    Documents are tables, subtitles, message catalogues, web pages, word-processor files, presentations and e-books.
    Blank lines stay blank; lines are translated as they arrive.
    """
    if export is not None:
        return export_to(screen, model or [resolve_model(DEFAULT_MODEL)], output, export, assets, force=force)
    if info:
        from nmt_cli.cli.status import show_installed, show_models  # which few runs need
        from nmt_cli.runtime.installed_models import CARD

        if not model and not (resolve_model(DEFAULT_MODEL) / CARD).exists():
            return show_installed(as_json=layout.json)
        return show_models(model or [resolve_model(DEFAULT_MODEL)], as_json=layout.json)
    models = tuple(model or [DEFAULT_MODEL])
    options = TranslateOptions(
        replace(
            search, n_best=n_best, prefix=normalise(prefix), sampling=sampling, scored=layout.scores or layout.json
        ),
        repair,
        checks,
        tags=tags,
        context=0 if score or prefix or sampling.sample else before.context,  # each of these lines stands alone
    )
    request = TranslationRequest(
        model=models[0],
        ensemble=tuple(map(resolve_model, ensemble or ())),
        lines=text,
        precision=precision,
        check_with=check_with and resolve_model(check_with),
        rerank=rerank and resolve_model(rerank),
        options=options,
        score=score,
        opener=open_translator,
    )
    command = TranslateCommand(
        request,
        models=models,
        are_models_named=bool(model),
        memories=memories,
        before=before,
        layout=layout,
        document=document,
        processes=processes,
        explicit=explicit,
        files=tuple(files or ()),
        output=output,
        force=force,
        resume=resume,
    )
    if server.serve is not None:
        return serve_models(command, server, screen)
    can_prompt = command.is_for_lines and sys.stdin.isatty() and sys.stdout.isatty()
    report = run_translation(command, make_console(screen, can_prompt=can_prompt))
    for line in report.files.describe():
        screen.say(line)
    for remark in report.list_remarks():
        show_remark(screen, remark)
    report.require_faultless(strict=checks.strict)


def export_to(
    screen: Screen, models: list[Path], output: str | None, format: ExportFormat, assets: Path | None, *, force: bool
) -> None:
    """Exports the model for another program. Raises OptionError without a directory, or for several models."""
    if output is None or len(models) > 1:
        hint = f"nmt translate --export {format} -o FOLDER --model {models[0]}"
        raise OptionError("--export takes one --model, and the directory to write as --output", hint=hint)
    write_export(models[0], Path(output), format, assets, force=force)
    if format == "page":
        screen.say(f"{output}/: {models[0]} as a page; open {output}/index.html, from disk or from any web server")
    else:
        screen.say(f"{output}/: {models[0]} for {format}, with the SentencePiece models of its subwords")
        if remark := describe_exported_tags(models[0]):
            screen.say(remark)


def show_remark(screen: Screen, remark: Remark) -> None:
    if remark.is_warning:
        screen.warn(remark.text)
    else:
        screen.say(remark.text, style="dim" if remark.is_dim else None)
