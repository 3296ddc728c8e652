"""The code of the package, for tests of its words and its layout: each file is parsed once."""

import ast
import gc
from functools import cache
from pathlib import Path

import nmt_cli

PACKAGE = Path(nmt_cli.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def within_package(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    gc.disable()  # it would look through all trees again and again
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()


@cache
def list_nodes(path: Path) -> tuple[ast.AST, ...]:
    """Returns all nodes of the syntax tree of a file but contexts: as `ast.walk` does, which takes twice as long."""
    nodes: list[ast.AST] = [parse(path)]
    for node in nodes:  # which grows meanwhile
        for name, value in vars(node).items():
            if isinstance(value, list):
                nodes += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and name != "ctx":
                nodes.append(value)
    return tuple(nodes)
