"""Tests of `corpus/formats/reader.py`.

What the readers of all formats share. Parallel files: lines side by side, and where files of unequal length diverge.
"""

import gzip
from pathlib import Path

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions, parse_input
from nmt_cli.corpus.formats.reader import Row
from nmt_cli.errors import DataError
from support.formats import refusal


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
@pytest.mark.parametrize("options", [{"source_column": "2"}, {"target_column": "1"}, {"source_column": "German"}])
def test_one_column_is_not_both_sides(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    data = "English,German\none,eins\n".replace(",", "\t" if name == "a.tsv" else ",")
    assert "source and target are both column" in refusal(tmp_path / name, data, **options)


def test_parallel_files_are_read_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(b"\xef\xbb\xbfone\ttab\n\nthree\n")
    (tmp_path / "a.de.gz").write_bytes(gzip.compress(b"eins\r\nzwei\r\ndrei"))
    file = parse_input(f"{tmp_path / 'a.en'},{tmp_path / 'a.de.gz'}")
    assert list(open_reader(file, ReadOptions())) == [
        Row(1, "one\ttab", "eins"),
        Row(2, "", "zwei"),
        Row(3, "three", "drei"),
    ]


def test_parallel_files_of_unequal_length_name_the_line_where_they_part(tmp_path: Path) -> None:
    lines = [f"{'word ' * (1 + (7 * n * n) % 23)}{n}" for n in range(1000)]
    (tmp_path / "a.en").write_text("\n".join(lines) + "\n")
    (tmp_path / "a.de").write_text("\n".join(lines[:400] + lines[401:]) + "\n")
    with pytest.raises(DataError) as caught:
        list(open_reader(CorpusFile(tmp_path / "a.en", tmp_path / "a.de"), ReadOptions()))
    assert f"a.en has 1,000 lines, {tmp_path}/a.de has 999" in caught.value.message
    line = int(caught.value.hint.split("from about line ")[1].split()[0])
    assert abs(line - 401) <= 3
