"""The base of all settings: dataclasses that state the default, help text and range of each option.

    class SearchOptions(Settings, panel="Decoding"):
        length_penalty: float = setting(1.0, "Exponent of the length penalty.", low=0, high=10)

is the option `--length-penalty` of each command that searches, `length-penalty = 0.8` in a configuration file, the
argument `length_penalty` in Python, a line of `--help-all` and of the reference, and an entry of a card
(`Settings.from_mapping`). Standard library only, so that `nmt --help` starts at once.
"""

from __future__ import annotations

import dataclasses
import math
import os
import reprlib
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, Self

from nmt_cli.errors import OptionError, find_nearest

# Other names of values, by the option: those by which textbooks and other toolkits call them.
SYNONYMS = {"attention": {"bahdanau": "additive", "luong": "general"}}
TYPE_NAMES: dict[Any, str] = {str: "string", os.PathLike: "path", Callable: "function", Mapping: "mapping"}


class Setting(NamedTuple):
    """The description of a field besides its type and default.

    `low` and `high` are inclusive bounds; `panel` is the heading under which `--help` lists the option, by default that
    of its class; `flag` is the option's name if it differs from the field's, `also` a second name. `instead_of` is
    another field with the same meaning: of the two, the one on the command line overrules the one in a file. `harmless`
    says whether a file that nobody named may set the option, because it names nothing to write, send, open or run, and
    replaces nothing. None means: only if it is a number or a choice.
    """

    help: str
    panel: str = ""
    low: float | None = None
    high: float | None = None
    flag: str | None = None
    instead_of: str | None = None
    also: str | None = None
    harmless: bool | None = None


def setting(default: Any, help: str, **declared: Any) -> Any:
    """Returns a dataclass field with a `Setting` of these entries in its metadata."""
    return dataclasses.field(default=default, metadata={"setting": Setting(help, **declared)})


@typing.dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,))
class Settings:
    """The base of all settings. Raises OptionError on construction for a value of the wrong type or out of range.

    Its subclasses are frozen dataclasses whose arguments are all keywords. The methods that `dataclass` would generate
    and compile for each of them are written here once: those of the 15 classes of `nmt translate` took 29 ms, a tenth
    of its start.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls, *, panel: str = "") -> None:
        """Gives the settings of a class its heading `panel`, except those with one of their own."""
        super().__init_subclass__()
        for field in vars(cls).values():
            declared = getattr(field, "metadata", {}).get("setting")
            if declared is not None:
                field.metadata = {"setting": declared._replace(panel=declared.panel or panel)}
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)

    def __init__(self, **values: Any) -> None:
        fields = self.__dataclass_fields__
        unknown = next((name for name in values if name not in fields or not fields[name].init), None)
        if unknown is not None:
            raise TypeError(f"{type(self).__name__} has no field {unknown!r}")
        for name in SYNONYMS.keys() & values.keys():
            values[name] = SYNONYMS[name].get(str(values[name]), values[name])
        vars(self).update({name: values[name] if name in values else find_default(fields[name]) for name in fields})
        self.__post_init__()

    def __post_init__(self) -> None:
        types_by_name = self.resolve_field_types()
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not field.default:  # most are, and `replace` makes several settings for each text
                check_value(field, types_by_name[field.name], value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    @classmethod
    @cache
    def resolve_field_types(cls) -> dict[str, Any]:
        """Returns the types of the fields by name. Cached, since resolving annotations is slow."""
        return typing.get_type_hints(cls)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], *, where: str) -> Self:
        """Returns the settings in a mapping such as a parsed file; `where` names it in errors.

        Raises OptionError for a key that is not a field; the hint names the nearest field.
        """
        known = [field.name for kind in cls.list_option_classes() for field in dataclasses.fields(kind)]
        reject_unknown(values, known, where=where)
        return cls.from_options(**values)

    @classmethod
    def from_options(cls, **options: Any) -> Self:
        """Returns the settings with these options, and all others at their defaults."""
        return cls(**options)

    @classmethod
    def list_option_classes(cls) -> tuple[type[Settings], ...]:
        """Returns the classes whose fields are options of these settings: several if an option chooses the class."""
        return (cls,)

    def to_mapping(self) -> dict[str, Any]:
        """Returns the fields as plain values, in order of declaration."""
        return dataclasses.asdict(self)


def find_default(field: dataclasses.Field[Any]) -> Any:
    """Returns the default of a field. Raises TypeError if it has none."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    if field.default is dataclasses.MISSING:
        raise TypeError(f"the field {field.name!r} is missing")
    return field.default


def option_fields(settings: type[Settings]) -> list[dataclasses.Field[Any]]:
    """Returns the fields that are options; a field without a `Setting` is only for programs."""
    fields: dict[str, dataclasses.Field[Any]] = {}
    for kind in settings.list_option_classes():
        for field in dataclasses.fields(kind):
            if "setting" in field.metadata:
                fields.setdefault(field.name, field)
    return list(fields.values())


