"""XLIFF of both versions."""

from pathlib import Path

from nmt_cli.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.formats.opening import open_reader
from nmt_cli.formats.reader import Row
from support.formats import refusal, rows, texts

FILE = '<file source-language="{}" target-language="{}"><body>{}</body></file>'
UNIT = '<trans-unit id="1"><source>{}</source><target>{}</target></trans-unit>'


def xliff(*files: str) -> str:
    return f'<xliff version="1.2" xmlns:sdl="s" xmlns:mq="m">{"".join(files)}</xliff>'


def test_the_segments_of_a_unit_are_pairs(tmp_path: Path) -> None:
    unit = (
        '<trans-unit id="1"><source>One. <g id="1">Two.</g></source>'
        '<seg-source><mrk mtype="seg" mid="3">One.</mrk> <g id="1"><mrk mtype="seg" mid="5">Two.</mrk></g></seg-source>'
        '<target><g id="1"><mrk mtype="seg" mid="5">Zwei.</mrk></g><mrk mtype="seg" mid="3">Eins.</mrk></target>'
        '<sdl:seg-defs><sdl:seg id="3" conf="Translated"/><sdl:seg id="5" conf="Draft"/></sdl:seg-defs></trans-unit>'
    )
    expected = [Row(1, "One.", "Eins."), Row(1, "Two.", "Zwei.", is_unfinished=True)]
    assert rows(tmp_path / "a.sdlxliff", xliff(FILE.format("en", "de", unit))) == expected


def test_units_that_nobody_has_begun_are_unfinished(tmp_path: Path) -> None:
    unit = UNIT.replace('id="1"', 'id="1" mq:status="NotStarted"').format("a", "b")
    assert rows(tmp_path / "a.mqxliff", xliff(FILE.format("en", "de", unit)))[0].is_unfinished


def test_a_file_in_another_language_is_left_out_or_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    data = xliff(FILE.format("en", "de", UNIT.format("a", "b")), FILE.format("en-GB", "fr", UNIT.format("c", "d")))
    assert "has texts in en -> de and en-GB -> fr" in refusal(path, data)
    assert texts(path, data, target_language="deu") == [("a", "b")]
    reader = open_reader(CorpusFile(path), ReadOptions(target_language="fr"))
    assert [row.target for row in reader] == ["d"]
    assert reader.languages == ("en-GB", "fr")
    assert reader.notes == [f"{path.name}: 1 unit in en -> de left out"]
    assert "has texts in en -> de" in refusal(path, data, target_language="it")


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
