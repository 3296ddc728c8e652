"""Tab-separated text: columns by number or name."""

from __future__ import annotations

from pathlib import Path

from support.formats import refusal, texts


def test_columns_of_a_table_are_chosen_by_number_or_name(path: Path) -> None:
    data = "id\tEnglish\tGerman\n1\tone\teins\n2\ttwo\tzwei\n"
    expected = [("one", "eins"), ("two", "zwei")]
    assert texts(path, data, source_column="English", target_column="3") == expected
    assert texts(path, data, source_column="2", target_column="3") == expected
    assert "did you mean 'German'" in refusal(path, data, target_column="Germn")
    assert "line 2: 2 columns" in refusal(path, "a\tb\tc\nd\te\n", target_column="3")
