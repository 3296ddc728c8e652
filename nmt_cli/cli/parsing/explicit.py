"""Which options of a command were set explicitly, on the command line or in the file of `--config`.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import typer

from nmt_cli.cli.parsing.spelling import spell_option
from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, option_fields


class ExplicitOptions(NamedTuple):
    """The options that were typed and those in the file of `--config`, even where they equal the default.

    Each maps the names of parameters to options as they are typed. What the environment sets is in neither. `file` is
    that of `--config`.
    """

    typed: Mapping[str, str]
    filed: Mapping[str, str]
    file: Path | None = None

    @classmethod
    def from_context(cls, context: typer.Context, file: Path | None) -> ExplicitOptions:
        names: dict[str, dict[str, str]] = {"COMMANDLINE": {}, "DEFAULT_MAP": {}}
        for parameter in context.command.params:
            name = str(parameter.name)
            source = context.get_parameter_source(name)
            if source is not None and source.name in names:
                names[source.name][name] = spell_option(parameter, context.params.get(name))
        return cls(names["COMMANDLINE"], names["DEFAULT_MAP"], file)

    @contextmanager
    def name_file(self) -> Iterator[None]:
        """Names the file in an OptionError of the block whose first option is one of the file, which nobody typed."""
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
        """Returns the names of those fields of `settings` that are set explicitly."""
        return frozenset(field.name for field in option_fields(settings)) & {*self.typed, *self.filed}

    def find_overruled(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of those fields of `settings` that the file sets and a typed option contradicts."""
        pairs = [(field.name, field.metadata["setting"].instead_of) for field in option_fields(settings)]
        both_ways = {*pairs, *((other, name) for name, other in pairs)}
        return frozenset(name for name, other in both_ways if name in self.filed and other in self.typed)

    def drop(self, names: Collection[str]) -> ExplicitOptions:
        """Returns the same options without those of the file that are in `names`."""
        return self._replace(filed={name: option for name, option in self.filed.items() if name not in names})

    def find_first(self, names: Collection[str], *, beside: str = "") -> str | None:
        """Returns the first of these options that is set; where `beside` is typed, the file does not count."""
        options = self.typed if beside in self.typed else {**self.filed, **self.typed}
        return next((option for name, option in options.items() if name in names), None)

    def refuse(self, names: Collection[str], why: str, *, hint: str, beside: str = "") -> None:
        """Raises OptionError if one of these options is set; `why` continues the sentence that its name begins."""
        first = self.find_first(names, beside=beside)
        if first is not None:
            raise OptionError(f"{first} {why}", hint=hint)
