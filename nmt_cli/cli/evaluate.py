"""`nmt evaluate`: scores of the model's translations, or of translations that are ready."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nmt_cli.cli.options import DataDirectory, Given, ModelDirectory, Quiet, described, with_settings
from nmt_cli.cli.render import Screen, evaluation_context
from nmt_cli.cli.scoring import Evaluation, Inputs, Outcome
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import report
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import ALL, NAMES, metric_names, possible_names
from nmt_cli.files import atomic_path
from nmt_cli.search.config import SearchConfig

METRIC_HELP = (
    f"One of {', '.join(NAMES)}; may be given several times. comet and bertscore need a model that is on this "
    f"machine, perplexity and accuracy the model that translates.  [default: {ALL}]"
)
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", "-m", help=METRIC_HELP, show_default=False, rich_help_panel="Scores")
]
References = Annotated[
    list[Path] | None,
    typer.Option(
        help="Their references; may be given several times, and a .tsv holds one in each column.",
        rich_help_panel="Files",
    ),
]
Pair = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--explain",
        help="Show how BLEU and ROUGE-L of one pair are counted, and do nothing else.",
        metavar="CANDIDATE REFERENCE",
        rich_help_panel="Output",
    ),
]
EXPLAINED = ["bleu4", "rougeL"]


def file_option(flag: str, help: str, panel: str = "Files") -> Any:
    return typer.Option(flag, help=help, show_default=False, rich_help_panel=panel)


@with_settings
def evaluate(
    *,
    given: Given,
    metric: Metrics = None,
    source: Annotated[
        Path | None, file_option("--source", "Sentences to translate; with --hypothesis, what they translate.")
    ] = None,
    reference: References = None,
    hypothesis: Annotated[
        Path | None, file_option("--hypothesis", "Ready translations to score; no model is needed.")
    ] = None,
    against: Annotated[
        Path | None, file_option("--against", "Other translations, or another model, to test the difference to.")
    ] = None,
    split: Annotated[
        Literal["dev", "test"],
        typer.Option(
            help="Which sentences of --data; dev to choose options of the search by.", rich_help_panel="Files"
        ),
    ] = "test",
    data: DataDirectory = Path("prepared"),
    model: ModelDirectory = Path("model"),
    scores: ScoreConfig,
    search: SearchConfig,
    profile: Annotated[
        bool, typer.Option("--profile", help="Also show where it fails, by groups.", rich_help_panel="Output")
    ] = False,
    write_to: Annotated[
        Path | None, file_option("--report", "Write a report, .html (one page for all) or .md.", "Output")
    ] = None,
    sentences: Annotated[
        Path | None, file_option("--sentences", "Write each sentence and its scores to a .tsv.", "Output")
    ] = None,
    explain: Pair = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")] = False,
    quiet: Quiet = False,
) -> None:
    """Score the model on its test split, or on files of one sentence a line.

    Scores are 0-100, of free-running beam search, on detokenised, cased text; each comes with its 95 % interval and
    its signature.
    """
    screen = Screen(quiet=quiet)
    if explain:
        if as_json:
            raise OptionError("--json does not go with --explain", hint="leave it out")
        return print_derivation(metric, explain, scores)
    if hypothesis is not None and not (against is not None and against.is_dir()):
        why, hint = "is about translating, and --hypothesis is translated", "leave it out"
        given.refuse(["model", *(each.name for each in described(SearchConfig))], why, hint=hint)
    check_report(write_to)
    if sentences is not None and sentences.is_dir():
        raise OptionError(f"{sentences} is a directory; --sentences needs the name of a file")
    named = "data" in given.typed
    inputs = Inputs(data, model, source, tuple(reference or ()), hypothesis, against, split, data_named=named)
    names = possible_names(metric or [ALL], scores, inputs.given)
    outcome = Evaluation(names, inputs, search, scores, screen, profile or write_to is not None).run()
    print_scores(outcome, inputs, json_wanted=as_json, profile=profile)
    evaluation_context(screen, outcome.report, what=outcome.what, unseen=outcome.unseen)
    if sentences is not None:
        write_sentences(outcome.report, sentences)
        screen.say(f"{sentences}: every sentence with its scores")
    if write_to is not None:
        write_page(outcome, inputs, write_to)
        screen.say(f"{write_to}: the report")


def check_report(path: Path | None) -> None:
    """Raises OptionError for a report that cannot be written: before the work, not after it."""
    if path is not None:
        from nmt_cli.visuals.page import check_suffix  # templates and html, which `nmt --help` does not need

        check_suffix(path)


def write_page(outcome: Outcome, inputs: Inputs, path: Path) -> None:
    """The report, with the learning curves of the model that translated."""
    from nmt_cli.visuals.page import write_report

    model = None if inputs.hypothesis else inputs.model
    write_report(outcome.report, path, what=outcome.what, scored=inputs.described, model=model)


def print_derivation(metric: list[str] | None, pair: tuple[str, str], scores: ScoreConfig) -> None:
    from nmt_cli.evaluation.analysis.explain import explained
    from nmt_cli.visuals.labels import printable

    for line in explained(metric_names(metric or EXPLAINED), *pair, scores):
        typer.echo(printable(line))


def print_scores(outcome: Outcome, inputs: Inputs, *, json_wanted: bool, profile: bool) -> None:
    """The command's product, on stdout."""
    if json_wanted:
        typer.echo(json.dumps(report.as_json(outcome.report, inputs.described), ensure_ascii=False, indent=2))
        return
    for line in report.report_lines(outcome.report):
        typer.echo(line)
    if profile and outcome.report.profile is not None:
        from nmt_cli.evaluation.analysis.profile import profile_lines

        typer.echo("\n".join(["", *profile_lines(outcome.report.profile)]))


def write_sentences(told: report.Report, path: Path) -> None:
    with atomic_path(path) as temporary:
        rows = ("\t".join(row) + "\n" for row in report.sentence_rows(told))
        temporary.write_text("".join(rows), encoding="utf-8", newline="\n")
