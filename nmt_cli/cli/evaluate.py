"""`nmt evaluate`: scores of the model's translations, or of existing ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nmt_cli.api.evaluate import explain_scores, run_evaluation
from nmt_cli.api.evaluation_request import EvaluationRequest
from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.cli.evaluation_output import EvaluationOutput
from nmt_cli.cli.parsing.completion import complete_metrics
from nmt_cli.cli.parsing.options import (
    DEFAULT_MODEL,
    AsJson,
    DataOption,
    ModelsOption,
    Precision,
    Rerank,
    resolve_model,
)
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cli.render import Screen, print_lines, show_stage_progress
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import ALL, NAMES
from nmt_cli.runtime.installed_models import find_model_or_file
from nmt_cli.search.config import SearchConfig

METRIC_HELP = (
    f"Metric: {', '.join(NAMES)}; may be repeated. comet and bertscore need a model on this machine, perplexity and "
    f"accuracy the translation model.  [default: {ALL}]"
)
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        help=METRIC_HELP,
        show_default=False,
        autocompletion=complete_metrics,
        rich_help_panel="Scores",
    ),
]
ReferenceOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="Reference translations, FILE or FILE:COLUMN; may be repeated; a table holds one reference per column.",
        rich_help_panel="Files",
    ),
]
ExplainOption = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--explain",
        help="Show step by step how BLEU and ROUGE-L of one pair are computed.",
        metavar="CANDIDATE REFERENCE",
        rich_help_panel="Output",
    ),
]


def make_file_option(flag: str, help: str, panel: str = "Files") -> Any:
    return typer.Option(flag, help=help, show_default=False, rich_help_panel=panel)


@with_settings
def evaluate(
    *,
    screen: Screen,
    explicit: ExplicitOptions,
    metric: Metrics = None,
    source: Annotated[
        Path | None,
        make_file_option(
            "--source", "Sentences to translate, FILE or FILE:COLUMN; with --hypothesis, its source sentences."
        ),
    ] = None,
    reference: ReferenceOption = None,
    hypothesis: Annotated[
        list[Path] | None,
        make_file_option(
            "--hypothesis", "Translations to score, FILE or FILE:COLUMN, - is standard input; several are compared."
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        make_file_option("--against", "Translations or a model to compare with; may be repeated."),
    ] = None,
    split: Annotated[
        Literal["dev", "test"],
        typer.Option(help="Split of --data to score; use dev to choose search options.", rich_help_panel="Files"),
    ] = "test",
    data: DataOption = Path("prepared"),
    model: ModelsOption = None,
    precision: Precision = None,
    rerank: Rerank = None,
    scores: ScoreConfig,
    search: SearchConfig,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            help="Also show scores by groups of sentences: length, rare words, numbers, ...",
            rich_help_panel="Output",
        ),
    ] = False,
    write_to: Annotated[
        Path | None, make_file_option("--report", "Write a report: .html (a single page) or .md.", "Output")
    ] = None,
    sentences: Annotated[
        Path | None, make_file_option("--sentences", "Write every sentence with its scores to a .tsv.", "Output")
    ] = None,
    explain: ExplainOption = None,
    as_json: AsJson = False,
) -> None:
    """Score the model on its test split, or on files with one sentence per line.

    Scores are on a scale of 0-100, of free-running beam search, on detokenised, cased text; each comes with its 95 %
    confidence interval and its signature.
    """
    if explain:
        return print_lines(explain_scores(metric or (), explain, scores))
    request = EvaluationRequest(
        metrics=tuple(metric or ()),
        scores=scores,
        search=search,
        data=data,
        is_data_named="data" in explicit.typed,
        models=tuple(model or [resolve_model(DEFAULT_MODEL)]),
        hypotheses=tuple(hypothesis or ()),
        against=tuple(map(find_model_or_file, against or ())),
        source=source,
        references=tuple(reference or ()),
        split=split,
        precision=precision,
        rerank=None if rerank is None else resolve_model(rerank),
        is_profiled=profile or write_to is not None,
    )
    output = EvaluationOutput(screen, request, write_to, sentences, as_json=as_json, profile=profile)
    output.require_files()
    with show_stage_progress(screen) as progress:
        result = run_evaluation(request, progress)
    output.show(result)
