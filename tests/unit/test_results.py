"""The published numbers: RESULTS.md and README say what results.jsonl says, and every link to them leads somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parents[2]
BENCHMARKS = PROJECT / "benchmarks"
PAGES = [
    PROJECT / "README.md",
    *sorted((PROJECT / "docs").glob("*.md")),
    PROJECT / "examples" / "recipes" / "README.md",
]
LOG = sorted((BENCHMARKS / "log").glob("[0-9]*.md"))


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results", BENCHMARKS / "results.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


results = load_script()


def numbers_in_readme() -> list[str]:
    """The last cell of each row of the tables below "Numbers"."""
    section = (PROJECT / "README.md").read_text(encoding="utf-8").split("## Numbers")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", row)[-2].strip() for row in rows]
    return [cell for cell in cells if cell != "value"]


def test_the_page_is_what_the_rows_say() -> None:
    page = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8")
    assert page == results.render_page(results.read_results()), "run `python benchmarks/results.py`"


def test_each_number_that_readme_quotes_is_a_row() -> None:
    published = set()
    for row in results.read_results():
        value = results.format_value(row)
        published |= {value, f"{value} {results.format_interval(row)}"}
    quoted = numbers_in_readme()
    assert len(quoted) > 15
    assert not [cell for cell in quoted if cell not in published]


def test_rows_are_complete_and_named_once() -> None:
    rows = results.read_results()
    assert len({row["id"] for row in rows}) == len(rows)
    machines = re.findall(r"^\| `(\w+)`", (BENCHMARKS / "machines.md").read_text(encoding="utf-8"), re.MULTILINE)
    for row in rows:
        assert {"task", "command", "machine", "seed", "value", "unit", "interval", "signature", "commit"} <= set(row)
        assert row["machine"] in {*machines, "-"}, row["id"]
        assert row["signature"] or row["unit"] != "BLEU", row["id"]


@pytest.mark.parametrize("path", [BENCHMARKS / "RESULTS.md", *LOG], ids=lambda path: path.name)
def test_pages_can_be_read_at_a_glance(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= (150 if path.name == "RESULTS.md" else 40)
    assert max(map(len, lines)) <= 200


def test_every_experiment_is_in_the_index() -> None:
    index = (BENCHMARKS / "log" / "README.md").read_text(encoding="utf-8")
    assert not [path.name for path in LOG if f"({path.name})" not in index]


@pytest.mark.parametrize("page", [*PAGES, *sorted(BENCHMARKS.glob("*.md"))], ids=lambda path: path.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, heading = link.partition("#")
        if "://" in target:
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name} links to {link}"
        if heading and path.suffix == ".md":
            assert heading in headings(path), f"{page.name} links to {link}"


def headings(path: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
