"""The explicitly set settings: on the command line, in the environment, in a file, or as arguments in Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, name_option, option_fields


class ExplicitOptions(NamedTuple):
    """The typed options, and those of the environment and of a file, even if equal to the default.

    Each maps the names of parameters to options as typed. `file` is that of a typed `--config`; `idle` holds the names
    of switches explicitly off, as they are by default; `origins` names the variable or the file of each in `filed`.
    """

    typed: Mapping[str, str]
    filed: Mapping[str, str]
    file: Path | None = None
    idle: frozenset[str] = frozenset()
    origins: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def from_arguments(
        cls, arguments: Mapping[str, Any], *kinds: type[Settings], earlier: Collection[str] = ()
    ) -> ExplicitOptions:
        """Returns the options that a program gives as arguments: fields of these settings, and others.

        Those given `earlier`, for several calls, count as those of a file.
        """
        fields = {field.name: field for kind in kinds for field in option_fields(kind)}
        flags = {name: name_option(fields[name]) if name in fields else name.replace("_", "-") for name in arguments}
        typed = {name: f"--{flag}" for name, flag in flags.items() if name not in earlier}
        filed = {name: f"--{flag}" for name, flag in flags.items() if name in earlier}
        defaults = {name: field.default for name, field in fields.items()}
        idle = {name for name, value in arguments.items() if is_off(value) and not defaults.get(name)}
        return cls(typed, filed, idle=frozenset(idle))

    @property
    def ambient(self) -> frozenset[str]:
        """The names of options that the environment sets, or a file that was found rather than named."""
        return frozenset(
            name for name, origin in self.origins.items() if name in self.filed and origin != str(self.file)
        )

    @property
    def settings_from(self) -> dict[str, str]:
        """The variable or the file of each option that was not typed, for `--json` and reports."""
        return {spell_name(self.filed[name]): origin for name, origin in self.origins.items() if name in self.filed}

    @property
    def origin_entry(self) -> dict[str, dict[str, str]]:
        """`settings_from` as an entry of `--json`; empty if all options were typed."""
        return {"settings_from": self.settings_from} if self.settings_from else {}

    @contextmanager
    def name_origin(self) -> Iterator[None]:
        """Names the variable or the file in an OptionError of the block if its first option comes from there."""
        try:
            yield
        except OptionError as error:
            first = re.search(r"--(?:set )?([\w-]+)", error.message)
            names = {spell_name(option): name for name, option in self.filed.items()}
            if first is None or first[1] not in names:
                raise
            name = names[first[1]]
            message = error.message.replace(first[0], self.filed[name].removeprefix("--set "), 1)
            raise OptionError(f"{self.origins[name]}: {message}", hint=error.hint) from error

    def select_fields(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of the fields of `settings` that are set explicitly."""
        return frozenset(field.name for field in option_fields(settings)) & {*self.typed, *self.filed}

    def find_overruled(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of the fields of `settings` set by a file but contradicted by a typed option."""
        pairs = [(field.name, field.metadata["setting"].instead_of) for field in option_fields(settings)]
        both_ways = {*pairs, *((other, name) for name, other in pairs)}
        return frozenset(name for name, other in both_ways if name in self.filed and other in self.typed)

    def drop(self, names: Collection[str]) -> ExplicitOptions:
        """Returns the same options without those in `names` that were not typed."""
        return self._replace(filed={name: option for name, option in self.filed.items() if name not in names})

    def find_first(self, names: Collection[str], *, beside: str = "") -> str | None:
        """Returns the first of these options that is set; where `beside` is typed, others count only if typed."""
        options = self.typed if beside in self.typed else {**self.filed, **self.typed}
        return next((option for name, option in options.items() if name in names and name not in self.idle), None)


# Returns options that are not set explicitly, by the class of their settings, from the values of all options.
Fallback = Callable[[Mapping[str, Any], ExplicitOptions], Mapping[type[Settings], Mapping[str, Any]]]


def leave_open(values: Mapping[str, Any], explicit: ExplicitOptions) -> Mapping[type[Settings], Mapping[str, Any]]:
    """The default fallback of a command: leaves unset options at their defaults."""
    return {}


def spell_name(option: str) -> str:
    """Returns the name of an option as it is typed."""
    return option.removeprefix("--set ").removeprefix("--")


def is_off(value: Any) -> bool:
    """Whether a setting with this value requests nothing."""
    return value is None or value is False
