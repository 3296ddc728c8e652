"""CSV: quotes, delimiters, headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.formats.reader import Row
from support.formats import refusal, rows, texts


def test_csv_is_read_with_quotes_line_breaks_and_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data = 'source,target\n"a, ""b""",x\n"two\nlines",y\n,\nlast,z,more\n'
    assert rows(path, data) == [
        Row(2, 'a, "b"', "x"),
        Row(3, "two\nlines", "y"),
        Row(5, "", ""),
        Row(6, "last", "z", has_more_columns=True),
    ]
    assert texts(path, "en;de\na,b;c\n", source_language="en", target_language="de") == [("a,b", "c")]
    assert texts(path, "no;header\na;b\n") == [("no", "header"), ("a", "b")]
    assert texts(path, "a,b,c\n1,2,3\n", source_column="c", target_column="a") == [("3", "1")]
    data = "id,split,source,target\n1,train,one,eins\n"
    assert texts(path, data, source_column="3", target_column="4") == [("one", "eins")]
    assert "line 2: 1 column," in refusal(path, "a,b\nonly\n")


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Hello, my dear, hi;Hallo, du\nNo;Nein\n", [("Hello, my dear, hi", "Hallo, du"), ("No", "Nein")]),
        ('"a; b",c\nd,"e; f; g"\n', [("a; b", "c"), ("d", "e; f; g")]),
        ("a\tb, c, d\ne\tf\n", [("a", "b, c, d"), ("e", "f")]),
        ("a,b,c\nd,e,f\n", [("a", "b"), ("d", "e")]),
        ('"x, y";"z\nz"\n' * 30, [("x, y", "z\nz")] * 30),
    ],
)
def test_fields_of_csv_are_parted_as_all_its_lines_say(tmp_path: Path, text: str, pairs: list[tuple[str, str]]) -> None:
    assert texts(tmp_path / "x.csv", text) == pairs


def test_the_languages_that_a_file_is_named_by_are_a_header(tmp_path: Path) -> None:
    assert texts(tmp_path / "news.en-de.csv", "en,de\none,eins\n") == [("one", "eins")]
    assert texts(tmp_path / "news.csv", "en,de\none,eins\n") == [("one", "eins")]
    assert texts(tmp_path / "news.csv", "no,such\none,eins\n") == [("no", "such"), ("one", "eins")]


def test_an_unclosed_quote_is_reported_with_the_line_that_opened_it(tmp_path: Path) -> None:
    data = 'a,b\nc,"d\n' + "e,f\n" * 100_000
    assert "line 2: field larger than" in refusal(tmp_path / "a.csv", data)
