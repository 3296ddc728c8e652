"""Test sets of WMT, in SGML and in XML."""

from pathlib import Path

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.errors import DataError
from support.formats import refusal, texts

SOURCE = """<srcset setid="t" srclang="any">
<doc docid="a" origlang="en"><p>
<seg id="1">Salt & pepper &amp; more.</seg>
<seg id="2">Two
lines.</seg></p></doc>
<DOC docid="b"><seg id="1">Other.</seg><seg id="3">Alone.</seg></DOC>
</srcset>
"""
TARGET = """<refset setid="t" srclang="en" trglang="la">
<doc docid="b" sysid="r"><hl><seg id="1">Aliud.</seg></hl></doc>
<doc docid="a" sysid="r"><seg id="2">Duae lineae.</seg><seg id="1">Sal.</seg></doc>
<doc docid="a" sysid="second"><seg id="1">Sal et piper.</seg></doc>
</refset>
"""


def test_segments_of_two_files_are_paired_by_document_and_number(tmp_path: Path) -> None:
    source, target = tmp_path / "src.sgm", tmp_path / "ref.sgm"
    source.write_text(SOURCE)
    target.write_text(TARGET)
    reader = open_reader(CorpusFile(source, target), ReadOptions())
    assert [(row.line, row.source, row.target) for row in reader] == [
        (3, "Salt & pepper & more.", "Sal."),
        (4, "Two lines.", "Duae lineae."),
        (6, "Other.", "Aliud."),
    ]
    assert reader.languages == ("en", "la")
    assert reader.notes == ["src.sgm + ref.sgm: 1 segment only on one side, left out"]


def test_one_side_alone_or_beside_plain_text_is_refused(tmp_path: Path) -> None:
    source, lines = tmp_path / "src.sgm", tmp_path / "lines.txt"
    lines.write_text("a\n")
    assert "two are needed" in refusal(source, SOURCE)
    with pytest.raises(DataError, match="not one sentence per line"):
        open_reader(CorpusFile(source, lines), ReadOptions())
    source.write_text("<srcset>\n<doc docid='a'><seg id='1'>" + "x\n" * 10)
    with pytest.raises(DataError, match="line 2: a segment that does not end"):
        list(open_reader(CorpusFile(source, source), ReadOptions()))


def test_test_sets_in_xml_have_a_pair_for_each_reference(tmp_path: Path) -> None:
    data = """<?xml version='1.0'?><dataset id="t"><doc id="a">
<src lang="en"><p><seg id="1">One.</seg><seg id="2">Two.</seg></p></src>
<ref lang="la" translator="A"><p><seg id="2">Duo.</seg><seg id="1">Unum.</seg></p></ref>
<ref lang="la" translator="B"><p><seg id="1">Una.</seg></p></ref>
<hyp system="x" language="la"><p><seg id="1">Nihil.</seg></p></hyp></doc></dataset>"""
    assert texts(tmp_path / "a.xml", data) == [("One.", "Unum."), ("Two.", "Duo."), ("One.", "Una."), ("Two.", "")]
