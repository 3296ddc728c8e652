"""The documents: their links lead somewhere, and their commands have options that exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt_cli.cli.app import NmtCommands, load_command

PROJECT = Path(__file__).parents[2]
PAGES = [
    *sorted((PROJECT / "docs").glob("*.md")),
    *(PROJECT / name for name in ("README.md", "benchmarks/README.md", "data/README.md", "data/models/README.md")),
    PROJECT / "examples" / "recipes" / "README.md",
]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
COMMAND = re.compile(
    r"(?:^|[|`$]\s*|\d\s+)nmt ((?:prepare|train|translate|evaluate|visualize)\b[^\n`|#<]*)", re.MULTILINE
)
CODE = re.compile(r"^```[^\n]*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)


def name_page(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def find_anchors(path: Path) -> set[str]:
    titles = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", title) for title in HEADING.findall(path.read_text(encoding="utf-8"))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


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


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_have_options_that_exist(page: Path) -> None:
    wrong = []
    for name, *arguments in find_commands(page):
        known = {
            flag for parameter in load_command(name).params for flag in (*parameter.opts, *parameter.secondary_opts)
        }
        flags = [word.split("=")[0] for word in arguments if re.fullmatch(r"--?[a-z][\w-]*(?:=.*)?", word)]
        wrong += [(name, flag) for flag in flags if flag not in known | {"--help", "-h", "--help-all"}]
    assert not wrong


def test_every_command_has_a_page_and_every_page_a_place_in_the_site() -> None:
    pages = {page.name for page in (PROJECT / "docs").glob("*.md")}
    assert {f"{name}.md" for name in NmtCommands.lazy} <= pages
    site = (PROJECT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    assert pages == set(re.findall(r"[\w-]+\.md", site.split("\nnav:")[1]))
