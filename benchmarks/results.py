"""Renders benchmarks/RESULTS.md from benchmarks/results.jsonl, the one source of published numbers.

    python benchmarks/results.py            # rewrites RESULTS.md

To publish a number, add a line to results.jsonl and run this. `tests/unit/test_results.py` compares both, and the
numbers that README quotes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
HEAD = """# Results

The current numbers, one per row; `results.jsonl` is their source, `python benchmarks/results.py` renders this page.
[machines.md](machines.md) describes the machines, [log/](log/README.md) what was tried on the way, and
[README.md](README.md) the scripts. A figure is of a single run where the command names no median. Intervals are half of
the 95 % interval of the bootstrap over the test sentences; they say nothing of other seeds. *commit* is the first that
records the number. Data: the bundled corpus is `data/eng-deu.tsv` (47,995 / 1,000 / 1,000 pairs); the hour and
attention have 169,813 pairs of Tatoeba English-German (163,771 / 1,000 / 5,000); the textbook setting has
40,000 / 5,000 / 5,000 pairs of the bundled corpus.
"""


def read_results(path: Path = FOLDER / "results.jsonl") -> list[dict[str, Any]]:
    """Returns the rows of results.jsonl."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def format_value(row: dict[str, Any]) -> str:
    """Returns the value with its unit, as README quotes it: "31.17 BLEU", "2,048 MB"."""
    value = row["value"]
    number = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{number} %" if row["unit"] == "%" else f"{number} {row['unit']}"


def format_interval(row: dict[str, Any]) -> str:
    return "-" if row["interval"] is None else f"± {row['interval']}"


def render_task(task: str, rows: Iterable[dict[str, Any]]) -> str:
    """Returns the section of one task: its table, and the signatures of its scores."""
    rows = list(rows)
    lines = [f"## {task}", "", "| command | machine | seed | value | interval | commit |", "|---|---|---|---|---|---|"]
    for row in rows:
        cells = (
            row["command"],
            row["machine"],
            str(row["seed"]),
            format_value(row),
            format_interval(row),
            row["commit"],
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    signatures = sorted({row["signature"] for row in rows if row["signature"]})
    if signatures:
        lines += ["", "Signatures: " + ", ".join(f"`{signature}`" for signature in signatures) + "."]
    notes = [f"`{row['id']}`: {row['note']}" for row in rows if row["note"]]
    return "\n".join([*lines, *(["", f"Notes: {'; '.join(notes)}."] if notes else [])])


def render_page(rows: list[dict[str, Any]]) -> str:
    """Returns the content of RESULTS.md."""
    tasks = dict.fromkeys(row["task"] for row in rows)
    sections = [render_task(task, (row for row in rows if row["task"] == task)) for task in tasks]
    return "\n".join([HEAD, "\n\n".join(sections), ""])


if __name__ == "__main__":
    (FOLDER / "RESULTS.md").write_text(render_page(read_results()), encoding="utf-8")
