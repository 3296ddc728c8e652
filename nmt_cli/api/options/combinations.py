"""What a row of the table of refusals is, and the values that it looks at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from nmt_cli.settings import Settings, option_fields


class SettingValues(dict[str, Any]):
    """The values of the settings of a command by their names; None for one that it does not have."""

    def __missing__(self, name: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Refusal(NamedTuple):
    """Settings that are refused `when` others have such values.

    `why` continues the sentence that the option begins; in it, and in the hint, `{name}` is the value of a setting.
    Where `beside` is typed, options of a file do not count.
    """

    settings: Collection[str]
    when: Callable[[SettingValues], Any]
    why: str
    hint: str = "leave one of them out"
    beside: str = ""


def collect_values(settings: Iterable[Settings], others: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of all these settings and the others by their names."""
    return {name: value for group in settings for name, value in vars(group).items()} | dict(others)


def list_names(*kinds: type[Settings]) -> frozenset[str]:
    return frozenset(field.name for kind in kinds for field in option_fields(kind))
