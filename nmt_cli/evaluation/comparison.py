"""Compares systems on the same sentences: their scores side by side, and which differences are significant.

1. `compare_systems` tests every pair of systems by every metric, and gives letters to those that do not differ.
2. `list_disputed` finds the sentences on which the systems differ most.
3. `make_comparison_json` returns it as JSON, and `format_table` as lines of text.

Must not know where the systems come from. Letters: M systems, N sentences."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.report import Report, list_details, make_score_json
from nmt_cli.files import GENERATOR, write_text
from nmt_cli.text.wrapping import count_columns, format_count

if TYPE_CHECKING:
    from nmt_cli.evaluation.analysis.profile import Group, Section
    from nmt_cli.evaluation.analysis.significance import PairTest
    from nmt_cli.evaluation.metrics.score import Score

DISPUTED = 20  # sentences in a report
RANKED = "chrf"  # the metric that says on which sentences systems differ; sentence BLEU is 0 too often


@dataclass(frozen=True)
class Cell:
    """A system's score by a metric, as tables show it."""

    value: float  # the mean of its runs, if it has any
    spread: float | None  # half the 95 % interval, or the standard deviation of the runs
    letters: str
    is_best: bool

    def write(self, best: str, spread: str, letters: str) -> str:
        """Returns the cell as markup; the arguments are % templates for the best score, a known spread, and letters."""
        number = f"{self.value:.1f}"
        shown = [best % number if self.is_best else number, "" if self.spread is None else spread % self.spread]
        return "".join([*shown, letters % self.letters if self.letters else ""])


@dataclass(frozen=True)
class SystemComparison:
    """The reports of M systems on the same sentences and metrics, and the tests of all their pairs."""

    names: tuple[str, ...]  # M
    reports: tuple[Report, ...]  # M
    tests: Mapping[str, tuple[PairTest, ...]]  # by metric; none where systems cannot be compared
    letters: Mapping[str, tuple[str, ...]]  # by metric: M
    warnings: tuple[str, ...] = ()
    unseen: bool = False  # whether it is known that no system was trained on a source
    runs: tuple[tuple[Report, ...], ...] = ()  # M: the training runs of each system, which is their best

    def __repr__(self) -> str:
        return f"SystemComparison({dict(zip(self.names, self.reports, strict=True))})"

    @property
    def metrics(self) -> list[str]:
        """The metrics shared by all systems."""
        return [name for name in self.reports[0].scores if all(name in report.scores for report in self.reports)]

    def find_best(self, metric: str) -> int:
        """Returns the position of the best system; among equals, the first."""
        sign = 1 if self.reports[0].scores[metric].lower_is_better else -1
        values = [cell.value for cell in self.measure_cells(metric)]
        return min(range(len(values)), key=lambda position: sign * values[position])

    def make_cells(self, metric: str) -> list[Cell]:
        """Returns the cell of each system, marking the best of several."""
        best = self.find_best(metric) if len(self.names) > 1 else None
        return [replace(cell, is_best=row == best) for row, cell in enumerate(self.measure_cells(metric))]

    def measure_cells(self, metric: str) -> Iterator[Cell]:
        letters = self.letters.get(metric, ("",) * len(self.names))
        for position, report in enumerate(self.reports):
            interval = report.intervals.get(metric)
            value, spread = report.scores[metric].value, interval.half_width if interval else None
            if self.runs:
                values = [run.scores[metric].value for run in self.runs[position]]
                value, spread = fmean(values), stdev(values) if len(values) > 1 else None
            yield Cell(value, spread, letters[position], is_best=False)

    def select_scores(self, metric: str) -> list[Score]:
        return [report.scores[metric] for report in self.reports]


@dataclass(frozen=True)
class DisputedSentence:
    """A sentence on which systems differ."""

    number: int  # from 1
    source: str | None
    references: tuple[str, ...]
    hypotheses: tuple[str, ...]  # M
    values: tuple[float, ...]  # M, chrF, 0-100


def rank_systems(scores: Sequence[Score]) -> list[int]:
    """Returns the positions of the systems, best first."""
    sign = 1 if scores[0].lower_is_better else -1
    return sorted(range(len(scores)), key=lambda position: sign * scores[position].value)