def reject_unknown(names: Iterable[str], known: Collection[str], *, where: str, noun: str = "option") -> None:
    """Raises OptionError for the first name (of a `noun`) that is not `known`; the hint names the most similar one."""
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        nearest = find_nearest(unknown, known)
        raise OptionError(
            f"{where}: there is no {noun} {unknown!r}",
            hint=f"did you mean {nearest!r}?" if nearest else f"the {noun}s are {', '.join(known)}",
        )


def check_value(field: dataclasses.Field[Any], kind: Any, value: Any) -> None:
    """Raises OptionError unless `value` has the type `kind` and is within the field's range."""
    flag = "--" + name_option(field)
    declared: Setting | None = field.metadata.get("setting")
    if not has_type(kind, value):
        hint = explain_type(field.name, kind, value)
        if declared is not None and "string" in hint:  # the first sentence of the help describes its form
            hint += f": {declared.help.partition('. ')[0].partition(' [')[0].rstrip('.')}"
        raise OptionError(f"{flag} cannot be {reprlib.repr(value)}", hint=hint)
    if declared is None or isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not math.isfinite(value):
        raise OptionError(f"{flag} is {value}, but must be a number", hint=describe_range(field))
    if declared.low is not None and value < declared.low:
        raise OptionError(f"{flag} is {value}, but must be at least {declared.low:,.10g}", hint=describe_range(field))
    if declared.high is not None and value > declared.high:
        raise OptionError(f"{flag} is {value}, but must be at most {declared.high:,.10g}", hint=describe_range(field))


def describe_range(field: dataclasses.Field[Any]) -> str:
    """Returns the hint that says which numbers a field takes, with its default."""
    declared: Setting = field.metadata["setting"]
    low = "" if declared.low is None else f"{declared.low:,.10g}"
    high = "" if declared.high is None else f"{declared.high:,.10g}"
    limits = (
        f" from {low} to {high}" if low and high else f" of at least {low}" if low else high and f" of at most {high}"
    )
    is_number = isinstance(field.default, int | float) and not isinstance(field.default, bool)
    return f"use a number{limits}{f', such as --{name_option(field)} {field.default:.10g}' if is_number else ''}"


def name_option(field: dataclasses.Field[Any]) -> str:
    """Returns the name of a field on the command line, without the dashes."""
    declared: Setting | None = field.metadata.get("setting")
    return (declared.flag if declared else None) or field.name.replace("_", "-")


def list_choices(kind: Any) -> tuple[Any, ...]:
    """Returns the values of a Literal type; empty for any other type."""
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def find_choice(name: str, value: object, choices: Iterable[str]) -> str | None:
    """Returns the value of an option that was probably meant: one of its choices, or a synonym of one."""
    return find_nearest(str(value), [*choices, *SYNONYMS.get(name, ())])


def explain_type(name: str, kind: Any, value: object) -> str:
    """Returns the hint for an argument of the wrong type: the choice that was probably meant, or what it takes."""
    parts = typing.get_args(kind) if typing.get_origin(kind) in (types.UnionType, typing.Union) else (kind,)
    choices = [str(choice) for part in parts for choice in list_choices(part)]
    nearest = find_choice(name, value, choices) if choices else None
    return f"{f'did you mean {nearest!r}? ' if nearest else ''}use {describe_type(kind)}"


def describe_type(kind: Any) -> str:
    """Returns the values of a Literal, or the names of a value's possible types: "an int", "a string or a path"."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        names = [describe_type(part) for part in typing.get_args(kind) if part is not type(None)]
        parts = [*dict.fromkeys("a list of them" if " or " in name else name for name in names)]
        return f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else parts[0]
    if choices := list_choices(kind):
        return f"one of {', '.join(map(str, choices))}"
    base = typing.get_origin(kind) or kind
    if base in (tuple, Iterable):
        item = describe_type(typing.get_args(kind)[0]).removeprefix("a ").removeprefix("one of ")
        return f"a list of {item.replace('string', 'strings')}"
    name = TYPE_NAMES.get(base) or str(getattr(base, "__name__", base))
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def has_type(kind: Any, value: Any) -> bool:
    """Whether `value` has the type `kind`: a plain type, an optional one, a tuple, an iterable, or a Literal."""
    base = typing.get_origin(kind) or kind
    if base in (types.UnionType, typing.Union):
        return any(has_type(part, value) for part in typing.get_args(kind))
    if list_choices(kind):
        return value in list_choices(kind)
    if base is tuple:
        return isinstance(value, tuple) and all(has_type(typing.get_args(kind)[0], part) for part in value)
    if base is Iterable:  # whose items may be read only once, and never the letters of a text
        items = value if isinstance(value, list | tuple) else ()
        is_several = isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | Mapping)
        return is_several and all(has_type(typing.get_args(kind)[0], item) for item in items)
    if base is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if base is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return base is Any or isinstance(value, base)
