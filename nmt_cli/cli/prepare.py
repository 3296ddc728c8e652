"""`nmt prepare`: sentence pairs in, a prepared corpus out. Parses, calls, renders."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nmt_cli.api.advice import Advice, Commands, advise_on_corpus
from nmt_cli.api.options.command_lines import describe_prepare, describe_train
from nmt_cli.api.prepare import collect_inputs, prepare_inputs
from nmt_cli.cli import render
from nmt_cli.cli.parsing.options import AsJson, DataOption, Force
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cores import count_cores
from nmt_cli.corpus.config import PrepareConfig

if TYPE_CHECKING:
    from nmt_cli.corpus.prepare import PrepareReport


@with_settings
def prepare(
    screen: render.Screen,
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
    as_json: AsJson = False,
) -> None:
    """Check, clean, split and encode sentence pairs."""
    inputs = collect_inputs(corpus or [], source_file, target_file)
    with render.show_stage_progress(screen) as progress:
        corpus_report = prepare_inputs(
            inputs, data, config, force=force, report=report, processes=count_cores(), progress=progress
        )
    files = [] if source_file is None else [f"{source_file},{target_file}"]
    commands = Commands(describe_prepare([*(corpus or []), *files], config, data), describe_train(data, Path("model")))
    advice = advise_on_corpus(corpus_report.manifest, commands)
    render.show_prepared_corpus(screen, corpus_report, advice)
    if as_json:
        typer.echo(json.dumps(describe_corpus(corpus_report, advice), ensure_ascii=False))


def describe_corpus(report: PrepareReport, advice: Advice) -> dict[str, Any]:
    """Returns what `--json` prints of a prepared corpus."""
    manifest = report.manifest
    return {
        "data": str(report.directory),
        "source_language": manifest.source_language,
        "target_language": manifest.target_language,
        "counts": asdict(manifest.counts),
        "source": asdict(manifest.source),
        "target": asdict(manifest.target),
        "notes": list(report.notes),
        "fingerprint": manifest.fingerprint,
        "advice": advice.to_mapping(),
    }
