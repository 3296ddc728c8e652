"""XLIFF of both versions."""

from __future__ import annotations

from pathlib import Path

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.corpus.formats.reader import Row
from support.formats import rows


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
