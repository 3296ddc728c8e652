"""TMX: inline tags, and which two of its languages are read."""

from pathlib import Path

import pytest

from nmt_cli.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.formats.opening import open_reader
from nmt_cli.formats.reader import Row
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
    for source in ("fra", "en-GB"):
        options = {"source_language": source, "target_language": "de"}
        assert "has the languages de, en-US" in refusal(
            tmp_path / "a.tmx", TMX.format(UNIT.format("x", "y")), **options
        )


def test_codes_of_two_and_three_letters_are_one_language(tmp_path: Path) -> None:
    options = {"source_language": "eng", "target_language": "deu"}
    assert texts(tmp_path / "a.tmx", TMX.format(UNIT.format("x", "y")), **options) == [("y", "x")]


def test_a_code_between_two_words_is_a_blank_and_none_within_spaces(tmp_path: Path) -> None:
    units = [
        ('a<ph x="1">&lt;br/&gt;</ph>b', "a b"),
        ("a<ut>{</ut><ut>}</ut>b.<ph/>C", "a b. C"),
        ("a <bpt>x</bpt>b<ept>y</ept> c<it>z</it>!", "a b c!"),
        ("漢<ph/>字", "漢字"),
        ('Press <g id="1">Start</g> <mrk>now</mrk> <unknown>please</unknown>', "Press Start now please"),
    ]
    data = TMX.format("".join(UNIT.format(code, "x") for code, _ in units))
    assert [target for _, target in texts(tmp_path / "a.tmx", data)] == [text for _, text in units]


@pytest.mark.parametrize(
    "options", [{}, {"source_language": "en"}, {"target_language": "de"}, {"source_language": "de"}]
)
def test_units_without_a_translation_may_come_first(tmp_path: Path, options: dict[str, str]) -> None:
    lonely = '<tu><tuv xml:lang="en-US"><seg>lonely</seg></tuv></tu>'
    pairs = texts(tmp_path / "a.tmx", TMX.format(lonely + UNIT.format("eins", "one")), **options)
    expected = [("lonely", ""), ("one", "eins")]
    is_reversed = options.get("source_language") == "de"
    assert pairs == ([pair[::-1] for pair in expected] if is_reversed else expected)
    assert "has the languages en-US" in refusal(tmp_path / "a.tmx", TMX.format(lonely * 2))


def test_a_later_unit_in_a_third_language_is_asked_about(tmp_path: Path) -> None:
    other = UNIT.replace('"de"', '"fr"').format("un", "one")
    data = TMX.format(UNIT.format("eins", "one") + other)
    assert "has the languages de, en-US, fr" in refusal(tmp_path / "a.tmx", data)
    pairs = texts(tmp_path / "a.tmx", data, source_language="en", target_language="fr")
    assert pairs == [("one", ""), ("one", "un")]


def test_varieties_are_one_language_unless_one_is_asked_for(tmp_path: Path) -> None:
    british = '<tuv xml:lang="en-GB"><seg>lift</seg></tuv></tu>'
    path = tmp_path / "a.tmx"
    path.write_text(TMX.format(UNIT.replace("</tu>", british).format("Aufzug", "elevator")))
    reader = open_reader(CorpusFile(path), ReadOptions())
    assert [(row.source, row.target) for row in reader] == [("elevator", "Aufzug")]
    assert reader.notes == [f"{path.name}: additional variants of a language in one unit, left out: 1"]
    assert texts(path, path.read_text(), source_language="en-GB") == [("lift", "Aufzug")]


@pytest.mark.parametrize("seg", ["a&#x1F;b", "a&#31;b", "a&#xFFFE;b", "a\x0bb"])
def test_characters_that_xml_forbids_become_blanks_and_are_counted(tmp_path: Path, seg: str) -> None:
    path = tmp_path / "a.tmx"
    path.write_text("\n" + TMX.format(UNIT.format("x", seg)))
    reader = open_reader(CorpusFile(path), ReadOptions())
    assert [row.source for row in reader] == ["a b"]
    assert reader.notes == [
        f"{path.name}: whitespace before the XML declaration was removed",
        f"{path.name}: 1 character that XML forbids: read as spaces",
    ]


def test_a_reference_that_two_chunks_share_is_mended(tmp_path: Path) -> None:
    for length in range(65_400, 65_420):
        data = TMX.format(UNIT.format("x", "y" * length + "&#x1F;z"))
        assert texts(tmp_path / "a.tmx", data) == [("y" * length + " z", "x")]


# XML that is a trap, damaged, or another format.


BOMB = '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(10)
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (f'{BOMB}]><tmx><body><tu><tuv lang="a"><seg>&k;</seg></tuv></tu></body></tmx>', "declares entities"),
        ('<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx><tu>&x;</tu></tmx>', "declares entities"),
        ("<tmx>" + "<a>" * 100_000, "more than 200 nested elements"),
        ("<tmx><tu><tuv>" + "x" * (1 << 23), "a unit has more than"),
        ("<html></html>", "is a web page"),
        ("<other></other>", "the root is <other>, not <tmx>"),
        ("<tmx><body>", "is not XML"),
        ("a\tb\n", "is not XML"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', "klingon"),
        ("<tmx></tmx>", "is empty"),
    ],
)
def test_xml_that_is_a_trap_or_no_translation_memory_is_refused(tmp_path: Path, data: str, message: str) -> None:
    assert message in refusal(tmp_path / "a.tmx", data)


# XLIFF of both versions.

FILE = '<file source-language="{}" target-language="{}"><body>{}</body></file>'
TRANS_UNIT = '<trans-unit id="1"><source>{}</source><target>{}</target></trans-unit>'


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
    unit = TRANS_UNIT.replace('id="1"', 'id="1" mq:status="NotStarted"').format("a", "b")
    assert rows(tmp_path / "a.mqxliff", xliff(FILE.format("en", "de", unit)))[0].is_unfinished


def test_a_file_in_another_language_is_left_out_or_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    data = xliff(
        FILE.format("en", "de", TRANS_UNIT.format("a", "b")),
        FILE.format("en-GB", "fr", TRANS_UNIT.format("c", "d")),
    )
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
    expected = [
        Row(3, "a b", "c", context="1"),
        Row(4, "d", "e", is_unfinished=True, context="2"),
        Row(5, "f", "", context="3"),
    ]
    assert rows(path, first) == expected
    second = """<xliff version="2.0" srcLang="en" trgLang="de"><file><unit id="1">
<segment id="1" state="final"><source>a <pc id="1">b</pc><ph id="2"/></source><target>c</target></segment>
<segment id="2" state="initial"><source>d</source><target>e</target></segment>
<segment id="3"><source>f</source></segment></unit></file></xliff>"""
    assert [row._replace(line=row.line + 1) for row in rows(path, second)] == expected
    reader = open_reader(CorpusFile(path), ReadOptions())
    list(reader)
    assert reader.languages == ("en", "de")
