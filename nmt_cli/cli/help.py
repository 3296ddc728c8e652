"""Renders the help of a command: arguments, examples, everyday options, then the others under their headings.

`--help` shows the first clause about each everyday option, and the names of the others:

    Other options:
      Decoding: --length-penalty, --no-repeat-ngram, --max-length, --rerank

`--help-all` has the whole text of each. This module knows Typer's parameters but not their meaning, and is imported
only when needed.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import typing
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nmt_cli
from nmt_cli.cli.help_pages import EVERYDAY, FIRST_STEPS, METAVARS, OTHERS, PAGES, VALUES, CommandExample, HelpPage
from nmt_cli.cli.parsing.configuration import name_option
from nmt_cli.text.wrapping import count_columns, wrap_text

WIDEST = 100  # columns: longer lines are hard to read
NARROW = 60  # below so many columns, a description stands under its option
NAMES = 30  # columns for the names of options, at most
DEFAULT_NOTE = re.compile(r"\s*\[(?:default: )?([^\[\]]*)\]\.?$")
CLAUSES = re.compile(r"(?:; |\. (?=[A-Z]))(?![^(]*\))")  # their ends, but for those in parentheses
SHORT_CLAUSE = 24  # characters of a later clause that is always shown: "0 allows all"
ENDINGS = {"help": "Show this page; --help-all has every option in full."}
LONGEST_FLAG = 36  # columns of a flag and its opposite with a bar; longer ones may break between the two
NO_PAGE = HelpPage((), (), ())
MOST_CHOICES = 8  # that are listed beside an option; a longer list belongs in its description


class OptionHelp(NamedTuple):
    """The help on one option or argument."""

    name: str  # without dashes
    heading: str
    flags: str  # as they are typed, with the name of the value
    text: str
    notes: str  # the default


def measure_width() -> int:
    """Returns the width of the terminal in columns (or the variable COLUMNS), at most WIDEST."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def format_command_help(command: Any, context: Any, *, in_full: bool) -> str:
    """Returns the help page of a command; PAGES has its other parts under the command's name."""
    width = measure_width()
    parameters = command.get_params(context)
    options = [describe_parameter(option, context) for option in parameters if not getattr(option, "hidden", False)]
    text = " ".join(command.collect_usage_pieces(context)).replace("[[", "[").replace("]...]", "]")
    lines = wrap_text(f"Usage: {context.command_path} {text}", width, hang=7)
    lines += ["", *format_paragraphs(command.help or "", width, in_full=in_full)]
    lines += format_section("Arguments", [option for option in options if option.heading == "Arguments"], width, True)
    lines += format_examples(PAGES.get(command.name, NO_PAGE).examples, width)
    lines += format_options(command.name, options, width, in_full=in_full)
    return "\n".join([*lines, "", *format_ending(command.name, width, in_full=in_full)])


def format_group_help(commands: Iterable[tuple[str, str]], summary: str) -> str:
    """Returns the help page of `nmt` itself: the first commands to type, then all commands."""
    width = measure_width()
    lines = ["Usage: nmt COMMAND [OPTIONS]", "", *wrap_text(summary, width, hang=0), "", "Start with these five lines:"]
    lines += format_examples(FIRST_STEPS, width)[2:]
    lines += format_rows("Commands", commands, width)
    options = (
        ("--version", "Print the version and exit."),
        ("--install-completion", "Let this shell complete commands, options and models."),
        ("--show-completion", "Print the script that this would install."),
        ("-h, --help", "Show this page."),
    )
    lines += format_rows("Options", options, width)
    ending = "`nmt COMMAND --help` has examples and options; `nmt COMMAND --help-all` has every option in full."
    return "\n".join([*lines, "", *wrap_text(ending, width, hang=0), link_documentation("README.md")])


def describe_parameter(parameter: Any, context: Any) -> OptionHelp:
    """Returns the help on a parameter."""
    if parameter.param_type_name == "argument":
        name = str(parameter.metavar or parameter.name.upper()).strip("[].")
        return OptionHelp(name, "Arguments", name, parameter.help or "", "")
    text, default = split_default(parameter.help or "")
    default = default or format_default(parameter, context)
    text = ENDINGS.get(parameter.name, text)
    heading = parameter.rich_help_panel or "Output"
    note = f"default: {default}" if default else ""
    return OptionHelp(name_option(parameter), heading, format_flags(parameter), text, note)


def split_default(text: str) -> tuple[str, str]:
    """Splits a description from the bracketed default at its end: "Seed. [1]" -> "Seed.", "1"."""
    note = DEFAULT_NOTE.search(text)
    if note is None:
        return text, ""
    return text[: note.start()].rstrip(".") + ".", note[1]


def format_default(parameter: Any, context: Any) -> str:
    """Returns the default as it would be typed; empty for a flag that is off, and for an option without a default."""
    value = parameter.get_default(context)
    if value is None or value is False or value in ("", [], ()) or not parameter.show_default:
        return ""
    return "on" if value is True else str(value)


def format_flags(parameter: Any) -> str:
    """Returns an option as typed: short name, long name, value; for a flag that is on by default, also its opposite."""
    names = sorted(parameter.opts, key=len)
    if parameter.is_flag:
        off = parameter.secondary_opts if parameter.default is not False else []
        both = "/".join([", ".join(names), *off])
        return both if count_columns(both) <= LONGEST_FLAG else ", ".join([*names, *off])
    return f"{', '.join(names)} {format_metavar(parameter)}"


