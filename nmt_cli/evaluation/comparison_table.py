"""A comparison of systems as lines of text: the table of scores, the notes below it, and the groups of sentences.

Wide tables are split into parts. Letters: M systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nmt_cli.evaluation.comparison import SystemComparison, merge_profiles
from nmt_cli.evaluation.report import list_details
from nmt_cli.text.wrapping import count_columns, format_count

if TYPE_CHECKING:
    from nmt_cli.evaluation.analysis.profile import Group
    from nmt_cli.evaluation.metrics.score import Score


LETTERS = "same letter: no significant difference (paired bootstrap, p < 0.05, Holm's correction for {})"
MARK = "**"  # around the best score, where the output can be bold


def format_table(comparison: SystemComparison, width: int | None = None) -> list[str]:
    """Returns the table, systems down and scores across, split into parts of at most `width` columns; None: unsplit.

    The best score of each metric is enclosed in two MARKs, which take no room.
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
    pairs = [format_count(len(comparison.tests[metric]), "pair") for metric in list(comparison.letters)[:1]]
    what = "; of the best run of each system" if comparison.runs else ""
    return [LETTERS.format(number) + what for number in pairs]


def describe_spread(comparison: SystemComparison) -> str:
    """Returns what the numbers behind the scores are."""
    if not comparison.runs:
        return "± half the 95 % interval (bootstrap)"
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
    memories = [report.profile and report.profile.memory for report in comparison.reports]
    verdicts = [f"{name}: {memory}." for name, memory in zip(comparison.names, memories, strict=True) if memory]
    return [*lines, *(["", *verdicts] if verdicts else [])]
