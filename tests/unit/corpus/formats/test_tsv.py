"""Tab-separated text: columns by number or name."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.errors import DataError
from support.formats import refusal, texts


def test_what_is_not_utf_8_is_read_as_cp1252_where_plausible_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes("Go.\tLos!\nAs is.\tWie gehabt – für “uns”.\n".encode("cp1252"))
    reader = open_reader(CorpusFile(tmp_path / "a.tsv"), ReadOptions())
    assert [row.target for row in reader] == ["Los!", "Wie gehabt – für “uns”."]
    assert len(reader.notes) == 1 and "cp1252" in reader.notes[0] and "--encoding" in reader.notes[0]


@pytest.mark.parametrize(
    "data",
    [
        "Go.\tИди сюда!\n".encode("cp1251"),
        "Go.\tfür\n".encode() + "Stay.\tübrig\n".encode("cp1252"),  # damaged
        "Go.\tñu\n".encode("cp1252") + "Stay.\tОстанься дома.\n".encode("koi8-r"),
        "Go.\t行け今すぐ\n".encode("shift_jis"),
    ],
)
def test_other_encodings_than_cp1252_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.tsv").write_bytes(data)
    with pytest.raises(DataError) as problem:
        list(open_reader(CorpusFile(tmp_path / "a.tsv"), ReadOptions()))
    assert "--encoding" in problem.value.hint


def test_columns_of_a_table_are_chosen_by_number_or_name(path: Path) -> None:
    data = "id\tEnglish\tGerman\n1\tone\teins\n2\ttwo\tzwei\n"
    expected = [("one", "eins"), ("two", "zwei")]
    assert texts(path, data, source_column="English", target_column="3") == expected
    assert texts(path, data, source_column="2", target_column="3") == expected
    assert "did you mean 'German'" in refusal(path, data, target_column="Germn")
    assert "line 2: 2 columns" in refusal(path, "a\tb\tc\nd\te\n", target_column="3")
