import re
from xml.etree import ElementTree

from nmt_cli.evaluation.analysis.reliability import measure_reliability
from nmt_cli.visuals.reliability import draw_chart, render_reliability, tabulate_reliability

MEASURED = measure_reliability([n / 100 for n in range(100)], [-1.0] * 100, [float(n) for n in range(100)], 50)


def test_a_point_lies_where_its_values_say() -> None:
    svg = ElementTree.fromstring(draw_chart([(0, 0), (1, 1), (0.5, 0.25)], ("x", "y<"), "t"))
    corners = [(float(circle.get("cx", "")), float(circle.get("cy", ""))) for circle in svg.iter("circle")]
    (left, bottom), (right, top), (middle, low) = corners
    assert middle == (left + right) / 2 and low == bottom - (bottom - top) / 4
    assert {text.text for text in svg.iter("text")} >= {"x", "y<", "0.50"}


def test_both_charts_and_their_numbers_are_in_the_section() -> None:
    section = render_reliability(MEASURED)
    charts = re.findall(r"<svg.*?</svg>", section)
    assert [len(list(ElementTree.fromstring(chart).iter("circle"))) for chart in charts] == [10, 0]
    assert "without the least sure 50%</th><td class=n>74.5" in section
    rows = tabulate_reliability(MEASURED)
    assert "50%" in rows[0] and "| area under the ROC curve | 1.000 |" in rows
