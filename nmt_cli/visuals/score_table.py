"""Writes the scores of systems as a table: LaTeX for a paper, CSV for a program. Must not know how they were made."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from nmt_cli.evaluation.comparison import Cell, SystemComparison, describe_letters, describe_spread
from nmt_cli.files import write_text
from nmt_cli.text.wrapping import format_count

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
    rows = [
        [escape_latex(name), *map(write_cell, cells)]
        for name, cells in zip(comparison.names, zip(*columns, strict=True), strict=True)
    ]
    scores = [comparison.reports[0].scores[metric] for metric in metrics]
    heads = [rf"{escape_latex(score.name)} $\{'down' if score.lower_is_better else 'up'}arrow$" for score in scores]
    return "\n".join(
        (
            r"% \usepackage{booktabs}",
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


def write_cell(cell: Cell) -> str:
    number = rf"\textbf{{{cell.value:.1f}}}" if cell.is_best else f"{cell.value:.1f}"
    spread = "" if cell.spread is None else rf" $\pm$ {cell.spread:.1f}"
    return number + spread + (rf"\textsuperscript{{{cell.letters}}}" if cell.letters else "")


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
