"""The output of `nmt evaluate`: scores, doubts about them, sentences, reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import typer

from nmt_cli.api.evaluation_request import EvaluationRequest
from nmt_cli.api.scoring import EvaluationOutcome
from nmt_cli.cli.render import Screen, find_width, print_lines
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import comparison, comparison_table, report
from nmt_cli.evaluation.comparison import SystemComparison
from nmt_cli.evaluation.sides import split_column
from nmt_cli.files import require_output, write_text
from nmt_cli.text.escapes import escape_line
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.report_path import SUFFIXES_OF_SCORES, SUFFIXES_OF_TABLES, check_report_path

BOLD = "\033[1m", "\033[22m"

Doubted = TypeVar("Doubted", report.Report, SystemComparison)


@dataclass(frozen=True)
class EvaluationOutput:
    """Prints the scores of a request, and writes the requested files."""

    screen: Screen
    request: EvaluationRequest
    page: Path | None  # of --report
    sentences: Path | None
    as_json: bool
    profile: bool

    def require_files(self) -> None:
        """Raises OptionError or OutputError, before the work, for files that cannot be written or are scored."""
        if self.page is not None:
            check_report_path(self.page, SUFFIXES_OF_SCORES)
        if self.sentences is not None:
            require_output(self.sentences, "--sentences")
        inputs = [split_column(path)[0] for path in self.request.paths]
        for option, output in (("--report", self.page), ("--sentences", self.sentences)):
            if output is not None and output.exists():
                if any(path.is_file() and path.samefile(output) for path in inputs):
                    raise OptionError(f"{option} {output} is one of the scored files", hint="choose another name")

    def show(self, result: EvaluationOutcome | SystemComparison) -> None:
        """Prints and writes the scores of one system, possibly beside another's, or of several side by side."""
        if isinstance(result, EvaluationOutcome):
            result = replace(result, report=self.respell_doubts(result.report))
            self.tell_doubts(result.report.warnings)
            self.print_scores(result.report)
            self.show_context(result.report, what=result.what, unseen=result.unseen)
            self.write_sentences(
                report.tabulate_sentences({"": result.report}, list(result.report.scores)), "their scores"
            )
            self.write_report(result)
        else:
            result = replace(self.respell_doubts(result), reports=tuple(map(self.respell_doubts, result.reports)))
            self.tell_doubts(result.warnings)
            self.print_comparison(result)
            self.show_context(result.reports[0], what=self.request.sentence_noun, unseen=False)
            reports = dict(zip(result.names, result.reports, strict=True))
            self.write_sentences(report.tabulate_sentences(reports, result.metrics), "the scores of every system")
            self.write_comparison(result)

    def respell_doubts(self, doubted: Doubted) -> Doubted:
        """Returns it with the settings in its doubts as they are typed, for reports and tables too."""
        return replace(doubted, warnings=tuple(map(self.screen.spell, doubted.warnings)))

    def print_scores(self, scored: report.Report) -> None:
        """Prints the scores of one system to standard output, and its profile if requested."""
        if self.as_json:
            return print_json(report.make_report_json(scored, self.request.option_values))
        print_lines(report.format_report(scored))
        if self.profile and scored.profile is not None:
            from nmt_cli.evaluation.analysis.profile import format_profile

            print_lines(["", *format_profile(scored.profile)])

    def print_comparison(self, compared: SystemComparison) -> None:
        """Prints the table, the best scores in bold on a terminal, the meaning of its letters, and any profiles."""
        if self.as_json:
            return print_json(comparison.make_comparison_json(compared, self.request.task_values))
        for line in comparison_table.format_table(compared, find_width(sys.stdout)):
            typer.echo(mark_bold(line))
        print_lines(comparison_table.format_notes(compared))
        if self.profile:
            print_lines(comparison_table.format_profiles(compared))

    def tell_doubts(self, doubts: Sequence[str]) -> None:
        """Prints doubts about the scores above them, where they are read before a number is copied."""
        for doubt in doubts:
            self.screen.warn(doubt)

    def show_context(self, scored: report.Report, *, what: str, unseen: bool) -> None:
        """Prints, below the scores, how many sentences were scored and how."""
        parts = [format_count(scored.sentences, what.replace("sentences", "sentence", 1), what)]
        if scored.references_per_sentence > 1:
            parts.append(f"{scored.references_per_sentence} references each")
        if scored.search is not None:
            parts.append(f"beam {scored.search.beam_size}")
        if unseen:
            parts.append("none of their sources seen in training")
        self.screen.say(", ".join(parts) + ".")

    def write_sentences(self, rows: Sequence[Sequence[str]], what: str) -> None:
        """Writes the rows of all sentences as lines of a .tsv, if requested."""
        if self.sentences is not None:
            write_text(self.sentences, "".join("\t".join(row) + "\n" for row in rows))
            self.screen.say(f"{self.sentences}: all sentences with {what}")

    def write_report(self, outcome: EvaluationOutcome) -> None:
        """Writes the report, with the learning curves of the model that translated, if requested."""
        if self.page is not None and not self.is_table:
            from nmt_cli.visuals.page import write_report  # matplotlib takes half a second

            model = None if self.request.hypothesis else self.request.model
            values = self.request.option_values
            write_report(outcome.report, self.page, test_set=outcome.what, inputs=values, model=model)
            self.screen.say(f"{self.page}: report")
        elif self.page is not None:
            self.write_comparison(SystemComparison((self.request.names[0],), (outcome.report,), {}, {}))

    @property
    def is_table(self) -> bool:
        return self.page is not None and self.page.suffix.lower() in SUFFIXES_OF_TABLES

    def write_comparison(self, compared: SystemComparison) -> None:
        """Writes the report of several systems, or their table, if requested."""
        if self.page is not None and self.is_table:
            from nmt_cli.visuals.score_table import write_score_table  # which few runs need

            write_score_table(compared, self.page)
            self.screen.say(f"{self.page}: table")
        elif self.page is not None:
            from nmt_cli.visuals.comparison_page import write_comparison  # matplotlib takes half a second

            noun, values = self.request.sentence_noun, self.request.task_values
            write_comparison(compared, self.page, test_set=noun, inputs=values)
            self.screen.say(f"{self.page}: report")


def print_json(values: Any) -> None:
    typer.echo(json.dumps(values, ensure_ascii=False, indent=2))


def mark_bold(line: str) -> str:
    """Makes text between two marks bold; `typer.echo` drops that for files and pipes."""
    parts = [escape_line(part) for part in line.split(comparison_table.MARK)]
    return "".join(part if index % 2 == 0 else f"{BOLD[0]}{part}{BOLD[1]}" for index, part in enumerate(parts))
