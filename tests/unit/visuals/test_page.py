import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.evaluation.analysis.profile import build_profile
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.evaluation.report import Report, TagRow, TagScores, score_material
from nmt_cli.search.config import SearchOptions
from nmt_cli.visuals import canvas
from nmt_cli.visuals.canvas import BASE, choose_fonts, list_candidates
from nmt_cli.visuals.labels import LabelledAttention, PageSentence, render_page
from nmt_cli.visuals.page import escape_cell, render_html, render_markdown, write_report

EVIL = "a | b <img src=x onerror=alert(1)> `c` *d*"


@pytest.fixture(scope="module")
def report() -> Report:
    material = Material([EVIL, "so ist es"], [[EVIL, "x"], ["so war es", "y"]], [EVIL, "it is so"])
    scored = score_material(["bleu", "chrf", "rougeL"], material)
    return replace(scored, profile=build_profile(material), search=SearchOptions(beam_size=3))


def test_the_page_has_scores_intervals_signatures_profile_and_examples(report: Report) -> None:
    page = render_html(report, "test sentences", {"split": "test"}, "<svg>curve</svg>")
    for score in report.scores.values():
        assert f"{score.value:.2f}" in page and score.signature in page
    assert "±" in page and "beam 3" in page
    assert "source length" in page and "worst sentences" in page and "<svg>curve</svg>" in page
    assert "only 2 sentences" in page


def test_reports_have_a_row_for_each_tag(report: Report) -> None:
    assert "By tag" not in render_html(report, "", {}, "") + render_markdown(report, "", {}, [])
    rows = TagRow(">nl", {"BLEU": 12.345}, 1234), TagRow("mean <kind>", {"BLEU": 1.0})
    tagged = replace(report, by_tag=TagScores(rows))
    page, lines = render_html(tagged, "", {}, ""), render_markdown(tagged, "", {}, []).splitlines()
    assert "<tr><th>&gt;nl</th><td class=n>12.35</td><td class=n>1,234</td></tr>" in page and "<kind>" not in page
    assert "| >nl | 12.35 | 1,234 |" in lines


def test_the_page_is_alone_and_every_text_is_escaped(report: Report) -> None:
    page = render_html(report, EVIL, {"source": EVIL}, "")
    assert "<img" not in page and "&lt;img" in page
    assert "://" not in page and page.count("href=") == page.count('href="data:,"') == 1 and "<script" not in page


def test_tables_of_markdown_have_as_many_cells_in_every_row(report: Report) -> None:
    tables: dict[int, int] = {}
    lines = render_markdown(report, "test sentences", {"split": "test"}, []).splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        cells = line.replace("\\|", "").count("|")
        if line.startswith("|") and before.startswith("|"):
            assert cells == tables[0], line
        elif line.startswith("|"):
            tables[0] = cells
    assert "&lt;img" in "\n".join(lines) and "<img" not in "\n".join(lines)


def test_a_notebook_shows_the_scores_with_their_intervals(report: Report) -> None:
    html = report._repr_html_()
    assert html.count("<tr>") == len(report.scores) + len(report.warnings)
    assert all(f"<td>{score.value:.2f}</td><td>±" in html for score in report.scores.values())


def test_text_in_markdown_is_no_markup() -> None:
    assert escape_cell("a|b *c* <d>\n`e`") == "a\\|b \\*c\\* &lt;d&gt; \\`e\\`"


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_learning_curves_of_the_model_are_in_the_report(report: Report, tmp_path: Path, suffix: str) -> None:
    record = '{"epoch": 1, "loss": 5.0, "dev_loss": 4.0, "bleu": 3.25, "chrf": 2, "learning_rate": 0.1}\n'
    (tmp_path / "history.jsonl").write_text(record)
    path = tmp_path / f"r{suffix}"
    write_report(report, path, test_set="test sentences", inputs={}, model=tmp_path)
    assert "Learning curves" in path.read_text(encoding="utf-8")
    write_report(report, path, test_set="test sentences", inputs={}, model=None)
    assert "Learning curves" not in path.read_text(encoding="utf-8")


def test_the_page_is_light_or_dark_and_its_figures_with_it(report: Report) -> None:
    page = render_html(report, "test", {}, '<svg><path style="stroke: #1f5a94; fill: #ffffff"/></svg>')
    assert "light-dark(" in page and 'option value="dark"' in page
    assert "var(--blue, #1f5a94)" in page and "var(--paper, #ffffff)" in page


def make_sentence(text: str, attention: np.ndarray) -> PageSentence:
    view = LabelledAttention((text,), (text,), attention, (1.0,), text, text)
    return PageSentence(view, view)


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "a & b'\" <!--", "@SCRIPT@ @DATA@", "\u2028"])
def test_no_text_can_leave_the_data(text: str) -> None:
    page = render_page([make_sentence(text, np.ones((1, 1)))])
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert data is not None
    assert json.loads(data[1])["sentences"][0]["words"]["source"] == [text]
    assert page.count("<script") == 2


def test_a_page_names_no_address() -> None:
    page = render_page([make_sentence("a", np.ones((1, 1)))])
    assert not re.search(r"(?:https?:)?//[a-z]", re.sub(r"^\s*//.*$", "", page, flags=re.MULTILINE))


@pytest.mark.parametrize(("shape", "expected"), [((1, 1), (1, 1)), ((2, 3, 1, 1), (2, 3))])
def test_attention_always_has_layers_and_heads_on_the_page(shape: tuple[int, ...], expected: tuple[int, int]) -> None:
    data = json.loads(render_page([make_sentence("a", np.ones(shape))]).split('id="data">')[1].split("</script>")[0])
    attention = np.array(data["sentences"][0]["words"]["attention"])
    assert attention.shape == (*expected, 1, 1)


def test_the_base_font_is_enough_for_european_arabic_and_hebrew_text() -> None:
    choice = choose_fonts("Straße ночь Ελλάδα سلام שלום ·␣…")
    assert (choice.families, choice.missing) == ((BASE,), "")


def test_a_family_is_asked_only_for_what_is_missing_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def three() -> Iterator[tuple[str, list[int]]]:
        covered = ((BASE, "ab"), ("Useless", "a"), ("Han", "车"), ("Never", "站"))
        for name, characters in covered:
            tried.append(name)
            yield name, [ord(character) for character in characters]

    monkeypatch.setattr(canvas, "list_candidates", three)
    assert choose_fonts("a b车\u200e\n") == canvas.FontChoice((BASE, "Han"), "")
    assert tried == [BASE, "Useless", "Han", "Never"]
    assert choose_fonts("x车").missing == "x"


def test_fonts_that_draw_formula_parts_or_boxes_are_never_asked() -> None:
    names = [name for name, _ in list_candidates()]
    assert names[0] == BASE
    assert not [name for name in names if name.startswith(("cm", "STIX", "Last Resort"))]
