"""Catalogues of gettext."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.corpus.formats.reader import Row
from nmt_cli.errors import OptionError
from support.formats import refusal, rows

PO = r"""
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

# comment
#: file.c:10
msgctxt "menu"
msgid "Open \"%s\""
msgstr ""
"„%s“ "
"öffnen"

#, fuzzy, c-format
msgid "one"
msgstr "eins"

msgid "file"
msgid_plural "files"
msgstr[0] "Datei"
msgstr[1] "Dateien"
msgid "untranslated"
msgstr ""

#~ msgid "old"
#~ msgstr "alt"
"""


def test_catalogues_are_read_with_plurals_and_marks(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.po", PO) == [
        Row(7, 'Open "%s"', "„%s“ öffnen"),
        Row(14, "one", "eins", is_unfinished=True),
        Row(17, "file", "Datei"),
        Row(17, "files", "Dateien"),
        Row(21, "untranslated", ""),
    ]


def test_the_flag_of_an_obsolete_entry_is_its_own(tmp_path: Path) -> None:
    text = '#, fuzzy\n#~ msgid "old"\n#~ msgstr "alt"\n\nmsgid "new"\nmsgstr "neu"\n'
    assert [(row.source, row.is_unfinished) for row in rows(tmp_path / "x.po", text)] == [("new", False)]


@pytest.mark.parametrize("data", ['msgid "a', "garbage", '"before any keyword"', 'msgid "a"\nmsgstr x'])
def test_what_is_no_catalogue_is_refused(tmp_path: Path, data: str) -> None:
    assert "line" in refusal(tmp_path / "a.po", data)


def test_the_header_names_the_languages_and_the_encoding(tmp_path: Path) -> None:
    header = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=ISO-8859-1\\n"\n'
    path = tmp_path / "a.po"
    path.write_bytes((header + '\nmsgid "five"\nmsgstr "fünf"\n').encode("latin-1"))
    reader = open_reader(CorpusFile(path), ReadOptions())
    assert [(row.source, row.target) for row in reader] == [("five", "fünf")]
    assert reader.languages == ("source", "de")
    path.write_text(header.replace("ISO-8859-1", "UTF-8") + '"X-Source-Language: fr\\n"\n\nmsgid "a"\nmsgstr "b"\n')
    reader = open_reader(CorpusFile(path), ReadOptions())
    list(reader)
    assert reader.languages == ("fr", "de")
    with pytest.raises(OptionError, match="Content-Type: there is no encoding 'klingon'"):
        rows(path, header.replace("ISO-8859-1", "klingon"))


def test_an_entry_of_many_lines_is_read_in_linear_time_up_to_a_limit(tmp_path: Path) -> None:
    begin = 'msgid "a"\n'
    assert rows(tmp_path / "a.po", begin + '"b"\n' * 50_000 + 'msgstr "x"\n')[0].source == "a" + "b" * 50_000
    assert "an entry of more than" in refusal(tmp_path / "a.po", begin + f'"{"b" * 1_000}"\n' * 2_000)
