"""`nmt prepare`: a file of sentence pairs in, a prepared corpus out. Parses, calls, renders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt_cli.cli import render
from nmt_cli.cli.options import Configuration, DataDirectory, Force, Quiet, Verbose, with_settings
from nmt_cli.corpus.config import PrepareConfig


@with_settings
def prepare(
    corpus: Annotated[Path, typer.Argument(help="Tab-separated UTF-8 text, a sentence and its translation a line.")],
    config: PrepareConfig,
    data: DataDirectory = Path("prepared"),
    force: Force = False,
    configuration: Configuration = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Clean, split and encode a file of sentence pairs."""
    from nmt_cli.corpus import dataset  # numpy and sentencepiece, which `nmt --help` does not need

    screen = render.Screen(quiet=quiet, verbose=verbose)
    with render.stage_progress(screen) as progress:
        report = dataset.prepare(corpus, data, config, replace=force, progress=progress)
    render.prepared(screen, report)
