"""Checks the arguments of the Python interface, and words its errors with the names of Python arguments.

    @check_call(LineOptions, *OF_SEARCH)
    def load(model: PathLike = "model", *, threads: int | None = None, **options: Unpack[LoadKeywords]) -> Translator:

`load(3)` says "model cannot be 3", `load(beam=2)` suggests `beam_size`, and the hint `--model eng-deu` from any lower
module becomes `model="eng-deu"`. Settings, refusals and hints are all written for the command line.
"""

from __future__ import annotations

import inspect
import json
import re
import reprlib
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial, wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import nmt_cli
from nmt_cli.errors import NmtError, OptionError, convert_import_error, convert_os_error, find_nearest
from nmt_cli.settings import Settings, explain_type, has_type, option_fields

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
SELF = "self"
KEYWORD = inspect.Parameter.KEYWORD_ONLY
NAMES = {attribute: f"nmt.{name}" for name, (_, attribute) in nmt_cli.EXPORTS.items()}
COMMANDS = ("prepare", "train", "translate", "evaluate", "visualize")
# A command with its arguments, in marks or to the end of a text, or an option with the word behind it; the options of
# other programs are theirs.
TYPED = re.compile(
    r"(?<![\w-])(?:npm|pipx|ray|uv) [^`;]*"
    rf"|(?P<mark>`)?\bnmt (?P<command>{'|'.join(COMMANDS)})(?P<rest>(?(mark)(?: [^`]*)?(?=`)|(?: .*)?$))(?(mark)`)"
    r"|(?<![\w`-])--(?P<option>[a-z][a-z-]*)(?: (?!--)(?P<value>[^\s()`]+?)(?=[.?)]*(?:[,;]?\s|$)))?"
)
OPTION = re.compile(r"(?<!\S)--([a-z][a-z-]*)")
IN_SHELL_ALONE = re.compile(r" -\w\b| --(?:serve|export|info)\b")
SHOWN = 4  # arguments in a hint
OF_LANGUAGE = re.compile(r"(source|target|src|tgt|from)(_?lang(uage)?)?|lang(uage)?s?")
ALIKE = 0.8  # similarity from which a name of another function is meant
# Of arguments, as other functions and commands have them; in calls, those of a function come first.
OTHER_NAMES = {"output": "target", "workers": "processes", "export": "format"}
OTHER_NAMES |= {"nmt.prepare output": "data", "nmt.train output": "model"}
NUMBER = re.compile(r"-?\d[\d.]*")


class Annotation(str):
    """The annotation of an argument, which `help` shows without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


KNOWN: dict[str, tuple[str, str]] = {}  # annotations of arguments by name, each with a function that takes it


@cache
def list_known() -> Mapping[str, tuple[str, str]]:
    """Returns the arguments of all interface functions, by name; importing their modules fills KNOWN."""
    for name in nmt_cli.EXPORTS:
        getattr(nmt_cli, name)
    return KNOWN


def check_call(
    *kinds: type[Settings], more: Collection[tuple[str, Any, str]] = ()
) -> Callable[[Callable[Arguments, Returned]], Callable[Arguments, Returned]]:
    """Returns a decorator for an interface function whose `options` are those of `kinds`, and `more`.

    Unknown names, values of the wrong type, operating-system errors and missing extras raise an NmtError worded for
    Python. `help` shows all options with their defaults.
    """
    options = [
        *((field.name, field.default, field.type) for kind in kinds for field in option_fields(kind)),
        *more,
    ]

    def decorate(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
        title, declared = NAMES.get(function.__qualname__, function.__qualname__), inspect.signature(function)
        items = [item for item in declared.parameters.values() if item.kind is not inspect.Parameter.VAR_KEYWORD]
        items += [inspect.Parameter(name, KEYWORD, default=usual, annotation=kind) for name, usual, kind in options]
        items = [item.replace(annotation=Annotation(item.annotation)) if item.name != SELF else item for item in items]
        signature = inspect.Signature(items, return_annotation=Annotation(declared.return_annotation))
        for item in items:
            KNOWN.setdefault(item.name, (item.annotation, title))
        types = cache(partial(resolve_types, function, more))
        needed = ", ".join([item.name for item in items if item.default is item.empty and item.name != SELF])
        keywords = ", ".join([f"{item.name}=..." for item in items if item.kind is KEYWORD][:SHOWN])

        @wraps(function)
        def call(*arguments: Arguments.args, **values: Arguments.kwargs) -> Returned:
            with explain_errors():
                refuse_unknown(signature.parameters, title, values)
                try:
                    bound = signature.bind(*arguments, **values)
                except TypeError as error:
                    missing = str(error).startswith("missing")
                    hint = f"{'give all' if missing else 'write the names'}: {title}({needed if missing else keywords})"
                    hint += f"; help({title}) shows all"
                    raise OptionError(f"{title}: {error}", hint=hint) from None
                for name, value in bound.arguments.items():
                    if value is not signature.parameters[name].default:
                        bound.arguments[name] = check_argument(name, types().get(name, Any), value)
                return function(*bound.args, **bound.kwargs)

        vars(call)["__signature__"] = signature
        call.__name__ = title.split(".")[-1]
        return call

    return decorate


def refuse_unknown(known: Collection[str], title: str, values: Collection[str]) -> None:
    """Raises OptionError for the first option that a function does not take; the hint names a function that does."""
    unknown = next((name for name in values if name not in known), None)
    if unknown is None:
        return
    starts = (f"{unknown}s", f"{unknown}_")  # `epoch` is `epochs` before it is `epoch_pairs`
    longer = next((name for start in starts for name in known if name.startswith(start)), None)
    details = [name for kind in (nmt_cli.Translation, nmt_cli.Hypothesis) for name in vars(kind) if name[0] != "_"]
    is_detail = "min_confidence" in known and unknown in details
    other = unknown if is_detail else find_nearest(unknown, [*list_known(), *details], ALIKE)
    if OF_LANGUAGE.fullmatch(unknown) and "beam_size" in known:
        hint = 'name the model, such as model="eng-deu"; if it has several targets, add to="de"'
    elif (meant := OTHER_NAMES.get(f"{title} {unknown}") or OTHER_NAMES.get(unknown)) in known:
        hint = f"did you mean {meant!r}?"
    elif nearest := not is_detail and (longer or find_nearest(unknown, known)):
        hint = f"did you mean {nearest!r}?"
    elif other in KNOWN and not is_detail:
        hint = f"{KNOWN[other][1]} takes {'it' if other == unknown else repr(other)}"
    else:
        owner = "" if hasattr(nmt_cli.Translation, other or "") else ".hypotheses[0]"
        hint = f"read Translator.translations(...)[0]{owner}.{other}" if other else f"help({title}) lists its options"
    raise OptionError(f"{title}: there is no option {unknown!r}", hint=hint)


def resolve_types(function: Callable[..., Any], more: Collection[tuple[str, Any, str]]) -> dict[str, Any]:
    """Returns the types of a function's arguments and of `more`; settings check their options themselves."""
    types: dict[str, Any] = {}
    annotations = {name: item.annotation for name, item in inspect.signature(function).parameters.items()}
    for name, annotation in {**annotations, **{name: annotation for name, _, annotation in more}}.items():
        with suppress(NameError):  # which type checkers alone import
            types[name] = eval(annotation, vars(sys.modules[function.__module__])) if name != SELF else Any
    return types


