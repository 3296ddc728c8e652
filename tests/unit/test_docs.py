"""The documents: their links lead somewhere, and their commands have options that exist."""

import doctest
import importlib.util
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from nmt_cli.cli.app import NmtCommands, load_command
from nmt_cli.translation.checks.table import CHECKS, RULES_PAGE
from nmt_cli.translation.result import CheckKind
from support.scripts import load_script

PROJECT = Path(__file__).parents[2]
DOCS = sorted((PROJECT / "docs").glob("*.md"))
PACKAGE = sorted((PROJECT / "nmt_cli").rglob("*.py"))
README = PROJECT / "README.md"
PAGES = [
    *DOCS,
    README,
    PROJECT / "CHANGELOG.md",
    *(page for name in ("benchmarks", "data", "examples") for page in sorted((PROJECT / name).rglob("*.md"))),
]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
ANCHOR = re.compile(r'<a id="([^"]+)">')
COMMAND = re.compile(
    r"(?:^|[|`$]\s*|\d\s+)nmt ((?:prepare|train|translate|evaluate|visualize)\b[^\n`|#<]*)", re.MULTILINE
)
CODE = re.compile(r"^```[^\n]*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
CELL_BORDER = re.compile(r"(?<!\\)\|")
JOINED_ITEM = re.compile(r"^\s*[-*] .*\S - \[.*$", re.MULTILINE)
HELP = {"--help", "-h", "--help-all", "--version", "--install-completion", "--show-completion"}


def name_page(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def find_anchors(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    titles = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", title) for title in HEADING.findall(text)]
    headings = {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
    return headings | set(ANCHOR.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in find_anchors(target)):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_rows_of_a_table_have_equal_cells_and_items_of_a_list_a_line_each(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    uneven = []
    for table in re.findall(r"(?:^\|.*\n?)+", prose, re.MULTILINE):
        borders = [len(CELL_BORDER.findall(row)) * row.endswith("|") for row in table.splitlines()]
        uneven += [row for row, count in zip(table.splitlines(), borders, strict=True) if count != borders[0]]
    assert not uneven and not JOINED_ITEM.findall(prose)


def find_commands(page: Path) -> Iterator[list[str]]:
    """The arguments of each command `nmt ...` in code."""
    for block, inline in CODE.findall(page.read_text(encoding="utf-8")):
        text = (block or inline).replace("\\\n", " ")
        for match in COMMAND.finditer(text):
            line = re.split(r"\s{3,}|\s->\s|\s&&\s|;", match[1])[0]
            try:
                arguments = shlex.split(line)
            except ValueError:  # a line that is cut
                continue
            yield arguments


@cache
def list_flags(command: str) -> frozenset[str]:
    options = load_command(command).params
    return frozenset(flag for option in options for flag in (*option.opts, *option.secondary_opts)) | HELP


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_have_options_that_exist(page: Path) -> None:
    wrong = []
    for name, *arguments in find_commands(page):
        flags = [word.split("=")[0] for word in arguments if re.fullmatch(r"--?[a-z][\w-]*(?:=.*)?", word)]
        wrong += [(name, flag) for flag in flags if flag not in list_flags(name)]
    assert not wrong


@pytest.mark.parametrize("page", [*DOCS, README], ids=name_page)
def test_options_that_the_text_names_exist(page: Path) -> None:
    known = frozenset().union(*map(list_flags, NmtCommands.lazy))
    inline = [code for _, code in CODE.findall(page.read_text(encoding="utf-8")) if code.startswith("--")]
    named = {flag for code in inline for flag in re.findall(r"(?<![\w-])--[a-z][\w-]*", code)}
    assert not named - known


def test_files_that_the_architecture_names_exist() -> None:
    text = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.(?:py|toml)|\w+/\w+/)`", text)
    assert len(named) > 40
    assert not [name for name in named if not any((base / name).exists() for base in (PROJECT, PROJECT / "nmt_cli"))]


@pytest.mark.parametrize(("name", "text"), load_script("docs/site/reference.py").render_pages().items())
def test_generated_pages_are_what_the_code_says(name: str, text: str) -> None:
    assert (PROJECT / "docs" / name).read_text(encoding="utf-8") == text, "run `python docs/site/reference.py`"


def test_every_check_has_its_rule() -> None:
    rules = find_anchors(PROJECT / "docs" / "rules.md")
    assert {check.name for check in CHECKS} == set(get_args(CheckKind))
    assert {check.anchor.removeprefix("#") for check in CHECKS} <= rules and RULES_PAGE == "docs/rules.md"


def test_every_command_has_a_page_and_every_page_a_place_in_the_site() -> None:
    pages = {page.name for page in DOCS}
    assert {f"{name}.md" for name in NmtCommands.lazy} <= pages
    site = (PROJECT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    assert pages == set(re.findall(r"[\w-]+\.md", site.split("\nnav:")[1]))


@pytest.mark.parametrize(
    "path", [path for path in PACKAGE if ">>> " in path.read_text(encoding="utf-8")], ids=lambda path: path.stem
)
def test_examples_in_docstrings_are_true(path: Path) -> None:
    module = importlib.import_module(".".join(path.relative_to(PROJECT).with_suffix("").parts))
    failed, attempted = doctest.testmod(module)
    assert attempted and not failed
