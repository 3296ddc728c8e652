"""Writes the report of the checks: an HTML page to read, or JSON for programs. Knows only findings and the manifest."""

from __future__ import annotations

import dataclasses
import html
import json
from pathlib import Path

from nmt_cli import files
from nmt_cli.corpus.manifest import Finding, Manifest
from nmt_cli.errors import OptionError
from nmt_cli.pages.frame import render_document
from nmt_cli.text.wrapping import format_count

STYLE = "table { margin: 0.5rem 0 1.5rem; } td.place { white-space: nowrap; color: var(--faint); }\n"


def check_report_name(path: Path | None) -> None:
    """Raises OptionError or OutputError for a report that is neither HTML nor JSON, or cannot be written."""
    if path is None:
        return
    if path.suffix.lower() not in (".html", ".json"):
        raise OptionError(f"--report {path}: the name of a report ends in .html or .json")
    files.require_output(path, "--report")


def write_report(path: Path | None, findings: tuple[Finding, ...], manifest: Manifest | None) -> None:
    """Writes the report, atomically, if requested. The manifest is None if no corpus was prepared."""
    if path is None:
        return
    text = format_json(findings, manifest) if path.suffix.lower() == ".json" else format_html(findings, manifest)
    files.write_text(path, text)


def format_json(findings: tuple[Finding, ...], manifest: Manifest | None) -> str:
    """Returns the report as one JSON object."""
    values = {
        "findings": [dataclasses.asdict(finding) for finding in findings],
        "counts": dataclasses.asdict(manifest.counts) if manifest else None,
        "leak": dataclasses.asdict(manifest.leak) if manifest else None,
        "subwords": {side: dataclasses.asdict(getattr(manifest, side)) for side in ("source", "target")}
        if manifest
        else None,
    }
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def format_html(findings: tuple[Finding, ...], manifest: Manifest | None) -> str:
    """Returns the report as a self-contained page, without scripts or external resources."""
    sections = (part for finding in findings for part in format_finding(finding))
    return render_document(
        "Corpus report", ["<h1>Corpus report</h1>", *format_summary(manifest), *sections], style=STYLE
    )


def format_summary(manifest: Manifest | None) -> list[str]:
    """Returns a table of how many pairs were kept and dropped."""
    if manifest is None:
        return ["<p>Nothing was prepared: the checks found pairs that --strict does not accept.</p>"]
    counts, leak = manifest.counts, manifest.leak
    rows = {
        "inputs": ", ".join(manifest.inputs),
        "read": format_count(counts.read, "pair"),
        "kept": format_count(counts.kept, "pair"),
        **{f"dropped: {name}": f"{number:,}" for name, number in counts.dropped.items() if number},
        **{split: format_count(number, "pair") for split, number in counts.splits.items()},
        "a random split would have leaked": f"{leak.test_sources_by_rows:.1%} of the test sources, "
        f"{leak.test_targets_by_rows:.1%} of the test targets",
    }
    sides = [manifest.source.describe("source"), manifest.target.describe("target")]
    return format_table([*rows.items(), *sides])


def format_finding(finding: Finding) -> list[str]:
    """Returns the section of one check: the number of pairs found, the action taken, and examples."""
    note = f" ({html.escape(finding.note)})" if finding.note else ""
    heading = f"<h2>{html.escape(finding.check)}: {finding.count:,} {finding.action}</h2>"
    rows = [
        (f"{example.file}, line {example.line:,}", f"{example.source}\n{example.target}")
        for example in finding.examples
    ]
    return [heading, f"<p>{html.escape(finding.problem)}{note}</p>", *format_table(rows)]


def format_table(rows: list[tuple[str, str]]) -> list[str]:
    """Returns a table of two columns, with escaped cells; line breaks within a cell are kept."""
    cells = (
        f'<tr><td class="place">{html.escape(name)}</td><td>{html.escape(value).replace(chr(10), "<br>")}</td></tr>'
        for name, value in rows
    )
    return ["<table>", *cells, "</table>"]
