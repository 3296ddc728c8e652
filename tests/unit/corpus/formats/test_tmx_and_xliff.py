from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
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


def test_xliff_of_both_versions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    first = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"
target-language="de"><body>
<trans-unit id="1"><source>a <g id="1">b</g><x id="2"/></source><target>c<ph id="1">code</ph></target></trans-unit>
<trans-unit id="2"><source>d</source><target state="new">e</target></trans-unit>
<trans-unit id="3"><source>f</source></trans-unit></body></file></xliff>"""
    expected = [Row(3, "a b", "c"), Row(4, "d", "e", is_unfinished=True), Row(5, "f", "")]
    assert rows(path, first) == expected
    second = """<xliff version="2.0" srcLang="en" trgLang="de"><file><unit id="1">
<segment state="final"><source>a <pc id="1">b</pc><ph id="2"/></source><target>c</target></segment>
<segment state="initial"><source>d</source><target>e</target></segment>
<segment><source>f</source></segment></unit></file></xliff>"""
    assert [row._replace(line=row.line + 1) for row in rows(path, second)] == expected
    reader = open_reader(CorpusFile(path), ReadOptions())
    list(reader)
    assert reader.languages == ("en", "de")


BOMB = '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(10)
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (f'{BOMB}]><tmx><body><tu><tuv lang="a"><seg>&k;</seg></tuv></tu></body></tmx>', "declares entities"),
        ('<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx><tu>&x;</tu></tmx>', "declares entities"),
        ("<tmx>" + "<a>" * 100_000, "more than 200 elements within each other"),
        ("<tmx><tu><tuv>" + "x" * (1 << 23), "a unit of more than"),
        ("<html></html>", "the root is <html>, not <tmx>"),
        ("<tmx><body>", "is no XML"),
        ("a\tb\n", "is no XML"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', "klingon"),
        ("<tmx></tmx>", "is empty"),
    ],
)
def test_xml_that_is_a_trap_or_no_translation_memory_is_refused(tmp_path: Path, data: str, message: str) -> None:
    assert message in refusal(tmp_path / "a.tmx", data)
