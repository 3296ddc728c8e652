"""The report of the checks as a file: a page to read, or JSON for programs. Knows findings and the manifest only."""

from __future__ import annotations

import dataclasses
import html
import json
from pathlib import Path

from nmt_cli import files
from nmt_cli.corpus.manifest import Features, Finding, Manifest
from nmt_cli.errors import OptionError

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 1.5rem; }
td, th { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid #ddd; }
td.place { white-space: nowrap; color: #666; } h2 { margin-bottom: 0; } p { margin: 0.2rem 0; }
"""


def check_report_name(path: Path | None) -> None:
    """Raises OptionError for a report of another kind."""
    if path is not None and path.suffix.lower() not in (".html", ".json"):
        raise OptionError(f"--report {path}: the name of a report ends in .html or .json")


def write_report(path: Path, findings: tuple[Finding, ...], manifest: Manifest | None) -> None:
    """Writes the report, atomically. Without a manifest no corpus was prepared."""
    text = as_json(findings, manifest) if path.suffix.lower() == ".json" else as_html(findings, manifest)
    with files.atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def as_json(findings: tuple[Finding, ...], manifest: Manifest | None) -> str:
    values = {
        "findings": [dataclasses.asdict(finding) for finding in findings],
        "counts": dataclasses.asdict(manifest.counts) if manifest else None,
        "leak": dataclasses.asdict(manifest.leak) if manifest else None,
        "subwords": {side: dataclasses.asdict(getattr(manifest, side)) for side in ("source", "target")}
        if manifest
        else None,
    }
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def as_html(findings: tuple[Finding, ...], manifest: Manifest | None) -> str:
    """A page that stands alone: no script, and nothing that is loaded from elsewhere."""
    parts = ["<!doctype html>", '<html lang="en"><meta charset="utf-8">', "<title>Corpus report</title>"]
    parts += [f"<style>{STYLE}</style>", "<h1>Corpus report</h1>", *summary(manifest)]
    for finding in findings:
        parts += section(finding)
    return "\n".join([*parts, "</html>", ""])


def summary(manifest: Manifest | None) -> list[str]:
    """What became of the pairs, as rows of a table."""
    if manifest is None:
        return ["<p>Nothing was prepared: the checks found what --strict does not allow.</p>"]
    counts, leak = manifest.counts, manifest.leak
    rows = {
        "inputs": ", ".join(manifest.inputs),
        "read": f"{counts.read:,} pairs",
        "kept": f"{counts.kept:,} pairs",
        **{f"dropped: {name}": f"{number:,}" for name, number in counts.dropped.items() if number},
        **{split: f"{number:,} pairs" for split, number in counts.splits.items()},
        "a split by rows would have leaked": f"{leak.test_sources_by_rows:.1%} of the test sources, "
        f"{leak.test_targets_by_rows:.1%} of the test targets",
    }
    for side in ("source", "target"):
        fit = getattr(manifest, side)
        if isinstance(fit, Features):
            rows["pictures"] = f"{fit.pictures:,}, of up to {fit.regions:,} regions with {fit.depth:,} features each"
            continue
        rows[f"subwords, {side}"] = (
            f"{fit.vocabulary:,}; {fit.pieces_per_word:.2f} per word; {fit.coverage:.2%} of characters covered; "
            f"longest sentence {fit.longest:,}, 99 % up to {fit.longest_of_99_percent:,}"
        )
    return table(list(rows.items()))


def section(finding: Finding) -> list[str]:
    """A check: what it found, how much, what was done, and its examples."""
    note = f" ({html.escape(finding.note)})" if finding.note else ""
    heading = f"<h2>{html.escape(finding.check)}: {finding.count:,} {finding.action}</h2>"
    rows = [(f"{each.file}, line {each.line:,}", f"{each.source}\n{each.target}") for each in finding.examples]
    return [heading, f"<p>{html.escape(finding.problem)}{note}</p>", *table(rows)]


def table(rows: list[tuple[str, str]]) -> list[str]:
    cells = (
        f'<tr><td class="place">{html.escape(name)}</td><td>{html.escape(value).replace(chr(10), "<br>")}</td></tr>'
        for name, value in rows
    )
    return ["<table>", *cells, "</table>"]
