"""Renders the report of an evaluation, or a comparison of systems, as one HTML page or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nmt_cli.evaluation.analysis.profile import Profile, Section, Sentence
from nmt_cli.evaluation.comparison import (
    ComparedSection,
    DisputedSentence,
    SystemComparison,
    describe_letters,
    describe_pairs,
    describe_spread,
    format_group,
    list_disputed,
    merge_profiles,
)
from nmt_cli.evaluation.report import Report, TagScores, list_details
from nmt_cli.files import GENERATOR, write_text
from nmt_cli.pages import read_asset, render_document
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.canvas import BLUE, FAINT, GRID, INK, ORANGE
from nmt_cli.visuals.curves import Histories, read_history, render_curves_svg

# Renders the report of an evaluation as one HTML page that needs no network connection, or as Markdown.
#
# Takes a report; must not know how it was made. Every text is escaped.


Translated = tuple[Sentence | DisputedSentence, list[tuple[str, str, float]]]  # with system, translation and its chrF
Facts = Sequence[tuple[str, str]]
CHART_WIDTH = 24  # characters of the longest bar in Markdown


def write_report(report: Report, path: Path, *, test_set: str, inputs: Mapping[str, Any], model: Path | None) -> None:
    """Writes `report` to a .html or .md file.

    `test_set` describes the scored sentences, `inputs` holds the options that name them. If `model` is a directory with
    a history, the report includes its learning curves.
    """
    history = read_history(model) if model is not None and (model / "history.jsonl").is_file() else []
    if path.suffix.lower() == ".md":
        text = render_markdown(report, test_set, inputs, history)
    else:
        text = render_html(report, test_set, inputs, render_curves_svg({str(model): history}) if history else "")
    write_text(path, text)


def list_facts(report: Report, test_set: str, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns what was scored and how, as pairs of name and value."""
    facts = [("sentences", f"{report.sentences:,} {test_set}")]
    facts.append(("references", f"{report.references_per_sentence} each"))
    if report.search is not None:
        facts.append(("decoding", f"{report.search.summary}, free-running"))
    for name, value in inputs.items():
        facts.append((name.replace("_", " "), describe_input(value)))
    return facts