def compare_systems(
    names: Sequence[str], reports: Sequence[Report], config: ScoreOptions = DEFAULT
) -> SystemComparison:
    """Tests every pair of systems by every metric, except metrics whose signatures differ (e.g. in subwords)."""
    from nmt_cli.evaluation.analysis.significance import assign_letters, compare_pairs  # numpy

    comparison = SystemComparison(tuple(names), tuple(reports), {}, {})
    tests: dict[str, tuple[PairTest, ...]] = {}
    letters: dict[str, tuple[str, ...]] = {}
    unlike = []
    for metric in comparison.metrics:
        scores = comparison.select_scores(metric)
        if len({score.signature for score in scores}) > 1:
            unlike.append(scores[0].name)
            continue
        tests[metric] = compare_pairs(scores, config.resamples)
        if tests[metric] and tests[metric][0].corrected_p is not None:
            different = [(test.first, test.second) for test in tests[metric] if test.is_significant]
            letters[metric] = assign_letters(rank_systems(scores), different)
    warning = f"{' and '.join(unlike)} cannot be compared: the systems have different subwords"
    return dataclasses.replace(comparison, tests=tests, letters=letters, warnings=(warning,) if unlike else ())


def list_disputed(comparison: SystemComparison, count: int = DISPUTED) -> list[DisputedSentence]:
    """Returns the sentences whose chrF varies most between systems, greatest difference first."""
    materials = [report.material for report in comparison.reports]
    first = materials[0]
    values = [METRICS[RANKED](material.hypotheses, first.references).sentence_values for material in materials]
    rows = list(zip(*values, strict=True))  # N of M
    order = sorted(range(len(rows)), key=lambda row: min(rows[row]) - max(rows[row]))[:count]
    return [
        DisputedSentence(
            row + 1,
            first.sources[row] if first.sources else None,
            tuple(first.references[row]),
            tuple(material.hypotheses[row] for material in materials),
            rows[row],
        )
        for row in order
        if max(rows[row]) > min(rows[row])
    ]


