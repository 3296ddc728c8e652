"""How large the package and its tests are, how their files are cut, and the way of one plain line through them.

`python benchmarks/house.py` prints a table; `--trace` also the way of the line: the frames from `main` to the network,
and the modules that run for it. Lines are counted by the syntax tree: a code line holds a token and is no import, no
docstring and no comment.
"""

from __future__ import annotations

import argparse
import ast
import io
import statistics
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "nmt_cli"
QUIET = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
PARSERS_OF_XML = ("expat", "pyexpat", "sax", "minidom", "lxml")  # what a module imports that parses XML itself
NETWORK = "onnxruntime_inference_collection.py"


class LineCounts(NamedTuple):
    """The lines of a file by what they hold; a comment after code does not count."""

    total: int
    code: int
    imports: int
    docstrings: int
    comments: int
    blank: int


def list_ranges(tree: ast.Module, kind: str) -> Iterator[range]:
    """Yields the line ranges of the imports or of the docstrings of a module."""
    for node in ast.walk(tree):
        if kind == "imports" and isinstance(node, ast.Import | ast.ImportFrom):
            yield range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if kind == "docstrings" and isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield range(first.lineno, (first.end_lineno or first.lineno) + 1)


def count_lines(path: Path) -> LineCounts:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    imports = {line for lines in list_ranges(tree, "imports") for line in lines}
    docstrings = {line for lines in list_ranges(tree, "docstrings") for line in lines}
    tokens_lines = {
        line for token in tokens if token.type not in QUIET for line in range(token.start[0], token.end[0] + 1)
    }
    comments = {token.start[0] for token in tokens if token.type == tokenize.COMMENT} - tokens_lines
    total = len(text.splitlines())
    blank = total - len(tokens_lines) - len(comments)
    return LineCounts(
        total, len(tokens_lines - imports - docstrings), len(imports), len(docstrings), len(comments), blank
    )


def measure_package(folder: Path) -> dict[str, str]:
    """Returns the sizes of a package: its modules, their lines, and what the lines hold."""
    paths = sorted(folder.rglob("*.py"))
    counts = [count_lines(path) for path in paths]
    sums = LineCounts(*(sum(column) for column in zip(*counts, strict=True)))
    lengths = sorted(count.total for count in counts)
    folders = Counter(path.parent for path in paths if path.name != "__init__.py")
    largest, number = folders.most_common(1)[0]
    share = {name: f"{getattr(sums, name) / sums.total:.1%}" for name in ("imports", "blank", "comments")}
    return {
        "modules": f"{len(paths)}",
        "largest folder": f"{number} ({largest.relative_to(ROOT)})",
        "lines": f"{sums.total:,}",
        "code lines": f"{sums.code:,}",
        "median, p90 lines of a module": f"{statistics.median(lengths):.0f}, {lengths[int(len(lengths) * 0.9)]}",
        "imports; blank; comments": "; ".join(share.values()),
        "longest module": f"{lengths[-1]}",
    }


def list_engines(folder: Path) -> list[str]:
    """Returns the modules that parse XML themselves; what builds trees from the tokens of another does not."""
    engines = []
    for path in sorted(folder.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names = {alias.name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        if any(part in PARSERS_OF_XML for name in names for part in name.split(".")):
            engines.append(str(path.relative_to(folder)))
    return engines


def count_formats_read_twice() -> int:
    """Returns how many formats are read for pairs by one module, and for documents by another that does not use it."""
    from nmt_cli.formats import FORMATS

    count = 0
    for uses in (dict(format.uses) for format in FORMATS if {"pairs", "translate"} <= set(format.uses)):
        reader, document = (uses[use].rpartition(".")[0] for use in ("pairs", "translate"))
        path = PACKAGE / "documents" / f"{document.replace('.', '/')}.py"
        count += f"from nmt_cli.formats.{reader} import" not in path.read_text(encoding="utf-8")
    return count


class Trace:
    """The modules of the package that are entered, and the deepest way from `main` to the network."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.way: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        file = frame.f_code.co_filename
        if file.startswith(str(PACKAGE)) and frame.f_code.co_name != "<module>":
            self.modules.add(str(Path(file).relative_to(PACKAGE)))
        if file.endswith(NETWORK) and frame.f_code.co_name == "run":
            self.way = max(self.way, list(list_frames(frame.f_back)), key=len)


def list_frames(frame: FrameType | None) -> Iterator[str]:
    """Yields the functions of the package that wait for a frame, innermost first."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(str(PACKAGE)):
            yield f"{Path(frame.f_code.co_filename).relative_to(PACKAGE)}: {frame.f_code.co_qualname}"
        frame = frame.f_back


def trace_call(call: Callable[[], object]) -> Trace:
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        call()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return trace


def trace_command(model: str, line: str) -> Trace:
    """Translates one line as the command does, in this process."""
    from nmt_cli.cli.app import main

    stdin, stdout = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = io.TextIOWrapper(io.BytesIO(f"{line}\n".encode())), io.TextIOWrapper(io.BytesIO())
    try:
        return trace_call(lambda: main(["translate", "--model", model, "-q"]))
    finally:
        sys.stdin, sys.stdout = stdin, stdout


def trace_line(model: str, line: str) -> Trace:
    """Translates a line after another one: without what only the start of the program enters."""
    import nmt_cli as nmt

    with nmt.load(model) as translator:
        translator.translate("Good morning.")
        return trace_call(lambda: translator.translate(line))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="eng-deu")
    parser.add_argument("--line", default="Where is the station?")
    parser.add_argument("--trace", action="store_true", help="print the way of the line too")
    options = parser.parse_args(arguments)
    rows = measure_package(PACKAGE)
    tests = [count_lines(path).total for path in sorted((ROOT / "tests").rglob("*.py"))]
    rows["lines of tests; files"] = f"{sum(tests):,}; {len(tests)}"
    rows["formats read in two rooms; XML engines"] = f"{count_formats_read_twice()}; {len(list_engines(PACKAGE))}"
    command, line = trace_command(options.model, options.line), trace_line(options.model, options.line)
    rows["modules that run for the command; a further line"] = f"{len(command.modules)}; {len(line.modules)}"
    rows["frames from main to the network"] = f"{len(command.way)}"
    for name, value in rows.items():
        print(f"{name:58} {value}")
    if options.trace:
        print(*reversed(command.way), "", *sorted(line.modules), sep="\n")


if __name__ == "__main__":
    main()
