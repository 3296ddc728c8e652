""""""

from pathlib import Path

import pytest

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.evaluation.texts import list_language_warnings, read_files, read_sentences


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    content = "a\u2028b\x85c\x0bd\r\ne\rf\n\ng"
    assert read_sentences(write(tmp_path / "x", content.encode())) == ["a\u2028b\x85c\x0bd", "e\rf", "", "g"]


def test_a_byte_order_mark_is_no_part_of_the_first_sentence(tmp_path: Path) -> None:
    assert read_sentences(write(tmp_path / "x", b"\xef\xbb\xbfa\nb\n")) == ["a", "b"]


def test_bytes_that_are_not_utf8_are_told_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x, line 2: .*0xe4"):
        read_sentences(write(tmp_path / "x", "a\nä\n".encode("latin-1")))


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "reference.txt", b"a\n")
    with pytest.raises(NotFoundError) as caught:
        read_sentences(tmp_path / "refrence.txt")
    assert "reference.txt" in caught.value.hint


def test_references_of_several_files_come_sentence_by_sentence(tmp_path: Path) -> None:
    first, second, hypotheses = (
        write(tmp_path / name, text) for name, text in (("1", b"a\nb\n"), ("2", b"c\nd"), ("h", b"e\nf\n"))
    )
    text = read_files(hypotheses, [first, second])
    assert text.lines == ("e", "f")
    assert text.references == (("a", "c"), ("b", "d"))


def test_files_of_different_lengths_are_refused_with_both_counts(tmp_path: Path) -> None:
    hypotheses, reference = write(tmp_path / "h", b"a\nb\n"), write(tmp_path / "r", b"a\n")
    with pytest.raises(DataError, match=r"h: 2 lines, .*r: 1"):
        read_files(hypotheses, [reference])


def test_empty_files_are_refused(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty", b"")
    with pytest.raises(DataError, match="empty"):
        read_files(empty, [empty])


def test_each_column_of_a_table_is_a_reference_beside_those_of_other_files(tmp_path: Path) -> None:
    table = write(tmp_path / "r.tsv", b"a\tb\nc\td\n")
    plain = write(tmp_path / "r.txt", b"e\tf\ng\n")
    text = read_files(write(tmp_path / "h", b"x\ny\n"), [table, plain])
    assert text.references == (("a", "b", "e\tf"), ("c", "d", "g"))


def test_a_table_with_rows_of_unequal_width_is_refused_with_its_line(tmp_path: Path) -> None:
    table = write(tmp_path / "r.tsv", b"a\tb\nc\n")
    with pytest.raises(DataError, match=r"r.tsv, line 2: 1 column, but the lines before it have 2"):
        read_files(write(tmp_path / "h", b"x\ny\n"), [table])


def test_languages_that_files_declare_are_compared(tmp_path: Path) -> None:
    source = '<srcset setid="s" srclang="en"><doc docid="d"><seg id="1">Yes.</seg></doc></srcset>'
    reference = '<refset setid="s" srclang="en" trglang="fr"><doc docid="d"><seg id="1">Oui.</seg></doc></refset>'
    unit = "<trans-unit id='1'><source>Yes.</source><target>Ja.</target></trans-unit>"
    xliff = f"<xliff version='1.2'><file source-language='en' target-language='de'>{unit}</file></xliff>"
    for name, text in (("a.src.sgm", source), ("a.ref.sgm", reference), ("a.xlf", xliff)):
        (tmp_path / name).write_text(text)
    text = read_files(tmp_path / "a.src.sgm", [tmp_path / "a.ref.sgm"], "source")
    assert list_language_warnings(text.languages, ("eng", "fra")) == []
    assert list_language_warnings(text.languages, ("source", "target")) == []
    (warning,) = list_language_warnings(text.languages, ("eng", "deu"))
    assert warning == f"{tmp_path}/a.ref.sgm is in fr, but the model translates eng -> deu"
    text = read_files(tmp_path / "a.xlf", [tmp_path / "a.ref.sgm"], "hypothesis")
    assert list_language_warnings(text.languages, None) == [
        f"{tmp_path}/a.ref.sgm is in fr, but {tmp_path}/a.xlf is in de"
    ]
