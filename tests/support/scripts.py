"""Scripts of the project that are no part of the package, loaded as modules."""

import importlib.util
from pathlib import Path
from types import ModuleType

PROJECT = Path(__file__).parents[2]


def load_script(path: str) -> ModuleType:
    """Returns the script at a path within the project, such as `data/models/make.py`, as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, PROJECT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
