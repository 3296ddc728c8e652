"""Writes the generated pages of docs/: the options of each command.

    python docs/site/reference.py

A test compares the pages with what this script would write, so that they cannot drift from the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import typer

from nmt_cli.cli.app import NmtCommands, load_command
from nmt_cli.cli.help import OptionHelp, describe_parameter
from nmt_cli.cli.help_pages import PAGES

DOCS = Path(__file__).parents[1]
SPECIAL = re.compile(r"[<>*]|(?<!\w)_|_(?!\w)")  # what Markdown would read as markup
NOTICE = "<!-- Written by `python docs/site/reference.py`. -->"


def render_pages() -> dict[str, str]:
    """Returns the content of every generated page, by its name."""
    return {f"options-{name}.md": render_options(name) for name in NmtCommands.lazy}


def render_options(name: str) -> str:
    """Returns the page with every option of a command, under the headings of its help."""
    command = load_command(name)
    context = typer.Context(command, info_name=name)
    options = [describe_parameter(parameter, context) for parameter in command.params if not parameter.hidden]
    headings = dict.fromkeys(("Arguments", *PAGES[name].headings, *(option.heading for option in options)))
    lines = [f"# Options of `nmt {name}`", "", NOTICE, "", f"[{name}.md]({name}.md) says what they are for."]
    for heading in headings:
        group = [option for option in options if option.heading == heading]
        lines += ["", f"## {heading}", "", *map(format_option, group)] if group else []
    return "\n".join([*lines, ""])


def format_option(option: OptionHelp) -> str:
    """Returns the item of an option: how it is typed, what it means, and its default."""
    notes = f" [{option.notes}]" if option.notes else ""
    return f"- `{option.flags}`: {mark_code(option.text)}{mark_code(notes)}"


def mark_code(text: str) -> str:
    """Returns a help text as Markdown: options as code, other characters that Markdown reads escaped."""
    parts = re.split(r"((?<!\w)--[a-z][\w-]*)", text)
    return "".join(f"`{part}`" if part.startswith("--") else SPECIAL.sub(r"\\\g<0>", part) for part in parts)


def write_pages() -> Iterator[str]:
    """Writes the pages that changed, and yields their names."""
    for name, text in render_pages().items():
        path = DOCS / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            yield name


if __name__ == "__main__":
    for changed in write_pages():
        print(changed)
