"""What the readers of all formats share."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.formats import refusal


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
@pytest.mark.parametrize("options", [{"source_column": "2"}, {"target_column": "1"}, {"source_column": "German"}])
def test_one_column_is_not_both_sides(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    data = "English,German\none,eins\n".replace(",", "\t" if name == "a.tsv" else ",")
    assert "source and target are both column" in refusal(tmp_path / name, data, **options)
