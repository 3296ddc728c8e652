"""Renders a comparison of systems as one HTML page that needs no network connection, or as Markdown.

Takes a comparison; must not know how it was made. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nmt_cli.evaluation.comparison import DisputedSentence, SystemComparison, list_disputed, merge_profiles
from nmt_cli.evaluation.comparison_table import describe_letters, describe_pairs, describe_spread, format_group
from nmt_cli.evaluation.report import list_details
from nmt_cli.files import write_text
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.curves import Histories, read_history, render_curves_svg
from nmt_cli.visuals.page import embed_figure, escape_cell, format_code, list_facts, render_facts, render_report


def write_comparison(comparison: SystemComparison, path: Path, *, test_set: str, inputs: Mapping[str, Any]) -> None:
    """Writes the comparison to a .html or .md file, with the learning curves of systems that are models."""
    models = [name for name in comparison.names if (Path(name) / "history.jsonl").is_file()]
    histories = {name: read_history(Path(name)) for name in models}
    facts = [*list_facts(comparison.reports[0], test_set, inputs), ("systems", ", ".join(comparison.names))]
    if path.suffix.lower() == ".md":
        text = render_comparison_markdown(comparison, facts)
    else:
        text = render_comparison_html(comparison, facts, histories)
    write_text(path, text)


Facts = Sequence[tuple[str, str]]


def render_comparison_html(comparison: SystemComparison, facts: Facts, histories: Histories) -> str:
    """Returns the page: scores side by side, tests, where each fails, curves, and the most disputed sentences."""
    sections = merge_profiles(comparison)
    curves = embed_figure(render_curves_svg(histories)) if histories else ""
    body = [
        "<h1>Systems compared</h1>",
        *render_facts(facts, comparison.warnings),
        render_table(comparison),
        render_tests(comparison),
        render_details(comparison),
        *([f"<h2>Learning curves</h2>{curves}"] if curves else []),
        *(["<h2>Where each fails</h2>", '<p class="faint">chrF, with the number of sentences</p>'] if sections else []),
        *(render_section(section.title, section.meaning, section.groups, comparison.names) for section in sections),
        render_disputed(list_disputed(comparison), comparison.names),
    ]
    return render_report(f"Systems compared: {', '.join(comparison.names)}", body)


def render_table(comparison: SystemComparison) -> str:
    """Returns the table of scores: systems down, metrics across, the best in bold, letters raised."""
    metrics = comparison.metrics
    heads = "".join(f"<th>{escape(render_heading(comparison, metric))}</th>" for metric in metrics)
    columns = {metric: comparison.make_cells(metric) for metric in metrics}
    rows = []
    for position, name in enumerate(comparison.names):
        cells = []
        for metric in metrics:
            cell = columns[metric][position]
            spread = "" if cell.spread is None else f" <i>± {cell.spread:.1f}</i>"
            raised = f" <sup>{cell.letters}</sup>" if cell.letters else ""
            best = " class=best" if cell.is_best else ""
            cells.append(f"<td><span{best}>{cell.value:.1f}</span>{spread}{raised}</td>")
        rows.append(f"<tr><th>{escape(name)}</th>{''.join(cells)}</tr>")
    table = f"<table class=systems><thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    spreads = [describe_spread(comparison)] if comparison.runs else []
    key = "".join(f'<p class="faint">{escape(line)}</p>' for line in [*spreads, *describe_letters(comparison)])
    return f"<div class=wide>{table}</div>{key}"


def render_heading(comparison: SystemComparison, metric: str) -> str:
    score = comparison.reports[0].scores[metric]
    return f"{score.name} ↓" if score.lower_is_better else score.name


def render_tests(comparison: SystemComparison) -> str:
    """States for each metric which system is better than which, and how likely that is chance."""
    parts = []
    for metric, tests in comparison.tests.items():
        if tests:
            name = escape(comparison.reports[0].scores[metric].name)
            verdicts = "".join(f"<li>{escape(verdict)}</li>" for verdict in describe_pairs(comparison, metric))
            parts.append(f"<details><summary>{name}: every pair</summary><ul>{verdicts}</ul></details>")
    return "".join(parts)


def render_details(comparison: SystemComparison) -> str:
    """Returns the precisions of BLEU of every system, and the signatures of the scores."""
    rows = [
        f"<dt>{escape(report.scores[metric].name)} of {escape(name)}</dt><dd>{escape(text)}</dd>"
        for name, report in zip(comparison.names, comparison.reports, strict=True)
        for metric, text in list_details(report.scores).items()
    ]
    rows += [
        f"<dt>{escape(score.name)}</dt><dd class=signature>{escape(score.signature)}</dd>"
        for score in comparison.reports[0].scores.values()
    ]
    return f"<h2>How the scores were computed</h2><dl>{''.join(rows)}</dl>"


def render_section(title: str, meaning: str, groups: Mapping[str, Sequence[Any]], names: Sequence[str]) -> str:
    """Returns the chrF of the groups of a section, a column for each system."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(format_group(group))}</td>' for group in row)}</tr>"
        for name, row in groups.items()
    )
    return (
        f"<section><h3>{escape(title)} <small>{escape(meaning)}</small></h3>"
        f"<table class=compared><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></section>"
    )


