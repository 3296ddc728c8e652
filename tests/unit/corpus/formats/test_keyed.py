"""USFM: verses without headings, notes and marks, and verses that are joined."""

from pathlib import Path

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions, require_input
from nmt_cli.corpus.formats.keyed import MAXIMUM_VERSE
from nmt_cli.errors import DataError

BOOK = r"""\id RUT A made-up book
\h Ruth
\mt1 The Book
\ip An introduction, \bk which\bk* is no verse.
\c 1
\s1 A heading
\p
\v 1 In the days \f + \fr 1:1 \ft A note.\f*of old,
\q1 there was \add a\add* man.
\s2 Another heading
\p and he went on.
\v 2-3 The \w name|lemma="name" strong="H1"\w* of the man\x - \xo 1:2 \xt See 4.\x* was long.
\v 4 \zaln-s |x-strong="H2"\*\w They\w*\zaln-e\* died.
\v 5 ...
\c 2
\d A title.
\v 1a First part,
\v 1b second part.
"""
OTHER = r"""\id RUT
\c 1
\p
\v 1 Unus.
\v 2 Duo.
\v 3 Tria.
\v 4 Quattuor.
\v 5 Quinque.
\c 2 \p \v 1 Secundum.
\v 9 Solum.
"""
EXPECTED = [
    ("In the days of old, there was a man. and he went on.", "Unus."),
    ("The name of the man was long.", "Duo. Tria."),
    ("They died.", "Quattuor."),
    ("First part, second part.", "Secundum."),
]


def read_pairs(source: Path, target: Path) -> list[tuple[str, str]]:
    require_input(CorpusFile(source, target))
    return [(row.source, row.target) for row in open_reader(CorpusFile(source, target), ReadOptions())]


def test_verses_are_paired_by_book_chapter_and_number(tmp_path: Path) -> None:
    (tmp_path / "a.usfm").write_text(BOOK)
    (tmp_path / "b.SFM").write_text("\ufeff" + OTHER.replace("\n", "\r\n"), newline="")
    assert read_pairs(tmp_path / "a.usfm", tmp_path / "b.SFM") == EXPECTED
    swapped = [(target, source) for source, target in EXPECTED]
    assert read_pairs(tmp_path / "b.SFM", tmp_path / "a.usfm") == swapped


def test_folders_of_books_are_read_whole(tmp_path: Path) -> None:
    for side, book in (("en", BOOK), ("la", OTHER)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "08RUT.usfm").write_text(book)
        (tmp_path / side / "09JON.usfm").write_text(f"\\id JON\n\\c 1\n\\v 1 {side}\n")
        (tmp_path / side / "readme.txt").write_text("no book")
    reader = open_reader(CorpusFile(tmp_path / "en", tmp_path / "la"), ReadOptions())
    assert [(row.source, row.target) for row in reader] == [*EXPECTED, ("en", "la")]
    assert reader.notes == ["en + la: 2 verses only on one side, left out"]


def test_a_note_that_never_ends_costs_its_verse_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.usfm"
    path.write_text("\\id RUT\n\\c 1\n\\v 1 Good \\f + never ends\n\\p more\n\\v 2 better\n")
    assert read_pairs(path, path) == [("Good", "Good"), ("better", "better")]


def test_a_verse_of_notes_that_does_not_end_is_refused(tmp_path: Path) -> None:
    path, note = tmp_path / "a.usfm", "\\f + e\n"
    path.write_text(f"\\id RUT\n\\c 1\n\\v 1 Good\n{note * (MAXIMUM_VERSE // 8)}\\v 2 better\n")
    assert read_pairs(path, path) == [("Good", "Good"), ("better", "better")]
    path.write_text(f"\\id RUT\n\\c 1\n\\v 1 Good\n{note * (MAXIMUM_VERSE // 4)}")
    with pytest.raises(DataError, match="line 3: a verse of more than 1,048,576 characters"):
        read_pairs(path, path)


def test_one_bible_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.usfm").write_text(BOOK)
    with pytest.raises(DataError, match="two are needed"):
        open_reader(CorpusFile(tmp_path / "a.usfm"), ReadOptions())


def test_an_address_of_a_verse_keeps_its_slashes(tmp_path: Path) -> None:
    path = tmp_path / "a.usfm"
    path.write_text("\\id RUT\n\\c 1\n\\v 1 See https://a.test/b, //and HTTP://C.TEST//now~then\n")
    assert read_pairs(path, path) == [("See https://a.test/b, and HTTP://C.TEST now then",) * 2]
