"""The words of the code: one name for one thing, verbs for functions, nouns for variables."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import nmt_cli

PACKAGE = Path(nmt_cli.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
BANNED = frozenset(
    "one own found told place each taken parted named opened fed unchecked surroundings given wanted".split()
)
# What a function of one word may be called. To add a verb, be sure that it says what goes in or comes out.
VERBS = frozenset(
    """
    accept accumulate add advance align analyse
    append apply ask assemble assign assist attend average backtrace backward
    barrier begin borrow bound broadcast build calibrate call check choose chunk claim clean close collect combine
    compare compile complete compose compute convert copy count create cut decode decompress describe detach detect
    diagnose divide download draw drop embed encode end evaluate examine exchange exclude execute explain export
    extend extract feed fill filter find finish fit flatten flush fold force format forward gather greet group heal
    import index infer initialize insert join judge keep label learn leave lift link list load lock look lookup main
    mark mask match measure merge mix move name normalise number open optimise order pack pad parse penalise place
    plot pool prepare print project prune publish quantise rank rate read recur redraw reduce refuse register
    release remove rename render repair replace replay report require reset reshape resolve restore resume return
    reverse round run sample save say scale score search segment select send serve set shift shorten show shuffle
    simplify skip slice sort spell split stage start step stop store stream sum swap take tell tie tokenize trace train
    transform translate trim truncate tune unlock unmask unpack update upload validate verify visualize wait walk
    warn watch weigh wrap write
    """.split()
)
# Names that others prescribe: of file objects, of NLTK, of the Python interface; and `setting`, which declares a field
# as `dataclasses.field` does; of uvicorn; of `logging`.
FILE_OBJECTS = ("readable", "writable", "seekable", "seek", "readinto")
PROTOCOLS = (*FILE_OBJECTS, "synsets", "setting", "translations", "shutdown", "emit")
IRREGULAR = ("drawn", "found", "given", "held", "kept", "known", "made", "shown", "taken", "told", "written", "learnt")


def within_package(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_noun(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is read as a value: a property, or a field that a decorator makes."""
    decorators = {ast.unparse(decorator).split("(")[0].split(".")[-1] for decorator in function.decorator_list}
    return bool(decorators & {"property", "cached_property", "setter"})


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def bindings(path: Path) -> Iterator[tuple[str, int]]:
    """The names that a file binds, with their lines: targets of assignments and loops, and parameters."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def declarations(path: Path) -> Iterator[str]:
    """The classes and type aliases that a file declares at its top level."""
    for node in parse(path).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from (name for name in names if name[:1].isupper() and not name.isupper() and len(name) > 1)


def test_no_two_classes_or_aliases_share_a_name() -> None:
    files = defaultdict(list)
    for path in MODULES:
        for name in declarations(path):
            files[name].append(within_package(path))
    assert not {name: paths for name, paths in files.items() if len(paths) > 1}


@pytest.mark.parametrize("path", MODULES, ids=within_package)
def test_functions_are_verbs(path: Path) -> None:
    names = [(node.name.strip("_"), node.lineno) for node in functions(path) if not is_noun(node)]
    names = [(name, line) for name, line in names if not name.startswith(("is_", "has_"))]
    single = [(name, line) for name, line in names if "_" not in name and name not in VERBS]
    dunder = set(PROTOCOLS) | {
        "init",
        "len",
        "iter",
        "next",
        "call",
        "enter",
        "exit",
        "getattr",
        "getitem",
        "repr",
        "str",
        "new",
        "add",
    }
    dunder |= {"contains", "missing", "hash", "eq", "lt", "reduce", "setstate", "del", "bool", "await", "aenter", "dir"}
    single = [(name, line) for name, line in single if name not in dunder]
    first = [(name, line) for name, line in names if "_" in name and is_participle(name.split("_")[0])]
    assert not single + first


def is_participle(word: str) -> bool:
    return word in IRREGULAR or (
        word.endswith("ed") and word not in ("need", "feed", "seed", "embed", "speed", "exceed")
    )


@pytest.mark.parametrize("path", MODULES, ids=within_package)
def test_names_say_what_a_thing_is(path: Path) -> None:
    bound = [(name, line) for name, line in bindings(path) if name in BANNED]
    bound += [(node.name, node.lineno) for node in functions(path) if node.name in BANNED - {"place"}]
    assert not bound


@pytest.mark.parametrize("path", MODULES, ids=within_package)
def test_a_docstring_begins_with_what_is_done(path: Path) -> None:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            assert not docstring.startswith("Of "), f"{within_package(path)}:{getattr(node, 'lineno', 1)}: {docstring}"
