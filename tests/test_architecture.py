"""The layout's rules: which room may import which, which package belongs to which room."""

from __future__ import annotations

import ast
import graphlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import nmt_cli
from support.package_code import MODULES, PACKAGE, list_nodes, within_package

LAYERS = (  # lower ones first; the rooms of one layer know nothing of each other, but for those of the foundation
    (*("arrays", "files", "languages", "pages", "plugins", "records", "settings"), *("errors", "__init__")),
    ("text",),
    ("formats",),
    ("workers",),
    ("carrying",),
    ("rewriting",),
    ("sources",),
    ("model", "corpus", "search"),
    ("runtime",),
    ("translation",),
    ("evaluation", "documents"),
    ("jobs", "visuals"),
    ("training",),
    ("api",),
    ("server",),
    ("cli",),
)
FOUNDATION = LAYERS[0]
# What translates and serves must start at once and run where nothing was prepared or trained.
APART = ("text", "carrying", "rewriting", "search", "runtime", "translation", "documents", "jobs", "workers")
OWNERS = {
    "keras": ("model", "training"),
    "tensorflow": ("training",),
    "tf2onnx": ("training",),
    "rich": ("cli/render.py",),
    "matplotlib": ("visuals",),
    "PIL": ("visuals", "model/encoders.py"),
    "onnxruntime": ("runtime",),
    "typer": ("cli",),
    "ray": ("workers/pool.py",),
    "starlette": ("server",),
    "uvicorn": ("server/run.py", "server/connections.py"),
    "h11": ("server/connections.py",),
    "markdown_it": ("documents/markdown.py",),
}
NAMES_OF_NOTHING = {"utils.py", "helpers.py", "common.py", "misc.py"}


def room_of(module: str) -> str:
    """The room of a dotted name or a path inside the package."""
    return module.replace("/", ".").removesuffix(".py").split(".")[0]


def layer_of(module: str) -> int:
    return next(number for number, rooms in enumerate(LAYERS) if room_of(module) in rooms)


def find_imports(path: Path) -> Iterator[str]:
    for node in list_nodes(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The dotted names of what a file imports, those under `TYPE_CHECKING` too."""
    return tuple(find_imports(path))


@cache
def own_imports(path: Path) -> list[str]:
    """The modules of the package that a file imports, as paths inside it."""
    names = [name.removeprefix("nmt_cli.").replace(".", "/") for name in imports(path) if name.startswith("nmt_cli.")]
    candidates = [path for name in names for path in (f"{name}.py", f"{name}/__init__.py")]
    return sorted({name for name in candidates if (PACKAGE / name).is_file()})


def test_every_room_has_its_layer() -> None:
    rooms = {room_of(within_package(path)) for path in MODULES} - {"__main__"}
    assert rooms == {room for layer in LAYERS for room in layer}


def find_foreign_imports(path: Path) -> list[str]:
    """Returns what a file imports of its own layer or a higher one; of the foundation, what is not of it."""
    own, layer = room_of(within_package(path)), layer_of(within_package(path))
    others = [name for name in own_imports(path) if room_of(name) != own]
    if own in FOUNDATION:
        return [name for name in others if room_of(name) not in FOUNDATION]
    return [name for name in others if layer_of(name) >= layer]


def test_a_module_imports_from_its_own_room_and_lower_layers_alone() -> None:
    for path in MODULES:
        if path.name != "__main__.py":
            assert not find_foreign_imports(path), f"{within_package(path)} imports {find_foreign_imports(path)}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {within_package(path): own_imports(path) for path in MODULES}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("room", APART)
def test_what_translates_knows_nothing_of_corpora_networks_or_training(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        above = [name for name in own_imports(path) if room_of(name) in ("corpus", "model", "training")]
        assert not above, f"{within_package(path)} imports {above}"


def test_a_package_is_imported_only_in_the_room_that_owns_it() -> None:
    for path in MODULES:
        for name in imports(path):
            owners = OWNERS.get(name.split(".")[0])
            assert owners is None or within_package(path).startswith(owners), f"{within_package(path)} imports {name}"


def test_a_folder_holds_at_most_fifteen_modules_and_the_package_340() -> None:
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in MODULES if path.name != "__init__.py")
    assert not {folder: size for folder, size in sizes.items() if size > 15}
    assert len(MODULES) <= 340


def dotted_name(node: ast.AST) -> str:
    """Returns `name` or `name.attribute` of an expression that is one, else nothing."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(name), attribute):
            return f"{name}.{attribute}"
    return ""


def test_only_the_command_line_prints_exits_or_reads_the_environment() -> None:
    for path in MODULES:
        if within_package(path).startswith("cli/") or path.name == "__main__.py":
            continue
        called = {dotted_name(node.func) for node in list_nodes(path) if isinstance(node, ast.Call)}
        read = {dotted_name(node) for node in list_nodes(path) if isinstance(node, ast.Attribute)}
        assert not called & {"print", "sys.exit", "exit"}, within_package(path)
        if within_package(path) != "api/startup.py":  # libraries that are set up through it, for programs too
            assert not read & {"os.environ", "os.getenv"}, within_package(path)


def test_no_module_is_named_for_nothing() -> None:
    assert not NAMES_OF_NOTHING & {path.name for path in MODULES}


def test_the_names_of_the_package_are_those_of_its_stub() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imported = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    places = {name.asname or name.name: (node.module, name.name) for node in imported for name in node.names}
    declared = {name: place for name, place in places.items() if str(place[0]).startswith("nmt_cli")}
    assert declared == nmt_cli.EXPORTS
    for name in declared:
        assert getattr(nmt_cli, name) is not None
