"""Frozen dataclasses of settings: one default, one help text, one range for each, in one place.

The command line builds its options from them (`cli/options.py`), configuration files and model cards are
read through `Settings.from_mapping`. Standard library only, so that `nmt --help` starts at once.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Self

from nmt_cli.errors import OptionError, find_nearest


class Setting(NamedTuple):
    """What is known of a field beside its type and default.

    `low` and `high` are inclusive bounds; `panel` is the heading under which `--help` lists the option;
    `flag` is the option's name where it is not the field's own. `instead_of` is another field that says the same in
    another way: of the two the one that is typed overrules the one in a file.
    """

    help: str
    panel: str
    low: float | None = None
    high: float | None = None
    flag: str | None = None
    instead_of: str | None = None


def setting(
    default: Any,
    help: str,
    *,
    panel: str,
    low: float | None = None,
    high: float | None = None,
    flag: str | None = None,
    instead_of: str | None = None,
) -> Any:
    """A dataclass field that carries a `Setting`."""
    described = Setting(help=help, panel=panel, low=low, high=high, flag=flag, instead_of=instead_of)
    return dataclasses.field(default=default, metadata={"setting": described})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings. Raises OptionError as soon as a value is outside its type or range."""

    def __post_init__(self) -> None:
        types_by_name = self.field_types()
        for field in dataclasses.fields(self):
            check(field, types_by_name[field.name], getattr(self, field.name))

    @classmethod
    @cache
    def field_types(cls) -> dict[str, Any]:
        """The types of the fields by their names; they are text in the source, which takes long to resolve."""
        return typing.get_type_hints(cls)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], *, where: str) -> Self:
        """Settings from a mapping such as a parsed file; `where` names it in errors.

        Raises OptionError for a key that is no field, naming the nearest.
        """
        known = [field.name for kind in cls.option_classes() for field in dataclasses.fields(kind)]
        reject_unknown(values, known, where=where)
        return cls.from_options(**values)

    @classmethod
    def from_options(cls, **options: Any) -> Self:
        """Returns the settings with the values of these options; those left out are at their default."""
        return cls(**options)

    @classmethod
    def option_classes(cls) -> tuple[type[Settings], ...]:
        """Returns the classes whose fields are options of these settings: several if an option chooses the class."""
        return (cls,)

    def to_mapping(self) -> dict[str, Any]:
        """The fields as plain values, in order of declaration."""
        return dataclasses.asdict(self)


def reject_unknown(names: Iterable[str], known: Collection[str], *, where: str, thing: str = "option") -> None:
    """Raises OptionError for the first name of a `thing` that is not `known`, with the nearest one that is."""
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        like = find_nearest(unknown, known)
        raise OptionError(
            f"{where}: there is no {thing} {unknown!r}",
            hint=f"did you mean {like!r}?" if like else f"the {thing}s are {', '.join(known)}",
        )


def check(field: dataclasses.Field[Any], kind: Any, value: Any) -> None:
    """Raises OptionError unless `value` has the type `kind` and lies in the field's range."""
    flag = "--" + option_name(field)
    if not is_of(kind, value):
        expected = ", ".join(map(str, list_choices(kind))) or getattr(kind, "__name__", str(kind))
        raise OptionError(f"{flag} cannot be {value!r}", hint=f"it takes {expected}")
    described: Setting | None = field.metadata.get("setting")
    if described is None or isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not math.isfinite(value):
        raise OptionError(f"{flag} is {value}; a number is needed")
    if described.low is not None and value < described.low:
        raise OptionError(f"{flag} is {value}; at least {described.low:g} is needed")
    if described.high is not None and value > described.high:
        raise OptionError(f"{flag} is {value}; at most {described.high:g} is possible")


def option_name(field: dataclasses.Field[Any]) -> str:
    """The name of a field on the command line, without the dashes before it."""
    described: Setting | None = field.metadata.get("setting")
    return (described.flag if described else None) or field.name.replace("_", "-")


def list_choices(kind: Any) -> tuple[Any, ...]:
    """The values of a Literal type; empty for any other."""
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def is_of(kind: Any, value: Any) -> bool:
    """Whether `value` is of a type that a setting may have: plain, optional, or one of a few words."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return any(is_of(part, value) for part in typing.get_args(kind))
    if list_choices(kind):
        return value in list_choices(kind)
    if typing.get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(is_of(typing.get_args(kind)[0], part) for part in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)
