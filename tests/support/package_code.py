"""The code of the package, for tests of its words and its layout: each file is parsed once."""

from __future__ import annotations

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
    """Returns all nodes of the syntax tree of a file."""
    return tuple(ast.walk(parse(path)))
