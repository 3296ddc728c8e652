"""The explicitly set settings: on the command line, in the file of `--config`, or as arguments in Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, name_option, option_fields


class ExplicitOptions(NamedTuple):
    """The typed options and those in the file of `--config`, even if equal to the default.

    Each maps the names of parameters to options as typed. Neither includes values from the environment. `file` is that
    of `--config`; `idle` holds the names of switches explicitly off, as they are by default.
    """

    typed: Mapping[str, str]
    filed: Mapping[str, str]
    file: Path | None = None
    idle: frozenset[str] = frozenset()

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

    @contextmanager
    def name_file(self) -> Iterator[None]:
        """Names the file in an OptionError of the block if its first option is from the file, not typed."""
        try:
            yield
        except OptionError as error:
            first = re.search(r"--(?:set )?([\w-]+)", error.message)
            names = {option.removeprefix("--set ").removeprefix("--"): option for option in self.filed.values()}
            if first is None or first[1] not in names:
                raise
            message = error.message.replace(first[0], names[first[1]].removeprefix("--set "), 1)
            raise OptionError(f"{self.file}: {message}", hint=error.hint) from error

    def select_fields(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of the fields of `settings` that are set explicitly."""
        return frozenset(field.name for field in option_fields(settings)) & {*self.typed, *self.filed}

    def find_overruled(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of the fields of `settings` set by the file but contradicted by a typed option."""
        pairs = [(field.name, field.metadata["setting"].instead_of) for field in option_fields(settings)]
        both_ways = {*pairs, *((other, name) for name, other in pairs)}
        return frozenset(name for name, other in both_ways if name in self.filed and other in self.typed)

    def drop(self, names: Collection[str]) -> ExplicitOptions:
        """Returns the same options without the file's options in `names`."""
        return self._replace(filed={name: option for name, option in self.filed.items() if name not in names})

    def find_first(self, names: Collection[str], *, beside: str = "") -> str | None:
        """Returns the first of these options that is set; where `beside` is typed, the file does not count."""
        options = self.typed if beside in self.typed else {**self.filed, **self.typed}
        return next((option for name, option in options.items() if name in names and name not in self.idle), None)


# Returns options that are not set explicitly, by the class of their settings, from the values of all options.
Fallback = Callable[[Mapping[str, Any], ExplicitOptions], Mapping[type[Settings], Mapping[str, Any]]]


def leave_open(values: Mapping[str, Any], explicit: ExplicitOptions) -> Mapping[type[Settings], Mapping[str, Any]]:
    """The default fallback of a command: leaves unset options at their defaults."""
    return {}


def is_off(value: Any) -> bool:
    """Whether a setting with this value requests nothing."""
    return value is None or value is False
