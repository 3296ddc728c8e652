"""Writes the generated pages of docs/: the options and the further settings of each command.

    python docs/site/reference.py

A test compares the pages with what this script would write, so that they cannot drift from the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from typing import Any

import typer

from nmt_cli.cli.app import NmtCommands, load_command
from nmt_cli.cli.help import OptionHelp, describe_parameter
from nmt_cli.cli.help_pages import PAGES
from nmt_cli.cli.parsing.signature import list_declared
from nmt_cli.cli.parsing.spelling import is_setting
from nmt_cli.settings import Setting

DOCS = Path(__file__).parents[1]
SPECIAL = re.compile(r"[<>*]|(?<!\w)_|_(?!\w)")  # what Markdown would read as markup
SETTINGS = "Set with `--set NAME=VALUE`, or in a file of `--config`. Every option can be set so, too."
NOTICE = "<!-- Written by `python docs/site/reference.py`. -->"


def render_pages() -> dict[str, str]:
    """Returns the content of every generated page, by its name."""
    return {f"options-{name}.md": render_options(name) for name in NmtCommands.lazy}


def render_options(name: str) -> str:
    """Returns the page with every option of a command, under the headings of its help, and with its settings."""
    parameters = load_command(name).params
    options = describe_parameters(name, [parameter for parameter in parameters if not parameter.hidden])
    settings = describe_parameters(name, [parameter for parameter in parameters if is_setting(parameter)])
    headings = dict.fromkeys(("Arguments", *PAGES[name].headings, *(option.heading for option in options)))
    lines = [f"# Options of `nmt {name}`", "", NOTICE, "", f"[{name}.md]({name}.md) says what they are for."]
    for heading in headings:
        group = [option for option in options if option.heading == heading]
        lines += ["", f"## {heading}", "", *map(format_option, group)] if group else []
    lines += ["", "## Settings", "", SETTINGS, "", *map(format_option, settings)]
    return "\n".join([*lines, ""])


def describe_parameters(name: str, parameters: list[Any]) -> list[OptionHelp]:
    """Returns what help says of parameters of a command, with the range of each."""
    command = load_command(name)
    context = typer.Context(command, info_name=name)
    declared = list_declared(unwrap(getattr(import_module(f"nmt_cli.cli.{name}"), name)))
    described = []
    for parameter in parameters:
        option, limits = describe_parameter(parameter, context), describe_range(declared.get(parameter.name))
        described.append(option._replace(notes="; ".join(filter(None, [option.notes, limits]))))
    return described


def describe_range(setting: Setting | None) -> str:
    """Returns the bounds of a setting in words: "0 to 1", "at least 1"; nothing without any."""
    if setting is None or setting.low is None:
        return ""
    return f"at least {setting.low:g}" if setting.high is None else f"{setting.low:g} to {setting.high:,}"


def format_option(option: OptionHelp) -> str:
    """Returns the item of an option: how it is typed, what it means, and its default."""
    notes = f" [{option.notes}]" if option.notes else ""
    return f"- `{option.flags}`: {mark_code(option.text)}{mark_code(notes)}"


def mark_code(text: str) -> str:
    """Returns a help text as Markdown: options as code, other characters that Markdown reads escaped."""
    parts = re.split(r"((?<!\w)--(?:set )?[a-z][\w-]*(?:=\w+)?)", text)
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
