"""Tests of entries: jSON Lines: the keys under which the two texts are found; catalogues of gettext."""

from pathlib import Path

import pytest

from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.formats.opening import open_reader
from nmt_cli.formats.reader import Row
from support.formats import refusal, rows
from support.translations import converted


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('{"source": "a", "target": "b"}', {}),
        ('{"src": "a", "tgt": "b"}', {}),
        ('{"translation": {"en": "a", "de": "b"}}', {"source_language": "en", "target_language": "de"}),
        ('{"x": "a", "y": "b", "source": 1}', {"source_column": "x", "target_column": "y"}),
        ('{"x": {"en": ["-", "a"]}, "y": "b"}', {"source_column": "x.en.1", "target_column": "y"}),
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
        Row(7, 'Open "%s"', "„%s“ öffnen", context="menu"),
        Row(14, "one", "eins", is_unfinished=True, context=""),
        Row(17, "file", "Datei", context=""),
        Row(17, "files", "Dateien", context=""),
        Row(21, "untranslated", "", context=""),
    ]


def test_the_flag_of_an_obsolete_entry_is_its_own(tmp_path: Path) -> None:
    text = '#, fuzzy\n#~ msgid "old"\n#~ msgstr "alt"\n\nmsgid "new"\nmsgstr "neu"\n'
    assert [(row.source, row.is_unfinished) for row in rows(tmp_path / "x.po", text)] == [("new", False)]


@pytest.mark.parametrize(
    "data",
    [
        *('msgid "a', "garbage", '"before any keyword"', 'msgid "a"\nmsgstr x', 'msgstr "a"\nmsgid "b"'),
        *('msgid "a"\n\nmsgid "b"\nmsgstr "c"', 'msgid "a"\nmsgctxt "b"', 'msgid "a"\nmsgstr "b"\nmsgstr "c"'),
    ],
)
def test_what_is_no_catalogue_is_refused(tmp_path: Path, data: str) -> None:
    assert "line" in refusal(tmp_path / "a.po", data)
    with pytest.raises(DataError, match=r"x\.po, line"):
        converted("po", data)


def test_escapes_that_gettext_does_not_write_stay(tmp_path: Path) -> None:
    text = 'msgid "C:\\\\a \\d"\nmsgstr "b"\n'
    assert rows(tmp_path / "a.po", text)[0].source == "C:\\a \\d"


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
