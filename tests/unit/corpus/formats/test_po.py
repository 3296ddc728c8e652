"""Catalogues of gettext."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.formats.reader import Row
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
