"""A row of the table of refusals, and the values that it inspects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from nmt_cli.settings import Settings, option_fields


class SettingValues(dict[str, Any]):
    """The values of a command's settings by name; None for settings that it lacks."""

    def __missing__(self, name: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Refusal(NamedTuple):
    """Settings refused `when` others have certain values.

    `why` continues the sentence that the option begins; in it, and in the hint, `{name}` is the value of a setting.
    Where `beside` is typed, options of a file do not count.
    """

    settings: Collection[str]
    when: Callable[[SettingValues], Any]
    why: str
    hint: str = "leave one of them out"
    beside: str = ""


def require(settings: Collection[str], other: str, hint: str) -> Refusal:
    """Returns the refusal of settings that mean nothing without another one."""
    why = f"needs --{other.replace('_', '-')}"
    return Refusal(settings, lambda values: values[other] is None or values[other] is False, why, hint)


def exclude(settings: Collection[str], other: str, hint: str = "leave one of them out", beside: str = "") -> Refusal:
    """Returns the refusal of settings that mean nothing beside another one."""
    return Refusal(settings, itemgetter(other), f"cannot be combined with --{other.replace('_', '-')}", hint, beside)


def collect_values(settings: Iterable[Settings], others: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of all these settings and the others by name."""
    return {name: value for group in settings for name, value in vars(group).items()} | dict(others)


def list_names(*kinds: type[Settings]) -> frozenset[str]:
    return frozenset(field.name for kind in kinds for field in option_fields(kind))
