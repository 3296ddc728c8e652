"""Draws the reliability of confidence: calibration, and chrF without the least sure. Takes numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.evaluation.analysis.reliability import Reliability

SIDE = 220  # of the area of a chart, in units of its picture
LEFT, BOTTOM, TOP = 46, 42, 12  # margins
DOT = 3.5
MOST_DOTS = 12  # a longer line needs none


def render_reliability(reliability: Reliability) -> str:
    """Returns the section of the HTML report: both charts, and their numbers as a table."""
    calibration = draw_chart(
        [(part.confidence, part.good) for part in reliability.bins],
        ("confidence", "share that is good"),
        "Calibration: on the diagonal, the confidence is right",
        diagonal=True,
    )
    coverage = draw_chart(
        [(share, value / 100) for share, value in reliability.curve],
        ("share of the least sure that is left out", "mean chrF2"),
        "What leaving out the least sure gains",
        highest=100,
    )
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td class=n>{value}</td></tr>" for name, value in list_rows(reliability)
    )
    return (
        f"<h2>Confidence</h2><p class=faint>{escape(describe_good(reliability))}</p>"
        f"<figure class=pair>{calibration}{coverage}</figure><table class=reliability><tbody>{rows}</tbody></table>"
    )


def describe_good(reliability: Reliability) -> str:
    """Returns the event whose probability the confidence is, and its frequency."""
    return (
        f"The confidence is the probability that a translation is good, with a chrF2 of at least {reliability.bar:g}. "
        f"Of {format_count(reliability.sentences, 'translation')}, {reliability.good:.0%} are."
    )


def list_rows(reliability: Reliability) -> list[tuple[str, str]]:
    """Returns the numbers with their names."""
    return [
        ("expected calibration error (10 bins of equal mass)", f"{reliability.calibration_error:.3f}"),
        ("area under the ROC curve", f"{reliability.auc:.3f}"),
        ("the same, by the mean log-probability alone", f"{reliability.plain_auc:.3f}"),
        *(
            (f"mean chrF2 without the least sure {share:.0%}" if share else "mean chrF2 of all", f"{value:.1f}")
            for share, value in reliability.coverage
        ),
    ]


def tabulate_reliability(reliability: Reliability) -> list[str]:
    """Returns the section of the Markdown report, without its heading."""
    rows = [f"| {name} | {value} |" for name, value in list_rows(reliability)]
    return [describe_good(reliability), "", "| | |", "|---|---:|", *rows]


def draw_chart(
    points: Sequence[tuple[float, float]],
    axes: tuple[str, str],
    title: str,
    *,
    highest: float = 1,
    diagonal: bool = False,
) -> str:
    """Returns a line chart as an SVG element; coordinates are 0 to 1, and 1 is `highest` on the vertical axis."""
    width, height = LEFT + SIDE + 16, TOP + SIDE + BOTTOM
    places = [(LEFT + x * SIDE, TOP + (1 - y) * SIDE) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DOT}"/>' for x, y in places if len(places) <= MOST_DOTS]
    grid = "".join(draw_tick(step / 4, highest) for step in range(5))
    guide = f'<path class="guide" d="M{LEFT} {TOP + SIDE}L{LEFT + SIDE} {TOP}"/>' if diagonal else ""
    middle, below = LEFT + SIDE / 2, height - 6
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" class="line"><title>{escape(title)}</title>{grid}{guide}'
        f'<polyline points="{line}"/>{"".join(dots)}'
        f'<text x="{middle}" y="{below}" text-anchor="middle">{escape(axes[0])}</text>'
        f'<text transform="translate(11 {TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">{escape(axes[1])}</text>'
        "</svg>"
    )


def draw_tick(share: float, highest: float) -> str:
    """Returns the lines of the grid at this share of both axes, with their labels."""
    x, y = LEFT + share * SIDE, TOP + (1 - share) * SIDE
    label = f"{share * highest:.2f}" if highest == 1 else f"{share * highest:.0f}"
    return (
        f'<path class="grid" d="M{LEFT} {y}H{LEFT + SIDE}M{x} {TOP}V{TOP + SIDE}"/>'
        f'<text x="{LEFT - 5}" y="{y + 4}" text-anchor="end">{label}</text>'
        f'<text x="{x}" y="{TOP + SIDE + 15}" text-anchor="middle">{share:.2f}</text>'
    )
