"""The spelling of options in messages: those without a flag of their own as `--set NAME=VALUE`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

NUMBER = r"-?\d[\d.]*(?:e-?\d+)?"  # a value in a message; a word is one only where it is a choice
END = r"(?![\w-])"


def is_setting(parameter: Any) -> bool:
    """Whether the parameter has no option of its own: `--set` and `--config` set it."""
    return getattr(parameter, "is_setting", False)


def name_option(parameter: Any) -> str:
    """Returns the longest name of an option, without dashes."""
    return str(max(parameter.opts, key=len)).removeprefix("--")


def spell_option(parameter: Any, value: Any = None) -> str:
    """Returns an option as typed (`--no-x` if it is switched off), an argument by its metavar."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).strip("[].")
    if is_setting(parameter):
        return f"--set {name_option(parameter)}"
    names = parameter.secondary_opts if value is False and parameter.secondary_opts else parameter.opts
    return str(next((name for name in names if name.startswith("--")), names[0]))


def spell_typed(parameter: Any, flag: str, value: str | None) -> str:
    """Returns how to set what was typed as `flag` with a value: by the parameter's option, or by `--set`."""
    if not is_setting(parameter):
        return spell_option(parameter) + ("" if parameter.is_flag else f" {value or 'VALUE'}")
    if parameter.is_flag:
        value = "false" if flag in parameter.secondary_opts else "true"
    return f"{spell_option(parameter)}={value or 'VALUE'}"


def respell_settings(text: str, parameters: Sequence[Any]) -> str:
    """Returns a text of ours with the settings among the parameters written as they are typed.

    `--x 3` becomes `--set x=3`, `--no-x` becomes `--set x=false`, and `--x` becomes `--set x`.
    """
    for parameter in filter(is_setting, parameters) if "--" in text else ():
        name = name_option(parameter)
        if f"-{name}" in text:
            choices = parameter.type_descriptor.choices or ()
            values = "|".join([NUMBER, *(re.escape(str(choice)) for choice in choices)])
            text = re.sub(rf"--{name} ({values}){END}", rf"--set {name}=\1", text)
            text = re.sub(rf"--no-{name}{END}", f"--set {name}=false", text)
            text = re.sub(rf"--{name}{END}", f"--set {name}", text)
    return text
