"""`nmt evaluate`: scores of the model's translations, or of existing ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

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
    declare_option,
    resolve_model,
)
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cli.render import Screen, print_lines, show_stage_progress
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import ALL, NAMES
from nmt_cli.runtime.installed_models import find_model_or_file
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import ContextConfig, TagConfig
from nmt_cli.visuals.report_path import SUFFIXES_OF_TABLES

METRIC_HELP = (
    f"Metric: {', '.join(NAMES)}; may be repeated. comet and bertscore need a model on this machine, perplexity and "
    f"accuracy the translation model.  [default: {ALL}]"
)
REFERENCE_HELP = "Reference translations, FILE or FILE:COLUMN; may be repeated; a table holds one reference per column."
SOURCE_HELP = "Sentences to translate, FILE or FILE:COLUMN; with --hypothesis, its source sentences."
HYPOTHESIS_HELP = "Translations to score, FILE or FILE:COLUMN, - is standard input; several are compared."
EXPLAIN_HELP = "Show step by step how BLEU and ROUGE-L of one pair are computed."


@with_settings
def evaluate(
    *,
    screen: Screen,
    explicit: ExplicitOptions,
    metric: Annotated[
        list[str] | None,
        declare_option("--metric", METRIC_HELP, "Scores", short="-m", harmless=True, autocompletion=complete_metrics),
    ] = None,
    source: Annotated[Path | None, declare_option("--source", SOURCE_HELP, "Files", harmless=True)] = None,
    reference: Annotated[
        list[Path] | None, declare_option("--reference", REFERENCE_HELP, "Files", harmless=True)
    ] = None,
    hypothesis: Annotated[
        list[Path] | None, declare_option("--hypothesis", HYPOTHESIS_HELP, "Files", harmless=True)
    ] = None,
    against: Annotated[
        list[Path] | None,
        declare_option(
            "--against", "Translations or a model to compare with; may be repeated.", "Files", harmless=True
        ),
    ] = None,
    split: Annotated[
        Literal["dev", "test"],
        declare_option("--split", "Split of --data to score; use dev to choose search options.", "Files"),
    ] = "test",
    data: DataOption = Path("prepared"),
    model: ModelsOption = None,
    precision: Precision = None,
    rerank: Rerank = None,
    scores: ScoreConfig,
    search: SearchConfig,
    tags: TagConfig,
    before: ContextConfig,
    profile: Annotated[
        bool,
        declare_option(
            "--profile",
            "Also show scores by groups of sentences: length, rare words, numbers, ...",
            "Output",
            harmless=True,
        ),
    ] = False,
    all_runs: Annotated[
        bool,
        declare_option(
            "--all-runs",
            "Score each run of `nmt train --runs` below a --model: mean ± standard deviation.",
            "Files",
            harmless=True,
        ),
    ] = False,
    write_to: Annotated[
        Path | None,
        declare_option("--report", "Write a report: .html (a single page) or .md; a table: .tex or .csv.", "Output"),
    ] = None,
    sentences: Annotated[
        Path | None, declare_option("--sentences", "Write every sentence with its scores to a .tsv.", "Output")
    ] = None,
    explain: Annotated[
        tuple[str, str] | None,
        declare_option("--explain", EXPLAIN_HELP, "Output", metavar="CANDIDATE REFERENCE"),
    ] = None,
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
        tags=tags,
        before=before,
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
        is_profiled=profile or (write_to is not None and write_to.suffix.lower() not in SUFFIXES_OF_TABLES),
        with_runs=all_runs,
        settings_from=explicit.settings_from,
    )
    output = EvaluationOutput(screen, request, write_to, sentences, as_json=as_json, profile=profile)
    output.require_files()
    with show_stage_progress(screen) as progress:
        result = run_evaluation(request, progress)
    output.show(result)
