"""`nmt prepare`: sentence pairs in, a prepared corpus out. Parses, calls, renders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt_cli.api.prepare import collect_inputs, prepare_inputs
from nmt_cli.cli import render
from nmt_cli.cli.options import Configuration, DataOption, Force, Quiet, Verbose, with_settings
from nmt_cli.cores import count_cores
from nmt_cli.corpus.config import PrepareConfig


@with_settings
def prepare(
    config: PrepareConfig,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CORPUS]...",
            help="Files of sentence pairs: TSV, CSV, JSON Lines, TMX, PO or XLIFF, also compressed; - for standard "
            "input; corpus.tsv=2 gives a file the weight 2, corpus.tsv=train keeps it out of dev and test.",
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
    inputs = collect_inputs(corpus or [], source_file, target_file)
    screen = render.Screen(quiet=quiet, verbose=verbose)
    with render.show_stage_progress(screen) as progress:
        corpus_report = prepare_inputs(
            inputs, data, config, force=force, report=report, processes=count_cores(), progress=progress
        )
    render.show_prepared_corpus(screen, corpus_report)
