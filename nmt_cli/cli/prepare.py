"""`nmt prepare`: sentence pairs in, a prepared corpus out. Parses, calls, renders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.api.prepare import PrepareRequest, run_preparation
from nmt_cli.cli.parsing.options import AsJson, Force, WrittenDataOption, declare_option
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cli.prepared_corpus import show_prepared_corpus
from nmt_cli.cli.render import Screen, show_stage_progress
from nmt_cli.cores import count_cores
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.workers.choice import RayConfig


@with_settings
def prepare(
    screen: Screen,
    explicit: ExplicitOptions,
    config: PrepareConfig,
    cluster: RayConfig,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CORPUS]...",
            help="Files of sentence pairs: TSV, CSV, JSON Lines, TMX, PO or XLIFF, also compressed; - for standard "
            "input; corpus.tsv=2 gives a file the weight 2, corpus.tsv=train keeps it out of dev and test, "
            "corpus.tsv=ui tags its pairs.",
            show_default=False,
        ),
    ] = None,
    source_file: Annotated[
        Path | None,
        declare_option("--source-file", "File of source sentences, one per line.", "Reading", harmless=True),
    ] = None,
    target_file: Annotated[
        Path | None,
        declare_option("--target-file", "File of their translations, line by line.", "Reading", harmless=True),
    ] = None,
    report: Annotated[
        Path | None,
        declare_option("--report", "Write the findings of the checks to this .html or .json.", "Checks"),
    ] = None,
    data: WrittenDataOption = Path("prepared"),
    resume: Annotated[
        bool, declare_option("--resume", "Go on where an interrupted preparation was; give the same options.", "Data")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Check, clean, split and encode sentence pairs."""
    request = PrepareRequest(
        corpus=tuple(corpus or ()),
        config=config,
        data=data,
        source_file=source_file,
        target_file=target_file,
        force=force,
        resume=resume,
        report=report,
        processes=count_cores(),
        ray=cluster.ray,
    )
    with offer_resumption(screen, request), show_stage_progress(screen) as progress:
        outcome = run_preparation(request, progress)
    show_prepared_corpus(screen, outcome.report, outcome.advice)
    if as_json:
        typer.echo(json.dumps(outcome.to_mapping() | explicit.origin_entry, ensure_ascii=False))


@contextmanager
def offer_resumption(screen: Screen, request: PrepareRequest) -> Iterator[None]:
    """Says how to go on with a preparation that was interrupted, or that nothing of it is kept."""
    try:
        yield
    except BaseException as problem:
        if request.is_unfinished:
            screen.say(f"what was read is kept; go on with: {request.resumption}")
        elif not isinstance(problem, Exception):
            screen.say("interrupted: nothing is kept")
        raise
