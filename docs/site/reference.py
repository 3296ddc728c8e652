"""Writes the generated pages of docs/: the options and settings of each command, and the rules of `translate`.

    python docs/site/reference.py

A test compares the pages with what this script would write, so that they cannot drift from the code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from inspect import getdoc, getsource, signature, unwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

from nmt_cli.carrying.kinds import DOUBTFUL, IF_LOST, KINDS
from nmt_cli.carrying.spans import Kind
from nmt_cli.cli.app import NmtCommands, load_command
from nmt_cli.cli.help import OptionHelp, describe_parameter
from nmt_cli.cli.help_pages import PAGES
from nmt_cli.cli.parsing.options import is_settings
from nmt_cli.rewriting.rewrite import REWRITES
from nmt_cli.settings import Setting, option_fields
from nmt_cli.translation.checks.table import CHECKS
from nmt_cli.translation.segmentation.dividers import DIVIDERS
from nmt_cli.translation.stages import STAGES

DOCS = Path(__file__).parents[1]
SPECIAL = re.compile(r"[<>*]|(?<!\w)_|_(?!\w)")  # what Markdown would read as markup
SETTINGS = "You can also set them in `nmt.toml` or a `--config` file, by their names without dashes."
SENTENCE_END = re.compile(r"(?<!\d)\.(?=\s+[A-Z`]|\s*$)")
CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
RULES = """# Rules of `nmt translate`

{notice}

[How a translation stays faithful](faithful.md) explains how these rules work together. The
[log](../benchmarks/log/rules.md) shows the effect of each rule.

## Stages

Each translation goes through these stages, in this order. The *pieces* of a line are its sentences or, if a sentence is
long, the parts of that sentence.

{stages}

## Dividers

`nmt` copies these dividers unchanged, and translates the text between them piece by piece.

{dividers}

## Protected spans

Protected spans do not change in the translation, except for the separators inside numbers. The network reads a
placeholder instead of a *masked* span. If a span is *taken out*, the network never sees it, and `nmt` uses attention to
put it back. If several rules match, `nmt` applies the first one.

{spans}

## Dropped items

If the network drops one of these items, `nmt` protects the item and translates the sentence again. If a sentence has
brackets or quotes, `nmt` always translates it twice. It uses the translation with fewer faults. If both have the same
faults, it uses the more likely one.

{lost}

## Rewrites

`nmt` rewrites the source in this order before the network reads it. Afterwards, `nmt` undoes the rewrites in reverse
order.

{rewrites}

## Checks

The checks run after every repair. [Which translations should I check?](confidence.md) explains the reports.

{checks}
"""
CARRYING = "nmt_cli.carrying."
NOTICE = "<!-- Written by `python docs/site/reference.py`. -->"


def render_pages() -> dict[str, str]:
    """Returns the content of every generated page, by its name."""
    return {"rules.md": render_rules(), **{f"options-{name}.md": render_options(name) for name in NmtCommands.lazy}}


def render_options(name: str) -> str:
    """Returns the page with every option of a command, under the headings of its help."""
    parameters = load_command(name).params
    options = describe_parameters(name, [parameter for parameter in parameters if not parameter.hidden])
    headings = dict.fromkeys(("Arguments", *PAGES[name].headings, *(option.heading for option in options)))
    lines = [
        f"# Options of `nmt {name}`",
        "",
        NOTICE,
        "",
        f"[{name}.md]({name}.md) explains when to use them. {SETTINGS}",
    ]
    for heading in headings:
        group = [option for option in options if option.heading == heading]
        lines += ["", f"## {heading}", "", *map(format_option, group)] if group else []
    return "\n".join([*lines, ""])


def list_declared(command: Callable[..., Any]) -> dict[str, Setting]:
    """Returns the declared settings of a command by parameter name."""
    kinds = [parameter.annotation for parameter in signature(command, eval_str=True).parameters.values()]
    fields = [field for kind in kinds if is_settings(kind) for field in option_fields(kind)]
    return {field.name: field.metadata["setting"] for field in fields}


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
    parts = re.split(r"((?<!\w)--[a-z][\w-]*(?:=\w+)?)", text)
    return "".join(f"`{part}`" if part.startswith("--") else SPECIAL.sub(r"\\\g<0>", part) for part in parts)


def render_rules() -> str:
    """Returns the page with a row, and an anchor to link to, for each rule of `nmt translate`."""
    second = dict.fromkeys((*IF_LOST, *DOUBTFUL))
    forms: dict[ModuleType, dict[str, None]] = {}
    for kind in KINDS:
        if kind not in second:
            forms.setdefault(find_module(kind), {})["masked" if kind.form == "placeholder" else kind.form] = None
    spans = [(name_module(module), ", ".join(names), summarise(module)) for module, names in forms.items()]
    lost = [(kind.name.value, summarise(kind)) for kind in second]
    rewrites = [(CAMEL_CASE.sub(" ", rewrite.__name__).lower(), summarise(rewrite)) for rewrite in REWRITES]
    stages = [(stage.run.__name__.replace("_", " "), summarise(stage.run)) for stage in STAGES]
    dividers = [(divider.name, summarise(divider.find)) for divider in DIVIDERS]
    checks = [(check.name, check.doc.rstrip(".") or summarise(check.compare or check.inspect)) for check in CHECKS]
    return RULES.format(
        notice=NOTICE,
        stages=format_table("stage", ("stage", "what it does"), stages),
        dividers=format_table("divider", ("rule", "divides a line at"), dividers),
        spans=format_table("span", ("rule", "the span is", "what it protects"), spans),
        lost=format_table("lost", ("rule", "what it finds"), lost),
        rewrites=format_table("rewrite", ("rule", "what it does"), rewrites),
        checks=format_table("check", ("check", "what it does"), checks),
    )


def find_module(kind: Kind) -> ModuleType:
    """Returns the module that declares a kind."""
    for name, module in sys.modules.items():
        names = [key for key, value in vars(module).items() if value is kind] if name.startswith(CARRYING) else []
        if names and f"\n{names[0]} = " in getsource(module):
            return module
    raise LookupError(kind.name)


def name_module(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2].replace("_", " ")


def summarise(documented: object) -> str:
    """Returns the first sentence of a docstring."""
    paragraph = " ".join((getdoc(documented) or "").split("\n\n")[0].split())
    return SENTENCE_END.split(paragraph)[0]


def format_table(prefix: str, header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table of Markdown with an anchor in each row: `prefix`, and the name that the row begins with.

    A bar in a cell would end it, even in code.
    """
    lines = [f"| {' | '.join(header)} |", "|---" * len(tuple(header)) + "|"]
    for name, *cells in ([cell.replace("|", r"\|") for cell in row] for row in rows):
        anchor = "-".join([*prefix.split(), *name.split()])
        lines.append(f'| <a id="{anchor}"></a>{" | ".join([name, *cells])} |')
    return "\n".join(lines)


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
