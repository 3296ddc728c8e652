"""The command `nmt evaluate`: scores the translations of a model, or existing translations."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nmt_cli.api.evaluate import explain_scores, run_evaluation
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.scoring import EvaluationOutcome, EvaluationRequest
from nmt_cli.cli.parsing.options import (
    DEFAULT_MODEL,
    AsJson,
    DataOption,
    Force,
    ModelsOption,
    Precision,
    Rerank,
    complete_metrics,
    declare_option,
    resolve_model,
    with_settings,
)
from nmt_cli.cli.render import Screen, find_width, print_lines, show_stage_progress
from nmt_cli.evaluation import comparison, report
from nmt_cli.evaluation.comparison import SystemComparison
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import ALL, NAMES
from nmt_cli.evaluation.texts import split_column
from nmt_cli.files import GENERATOR, REPLACE, require_output, write_text
from nmt_cli.runtime.installed_models import find_model_or_file
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.wrapping import escape_line, format_count
from nmt_cli.translation.config import ContextOptions, TagOptions

# The output of `nmt evaluate`: scores, doubts about them, sentences, reports.


BOLD = "\033[1m", "\033[22m"
ENDINGS_OF_TABLES = (".tex", ".csv")  # `write_score_table` writes these
ENDINGS_OF_REPORTS = (".html", ".md", *ENDINGS_OF_TABLES)  # the others: `page` and `comparison_page`
# What an earlier report or table of sentences contains.
EARLIER = (GENERATOR, ",".join(comparison.COLUMNS), "number\tsource\treference", "number\treference")


@dataclass(frozen=True)
class EvaluationOutput:
    """Prints the scores of a request, and writes the requested files."""

    screen: Screen
    request: EvaluationRequest
    page: Path | None  # of --report
    sentences: Path | None
    as_json: bool
    profile: bool
    force: bool

    def require_files(self) -> None:
        """Raises OptionError or OutputError, before any work, for files that cannot be written or are inputs."""
        inputs, way_on = [split_column(path)[0] for path in self.request.paths], None if self.force else REPLACE
        if self.page is not None:
            require_output(
                self.page, "--report", endings=ENDINGS_OF_REPORTS, inputs=inputs, way_on=way_on, renewed=EARLIER
            )
        if self.sentences is not None:
            require_output(self.sentences, "--sentences", inputs=inputs, way_on=way_on, renewed=EARLIER)

    def show(self, result: EvaluationOutcome | SystemComparison) -> None:
        """Prints and writes the scores of one system, or of several side by side."""
        if isinstance(result, EvaluationOutcome):
            self.tell_doubts(result.report.warnings)
            self.print_scores(result.report)
            self.show_context(result.report, what=result.what, unseen=result.unseen)
            self.write_sentences(
                report.tabulate_sentences({"": result.report}, list(result.report.scores)), "their scores"
            )
            single = SystemComparison((self.request.names[0],), (result.report,), {}, {})
            self.write_page(single, result)
        else:
            self.tell_doubts(result.warnings)
            self.print_comparison(result)
            self.show_context(result.reports[0], what=self.request.sentence_noun, unseen=result.unseen)
            reports = dict(zip(result.names, result.reports, strict=True))
            self.write_sentences(report.tabulate_sentences(reports, result.metrics), "the scores of every system")
            self.write_page(result)

    def print_scores(self, scored: report.Report) -> None:
        """Prints the scores of one system to standard output, and its profile if requested."""
        if self.as_json:
            return print_json(report.make_report_json(scored, self.request.option_values))
        print_lines(report.format_report(scored, find_width(sys.stdout)))
        if self.profile and scored.profile is not None:
            from nmt_cli.evaluation.analysis.profile import format_profile

            print_lines(["", *format_profile(scored.profile)])

    def print_comparison(self, compared: SystemComparison) -> None:
        """Prints the table, the best scores in bold on a terminal, the meaning of its letters, and any profiles."""
        if self.as_json:
            return print_json(comparison.make_comparison_json(compared, self.request.task_values))
        for line in comparison.format_table(compared, find_width(sys.stdout)):
            typer.echo(mark_bold(line))
        print_lines(comparison.format_notes(compared))
        if self.profile:
            print_lines(comparison.format_profiles(compared))

    def tell_doubts(self, doubts: Sequence[str]) -> None:
        """Prints doubts before the scores that they concern, so that they are read before a number is copied."""
        for doubt in doubts:
            self.screen.warn(doubt)

    def show_context(self, scored: report.Report, *, what: str, unseen: bool) -> None:
        """Prints, below the scores, how many sentences were scored and how."""
        parts = [format_count(scored.sentences, what.replace("sentences", "sentence", 1), what)]
        if scored.references_per_sentence > 1:
            parts.append(f"{scored.references_per_sentence} references each")
        if unseen:
            parts.append("none of them seen in training")
        self.screen.say(", ".join(parts))
        if scored.search is not None:
            self.screen.say_detail(scored.search.summary)

    def write_sentences(self, rows: Sequence[Sequence[str]], what: str) -> None:
        """Writes the rows of all sentences as lines of a .tsv, if requested."""
        if self.sentences is not None:
            write_text(self.sentences, "".join("\t".join(row) + "\n" for row in rows))
            self.screen.say(f"{self.sentences}: all sentences with {what}")

    def write_page(self, compared: SystemComparison, alone: EvaluationOutcome | None = None) -> None:
        """Writes the report or the table of the systems, if requested; for one `alone`, with its learning curves."""
        if self.page is None:
            return
        if is_table := self.page.suffix.lower() in ENDINGS_OF_TABLES:
            comparison.write_score_table(compared, self.page)
        else:
            from nmt_cli.visuals import page  # matplotlib takes half a second

            if alone is None:
                noun, values = self.request.sentence_noun, self.request.task_values
                page.write_comparison(compared, self.page, test_set=noun, inputs=values)
            else:
                model = None if self.request.hypothesis else self.request.model
                values = self.request.option_values
                page.write_report(alone.report, self.page, test_set=alone.what, inputs=values, model=model)
        self.screen.say(f"{self.page}: {'table' if is_table else 'report'}")


def print_json(values: Any) -> None:
    typer.echo(json.dumps(values, ensure_ascii=False, indent=2))


def mark_bold(line: str) -> str:
    """Makes text between two markers bold; `typer.echo` drops this for files and pipes."""
    parts = [escape_line(part) for part in line.split(comparison.MARK)]
    return "".join(part if index % 2 == 0 else f"{BOLD[0]}{part}{BOLD[1]}" for index, part in enumerate(parts))


METRIC_HELP = (
    f"Metric: {', '.join(NAMES)}; can be repeated. comet and bertscore need a model on this machine; perplexity and "
    f"accuracy need the translation model.  [default: {ALL}]"
)
REFERENCE_HELP = "Reference translations, FILE or FILE:COLUMN; can be repeated; a table has one reference per column."
SOURCE_HELP = "Sentences to translate, FILE or FILE:COLUMN; with --hypothesis, its source sentences."
HYPOTHESIS_HELP = "Translations to score: FILE, FILE:COLUMN or - for standard input; several are compared."
AGAINST_HELP = "Translations or a model to compare with; can be repeated."
SPLIT_HELP = "Split of --data to score; use dev to choose search options."
PROFILE_HELP = "Also show scores by groups of sentences: length, rare words, numbers, ..."
RUNS_HELP = "Score each run of `nmt train --runs` in a --model: mean ± standard deviation."
REPORT_HELP = "Write a report: .html (a single page) or .md; or a table: .tex or .csv."
SENTENCES_HELP = "Write every sentence with its scores to a .tsv."
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
    against: Annotated[list[Path] | None, declare_option("--against", AGAINST_HELP, "Files", harmless=True)] = None,
    split: Annotated[Literal["dev", "test"], declare_option("--split", SPLIT_HELP, "Files")] = "test",
    data: DataOption = Path("prepared"),
    model: ModelsOption = None,
    precision: Precision = None,
    rerank: Rerank = None,
    scores: ScoreOptions,
    search: SearchOptions,
    tags: TagOptions,
    before: ContextOptions,
    profile: Annotated[bool, declare_option("--profile", PROFILE_HELP, "Output", harmless=True)] = False,
    all_runs: Annotated[bool, declare_option("--all-runs", RUNS_HELP, "Files", harmless=True)] = False,
    write_to: Annotated[Path | None, declare_option("--report", REPORT_HELP, "Output")] = None,
    sentences: Annotated[Path | None, declare_option("--sentences", SENTENCES_HELP, "Output")] = None,
    explain: Annotated[
        tuple[str, str] | None, declare_option("--explain", EXPLAIN_HELP, "Output", metavar="CANDIDATE REFERENCE")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score the model on its test split, or on files with one sentence per line.

    The model translates with beam search, without seeing the references. Scores range from 0 to 100 and are computed on
    detokenised, cased text. Each has a 95 % confidence interval and a signature.
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
        is_profiled=profile or (write_to is not None and write_to.suffix.lower() not in ENDINGS_OF_TABLES),
        with_runs=all_runs,
        settings_from=explicit.settings_from,
    )
    output = EvaluationOutput(screen, request, write_to, sentences, as_json=as_json, profile=profile, force=force)
    output.require_files()
    with show_stage_progress(screen) as progress:
        result = run_evaluation(request, progress)
    output.show(result)