def format_metavar(parameter: Any) -> str:
    descriptor = parameter.type_descriptor
    if parameter.metavar:
        return str(parameter.metavar)
    if descriptor.is_choice and len(descriptor.choices) <= MOST_CHOICES:
        return "|".join(map(str, descriptor.choices))
    if descriptor.is_choice:
        return str(parameter.name).upper()
    kind = descriptor.annotation
    kind = typing.get_args(kind)[0] if typing.get_origin(kind) is list else kind
    return METAVARS.get(parameter.name, VALUES.get(getattr(kind, "__name__", ""), "VALUE"))


def format_paragraphs(text: str, width: int, *, in_full: bool) -> list[str]:
    """Returns the description of a command: its first paragraph, or all of them."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    lines: list[str] = []
    for paragraph in paragraphs if in_full else paragraphs[:1]:
        lines += ["", *wrap_text(paragraph, width, hang=0)]
    return lines[1:]


def format_examples(examples: Sequence[CommandExample], width: int) -> list[str]:
    """Returns the examples, each with its effect as a comment: beside it, or above if there is no room."""
    if not examples:
        return []
    commands = max(count_columns(example.command) for example in examples) + 4
    if commands + max(len(example.effect) + 2 for example in examples) <= width:
        rows = [f"  {example.command:<{commands - 2}}# {example.effect}" for example in examples]
        return ["", "Examples:", *rows]
    lines = ["", "Examples:"]
    for example in examples:
        lines += [f"  # {line.strip()}" for line in wrap_text(example.effect, width - 4, hang=0)]
        lines += wrap_text(f"  {example.command}", width)
    return lines


def format_options(command: str, options: Sequence[OptionHelp], width: int, *, in_full: bool) -> list[str]:
    """Returns the everyday options of a command, then the others under their headings: described, or only named."""
    by_name = {option.name: option for option in options}
    page = PAGES.get(command, NO_PAGE)
    everyday = [by_name[name] for name in (*page.everyday, "help") if name in by_name]
    lines = format_section(EVERYDAY, everyday, width, in_full)
    rest = [option for option in options if option not in everyday and option.heading != "Arguments"]
    if rest and not in_full:
        lines += ["", f"{OTHERS}:"]
    for heading in dict.fromkeys((*page.headings, *(option.heading for option in rest))):
        group = [option for option in rest if option.heading == heading]
        lines += format_section(heading, group, width, in_full) if in_full else name_options(heading, group, width)
    return lines


def name_options(heading: str, options: Sequence[OptionHelp], width: int) -> list[str]:
    """Returns a heading, followed by the names of its options."""
    if not options:
        return []
    names = ", ".join(re.findall(r"--[\w-]+", option.flags)[-1] for option in options)  # of a flag that is on, --no-
    return wrap_text(f"  {heading}: {names}", width, hang=4)


def format_section(heading: str, options: Sequence[OptionHelp], width: int, in_full: bool) -> list[str]:
    """Returns the options under a heading with their descriptions, in full if `in_full`."""
    rows = []
    for option in options:
        text = option.text if in_full else shorten_description(option.text)
        rows.append((option.flags, f"{text} [{option.notes}]" if option.notes else text))
    return format_rows(heading, rows, width)


def shorten_description(text: str) -> str:
    """Returns the first clause of a description, and any others as short as "0 allows all"."""
    first, *others = CLAUSES.split(text.removesuffix("."))
    return "; ".join([first, *(clause for clause in others if len(clause) <= SHORT_CLAUSE)]) + "."


def format_rows(heading: str, rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Returns a heading and rows of a name and its description, side by side if the width allows it."""
    rows = list(rows)
    if not rows:
        return []
    lines = ["", f"{heading}:"]
    column = min(NAMES, width * 2 // 5, max(count_columns(name) for name, _ in rows) + 4)
    for name, text in rows:
        if width < NARROW:
            lines += [*wrap_text(f"  {name}", width, hang=6), *wrap_text(f"      {text}", width, hang=6)]
            continue
        described = wrap_text(text, width - column, hang=0)
        fits = count_columns(name) + 4 <= column
        if fits:
            lines.append(f"  {name:<{column - 2}}{described[0]}")
        else:
            lines += [*wrap_text(f"  {name}", width, hang=6), " " * column + described[0]]
        lines += [" " * column + line for line in described[1:]]
    return lines


def format_ending(name: str, width: int, *, in_full: bool) -> list[str]:
    """Returns the last lines, which say where to find more."""
    more = f"What each option does: nmt {name} --help-all"
    lines = [] if in_full else wrap_text(more, width)
    return [*lines, *([link_documentation(f"docs/{name}.md")] if name in PAGES else [])]


def link_documentation(name: str) -> str:
    """Returns the line that names a documentation page; on a terminal, the name can be clicked."""
    package = Path(nmt_cli.__file__).parent  # in a wheel the pages lie in it, in a checkout beside it
    path = next((path for path in (package / name, package.parent / name) if path.is_file()), None)
    if path is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return f"Documentation: {name}"
    return f"Documentation: \033]8;;{path.as_uri()}\033\\{name}\033]8;;\033\\"
