import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.corpus.statistics import measure_corpus, measure_language
from nmt_cli.evaluation.analysis.profile import build_profile
from nmt_cli.evaluation.comparison import (
    SystemComparison,
    compare_systems,
    escape_latex,
    format_notes,
    format_table,
    make_comparison_json,
    render_csv,
    render_latex,
    write_score_table,
)
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.evaluation.report import Report, TagRow, TagScores, score_material
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import parse_tag_name
from nmt_cli.text.words import split_words
from nmt_cli.visuals import canvas
from nmt_cli.visuals.canvas import BASE, choose_fonts, list_candidates
from nmt_cli.visuals.curves import draw_statistics, format_several, format_statistics
from nmt_cli.visuals.labels import LabelledAttention, PageSentence, render_page
from nmt_cli.visuals.page import (
    escape_cell,
    render_comparison_html,
    render_comparison_markdown,
    render_html,
    render_markdown,
    write_report,
)
from support.corpora import prepare_tagged
from support.models import prepare_toy

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


# Scores as a table of LaTeX and CSV: the best in bold, letters, means and deviations of runs.

LINES = [f"Das ist der Satz mit der Nummer {number} und noch mehr." for number in range(120)]
NAME = r"a_b & 50%\x{y}#$~^"


def score(wrong: int) -> Report:
    """A system whose first lines are wrong."""
    made = ["Falsch, leider." if row < wrong else line for row, line in enumerate(LINES)]
    return score_material(["bleu", "ter"], Material(made, [[line] for line in LINES]))


@pytest.fixture(scope="module")
def compared() -> SystemComparison:
    return compare_systems([NAME, "worse"], [score(10), score(60)])


def test_a_table_of_latex_has_the_best_in_bold_and_letters(compared: SystemComparison) -> None:
    table = render_latex(compared)
    first, second = (line for line in table.splitlines() if line.endswith(r"\\") and "arrow" not in line)
    best = compared.reports[0].scores["bleu"].value
    assert first.startswith(escape_latex(NAME) + rf" & \textbf{{{best:.1f}}} $\pm$ ")
    assert first.count(r"\textbf") == 2 and r"\textsuperscript{a}" in first
    assert r"\textbf" not in second and r"\textsuperscript{b}" in second
    assert r"BLEU $\uparrow$ & TER $\downarrow$ \\" in table
    assert "% same letter: no significant difference" in table and "% BLEU: nrefs:1" in table
    assert escape_latex(NAME) == r"a\_b \& 50\%\textbackslash{}x\{y\}\#\$\textasciitilde{}\textasciicircum{}"


def test_a_table_of_csv_has_a_row_for_each_score(compared: SystemComparison, tmp_path: Path) -> None:
    write_score_table(compared, tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["system"], row["metric"], row["is_best"], row["letters"]) for row in rows] == [
        (NAME, "BLEU", "true", "a"),
        ("worse", "BLEU", "false", "b"),
        (NAME, "TER", "true", "a"),
        ("worse", "TER", "false", "b"),
    ]
    assert float(rows[0]["score"]) == pytest.approx(compared.reports[0].scores["bleu"].value, abs=1e-4)
    assert rows[0]["spread_is"].startswith("± half the width of the 95 %") and rows[3]["lower_is_better"] == "true"


def test_runs_are_told_by_their_mean_and_deviation(compared: SystemComparison) -> None:
    several = replace(compared, runs=((score(10), score(14)), (score(1), score(3))))
    values = [run.scores["bleu"].value for run in several.runs[1]]
    first, second = several.make_cells("bleu")
    assert second.value == pytest.approx(sum(values) / 2)
    assert second.spread == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    assert (first.is_best, second.is_best) == (False, True)  # by the mean, whatever the best run of the first has
    shown = f"{second.value:.1f}"
    assert f"**{shown}**" in "\n".join(format_table(several))
    assert "mean ± standard deviation of 2 runs." in format_notes(several)
    assert f"class=best>{shown}" in render_comparison_html(several, [], {})
    assert f"**{shown}**" in render_comparison_markdown(several, [])
    assert rf"\textbf{{{shown}}}" in render_latex(several)
    assert "mean ± standard deviation of 2 runs" in render_csv(several)
    assert make_comparison_json(several, {})["systems"][1]["runs"]["bleu"] == values


def test_a_single_run_has_no_deviation(compared: SystemComparison) -> None:
    single = replace(compared, runs=((score(10),), (score(60),)))
    assert [cell.spread for cell in single.make_cells("bleu")] == [None, None]


def test_a_single_system_is_a_table_of_one_row() -> None:
    table = render_latex(SystemComparison(("model",), (score(3),), {}, {}))
    assert table.count(r"\\") == 2 and "same letter" not in table


def test_words_are_counted_without_case_and_punctuation() -> None:
    assert split_words("Tom, don't go to TOM!") == ["tom", "don't", "go", "to", "tom"]
    assert split_words("我在家里。") == ["我", "在", "家", "里"]


def test_a_side_is_counted_by_hand() -> None:
    import numpy as np

    statistics = measure_language("xx", ["a b a.", "c"], ["a d", "C"], np.array([4, 1]))
    assert statistics.words.tolist() == [3, 1]
    assert statistics.frequencies.tolist() == [2, 1, 1]
    assert statistics.once_share == pytest.approx(2 / 3)
    assert statistics.unseen_share == pytest.approx(1 / 3)
    assert statistics.commonest[0] == ("a", 2)


def test_a_prepared_corpus_is_drawn_and_told(tmp_path: Path) -> None:
    statistics = measure_corpus(prepare_toy(tmp_path, 200))
    assert draw_statistics({"toy": statistics}, tmp_path / "c.svg") == ""
    assert "subwords of a training sentence" in (tmp_path / "c.svg").read_text(encoding="utf-8")
    lines = format_statistics(statistics)
    assert f"train {statistics.splits['train']:,}" in lines[0]
    assert any(line.startswith("test words unseen") for line in lines)
    end = next(row for row, line in enumerate(lines) if line.startswith("test words unseen"))
    assert len({len(line) for line in lines[2 : end + 1]}) == 1  # the numbers are below their headings


def test_several_corpora_have_a_line_each_and_every_tick_is_a_whole_number(tmp_path: Path) -> None:
    statistics = measure_corpus(prepare_toy(tmp_path, 200))
    draw_statistics({"one": statistics, "two": statistics}, tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    assert text.count("one, median") == 2 and text.count("two, median") == 2  # of either side
    ticks = re.findall(r">([\d,]+\.\d+|[\d,]+)</text>", text)
    assert ticks and not [tick for tick in ticks if "." in tick]
    assert "two:" in format_several({"one": statistics, "two": statistics})


def test_the_pairs_of_a_tag_are_measured_by_themselves(tmp_path: Path) -> None:
    corpus = prepare_tagged(tmp_path)
    whole = measure_corpus(corpus)
    parts = [measure_corpus(corpus, parse_tag_name(name)) for name in (">de", ">nl")]
    assert [part.target.language for part in parts] == ["de", "nl"]
    assert {split: sum(part.splits[split] for part in parts) for split in whole.splits} == whole.splits
    assert parts[0].target.words.sum() + parts[1].target.words.sum() == whole.target.words.sum()
    assert parts[0].target.pieces.sum() + parts[1].target.pieces.sum() == whole.target.pieces.sum()
