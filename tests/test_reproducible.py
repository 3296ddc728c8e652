"""What `make test` tries depends on the code of a test alone, so that it passes twice or fails twice."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def draw_texts() -> list[str]:
    """Returns the texts that Hypothesis tries of one property."""
    tried: list[str] = []

    @settings(derandomize=True, database=None, max_examples=100)
    @given(st.text())
    def note(text: str) -> None:
        tried.append(text)

    note()
    return tried


def test_imported_modules_change_no_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not settings().derandomize:
        pytest.skip("this run searches for new examples")
    before = draw_texts()
    path = tmp_path / "constants.py"
    path.write_text(f"WORDS = {[f'word {number}' for number in range(100)]}", encoding="utf-8")
    module = ModuleType("constants")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "constants", module)
    assert draw_texts() == before