def describe_input(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{part} ({origin})" for part, origin in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def render_html(report: Report, test_set: str, inputs: Mapping[str, Any], curves: str) -> str:
    """Returns the page. `curves` is an SVG element, or empty."""
    facts = list_facts(report, test_set, inputs)
    profile = report.profile
    body = [
        "<h1>Translation scores</h1>",
        *render_facts(facts, report.warnings),
        render_scores(report),
        *([f"<h2>By tag</h2>{render_tags(report.by_tag)}"] if report.by_tag else []),
        *([f"<h2>Where it fails</h2>{KEY}", *map(render_section, profile.sections)] if profile else []),
        *([f"<h2>Learning curves</h2>{embed_figure(curves)}"] if curves else []),
        *([render_sentences(*list_worst(profile))] if profile else []),
    ]
    return render_report(f"Translation scores: {test_set}", body)


def render_facts(facts: Facts, warnings: Sequence[str]) -> list[str]:
    """Returns what was scored and how, followed by the warnings."""
    entries = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    return [f"<dl>{entries}</dl>", *(f'<p class="warning">{escape(warning)}</p>' for warning in warnings)]


def render_report(title: str, body: Sequence[str]) -> str:
    """Returns a report as a page without any script."""
    return render_document(title, body, style=read_asset("nmt_cli.visuals", "report.css"))


def embed_figure(svg: str) -> str:
    """Returns an SVG element as a figure whose lines and texts take their colours from the page's style."""
    for colour, variable in FIGURE_COLOURS.items():
        svg = svg.replace(colour, f"var(--{variable}, {colour})")
    return f"<figure>{svg}</figure>"


FIGURE_COLOURS = {"#ffffff": "paper", INK: "ink", FAINT: "faint", GRID: "line", BLUE: "blue", ORANGE: "orange"}
KEY = '<p class="faint">Bars show chrF, 0 to 100, next to the number of sentences, BLEU and chrF of each group.</p>'


def render_scores(report: Report) -> str:
    """Returns the table of scores."""
    rows = []
    for name, score in report.scores.items():
        spread = report.format_spread(name)
        better = "lower is better" if score.lower_is_better else ""
        parts = " ".join(f"{part} {value:.2f}" for part, value in score.parts.items())
        rows.append(
            f"<tr><th>{escape(score.name)}</th><td class=n>{score.value:.2f}</td><td class=n>{spread}</td>"
            f"<td>{escape(parts or better)}</td><td class=signature>{escape(score.signature)}</td></tr>"
        )
    return make_table("scores", ("metric", "score", "95 %", "", "signature"), rows)


def make_table(kind: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    """Returns a table with a CSS class, the texts of its header, and rows of HTML."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return f"<table class={kind}><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def render_tags(scores: TagScores) -> str:
    """Returns the table of scores by tag."""
    names, *rows = scores.make_table()
    cells = (f"<th>{escape(row[0])}</th>" + "".join(f"<td class=n>{cell}</td>" for cell in row[1:]) for row in rows)
    return make_table("systems", names, (f"<tr>{of_row}</tr>" for of_row in cells))


def render_section(section: Section) -> str:
    """Returns one chart, a bar for each group. It is a table, so that it works on paper and with a screen reader."""
    rows = []
    for group in section.groups:
        values = list(group.values.values())
        bar = f'<span class=bar style="width:{max(0.0, min(100.0, values[-1])):.1f}%"></span>'
        cells = "".join(f"<td class=n>{value:.1f}</td>" for value in values)
        count = f"<td class=n>{group.sentences:,}</td>"
        rows.append(f"<tr><th>{escape(group.name)}</th>{count}{cells}<td class=chart>{bar}</td></tr>")
    table = make_table("profile", ("", "sentences", *section.groups[0].values, ""), rows)
    return head_section(section, table)


def head_section(section: Section | ComparedSection, table: str) -> str:
    """Returns the table of a section below its title and meaning."""
    heading = f"{escape(section.title)} <small>{escape(section.meaning)}</small>"
    return f"<section><h3>{heading}</h3>{table}</section>"


def list_texts(sentence: Sentence | DisputedSentence) -> list[tuple[str, str]]:
    """Returns the source of a sentence, if it is known, and its references, each with its name."""
    source = [] if sentence.source is None else [("source", sentence.source)]
    return [*source, *(("reference", text) for text in sentence.references)]


def render_texts(texts: Iterable[tuple[str, str]]) -> str:
    """Returns a list of texts, each below its name, which is HTML."""
    lines = (f'<dt>{name}</dt><dd dir="auto">{escape(text) or "<i>empty</i>"}</dd>' for name, text in texts)
    return f"<dl>{''.join(lines)}</dl>"


def list_worst(profile: Profile) -> tuple[str, list[Translated]]:
    """Returns a heading for the sentences with the lowest scores, and the sentences themselves."""
    heading = "The worst sentence" if len(profile.worst) == 1 else f"The {len(profile.worst)} worst sentences"
    return heading, [(sentence, [("hypothesis", sentence.hypothesis, sentence.value)]) for sentence in profile.worst]


def render_sentences(heading: str, sentences: Iterable[Translated]) -> str:
    """Returns the list of sentences, each with its translations and their chrF."""
    items = []
    for sentence, hypotheses in sentences:
        texts = [(f"{escape(name)} <small>chrF {value:.1f}</small>", text) for name, text, value in hypotheses]
        items.append(f"<li value={sentence.number}>{render_texts([*list_texts(sentence), *texts])}</li>")
    return f"<h2>{heading}</h2><ol class=worst>{''.join(items)}</ol>"


def render_markdown(
    report: Report, test_set: str, inputs: Mapping[str, Any], history: Sequence[Mapping[str, Any]]
) -> str:
    """Returns the report as Markdown, for a repository or an issue."""
    lines = open_markdown("Translation scores", list_facts(report, test_set, inputs), report.warnings)
    lines += ["| metric | score | 95 % | signature |", "|---|---:|---:|---|"]
    for name, score in report.scores.items():
        spread = report.format_spread(name)
        lower = " (lower is better)" if score.lower_is_better else ""
        lines.append(f"| {score.name}{lower} | {score.value:.2f} | {spread} | {format_code(score.signature)} |")
    if report.by_tag is not None:
        head, *rows = report.by_tag.make_table()
        lines += ["", "## By tag", "", *map(format_row, (head, ["---", *["---:"] * (len(head) - 1)], *rows))]
    if report.profile is not None:
        lines += ["", "## Where it fails", ""]
        for section in report.profile.sections:
            lines += format_section(section)
    if history:
        lines += ["## Learning curves", "", *format_history(history), ""]
    return "\n".join(lines + (format_sentences(*list_worst(report.profile)) if report.profile else [])) + "\n"


def open_markdown(title: str, facts: Facts, warnings: Sequence[str]) -> list[str]:
    """Returns the first lines of a report: its title, what was scored and how, and the warnings."""
    lines = [f"<!-- {GENERATOR} -->", f"# {title}", "", *(f"- {name}: {escape_cell(value)}" for name, value in facts)]
    return [*lines, "", *(f"> **Note:** {escape_cell(warning)}\n" for warning in warnings)]


def format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def format_section(section: Section) -> list[str]:
    """Returns one chart as the lines of a Markdown table."""
    names = list(section.groups[0].values)
    lines = [f"### {section.title}", "", f"{section.meaning[:1].upper()}{section.meaning[1:]}.", ""]
    lines += [f"| | sentences | {' | '.join(names)} | |", f"|---|---:|{'---:|' * len(names)}---|"]
    for group in section.groups:
        values = list(group.values.values())
        bar = "█" * round(CHART_WIDTH * min(100.0, values[-1]) / 100)
        numbers = " | ".join(f"{value:.1f}" for value in values)
        lines.append(f"| {group.name} | {group.sentences:,} | {numbers} | {bar} |")
    return [*lines, ""]


def format_history(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the learning curves as the lines of a Markdown table."""
    lines = ["| epoch | loss | dev loss | BLEU | chrF |", "|---:|---:|---:|---:|---:|"]
    for record in history:
        lines.append(
            f"| {record['epoch']} | {record['loss']:.3f} | {record['dev_loss']:.3f} "
            f"| {record['bleu']:.2f} | {record['chrf']:.2f} |"
        )
    return lines


def format_sentences(heading: str, sentences: Iterable[Translated]) -> list[str]:
    """Returns sentences as the lines of a Markdown table, each with its translations and their chrF."""
    lines = [f"## {heading}", "", "| line | chrF | | |", "|---:|---:|---|---|"]
    for sentence, hypotheses in sentences:
        first, *others = list_texts(sentence)
        lines.append(f"| {sentence.number} | | {first[0]} | {escape_cell(first[1])} |")
        lines += [f"| | | {name} | {escape_cell(text)} |" for name, text in others]
        lines += [f"| | {value:.1f} | {escape_cell(name)} | {escape_cell(text)} |" for name, text, value in hypotheses]
    return lines


def escape_cell(text: str) -> str:
    """Escapes text so that Markdown shows it literally, also in a table."""
    escaped = "".join(f"\\{c}" if c in "\\`*_[]|~#$!" else c for c in escape(text, quote=False))
    return " ".join(escaped.split())


def format_code(text: str) -> str:
    """Returns text as inline code that is safe in a table."""
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


# Renders a comparison of systems as one HTML page that needs no network connection, or as Markdown.
#
# Takes a comparison; must not know how it was made. Every text is escaped.


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


def render_comparison_html(comparison: SystemComparison, facts: Facts, histories: Histories) -> str:
    """Returns the page: the scores side by side, significance tests, where each system fails, curves, and the most
    disputed sentences.
    """
    sections = merge_profiles(comparison)
    curves = embed_figure(render_curves_svg(histories)) if histories else ""
    disputed = pair_disputed(comparison)
    heading = f"The {format_count(len(disputed), 'sentence')} on which they differ most"
    body = [
        "<h1>Systems compared</h1>",
        *render_facts(facts, comparison.warnings),
        render_table(comparison),
        render_tests(comparison),
        render_details(comparison),
        *([f"<h2>Learning curves</h2>{curves}"] if curves else []),
        *(["<h2>Where each fails</h2>", '<p class="faint">chrF, with the number of sentences</p>'] if sections else []),
        *(render_comparison_section(section, comparison.names) for section in sections),
        *([render_sentences(heading, disputed)] if disputed else []),
    ]
    return render_report(f"Systems compared: {', '.join(comparison.names)}", body)


def render_table(comparison: SystemComparison) -> str:
    """Returns the table of scores: systems down, metrics across, the best in bold, letters raised."""
    metrics = comparison.metrics
    markup = "<span class=best>%s</span>", " <i>± %.1f</i>", " <sup>%s</sup>"
    rows = (
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{cell.write(*markup)}</td>' for cell in cells)}</tr>"
        for name, cells in zip(comparison.names, zip(*map(comparison.make_cells, metrics), strict=True), strict=True)
    )
    table = make_table("systems", ("", *(render_heading(comparison, metric) for metric in metrics)), rows)
    spreads = [describe_spread(comparison)] if comparison.runs else []
    key = "".join(f'<p class="faint">{escape(line)}</p>' for line in [*spreads, *describe_letters(comparison)])
    return f"<div class=wide>{table}</div>{key}"


def render_heading(comparison: SystemComparison, metric: str) -> str:
    score = comparison.reports[0].scores[metric]
    return f"{score.name} ↓" if score.lower_is_better else score.name


def render_tests(comparison: SystemComparison) -> str:
    """States for each metric which system is better than which, and how likely that is to be chance."""
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


def render_comparison_section(section: ComparedSection, names: Sequence[str]) -> str:
    """Returns the chrF of the groups of a section, a column for each system."""
    rows = (
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(format_group(group))}</td>' for group in row)}</tr>"
        for name, row in section.groups.items()
    )
    return head_section(section, make_table("compared", ("", *names), rows))


def pair_disputed(comparison: SystemComparison) -> list[Translated]:
    """Returns the sentences on which the systems differ most, each with all its translations."""
    columns = ((sentence, sentence.hypotheses, sentence.values) for sentence in list_disputed(comparison))
    return [(sentence, [*zip(comparison.names, texts, values, strict=True)]) for sentence, texts, values in columns]


def render_comparison_markdown(comparison: SystemComparison, facts: Facts) -> str:
    """Returns the comparison as Markdown, for a repository or an issue."""
    metrics = comparison.metrics
    lines = open_markdown("Systems compared", facts, comparison.warnings)
    lines += [f"| system | {' | '.join(render_heading(comparison, metric) for metric in metrics)} |"]
    lines += [f"|---|{'---:|' * len(metrics)}"]
    for name, cells in zip(comparison.names, zip(*map(comparison.make_cells, metrics), strict=True), strict=True):
        shown = [cell.write("**%s**", " ± %.1f", " %s") for cell in cells]
        lines.append(f"| {escape_cell(name)} | {' | '.join(shown)} |")
    lines += [
        "",
        *(f"- {escape_cell(line)}" for metric in comparison.tests for line in describe_pairs(comparison, metric)),
    ]
    lines += ["", *(f"- {s.name}: {format_code(s.signature)}" for s in comparison.reports[0].scores.values()), ""]
    return "\n".join(lines + format_sentences("Where they differ most", pair_disputed(comparison))) + "\n"