def make_comparison_json(comparison: SystemComparison, scored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the comparison as a JSON object; `scored` describes the sentences."""
    return {
        "scored": dict(scored),
        "sentences": comparison.reports[0].sentences,
        "references_per_sentence": comparison.reports[0].references_per_sentence,
        "systems": [
            {
                "name": name,
                "scores": {
                    metric: make_score_json(report, metric) | list_letters(comparison, metric, position)
                    for metric in report.scores
                },
                **list_run_values(comparison, position),
                "warnings": list(report.warnings),
            }
            for position, (name, report) in enumerate(zip(comparison.names, comparison.reports, strict=True))
        ],
        "tests": {
            metric: [
                {
                    "systems": [comparison.names[test.first], comparison.names[test.second]],
                    "difference": test.difference,
                    "p": test.p,
                    "corrected_p": test.corrected_p,
                    **({} if test.randomisation_p is None else {"randomisation_p": test.randomisation_p}),
                }
                for test in tests
            ]
            for metric, tests in comparison.tests.items()
        },
        "warnings": list(comparison.warnings),
    }


def list_run_values(comparison: SystemComparison, position: int) -> dict[str, Any]:
    """Returns the values of a system's runs by metric as an entry of its JSON object, if they were measured."""
    if not comparison.runs:
        return {}
    runs = comparison.runs[position]
    return {"runs": {metric: [run.scores[metric].value for run in runs] for metric in comparison.metrics}}


def list_letters(comparison: SystemComparison, metric: str, position: int) -> dict[str, str]:
    """Returns a system's letters as an entry of its JSON object, if it has any."""
    letters = comparison.letters.get(metric)
    return {"letters": letters[position]} if letters else {}


@dataclass(frozen=True)
class ComparedSection:
    """The groups of sentences of one section of the profile, with the chrF of every system."""

    title: str
    meaning: str
    groups: Mapping[str, tuple[Group | None, ...]]  # M per name; None for a system without such a sentence


def merge_profiles(comparison: SystemComparison) -> list[ComparedSection]:
    """Returns the sections profiled for every system, in order; empty without profiles."""
    profiles = [report.profile for report in comparison.reports if report.profile is not None]
    if len(profiles) < len(comparison.reports):
        return []
    merged = []
    for section in profiles[0].sections:
        sections = [
            next((part for part in profile.sections if part.title == section.title), None) for profile in profiles
        ]
        names = dict.fromkeys(group.name for part in sections if part is not None for group in part.groups)
        groups = {name: tuple(find_group(part, name) for part in sections) for name in names}
        merged.append(ComparedSection(section.title, section.meaning, groups))
    return merged


def find_group(section: Section | None, name: str) -> Group | None:
    return next((group for group in section.groups if group.name == name), None) if section is not None else None


# A comparison of systems as lines of text: the table of scores, the notes below it, and the groups of sentences.
#
# Wide tables are split into parts. Letters: M systems.


LETTERS = "same letter: no significant difference (paired bootstrap, p < 0.05{})"
MARK = "**"  # around the best score, where the output can be bold


def format_table(comparison: SystemComparison, width: int | None = None) -> list[str]:
    """Returns the table, systems down and scores across, in parts of at most `width` columns; unsplit if that is None.

    The best score of each metric is enclosed in two MARKs, which take up no room.
    """
    longest = max(map(count_columns, comparison.names))
    cells = {metric: format_column(comparison, metric) for metric in comparison.metrics}
    lines: list[str] = []
    widths = {metric: measure_column(column) for metric, column in cells.items()}
    for block in split_into_blocks(widths, longest, width):
        lines += [""] if lines else []
        for row, name in enumerate(("", *comparison.names)):
            padded = name + " " * (longest - count_columns(name))
            lines.append((padded + "".join(f"  {cells[metric][row]}" for metric in block)).rstrip())
    return lines


def measure_column(column: Sequence[str]) -> int:
    return max(count_columns(cell.replace(MARK, "")) for cell in column)


def split_into_blocks(widths: Mapping[str, int], margin: int, width: int | None) -> list[list[str]]:
    """Returns the metrics shown side by side in each part of the table."""
    blocks: list[list[str]] = [[]]
    used = margin
    for metric, needed in widths.items():
        if width is not None and blocks[-1] and used + 2 + needed > width:
            blocks.append([])
            used = margin
        blocks[-1].append(metric)
        used += 2 + needed
    return blocks


def format_column(comparison: SystemComparison, metric: str) -> list[str]:
    """Returns a heading and a cell per system, of equal width: score, half its interval, letters."""
    scores, shown = comparison.select_scores(metric), comparison.make_cells(metric)
    numbers = [f"{cell.value:.1f}" for cell in shown]
    digits = max(map(len, numbers))
    halves = ["" if cell.spread is None else f" ± {cell.spread:.1f}" for cell in shown]
    spread = max(map(len, halves))
    cells = []
    for cell, number, half in zip(shown, numbers, halves, strict=True):
        marked = f"{MARK}{number}{MARK}" if cell.is_best else number
        half = half[:3] + half[3:].rjust(spread - 3) if half else " " * spread
        letters = f"  {cell.letters}" if metric in comparison.letters else ""
        cells.append(" " * (digits - len(number)) + marked + half + letters)
    column = [scores[0].name + (" (lower is better)" if scores[0].lower_is_better else ""), *cells]
    size = measure_column(column)
    return [cell + " " * (size - count_columns(cell.replace(MARK, ""))) for cell in column]


def format_notes(comparison: SystemComparison) -> list[str]:
    """Returns the lines below the table: the meaning of the letters, differences in words, details and signatures."""
    lines = ["", *([f"{describe_spread(comparison)}."] if comparison.runs else []), *describe_letters(comparison)]
    if len(comparison.names) == 2:
        lines += [verdict for metric in comparison.tests for verdict in describe_pairs(comparison, metric)]
    for name, report in zip(comparison.names, comparison.reports, strict=True):
        for metric, text in list_details(report.scores).items():
            lines.append(f"{report.scores[metric].name} of {name}: {text}")
    signatures: dict[str, list[str]] = {}
    for metric in comparison.tests:
        score = comparison.reports[0].scores[metric]
        signatures.setdefault(score.signature, []).append(score.name)
    return lines + [f"{', '.join(names)}: {signature}" for signature, names in signatures.items()]


def describe_letters(comparison: SystemComparison) -> list[str]:
    """Returns what the letters mean, if there are any."""
    pairs = [len(comparison.tests[metric]) for metric in list(comparison.letters)[:1]]
    what = "; of the best run of each system" if comparison.runs else ""
    corrected = [f", Holm's correction for {format_count(number, 'pair')}" if number > 1 else "" for number in pairs]
    return [LETTERS.format(correction) + what for correction in corrected]


def describe_spread(comparison: SystemComparison) -> str:
    """Describes the numbers after the scores."""
    if not comparison.runs:
        return "± half the width of the 95 % confidence interval (bootstrap)"
    numbers = sorted({len(runs) for runs in comparison.runs})
    shown = format_count(numbers[0], "run") if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} runs"
    return f"mean ± standard deviation of {shown}"


