"""`nmt evaluate`: scores of the model's translations, or of existing ones."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from nmt_cli.api.compare_systems import score_systems
from nmt_cli.api.kept_scores import keep_scores
from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.api.scoring import Evaluation, EvaluationInputs, Outcome
from nmt_cli.cli.parsing.completion import complete_metrics
from nmt_cli.cli.parsing.options import DEFAULT_MODEL, AsJson, DataOption, ModelsOption, Precision, resolve_model
from nmt_cli.cli.parsing.signature import with_settings
from nmt_cli.cli.render import Screen, find_width, print_lines, show_evaluation_context, show_stage_progress
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import comparison, report
from nmt_cli.evaluation.comparison import SystemComparison
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import ALL, NAMES, Available, resolve_available_names, resolve_names
from nmt_cli.evaluation.sides import split_column
from nmt_cli.files import require_output, stage_file
from nmt_cli.runtime.installed_models import find_model_or_file
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.escapes import escape_controls
from nmt_cli.visuals.report_path import SUFFIXES_OF_SCORES, check_report_path

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
EXPLAINED = ["bleu4", "rougeL"]
BOLD = "\033[1m", "\033[22m"


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
        return print_derivation(metric, explain, scores)
    rivals = tuple(map(find_model_or_file, against or ()))
    mains = tuple(hypothesis or model or [resolve_model(DEFAULT_MODEL)])
    check_outputs(write_to, sentences, [path for path in (source, *(reference or ()), *mains, *rivals) if path])
    inputs = EvaluationInputs(
        data,
        DEFAULT_MODEL if hypothesis else mains[0],
        source,
        tuple(reference or ()),
        mains[0] if hypothesis else None,
        rivals[0] if rivals else None,
        split,
        data_named="data" in explicit.typed,
        precision=precision,
    )
    output = EvaluationOutput(screen, write_to, sentences, as_json, profile)
    is_single = len(mains) == 1 and len(rivals) <= 1
    available = inputs.available if is_single else find_available(inputs, rivals)
    names = resolve_available_names(metric or [ALL], scores, available)
    with show_stage_progress(screen) as progress:
        evaluation = Evaluation(names, inputs, search, scores, profile or write_to is not None, progress)
        if is_single:
            result: Outcome | SystemComparison = evaluation.run()
        else:
            result = score_systems(evaluation, (*mains, *rivals), () if hypothesis else mains)
    if isinstance(result, Outcome):
        keep_scores(result.report, inputs)
        write_outcome(result, inputs, output)
    else:
        write_systems(result, inputs, output)


def find_available(inputs: EvaluationInputs, rivals: Sequence[Path]) -> Available:
    """Returns what a metric can use of every system."""
    are_models = inputs.hypothesis is None and all(path.is_dir() for path in rivals)
    return Available(model=are_models, sources=inputs.available.sources)


class EvaluationOutput(NamedTuple):
    """What is written beside the scores, and how these are printed."""

    screen: Screen
    report: Path | None
    sentences: Path | None
    as_json: bool
    profile: bool


def write_outcome(outcome: Outcome, inputs: EvaluationInputs, output: EvaluationOutput) -> None:
    """Prints and writes the scores of one system, perhaps beside those of another."""
    print_scores(outcome, inputs, json_wanted=output.as_json, profile=output.profile)
    show_evaluation_context(output.screen, outcome.report, what=outcome.what, unseen=outcome.unseen)
    if output.sentences is not None:
        write_rows(report.make_sentence_rows(outcome.report), output.sentences)
        output.screen.say(f"{output.sentences}: all sentences with their scores")
    if output.report is not None:
        write_page(outcome, inputs, output.report)
        output.screen.say(f"{output.report}: report")


def write_systems(compared: SystemComparison, inputs: EvaluationInputs, output: EvaluationOutput) -> None:
    """Prints and writes the scores of several systems side by side."""
    print_comparison(compared, inputs, json_wanted=output.as_json, profile=output.profile)
    first = dataclasses.replace(compared.reports[0], warnings=compared.warnings)
    show_evaluation_context(output.screen, first, what=inputs.sentence_noun, unseen=False)
    if output.sentences is not None:
        write_rows(comparison.make_sentence_table(compared), output.sentences)
        output.screen.say(f"{output.sentences}: all sentences with the scores of every system")
    if output.report is not None:
        from nmt_cli.visuals.comparison_page import write_comparison  # matplotlib takes half a second

        write_comparison(compared, output.report, test_set=inputs.sentence_noun, inputs=inputs.task_values)
        output.screen.say(f"{output.report}: report")


def check_outputs(page: Path | None, sentences: Path | None, inputs: Sequence[Path]) -> None:
    """Raises OptionError or OutputError for files that cannot be written, or are read, before the work."""
    if page is not None:
        check_report_path(page, SUFFIXES_OF_SCORES)
    if sentences is not None:
        require_output(sentences, "--sentences")
    read = [split_column(path)[0] for path in inputs]
    for option, output in (("--report", page), ("--sentences", sentences)):
        if output is not None and any(path.is_file() and output.exists() and path.samefile(output) for path in read):
            raise OptionError(f"{option} {output} is a file that is scored", hint="choose another name")


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


def print_comparison(compared: SystemComparison, inputs: EvaluationInputs, *, json_wanted: bool, profile: bool) -> None:
    """Prints the table, the best scores in bold on a terminal, what its letters say, and perhaps the profiles."""
    if json_wanted:
        values = comparison.make_comparison_json(compared, inputs.task_values)
        typer.echo(json.dumps(values, ensure_ascii=False, indent=2))
        return
    for line in comparison.format_table(compared, find_width(sys.stdout)):
        typer.echo(mark_bold(line))
    print_lines(comparison.format_notes(compared))
    if profile:
        print_lines(comparison.format_profiles(compared))


def mark_bold(line: str) -> str:
    """Returns the line with bold for what stands between two marks; `typer.echo` drops that from files and pipes."""
    parts = [escape_controls(part) for part in line.split(comparison.MARK)]
    return "".join(part if index % 2 == 0 else f"{BOLD[0]}{part}{BOLD[1]}" for index, part in enumerate(parts))


def write_rows(rows: Sequence[Sequence[str]], path: Path) -> None:
    """Writes rows as the lines of a .tsv."""
    with stage_file(path) as temporary:
        lines = ("\t".join(row) + "\n" for row in rows)
        temporary.write_text("".join(lines), encoding="utf-8", newline="\n")
