"""The layout's rules: which room may import which, which package belongs to which room, and what `--help` may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import nmt_cli

PACKAGE = Path(nmt_cli.__file__).parent
ROOMS = ["errors", "corpus", "inference", "evaluation", "visuals", "model", "training", "cli"]  # lower ones first
FOUNDATION = {"errors", "files", "processors", "settings", "__init__"}  # modules below all rooms
OWNERS = {
    "keras": ("model", "training"),
    "tensorflow": ("training",),
    "tf2onnx": ("training",),
    "rich": ("cli/render.py",),
    "matplotlib": ("visuals",),
    "PIL": ("visuals", "model/inception.py"),
    "onnxruntime": ("inference",),
    "typer": ("cli",),
    "ray": ("inference/ray_executor.py",),
    "pyarrow": ("inference/ray_executor.py",),
    "markdown_it": ("inference/documents/inline.py",),
}
HEAVY = ["tensorflow", "keras", "onnxruntime", "numpy", "matplotlib", "nltk", "rich", "sacrebleu", "sentencepiece"]
NAMES_OF_NOTHING = {"utils.py", "helpers.py", "common.py", "misc.py"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room(module: str) -> str:
    """The room of a dotted name or path inside the package; modules at the top belong to the lowest."""
    first = module.replace("/", ".").split(".")[0]
    return "errors" if first in FOUNDATION else first


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", [path for path in MODULES if path.parent != PACKAGE], ids=place)
def test_no_module_imports_from_a_room_above_its_own(path: Path) -> None:
    own = ROOMS.index(room(place(path)))
    inside = [name.removeprefix("nmt_cli.") for name in imports(path) if name.startswith("nmt_cli.")]
    upward = [name for name in inside if room(name) in ROOMS and ROOMS.index(room(name)) > own]
    assert not upward, f"{place(path)} imports {upward}"


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_a_package_is_imported_only_in_the_room_that_owns_it(path: Path) -> None:
    for name in imports(path):
        owners = OWNERS.get(name.split(".")[0])
        assert owners is None or place(path).startswith(owners), f"{place(path)} imports {name}"


def test_inference_never_imports_the_network_or_its_training() -> None:
    for path in (PACKAGE / "inference").rglob("*.py"):
        assert not [name for name in imports(path) if name.startswith(("nmt_cli.model", "nmt_cli.training"))]


def test_only_the_command_line_prints_exits_or_reads_the_environment() -> None:
    for path in MODULES:
        if place(path).startswith("cli/") or path.name == "__main__.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        read = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not called & {"print", "sys.exit", "exit"}, place(path)
        assert not read & {"os.environ", "os.getenv"}, place(path)


def test_no_module_is_named_for_nothing() -> None:
    assert not NAMES_OF_NOTHING & {path.name for path in MODULES}


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {name: length for name, length in lengths.items() if length > 400}


def loaded_by(code: str, names: Sequence[str], directory: Path | None = None) -> tuple[list[str], str]:
    """Which of the modules `names` a new interpreter has imported when `code` ends, and what it said on stderr."""
    told = f"import sys\ntry:\n    {code}\nfinally: print(*[name for name in {list(names)} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, cwd=directory)
    return done.stdout.split(), done.stderr


def test_the_command_line_starts_without_any_heavy_import() -> None:
    code = "import nmt_cli.cli.app as a; [a.load_command(name) for name in a.NmtCommands.lazy]"
    assert loaded_by(code, HEAVY) == ([], "")


def test_translating_loads_nothing_that_training_or_preparing_needs() -> None:
    code = "import nmt_cli.cli.translate, nmt_cli.inference.translator, nmt_cli.inference.onnx_engine"
    slow = (
        *("tensorflow", "keras", "matplotlib", "rich"),
        *("nmt_cli.corpus.preparation", "nmt_cli.corpus.config", "nmt_cli.corpus.grids"),
        *("nmt_cli.model", "nmt_cli.training"),
    )
    assert loaded_by(code, slow) == ([], "")


@pytest.mark.parametrize("given", [[], ["lines.txt", "--model", "model", "--prefix", "Es"]])
def test_options_that_are_text_or_not_given_cost_no_import(tmp_path: Path, given: list[str]) -> None:
    """Typer imports pydantic, 0.07 s, as soon as one option is converted."""
    (tmp_path / "lines.txt").write_text("hello\n")
    code = f"from nmt_cli.cli.app import main; main(['translate', *{given}])"
    loaded, said = loaded_by(code, ("pydantic", "typer._adapters"), tmp_path)
    assert loaded == []
    assert "there is no model in model/" in said  # it came as far as to look for one
