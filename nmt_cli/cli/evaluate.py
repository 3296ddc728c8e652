"""`nmt evaluate`: scores of the model's translations, or of existing ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nmt_cli.api.scoring import Evaluation, EvaluationInputs, Outcome
from nmt_cli.cli.completion import complete_metrics
from nmt_cli.cli.options import DataOption, ExplicitOptions, Quiet, TrainedModelOption, option_fields, with_settings
from nmt_cli.cli.render import Screen, print_lines, show_evaluation_context, show_stage_progress
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import report
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import ALL, NAMES, resolve_available_names, resolve_names
from nmt_cli.files import stage_file
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
        help="Reference translations; may be repeated; a .tsv holds one reference per column.",
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
EXPLAINED = ["bleu4", "rougeL"]


def make_file_option(flag: str, help: str, panel: str = "Files") -> Any:
    return typer.Option(flag, help=help, show_default=False, rich_help_panel=panel)


@with_settings
def evaluate(
    *,
    explicit: ExplicitOptions,
    metric: Metrics = None,
    source: Annotated[
        Path | None, make_file_option("--source", "Sentences to translate; with --hypothesis, its source sentences.")
    ] = None,
    reference: ReferenceOption = None,
    hypothesis: Annotated[
        Path | None, make_file_option("--hypothesis", "Translations to score; needs no model.")
    ] = None,
    against: Annotated[
        Path | None,
        make_file_option("--against", "Other translations, or another model, to compare with (paired tests)."),
    ] = None,
    split: Annotated[
        Literal["dev", "test"],
        typer.Option(help="Split of --data to score; use dev to choose search options.", rich_help_panel="Files"),
    ] = "test",
    data: DataOption = Path("prepared"),
    model: TrainedModelOption = Path("model"),
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")] = False,
    quiet: Quiet = False,
) -> None:
    """Score the model on its test split, or on files with one sentence per line.

    Scores are on a scale of 0-100, of free-running beam search, on detokenised, cased text; each comes with its 95 %
    confidence interval and its signature.
    """
    screen = Screen(quiet=quiet)
    if explain:
        if as_json:
            raise OptionError("--json cannot be combined with --explain", hint="leave it out")
        return print_derivation(metric, explain, scores)
    if hypothesis is not None and not (against is not None and against.is_dir()):
        why, hint = "cannot be combined with --hypothesis, which is translated already", "leave it out"
        explicit.refuse(["model", *(field.name for field in option_fields(SearchConfig))], why, hint=hint)
    check_report(write_to)
    if sentences is not None and sentences.is_dir():
        raise OptionError(f"{sentences} is a directory; --sentences needs a file name")
    is_named = "data" in explicit.typed
    inputs = EvaluationInputs(
        data, model, source, tuple(reference or ()), hypothesis, against, split, data_named=is_named
    )
    names = resolve_available_names(metric or [ALL], scores, inputs.available)
    with show_stage_progress(screen) as progress:
        outcome = Evaluation(names, inputs, search, scores, profile or write_to is not None, progress).run()
    print_scores(outcome, inputs, json_wanted=as_json, profile=profile)
    show_evaluation_context(screen, outcome.report, what=outcome.what, unseen=outcome.unseen)
    if sentences is not None:
        write_sentences(outcome.report, sentences)
        screen.say(f"{sentences}: all sentences with their scores")
    if write_to is not None:
        write_page(outcome, inputs, write_to)
        screen.say(f"{write_to}: report")


def check_report(path: Path | None) -> None:
    """Raises OptionError for a report that cannot be written, before the work instead of after it."""
    if path is not None:
        from nmt_cli.visuals.page import check_suffix  # templates and html, which `nmt --help` does not need

        check_suffix(path)


def write_page(outcome: Outcome, inputs: EvaluationInputs, path: Path) -> None:
    """Writes the report, with the learning curves of the model that translated."""
    from nmt_cli.visuals.page import write_report

    model = None if inputs.hypothesis else inputs.model
    write_report(outcome.report, path, test_set=outcome.what, inputs=inputs.option_values, model=model)


def print_derivation(metric: list[str] | None, pair: tuple[str, str], scores: ScoreConfig) -> None:
    """Prints how the scores of one pair are computed."""
    from nmt_cli.evaluation.analysis.explain import explain_metrics
    from nmt_cli.visuals.labels import replace_controls

    print_lines(map(replace_controls, explain_metrics(resolve_names(metric or EXPLAINED), *pair, scores)))


def print_scores(outcome: Outcome, inputs: EvaluationInputs, *, json_wanted: bool, profile: bool) -> None:
    """Prints the scores to standard output."""
    if json_wanted:
        typer.echo(
            json.dumps(report.make_report_json(outcome.report, inputs.option_values), ensure_ascii=False, indent=2)
        )
        return
    print_lines(report.format_report(outcome.report))
    if profile and outcome.report.profile is not None:
        from nmt_cli.evaluation.analysis.profile import format_profile

        print_lines(["", *format_profile(outcome.report.profile)])


def write_sentences(evaluation: report.Report, path: Path) -> None:
    """Writes one row per sentence, with its scores."""
    with stage_file(path) as temporary:
        rows = ("\t".join(row) + "\n" for row in report.make_sentence_rows(evaluation))
        temporary.write_text("".join(rows), encoding="utf-8", newline="\n")