def render_disputed(sentences: Sequence[DisputedSentence], names: Sequence[str]) -> str:
    """Returns the sentences on which the systems differ most, each with all its translations."""
    if not sentences:
        return ""
    items = []
    for sentence in sentences:
        texts = [("source", sentence.source), *(("reference", text) for text in sentence.references)]
        shown = [(escape(label), text) for label, text in texts if text is not None]
        for name, text, value in zip(names, sentence.hypotheses, sentence.values, strict=True):
            shown.append((f"{escape(name)} <small>chrF {value:.1f}</small>", text))
        lines = "".join(
            f'<dt>{label}</dt><dd dir="auto">{escape(text) or "<i>empty</i>"}</dd>' for label, text in shown
        )
        items.append(f"<li value={sentence.number}><dl>{lines}</dl></li>")
    heading = f"The {format_count(len(sentences), 'sentence')} on which they differ most"
    return f"<h2>{heading}</h2><ol class=worst>{''.join(items)}</ol>"


def render_comparison_markdown(comparison: SystemComparison, facts: Facts) -> str:
    """Returns the comparison as Markdown, for a repository or an issue."""
    metrics = comparison.metrics
    lines = ["# Systems compared", "", *(f"- {name}: {escape_cell(value)}" for name, value in facts), ""]
    lines += [f"> **Note:** {escape_cell(warning)}\n" for warning in comparison.warnings]
    lines += [f"| system | {' | '.join(render_heading(comparison, metric) for metric in metrics)} |"]
    lines += [f"|---|{'---:|' * len(metrics)}"]
    for position, name in enumerate(comparison.names):
        cells = [format_cell(comparison, position, metric) for metric in metrics]
        lines.append(f"| {escape_cell(name)} | {' | '.join(cells)} |")
    lines += [
        "",
        *(f"- {escape_cell(line)}" for metric in comparison.tests for line in describe_pairs(comparison, metric)),
    ]
    lines += ["", *(f"- {s.name}: {format_code(s.signature)}" for s in comparison.reports[0].scores.values()), ""]
    return "\n".join(lines + format_disputed(list_disputed(comparison), comparison.names)) + "\n"


def format_cell(comparison: SystemComparison, position: int, metric: str) -> str:
    """Returns a score with its interval and letters for Markdown, the best in bold."""
    cell = comparison.make_cells(metric)[position]
    number = f"**{cell.value:.1f}**" if cell.is_best else f"{cell.value:.1f}"
    spread = "" if cell.spread is None else f" ± {cell.spread:.1f}"
    return number + spread + (f" {cell.letters}" if cell.letters else "")


def format_disputed(sentences: Sequence[DisputedSentence], names: Sequence[str]) -> list[str]:
    """Returns the sentences on which the systems differ most as the lines of a Markdown table."""
    lines = ["## Where they differ most", "", "| line | chrF | | |", "|---:|---:|---|---|"]
    for sentence in sentences:
        texts = [("source", sentence.source), *(("reference", text) for text in sentence.references)]
        first = str(sentence.number)
        for label, text in texts:
            if text is not None:
                lines.append(f"| {first} | | {label} | {escape_cell(text)} |")
                first = ""
        for name, text, value in zip(names, sentence.hypotheses, sentence.values, strict=True):
            lines.append(f"| | {value:.1f} | {escape_cell(name)} | {escape_cell(text)} |")
    return lines
