"""Scores as a table of LaTeX and CSV: the best in bold, letters, means and deviations of runs."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from nmt_cli.corpus.statistics import measure_corpus, measure_language
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
from nmt_cli.evaluation.report import Report, score_material
from nmt_cli.text.tags import parse_tag_name
from nmt_cli.text.words import split_words
from nmt_cli.visuals.curves import draw_statistics, format_several, format_statistics
from nmt_cli.visuals.page import render_comparison_html, render_comparison_markdown
from support.corpora import prepare_tagged
from support.models import prepare_toy

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
    assert rows[0]["spread_is"].startswith("± half the 95 % interval") and rows[3]["lower_is_better"] == "true"


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
