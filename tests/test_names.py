"""The words of the code: one name for one thing, verbs for functions, nouns for variables."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.package_code import MODULES, PACKAGE, list_nodes, parse, within_package

BANNED = frozenset(
    "one own found told place each taken parted named opened fed unchecked surroundings given wanted".split()
)
MIDDLE = frozenset("text carrying rewriting translation documents".split())
IRREGULAR = ("drawn", "found", "given", "held", "kept", "known", "made", "shown", "taken", "told", "written", "learnt")


def is_noun(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is read as a value: a property, or a field that a decorator makes."""
    decorators = {ast.unparse(decorator).split("(")[0].split(".")[-1] for decorator in function.decorator_list}
    return bool(decorators & {"property", "cached_property", "setter"})


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in list_nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def function_names(path: Path) -> Iterator[tuple[str, int]]:
    return ((node.name, node.lineno) for node in functions(path))


def bindings(path: Path) -> Iterator[tuple[str, int]]:
    """The names that a file binds, with their lines: targets of assignments and loops, and parameters."""
    for node in list_nodes(path):
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


NETWORKS = {"ModelConfig", "RnnConfig", "TransformerConfig"}  # what a network is, as its card says


def find_suffix(node: ast.ClassDef) -> str:
    """Returns the suffix of the role of a class: options under a heading of `--help`, or arguments by name."""
    bases = [ast.unparse(base) for base in node.bases]
    if any(base.endswith(("TypedDict", "Keywords")) for base in bases):
        return "Keywords"
    has_heading = any(keyword.arg == "panel" for keyword in node.keywords)
    return "Options" if has_heading and node.name not in NETWORKS else ""


def test_a_role_has_one_suffix() -> None:
    paths = (*MODULES, *PACKAGE.rglob("*.pyi"))  # the keywords are a stub
    classes = [node for path in paths for node in list_nodes(path) if isinstance(node, ast.ClassDef)]
    assert sum(bool(find_suffix(node)) for node in classes) > 20
    assert [node.name for node in classes if not node.name.endswith(find_suffix(node))] == []


def list_declared(path: Path, kind: str) -> set[str]:
    """Returns the functions or the constants that a module declares at its top level."""
    names: set[str] = set()
    for node in parse(path).body:
        if kind == "functions" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif kind == "constants" and isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names


@pytest.mark.parametrize("kind", ["functions", "constants"])
def test_the_middle_declares_no_name_twice(kind: str) -> None:
    files = defaultdict(list)
    for path in MODULES:
        if within_package(path).split("/")[0] in MIDDLE:
            for name in list_declared(path, kind):
                files[name].append(within_package(path))
    assert len(files) > 100
    assert not {name: paths for name, paths in files.items() if len(paths) > 1}


def is_participle(word: str) -> bool:
    return word in IRREGULAR or (
        word.endswith("ed") and word not in ("need", "feed", "seed", "embed", "speed", "exceed")
    )


def test_functions_are_no_participles() -> None:
    offenders = [
        f"{within_package(path)}:{node.lineno}: {node.name}"
        for path in MODULES
        for node in functions(path)
        if not is_noun(node) and is_participle(node.name.strip("_").split("_")[0])
    ]
    assert offenders == []


def test_names_say_what_a_thing_is() -> None:
    offenders = [
        f"{within_package(path)}:{line}: {name}"
        for path in MODULES
        for names, banned in ((bindings(path), BANNED), (function_names(path), BANNED - {"place"}))
        for name, line in names
        if name in banned
    ]
    assert offenders == []


def test_a_docstring_begins_with_what_is_done() -> None:
    offenders = [
        f"{within_package(path)}:{getattr(node, 'lineno', 1)}"
        for path in MODULES
        for node in list_nodes(path)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module | ast.AsyncFunctionDef)
        if (ast.get_docstring(node) or "").startswith("Of ")
    ]
    assert offenders == []


FIXTURE = re.compile(r"^@pytest\.fixture.*\n(?:@.*\n)*def (\w+)", re.MULTILINE)


def test_fixtures_are_declared_once() -> None:
    files = defaultdict(list)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        for name in FIXTURE.findall(path.read_text(encoding="utf-8")):
            files[name].append(path.name)
    assert len(files) > 20
    assert not {name: paths for name, paths in files.items() if len(paths) > 1}


MODULE_IN_TEXT = re.compile(r"`(?:[a-z_]+/)*([a-z_]+\.py)`")
CLASS_IN_TEXT = re.compile(r"`(?:[a-z_]+\.)*([a-z_]+)\.([A-Z]\w+)`")


def test_comments_name_modules_and_classes_that_are_there() -> None:
    """Of `module.py`, and of `module.ClassName`, which a merge or a move may leave behind."""
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    project = Path(__file__).parents[1]
    others = (path for folder in ("benchmarks", "data", "docs", "tests") for path in (project / folder).rglob("*.py"))
    files = {path.name for path in (*MODULES, *others)}
    by_stem: dict[str, str] = defaultdict(str)
    for path, text in texts.items():
        by_stem[path.stem] += text
    lost = [
        *(name for text in texts.values() for name in MODULE_IN_TEXT.findall(text) if name not in files),
        *(
            f"{stem}.{name}"
            for text in texts.values()
            for stem, name in CLASS_IN_TEXT.findall(text)
            if stem in by_stem and not re.search(rf"\b{name}\b", by_stem[stem])
        ),
    ]
    assert lost == []
