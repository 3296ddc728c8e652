"""The Python interface: its functions check their arguments, and their errors speak Python.

    @check_call(LineOptions, *OF_SEARCH)
    def load(model: PathLike = "model", *, threads: int | None = None, **options: Unpack[LoadKeywords]) -> Translator:

`load(3)` says "model cannot be 3", `load(beam=2)` names `beam_size`, and the hint `--model eng-deu` of any room below
becomes `model="eng-deu"`. Settings, refusals and hints themselves speak as the command line does.
"""

from __future__ import annotations

import inspect
import json
import re
import reprlib
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial, wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import nmt_cli
from nmt_cli.errors import NmtError, OptionError, convert_import_error, convert_os_error, find_nearest
from nmt_cli.settings import Settings, describe_type, has_type, option_fields

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
SELF = "self"
KEYWORD = inspect.Parameter.KEYWORD_ONLY
COMMANDS = ("prepare", "train", "translate", "evaluate", "visualize")
ANNOTATIONS: dict[str, str] = {}  # of the arguments of all functions of the interface
TAKERS: dict[str, str] = {}  # of each argument, a function that takes it
OPTION = re.compile(r"(?<![\w`-])--([a-z][a-z-]*)(?: ([^\s()`]+?)(?=[.?)]*(?:[,;]?\s|$)))?")
COMMAND = re.compile(r"`nmt (\w+)((?: [^`]*)?)`|\bnmt (prepare|train|translate|evaluate|visualize)((?: .*)?)$")
IN_SHELL_ALONE = re.compile(r" -\w\b| --(?:serve|export|info)\b")
NUMBER = re.compile(r"-?\d[\d.]*")


class Annotation(str):
    """The annotation of an argument, which `help` shows without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


def check_call(
    *kinds: type[Settings], more: Collection[str] = (), name: str = ""
) -> Callable[[Callable[Arguments, Returned]], Callable[Arguments, Returned]]:
    """Returns the decorator of a function of the interface, whose `options` are those of `kinds`, and texts `more`.

    `name` is what `nmt` calls it, if that is another name than its module does.
    Unknown names, values of another type than annotated, refusals of the system and missing extras raise NmtError,
    which speaks Python. `help` shows all options with their defaults.
    """
    options = [
        *((field.name, field.default, field.type) for kind in kinds for field in option_fields(kind)),
        *((name, "", "str") for name in more),
    ]

    def decorate(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
        title, declared = name or function.__qualname__, inspect.signature(function)
        title = title if "." in title else f"nmt.{title}"
        items = [item for item in declared.parameters.values() if item.kind is not inspect.Parameter.VAR_KEYWORD]
        items += [inspect.Parameter(name, KEYWORD, default=usual, annotation=kind) for name, usual, kind in options]
        items = [item.replace(annotation=Annotation(item.annotation)) if item.name != SELF else item for item in items]
        signature = inspect.Signature(items, return_annotation=Annotation(declared.return_annotation))
        for item in items:
            ANNOTATIONS.setdefault(item.name, item.annotation)
            TAKERS.setdefault(item.name, title)
        types = cache(partial(resolve_types, function, more))

        @wraps(function)
        def call(*arguments: Arguments.args, **values: Arguments.kwargs) -> Returned:
            with explain_errors():
                bound = bind(signature, title, arguments, values)
                for name, value in bound.arguments.items():
                    if value is not signature.parameters[name].default:
                        bound.arguments[name] = check_argument(name, types().get(name, Any), value)
                return function(*bound.args, **bound.kwargs)

        vars(call)["__signature__"] = signature
        call.__name__ = title.split(".")[-1]
        return call

    return decorate


def bind(
    signature: inspect.Signature, title: str, arguments: Sequence[Any], values: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Returns the arguments of a call by name. Raises OptionError for unknown, missing and superfluous ones."""
    unknown = next((name for name in values if name not in signature.parameters), None)
    if unknown is not None:
        for name in nmt_cli.EXPORTS:  # so that all functions of the interface are known
            getattr(nmt_cli, name)
        longer = next((name for name in signature.parameters if name.startswith(f"{unknown}_")), None)
        nearest = longer or find_nearest(unknown, signature.parameters)
        hint = f"did you mean {nearest!r}?" if nearest else f"help({title}) lists its options"
        hint = f"{TAKERS[unknown]} takes it" if unknown in TAKERS and not longer else hint
        raise OptionError(f"{title}: there is no option {unknown!r}", hint=hint)
    try:
        return signature.bind(*arguments, **values)
    except TypeError as error:
        raise OptionError(f"{title}: {error}", hint=f"help({title}) shows its arguments") from None


