"""The published numbers: RESULTS.md and README say what results.jsonl says, and every link to them leads somewhere."""

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import results
from bench import read_rows

PROJECT = Path(__file__).parents[2]
BENCHMARKS = PROJECT / "benchmarks"
LOG = [path for path in sorted((BENCHMARKS / "log").glob("*.md")) if path.name != "README.md"]
OWN = [*sorted(BENCHMARKS.glob("*.md")), *sorted((BENCHMARKS / "log").glob("*.md"))]
PAGES = [
    PROJECT / "README.md",
    PROJECT / "CHANGELOG.md",
    *sorted((PROJECT / "docs").glob("*.md")),
    *sorted((PROJECT / "examples").rglob("*.md")),
    *OWN,
]
SOURCES = [
    *sorted((PROJECT / "nmt_cli").rglob("*.py")),
    *sorted((PROJECT / "examples").rglob("*.toml")),
    *sorted(BENCHMARKS.rglob("*.py")),
    *PAGES,
]
KEYS = {"id", "task", "command", "machine", "seed", "value", "unit", "interval", "signature", "commit", "date"}
COLUMNS = ["command", "machine", "seed", "value", "interval", "commit"]
CELL = re.compile(r"(?<!\\)\|")
MACHINE = re.compile(r"`((?:amx|avx)[\w-]*)`")
# Decimals that are not ours: versions of other programs, and a published score.
OTHERS = re.compile(r"Joey NMT 2\.3|CTranslate2 4\.8|published: 41\.02")
DECIMAL = re.compile(r"\d+[.:]\d+")


ROWS: list[dict[str, Any]] = read_rows(BENCHMARKS / "results.jsonl")


def split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in CELL.split(line)[1:-1]]


def table_rows(text: str) -> Iterator[list[str]]:
    """Yields the cells of each row below the rule of a Markdown table."""
    lines = text.splitlines()
    for above, line in pairwise(lines):
        if line.startswith("| ") and above.startswith("|"):
            yield split_cells(line)


def numbers_section() -> str:
    return (PROJECT / "README.md").read_text(encoding="utf-8").split("## Numbers\n")[1].split("\n## ")[0]


def unpublished(section: str, rows: list[dict[str, Any]]) -> list[str]:
    """Returns the quoted values that are no row, for the machine that the text beside them names if it names one."""
    published = {(None, quote) for row in rows for quote in quotes_of(row)}
    published |= {(row["machine"], quote) for row in rows for quote in quotes_of(row)}
    return [
        f"{what}: {value}"
        for what, value in table_rows(section)
        for machine in (MACHINE.findall(what) or [None])
        if (machine, value) not in published
    ]


def quotes_of(row: dict[str, Any]) -> list[str]:
    """The ways to quote a row: its value and, if there is one, its interval."""
    value = results.format_value(row)
    return [value] if row["interval"] is None else [value, f"{value} {results.format_interval(row)}"]


def test_every_value_in_readme_is_a_row() -> None:
    section = numbers_section()
    assert len(list(table_rows(section))) == 12
    assert not unpublished(section, ROWS)


def test_a_changed_value_and_one_of_another_machine_are_noticed() -> None:
    row = {"value": 31.17, "unit": "BLEU", "interval": 1.96, "machine": "amx"}
    table = "| quality | value |\n|---|---|\n"
    assert not unpublished(table + "| corpus (`amx`) | 31.17 BLEU ± 1.96 |", [row])
    assert not unpublished(table + "| corpus | 31.17 BLEU |", [row])
    assert unpublished(table + "| corpus | 31.18 BLEU ± 1.96 |", [row])
    assert unpublished(table + "| corpus | 31.17 BLEU ± 1.97 |", [row])
    assert unpublished(table + "| corpus (`avx2`) | 31.17 BLEU |", [row])


def test_readme_has_one_number_per_row_and_none_outside_the_value_column() -> None:
    section = numbers_section()
    tables = [line for line in section.splitlines() if line.startswith("|")]
    assert {len(split_cells(line)) for line in tables} == {2}
    beside = [what for what, _ in table_rows(section)]
    prose = [line for line in section.splitlines() if not line.startswith("|")]
    for text in [*beside, *prose]:
        assert not DECIMAL.findall(OTHERS.sub("", re.sub(r"`[^`]*`", "", text))), text
    for _, value in table_rows(section):
        assert len(re.findall(r"\d[\d.,:]*", value.split("±")[0].replace("CTranslate2", ""))) == 1, value


def test_the_page_is_what_the_rows_say() -> None:
    page = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8")
    assert page == results.render_page(ROWS), "run `python benchmarks/results.py`"


def test_the_page_has_one_table_per_task_and_one_row_per_number() -> None:
    page = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8")
    tables = [line for line in page.splitlines() if line.startswith("| command |")]
    assert [split_cells(line) for line in tables] == [COLUMNS] * len({row["task"] for row in ROWS})
    shown = [(cells[0].replace("\\|", "|"), cells[3], cells[5]) for cells in table_rows(page)]
    assert shown == [(row["command"], results.format_value(row), row["commit"]) for row in ROWS]


def test_rows_are_complete_and_named_once() -> None:
    machines = re.findall(r"^\| `([\w-]+)` \| \w+ ", (BENCHMARKS / "machines.md").read_text(encoding="utf-8"), re.M)
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert set(row) == KEYS, row["id"]
        assert row["machine"] in {*machines, None}, row["id"]
        assert row["signature"] or row["unit"] != "BLEU", row["id"]
        assert row["seed"] is None or isinstance(row["seed"], int), row["id"]
        assert re.fullmatch("[0-9a-f]{7}", row["commit"]), row["id"]
        assert row["date"] is None or date.fromisoformat(row["date"]), row["id"]


@pytest.mark.parametrize("path", LOG, ids=lambda path: path.name)
def test_a_page_of_the_log_has_one_question_a_conclusion_and_an_entry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title = text.splitlines()[0].removeprefix("# ")
    assert title.endswith("?")
    assert all(f"**{part}.**" in text for part in ("Question", "Command", "Conclusion"))
    index = (BENCHMARKS / "log" / "README.md").read_text(encoding="utf-8")
    assert f"| [{title}]({path.name}) |" in index


def test_every_script_has_a_row_in_the_overview() -> None:
    overview = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert not [path.name for path in BENCHMARKS.glob("*.py") if f"`{path.name}" not in overview]


def test_paths_of_benchmarks_that_code_and_pages_name_exist() -> None:
    named = {
        (source.relative_to(PROJECT).as_posix(), path)
        for source in SOURCES
        for path in re.findall(r"benchmarks/(?!SCRIPT)[\w/-]+\.(?:md|py|jsonl)", source.read_text(encoding="utf-8"))
    }
    assert any(source.startswith("nmt_cli/") for source, _ in named)
    assert not [(source, path) for source, path in named if not (PROJECT / path).is_file()]
