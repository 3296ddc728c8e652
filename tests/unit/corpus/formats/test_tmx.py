"""TMX: inline tags, and which two of its languages are read."""

from __future__ import annotations

from pathlib import Path

from nmt_cli.corpus.formats.reader import Row
from support.formats import TMX, UNIT, refusal, rows, texts


def test_tmx_is_read_without_its_inline_codes(tmp_path: Path) -> None:
    code = 'a <bpt i="1">&lt;b&gt;</bpt><hi>b</hi><ept i="1">&lt;/b&gt;</ept> <ph>x<sub>y</sub></ph>c'
    data = TMX.format(UNIT.format("eins", code) + "\n\n" + UNIT.format("zwei &amp; mehr", "two"))
    assert rows(tmp_path / "a.tmx", data) == [Row(4, "a b c", "eins"), Row(7, "two", "zwei & mehr")]
    assert texts(tmp_path / "a.tmx", data, source_language="de") == [("eins", "a b c"), ("zwei & mehr", "two")]


def test_of_several_languages_two_must_be_named(tmp_path: Path) -> None:
    unit = UNIT.replace("</tu>", '<tuv lang="fr"><seg>un</seg></tuv></tu>').format("eins", "one")
    assert "has the languages de, en-US, fr" in refusal(tmp_path / "a.tmx", TMX.format(unit))
    options = {"source_language": "fr", "target_language": "en"}
    assert texts(tmp_path / "a.tmx", TMX.format(unit + UNIT.format("x", "y")), **options) == [("un", "one"), ("", "y")]


def test_languages_that_no_unit_has_are_refused_with_those_that_they_have(tmp_path: Path) -> None:
    for source in ("eng", "en-GB"):
        options = {"source_language": source, "target_language": "de"}
        assert "has the languages de, en-US" in refusal(
            tmp_path / "a.tmx", TMX.format(UNIT.format("x", "y")), **options
        )