def resolve_types(function: Callable[..., Any], texts: Collection[str]) -> dict[str, Any]:
    """Returns the types of a function's arguments and of its `texts`; settings check their options themselves."""
    types: dict[str, Any] = dict.fromkeys(texts, str)
    for name, item in inspect.signature(function).parameters.items():
        with suppress(NameError):  # which type checkers alone import
            types[name] = eval(item.annotation, vars(sys.modules[function.__module__])) if name != SELF else Any
    return types


def check_argument(name: str, kind: Any, value: Any) -> Any:
    """Returns the value, a number of NumPy as Python's. Raises OptionError for a value of another type, or its item."""
    if isinstance(value, Integral | Real) and not isinstance(value, int | float):
        value = int(value) if isinstance(value, Integral) else float(value)
    if has_type(kind, value):
        return value
    wrong = None
    if isinstance(value, list | tuple) and has_type(kind, type(value)()):
        wrong = next(index for index, item in enumerate(value) if not has_type(kind, [item]))
    label, shown = (name, value) if wrong is None else (f"{name}[{wrong}]", value[wrong])
    raise OptionError(f"{label} cannot be {reprlib.repr(shown)}", hint=f"it takes {describe_type(kind)}")


@contextmanager
def explain_errors() -> Iterator[None]:
    """Raises NmtErrors that speak Python, with their hints in tracebacks, for all errors that a user can mend."""
    try:
        yield
    except NmtError as error:
        speak_python(error)
        raise
    except OSError as error:
        raise speak_python(convert_os_error(error)) from error
    except ImportError as error:
        missing = convert_import_error(error)
        raise error if missing is None else speak_python(missing) from error


def speak_python(error: NmtError) -> NmtError:
    """Names options and commands in an error as arguments and functions, and adds its hint to its traceback."""
    error.message = respell(error.message)
    error.args = (error.message,)
    error.hint = respell(error.hint, is_hint=True)
    if error.hint and not hasattr(error, "__notes__"):
        error.add_note(f"hint: {error.hint}")
    return error


def respell(text: str, *, is_hint: bool = False) -> str:
    """Returns a text with commands as calls and options as arguments: `--no-check` becomes `check=False`.

    In a hint, a switch that is on becomes `check=True`.
    """
    if "--" not in text and "nmt " not in text:
        return text
    from nmt_cli.api.options import keywords  # only errors need it

    annotations = dict(ANNOTATIONS)
    for kind in vars(keywords).values():
        if isinstance(kind, type) and kind.__module__ == keywords.__name__:
            hints = kind.__annotations__.items()
            annotations |= {name: str(getattr(hint, "__forward_arg__", hint)) for name, hint in hints}

    def spell(match: re.Match[str]) -> str:
        name, value = match[1].replace("-", "_"), match[2]
        rest, annotation = "" if value is None else f" {value}", annotations.get(name)
        if annotation is None:
            positive = name.removeprefix("no_")
            return f"{positive}=False{rest}" if annotations.get(positive) == "bool" != name else match[0]
        if annotation == "bool":
            return f"{name}=True{rest}" if is_hint else f"{name}{rest}"
        if value is None or not is_value(value, annotation, text[match.end() :]):
            return f"{name}{rest}"
        return f"{name}={write_value(value)}"

    parts, last = [], 0
    for command in COMMAND.finditer(text):
        parts += [OPTION.sub(spell, text[last : command.start()]), write_call(command, annotations)]
        last = command.end()
    return "".join([*parts, OPTION.sub(spell, text[last:])])


def is_value(word: str, annotation: str, after: str) -> bool:
    """Whether the word behind an option is its value, rather than the next word of the sentence."""
    if NUMBER.fullmatch(word):
        return True
    if annotation.startswith(("int", "float")):
        return False
    if annotation.startswith("Literal"):
        return f"'{word}'" in annotation.replace('"', "'")
    return not (word.isalpha() and word.islower()) or not after[:1].isspace() or after.startswith(" or --")


def write_value(word: str) -> str:
    return word if NUMBER.fullmatch(word) or word == "..." else json.dumps(word, ensure_ascii=False)


def write_call(command: re.Match[str], annotations: Mapping[str, str]) -> str:
    """Returns a command as a call of Python; unchanged if Python has no such function."""
    name, rest = command[1] or command[3], command[2] or command[4] or ""
    if name not in COMMANDS or IN_SHELL_ALONE.search(rest):
        return command[0]
    written: list[str] = []
    words = shlex.split(rest)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            written.append(write_value(word))
            continue
        option = word.removeprefix("--").replace("-", "_")
        is_switch = not words or words[0].startswith("--") or annotations.get(option) == "bool"
        written.append(f"{option}={True if is_switch else write_value(words.pop(0))}")
    mark = "`" if command[1] else ""
    return f"{mark}nmt.{name}({', '.join(written)}){mark}"
