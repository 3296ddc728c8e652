"""What the pages show of the bundled models is what these write."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
# A pipe into a bundled model, perhaps behind a command that writes a file for it, and what it writes; objects of --json
# are shown in several lines, and shortened.
EXAMPLE = re.compile(
    r"^\$ ((?:printf .*> .*\n\$ )?(?:echo|printf) .*\| nmt translate --model (?:eng-deu|deu-eng)(?! --json).*)\n"
    r"((?:[^$].*\n)+)",
    re.MULTILINE,
)


def list_examples() -> Iterator[tuple[str, str]]:
    """Yields the commands of all pages with what they write."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            yield from EXAMPLE.findall(block)


EXAMPLES = list(list_examples())


def test_pages_have_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize(("command", "output"), EXAMPLES)
def test_an_example_is_true(command: str, output: str, tmp_path: Path) -> None:
    run = command.replace("\n$ ", "\n").replace("| nmt ", f"| {sys.executable} -m nmt_cli ")
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run(["bash", "-c", run], capture_output=True, check=True, cwd=tmp_path, env=environment)
    assert done.stdout.decode() == output
