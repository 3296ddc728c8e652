"""JSON Lines: the keys under which the two texts are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.formats.reader import Row
from support.formats import refusal, rows


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('{"source": "a", "target": "b"}', {}),
        ('{"src": "a", "tgt": "b"}', {}),
        ('{"translation": {"en": "a", "de": "b"}}', {"source_language": "en", "target_language": "de"}),
        ('{"x": "a", "y": "b", "source": 1}', {"source_column": "x", "target_column": "y"}),
        ('["a", "b"]', {}),
        ('["c", "b", "a"]', {"source_column": "3"}),
    ],
)
def test_json_lines_of_all_usual_shapes_are_read(tmp_path: Path, line: str, options: dict[str, str]) -> None:
    assert rows(tmp_path / "a.jsonl", f"\n{line}\n", **options) == [Row(1, "", ""), Row(2, "a", "b")]


def test_the_languages_that_a_file_is_named_by_are_keys(tmp_path: Path) -> None:
    assert rows(tmp_path / "news.en-de.jsonl", '{"translation": {"en": "a", "de": "b"}}\n') == [Row(1, "a", "b")]


def test_a_key_says_what_a_pair_belongs_to(tmp_path: Path) -> None:
    lines = (
        '{"source": "a", "target": "b", "page": 3}\n{"source": "a", "target": "b", "page": null}\n["c", "d"]\n'
        '{"page": "x", "chapter": "y", "translation": {"source": "e", "target": "f"}}\n'
    )
    read = rows(tmp_path / "a.jsonl", lines, group_columns=("chapter", "page"))
    assert [row.group for row in read] == ["3", "", "", "y"]


def test_a_null_is_an_empty_side(tmp_path: Path) -> None:
    lines = '{"source": "a", "target": null}\n{"translation": {"source": null, "target": "b"}}\n["c", null]\n'
    assert rows(tmp_path / "a.jsonl", lines) == [Row(1, "a", ""), Row(2, "", "b"), Row(3, "c", "")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: invalid JSON"),
        ("[" * 100_000, "line 1: invalid JSON"),
        ('{"source": 1, "target": "b"}', "no text under 'source'"),
        ('{"en": "a", "de": "b"}', "name two of these with --source-column and --target-column: en, de"),
        ('["a"]', "no text under"),
        ("7", "no text under"),
    ],
)
def test_json_without_the_two_texts_is_refused(tmp_path: Path, line: str, message: str) -> None:
    assert message in refusal(tmp_path / "a.jsonl", line)
