"""Renders benchmarks/RESULTS.md from benchmarks/results.jsonl, the one source of published numbers.

    python benchmarks/results.py

To publish a number, add a line to results.jsonl and run this. `tests/unit/test_benchmarks.py` holds that the page
agrees with the rows, and that README quotes only numbers that are rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench import read_rows

FOLDER = Path(__file__).parent
COLUMNS = ("command", "machine", "seed", "value", "interval", "commit")
HEAD = """# Results

The current numbers, one per row. [results.jsonl](results.jsonl) is their source, and `python
benchmarks/results.py` renders this page. The [log](log/README.md) describes how we measured each number, and what we
tried and dropped.

- *command*: the scripts are in [this directory](README.md), and also need `--work DIR`. Parentheses name the measured
  quantity.
- *machine*: described in [machines.md](machines.md).
- *value*: from a single run, unless the command says median. Scores are for free-running, detokenised translations of
  the test split, with a beam of 5.
- *interval*: half the width of the 95 % confidence interval (bootstrap over the test sentences). It does not cover
  different seeds.
- *commit*: the first commit that records the number. `-` means unknown or not applicable.

The bundled corpus is `data/eng-deu.tsv`: 47,995 / 1,000 / 1,000 pairs for train, dev and test, in the textbook setting
40,000 / 5,000 / 5,000. `FULL.tsv` is Tatoeba English-German, 169,813 pairs: 163,771 / 1,000 / 5,000.
"""

Row = dict[str, Any]


def format_value(row: Row) -> str:
    """Returns the value with its unit, as README quotes it: "31.17 BLEU", "1,257 sentences/s"."""
    value = row["value"]
    return f"{value:,} {row['unit']}" if isinstance(value, int) else f"{value} {row['unit']}"


def format_interval(row: Row) -> str:
    """Returns the interval, "± 1.96", or "-" where none was computed."""
    return "-" if row["interval"] is None else f"± {row['interval']}"


def format_row(row: Row) -> str:
    """Returns the row of a Markdown table, in the order of COLUMNS."""
    machine, seed = ("-" if row[name] is None else str(row[name]) for name in ("machine", "seed"))
    command = row["command"].replace("|", "\\|")
    return "| " + " | ".join((command, machine, seed, format_value(row), format_interval(row), row["commit"])) + " |"


def render_task(task: str, rows: Iterable[Row]) -> str:
    """Returns the section of one task: its table, and the signatures of its scores."""
    rows = list(rows)
    lines = [f"## {task}", "", f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS), *map(format_row, rows)]
    signatures = dict.fromkeys(f"`{row['signature']}`" for row in rows if row["signature"])
    if signatures:
        lines += ["", f"Signature{'s' if len(signatures) > 1 else ''}: {', '.join(signatures)}."]
    return "\n".join(lines)


def render_page(rows: Sequence[Row]) -> str:
    """Returns the content of RESULTS.md."""
    tasks = dict.fromkeys(row["task"] for row in rows)
    sections = [render_task(task, (row for row in rows if row["task"] == task)) for task in tasks]
    return "\n".join([HEAD, "\n\n".join(sections), ""])


if __name__ == "__main__":
    page = render_page(read_rows(FOLDER / "results.jsonl"))
    (FOLDER / "RESULTS.md").write_text(page, encoding="utf-8")
