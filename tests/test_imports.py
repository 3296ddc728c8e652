"""What an interpreter has imported: of the package at first, of a command, of a translation."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HEAVY = ["tensorflow", "keras", "onnxruntime", "numpy", "matplotlib", "nltk", "rich", "sacrebleu", "sentencepiece"]


def loaded_by(code: str, names: Sequence[str], directory: Path | None = None) -> tuple[list[str], str]:
    """Which of the modules `names` a new interpreter has imported when `code` ends, and what it said on stderr."""
    told = f"import sys\ntry:\n    {code}\nfinally: print(*[name for name in {list(names)} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, cwd=directory)
    return done.stdout.split(), done.stderr


def test_the_command_line_starts_without_any_heavy_import() -> None:
    code = "import nmt_cli.cli.app as a; [a.load_command(name) for name in a.NmtCommands.lazy]"
    assert loaded_by(code, HEAVY) == ([], "")


def test_importing_the_package_imports_only_the_standard_library() -> None:
    code = "before = set(sys.modules); import nmt_cli; print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    loaded, said = loaded_by(code, HEAVY)
    assert (loaded, said.split()) == ([], ["nmt_cli"])


def test_translating_loads_nothing_that_training_or_preparing_needs() -> None:
    code = "import nmt_cli.cli.translate, nmt_cli.translation.translator, nmt_cli.runtime.onnx_engine"
    slow = (
        *("tensorflow", "keras", "matplotlib", "rich"),
        *("nmt_cli.corpus", "nmt_cli.sources.images"),
        *("nmt_cli.model", "nmt_cli.training", "nmt_cli.server", "starlette", "uvicorn"),
        *("nmt_cli.visuals.canvas", "nmt_cli.api.model_info", "html", "importlib.metadata", "google.protobuf"),
    )
    assert loaded_by(code, slow) == ([], "")


def test_a_bundled_model_is_found_without_the_entry_points_of_all_packages() -> None:
    """To read them takes a tenth of a start."""
    code = "from pathlib import Path; from nmt_cli.runtime.installed_models import find_model as find;"
    code += " assert find(Path('eng-deu')).parent.name == 'nmt_model_eng_deu'"
    assert loaded_by(code, ("importlib.metadata",)) == ([], "")


def test_a_training_is_refused_before_tensorflow_starts(tmp_path: Path) -> None:
    code = "from nmt_cli.cli.app import main; main(['train', '--resume'])"
    loaded, said = loaded_by(code, ("tensorflow", "keras"), tmp_path)
    assert loaded == [] and "prepared/" in said
    modules = ("defaults", "request", "transfer", "checkpoints", "synthetic_pairs")
    paths = [f"nmt_cli.training.{'data.' if name == 'synthetic_pairs' else ''}{name}" for name in modules]
    assert loaded_by(f"import {', '.join(paths)}", ("tensorflow", "keras")) == ([], "")


@pytest.mark.parametrize("given", [[], ["lines.txt", "--model", "model", "--column", "Es"]])
def test_options_that_are_text_or_not_given_cost_no_import(tmp_path: Path, given: list[str]) -> None:
    """Typer imports pydantic, 0.07 s, as soon as one option is converted."""
    (tmp_path / "lines.txt").write_text("hello\n")
    code = f"from nmt_cli.cli.app import main; main(['translate', *{given}])"
    loaded, said = loaded_by(code, ("pydantic", "typer._adapters"), tmp_path)
    assert loaded == []
    assert "there is no model in model/" in said  # it came as far as to look for one
