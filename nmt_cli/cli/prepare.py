"""`nmt prepare`: sentence pairs in, a prepared corpus out. Parses, calls, renders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt_cli.cli import render
from nmt_cli.cli.open_model import reader_for
from nmt_cli.cli.options import Configuration, DataDirectory, Force, Quiet, Verbose, with_settings
from nmt_cli.cores import cores
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats.inputs import Input, parse_input
from nmt_cli.errors import OptionError


@with_settings
def prepare(
    config: PrepareConfig,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files of sentence pairs: TSV, CSV, JSON Lines, TMX, PO or XLIFF, also packed; - for standard input; "
            "with a weight: corpus.tsv=2.",
            show_default=False,
        ),
    ] = None,
    source_file: Annotated[
        Path | None, typer.Option(help="File of source sentences, a line each.", rich_help_panel="Reading")
    ] = None,
    target_file: Annotated[
        Path | None, typer.Option(help="File of their translations, line by line.", rich_help_panel="Reading")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write what the checks found to this .html or .json.", rich_help_panel="Checks")
    ] = None,
    data: DataDirectory = Path("prepared"),
    force: Force = False,
    configuration: Configuration = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Check, clean, split and encode sentence pairs."""
    from nmt_cli.corpus.prepare import (
        prepare as prepare_corpus,  # numpy and sentencepiece, which `nmt --help` does not need
    )

    inputs = all_inputs(corpus or [], source_file, target_file)
    screen = render.Screen(quiet=quiet, verbose=verbose)
    with render.stage_progress(screen) as progress:
        done = prepare_corpus(
            inputs,
            data,
            config,
            replace=force,
            progress=progress,
            processes=cores(),
            report=report,
            reader=reader_for(config),
        )
    render.prepared(screen, done)


def all_inputs(corpus: list[str], source_file: Path | None, target_file: Path | None) -> list[Input]:
    """The inputs in the order given, the two parallel files last. Raises OptionError for none, or for half of one."""
    inputs = [parse_input(name) for name in corpus]
    if (source_file is None) != (target_file is None):
        raise OptionError("--source-file and --target-file belong together", hint="give both, or a file of pairs")
    if source_file is not None:
        inputs.append(Input(source_file, target_file))
    if not inputs:
        raise OptionError("no corpus was named", hint="try `nmt prepare corpus.tsv`")
    return inputs
