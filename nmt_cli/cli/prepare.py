"""`nmt prepare`: sentence pairs in, a prepared corpus out. Parses, calls, renders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt_cli.cli import render
from nmt_cli.cli.open_model import make_picture_reader
from nmt_cli.cli.options import Configuration, DataOption, Force, Quiet, Verbose, with_settings
from nmt_cli.cores import count_cores
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats.inputs import CorpusFile, parse_input
from nmt_cli.errors import OptionError


@with_settings
def prepare(
    config: PrepareConfig,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CORPUS]...",
            help="Files of sentence pairs: TSV, CSV, JSON Lines, TMX, PO or XLIFF, also compressed; - for standard "
            "input; corpus.tsv=2 gives a file the weight 2.",
            show_default=False,
        ),
    ] = None,
    source_file: Annotated[
        Path | None, typer.Option(help="File of source sentences, one per line.", rich_help_panel="Reading")
    ] = None,
    target_file: Annotated[
        Path | None, typer.Option(help="File of their translations, line by line.", rich_help_panel="Reading")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write the findings of the checks to this .html or .json.", rich_help_panel="Checks"),
    ] = None,
    data: DataOption = Path("prepared"),
    force: Force = False,
    configuration: Configuration = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Check, clean, split and encode sentence pairs."""
    # Imports numpy and SentencePiece, which `nmt --help` does not need.
    from nmt_cli.corpus.prepare import prepare as prepare_corpus

    inputs = collect_inputs(corpus or [], source_file, target_file)
    screen = render.Screen(quiet=quiet, verbose=verbose)
    with render.show_stage_progress(screen) as progress:
        corpus_report = prepare_corpus(
            inputs,
            data,
            config,
            replace=force,
            report_progress=progress,
            processes=count_cores(),
            report=report,
            reader=make_picture_reader(config),
        )
    render.show_prepared_corpus(screen, corpus_report)


def collect_inputs(corpus: list[str], source_file: Path | None, target_file: Path | None) -> list[CorpusFile]:
    """Returns the inputs in order, the two parallel files last. Raises OptionError for none, or for half of a pair."""
    inputs = [parse_input(name) for name in corpus]
    if (source_file is None) != (target_file is None):
        raise OptionError("--source-file and --target-file need each other", hint="give both, or a file of pairs")
    if source_file is not None:
        inputs.append(CorpusFile(source_file, target_file))
    if not inputs:
        raise OptionError("no corpus was named", hint="try `nmt prepare corpus.tsv`")
    return inputs