def describe_pairs(comparison: SystemComparison, metric: str) -> list[str]:
    """States for each pair which system is better: "b is 0.90 BLEU better than a, p = 0.0310 (paired bootstrap)"."""
    score, names = comparison.reports[0].scores[metric], comparison.names
    return [
        f"{describe_difference(score, test.difference, names[test.first], names[test.second])}, {test.p_values}"
        for test in comparison.tests[metric]
    ]


def describe_difference(score: Score, difference: float, system: str, other: str) -> str:
    """States which of two systems is better; `difference` is the score of `system` minus that of `other`."""
    if f"{abs(difference):.2f}" == "0.00":
        return f"{system} and {other} have the same {score.name}"
    better, worse = (system, other) if (difference > 0) != score.lower_is_better else (other, system)
    return f"{better} is {abs(difference):.2f} {score.name} better than {worse}"


def format_group(group: Group | None) -> str:
    """Returns chrF and the number of sentences of a group: "46.2 (120)"."""
    return f"{list(group.values.values())[-1]:.1f} ({group.sentences:,})" if group is not None else "-"


def format_profiles(comparison: SystemComparison) -> list[str]:
    """Returns the sections as lines of aligned tables: chrF and number of sentences, a column per system."""
    lines: list[str] = []
    for section in merge_profiles(comparison):
        rows = [[name, *map(format_group, groups)] for name, groups in section.groups.items()]
        table = [["", *comparison.names], *rows]
        widths = [max(count_columns(row[column]) for row in table) for column in range(len(table[0]))]
        lines += ["", f"{section.title}: {section.meaning}; chrF (sentences)"]
        lines += [
            f"  {row[0]:<{widths[0]}}"
            + "".join(f"  {cell.rjust(size)}" for cell, size in zip(row[1:], widths[1:], strict=True))
            for row in table
        ]
    return lines


# Writes the scores of systems as a table: LaTeX for a paper, CSV for a program. Must not know how they were made.

ESCAPES = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
COLUMNS = "system metric score spread spread_is letters is_best lower_is_better sentences signature".split()


def write_score_table(comparison: SystemComparison, path: Path) -> None:
    """Writes the scores to a .tex or .csv file."""
    write_text(path, render_latex(comparison) if path.suffix.lower() == ".tex" else render_csv(comparison))


def render_latex(comparison: SystemComparison) -> str:
    """Returns a table with the rules of `booktabs`: systems down, metrics across, the best in bold, letters raised."""
    metrics = comparison.metrics
    columns = [comparison.make_cells(metric) for metric in metrics]
    markup = r"\textbf{%s}", r" $\pm$ %.1f", r"\textsuperscript{%s}"
    rows = [
        [escape_latex(name), *(cell.write(*markup) for cell in cells)]
        for name, cells in zip(comparison.names, zip(*columns, strict=True), strict=True)
    ]
    scores = [comparison.reports[0].scores[metric] for metric in metrics]
    heads = [rf"{escape_latex(score.name)} $\{'down' if score.lower_is_better else 'up'}arrow$" for score in scores]
    return "\n".join(
        (
            rf"% {GENERATOR}; \usepackage{{booktabs}}",
            *(f"% {line}" for line in list_remarks(comparison)),
            rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}",
            r"\toprule",
            " & ".join(["", *heads]).lstrip() + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        )
    )


def list_remarks(comparison: SystemComparison) -> Iterator[str]:
    """Yields what a caption must say: the meaning of spreads and letters, and how the scores were computed."""
    yield f"{format_count(comparison.reports[0].sentences, 'sentence')}; {describe_spread(comparison)}"
    yield from describe_letters(comparison)
    for score in comparison.reports[0].scores.values():
        yield f"{score.name}: {score.signature}"
    for warning in comparison.warnings:
        yield "! " + " ".join(warning.split())


def escape_latex(text: str) -> str:
    """Returns text that LaTeX shows literally."""
    return "".join(ESCAPES.get(character, character) for character in " ".join(text.split()))


def render_csv(comparison: SystemComparison) -> str:
    """Returns a row for each system and metric."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    meaning = describe_spread(comparison)
    for metric in comparison.metrics:
        for name, report, cell in zip(comparison.names, comparison.reports, comparison.make_cells(metric), strict=True):
            score, spread = report.scores[metric], "" if cell.spread is None else f"{cell.spread:.4f}"
            meant = meaning if spread else ""
            flags = [str(flag).lower() for flag in (cell.is_best, score.lower_is_better)]
            row = [name, score.name, f"{cell.value:.4f}", spread, meant, cell.letters, *flags]
            writer.writerow([*row, report.sentences, score.signature])
    return written.getvalue()
