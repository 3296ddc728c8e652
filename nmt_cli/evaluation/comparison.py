"""Compares systems on the same sentences: their scores side by side, and which differences are significant.

1. `compare_systems` tests every pair of systems by every metric, and gives letters to those that do not differ.
2. `list_disputed` finds the sentences on which the systems differ most.
3. `make_comparison_json` is what is written of it; `comparison_table.py` has what is shown.

Must not know where the systems come from. Letters: M systems, N sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.report import Report, make_score_json

if TYPE_CHECKING:
    from nmt_cli.evaluation.analysis.profile import Group, Section
    from nmt_cli.evaluation.analysis.system_tests import PairTest
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


@dataclass(frozen=True)
class SystemComparison:
    """The reports of M systems on the same sentences and metrics, and the tests of all their pairs."""

    names: tuple[str, ...]  # M
    reports: tuple[Report, ...]  # M
    tests: Mapping[str, tuple[PairTest, ...]]  # by metric; none where systems cannot be compared
    letters: Mapping[str, tuple[str, ...]]  # by metric: M
    warnings: tuple[str, ...] = ()
    runs: tuple[
        tuple[Report, ...], ...
    ] = ()  # M: the trainings of which each system is the best; none if not asked for

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
        """Returns the cell of each system; the best of several is known."""
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


def compare_systems(names: Sequence[str], reports: Sequence[Report], config: ScoreConfig = DEFAULT) -> SystemComparison:
    """Tests every pair of systems by every metric, except metrics whose signatures differ (e.g. in subwords)."""
    from nmt_cli.evaluation.analysis.system_tests import assign_letters, compare_pairs  # numpy

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
    from nmt_cli.evaluation.metrics.registry import METRICS

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