def check_argument(name: str, kind: Any, value: Any) -> Any:
    """Returns the value, converting NumPy numbers. Raises OptionError if it or one of its items has the wrong type."""
    if isinstance(value, Integral | Real) and not isinstance(value, int | float):
        value = int(value) if isinstance(value, Integral) else float(value)
    if has_type(kind, value):
        return value
    wrong = None
    if isinstance(value, list | tuple) and has_type(kind, type(value)()):
        wrong = next(index for index, item in enumerate(value) if not has_type(kind, [item]))
    label, shown = (name, value) if wrong is None else (f"{name}[{wrong}]", value[wrong])
    raise OptionError(f"{label} cannot be {reprlib.repr(shown)}", hint=explain_type(name, kind, shown))


@contextmanager
def explain_errors() -> Iterator[None]:
    """Turns all errors that a user can fix into NmtErrors worded for Python."""
    try:
        yield
    except (NmtError, OSError, ImportError) as problem:
        convert: Any = convert_os_error if isinstance(problem, OSError) else convert_import_error
        error = problem if isinstance(problem, NmtError) else convert(problem)
        if error is None:
            raise
        error.message, error.hint = respell(error.message), respell(error.hint, is_hint=True)
        error.args = (error.message,)
        if error is problem:
            raise
        raise error from problem


def respell(text: str, *, is_hint: bool = False) -> str:
    """Returns a text with commands as calls and options as arguments: `--no-check` becomes `check=False`.

    In a hint, a switch that is on becomes `check=True`.
    """
    return TYPED.sub(partial(spell, is_hint=is_hint), text)


def spell(typed: re.Match[str], is_hint: bool) -> str:
    """Returns a command as a call, or an option as an argument; unchanged if Python has no such function or option."""
    if typed["command"] is typed["option"] is None:
        return typed[0]
    if typed["command"]:
        takes = inspect.signature(getattr(nmt_cli, typed["command"])).parameters
        names = [name.replace("-", "_") for name in OPTION.findall(typed["rest"])]
        is_call = all(name in takes for name in names) and not IN_SHELL_ALONE.search(typed["rest"])
        return write_call(**typed.groupdict("")) if is_call else typed[0]
    name, value, rest = typed["option"].replace("-", "_"), typed["value"], f" {typed['value'] or ''}".rstrip()
    name = name if find_annotation(name) else OTHER_NAMES.get(name, name)
    annotation, positive = find_annotation(name), name.removeprefix("no_")
    if not annotation:
        return f"{positive}=False{rest}" if find_annotation(positive).startswith("bool") else typed[0]
    if annotation == "bool":
        return f"{name}{'=True' * is_hint}{rest}"
    is_its = value is not None and is_value(value, typed.string[typed.end() :])
    return f"{name}={write_value(value)}" if is_its else f"{name}{rest}"


def find_annotation(name: str) -> str:
    """Returns the annotation of an interface argument; empty for an unknown name."""
    return list_known().get(name, ("", ""))[0]


def is_value(word: str, after: str) -> bool:
    """Whether the word after an option is its value, rather than the next word of the sentence."""
    return not (word.isalpha() and word.islower()) or not after[:1].isspace() or after.startswith(" or --")


def write_value(word: str) -> str:
    return word if NUMBER.fullmatch(word) or word == "..." else json.dumps(word, ensure_ascii=False)


def write_call(mark: str, command: str, rest: str, **others: str) -> str:
    """Returns a command and the rest of its line as a Python call, within the same backticks (if any)."""
    written: list[str] = []
    words = shlex.split(rest)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            written.append(write_value(word))
            continue
        name = word.removeprefix("--").replace("-", "_")
        is_switch = not words or words[0].startswith("--") or find_annotation(name) == "bool"
        written.append(f"{name}={True if is_switch else write_value(words.pop(0))}")
    return f"{mark}nmt.{command}({', '.join(written)}){mark}"
