from pathlib import Path

import pytest

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.evaluation.analysis.warnings import list_warnings
from nmt_cli.evaluation.texts import list_language_warnings, open_lines, read_files, read_side


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_only_line_feeds_end_a_line_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    content = "\ufeffa\u2028b\x85c\x0bd\r\ne\rf\n\ng"
    assert open_lines(write(tmp_path / "x", content.encode()))[1] == ["a\u2028b\x85c\x0bd", "e\rf", "", "g"]


def test_bytes_that_are_not_utf8_are_told_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x, line 2: .*0xe4"):
        open_lines(write(tmp_path / "x", "a\nä\n".encode("latin-1")))


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "reference.txt", b"a\n")
    with pytest.raises(NotFoundError) as caught:
        open_lines(tmp_path / "refrence.txt")
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
    with pytest.raises(DataError, match=r"r.tsv, row 2: 1 column, but the rows before it have 2"):
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


# Sources, hypotheses and references from files of several formats.


SGM = '<{0}set><doc docid="{1}"><seg id="1">{2}</seg>\n<seg id="2">{3}</seg></doc></{0}set>'


def write_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, role: str = "hypothesis") -> list[list[str]]:
    return read_side(path, role).columns  # type: ignore[arg-type]


def test_columns_are_named_behind_a_colon(tmp_path: Path) -> None:
    write_file(tmp_path / "a.tsv", "id\ttext\n1\tone\n2\ttwo\n")
    assert read(tmp_path / "a.tsv:text") == [["one", "two"]]
    assert read(tmp_path / "a.tsv:2") == [["text", "one", "two"]]
    write_file(tmp_path / "b.csv", 'sep=;\nid;text\n1;"one; two"\n2;"three\nfour"\n')
    assert read(tmp_path / "b.csv:text") == [["one; two", "three four"]]
    write_file(tmp_path / "c:d", "plain\n")
    assert read(tmp_path / "c:d") == [["plain"]]
    with pytest.raises(DataError, match="has 2 columns: id, text") as caught:
        read(tmp_path / "a.tsv")
    assert f"{tmp_path}/a.tsv:1" in caught.value.hint
    with pytest.raises(DataError, match="there is no column 'txt'"):
        read(tmp_path / "a.tsv:txt")
    for name, content in (("e.txt", "x\n"), ("f.sgm", SGM.format("tst", "a", "x", "y")), ("g.xlf", "<xliff></xliff>")):
        with pytest.raises(DataError, match=r"is .*, which has no columns"):
            read(write_file(tmp_path / name, content).with_name(f"{name}:2"))


def test_a_blank_line_is_an_empty_text_of_one_column_and_no_row_of_several(tmp_path: Path) -> None:
    assert read(write_file(tmp_path / "one.csv", 'text\n"a, b"\n\nc\n').with_name("one.csv:text")) == [
        ["a, b", "", "c"]
    ]
    assert read(write_file(tmp_path / "two.csv", "text,id\na,1\n\nc,2\n").with_name("two.csv:text")) == [["a", "c"]]


def test_json_lines_have_usual_keys_by_role(tmp_path: Path) -> None:
    path = write_file(
        tmp_path / "a.jsonl", '{"src": "a", "ref": "b", "mt": "c"}\n{"src": "d", "ref": "e", "mt": "f"}\n'
    )
    assert [read(path, role)[0] for role in ("source", "reference", "hypothesis")] == [
        ["a", "d"],
        ["b", "e"],
        ["c", "f"],
    ]
    assert read(tmp_path / "a.jsonl:src") == [["a", "d"]]
    with pytest.raises(DataError, match="line 1: no text under 'x'"):
        read(tmp_path / "a.jsonl:x")


def test_segments_of_test_sets_are_aligned_by_their_numbers(tmp_path: Path) -> None:
    hypothesis = write_file(tmp_path / "h.sgm", SGM.format("tst", "a", "one", "two"))
    turned = '<refset><doc docid="a"><seg id="2">zwei &amp;</seg><seg id="1">eins</seg></doc></refset>'
    reference = write_file(tmp_path / "r.sgm", turned)
    assert read_files(hypothesis, [reference]).references == (("eins",), ("zwei &",))
    write_file(tmp_path / "lines.txt", "x\ny\n")
    assert read_files(hypothesis, [tmp_path / "lines.txt"]).references == (("x",), ("y",))
    with pytest.raises(DataError, match="segments differ"):
        read_files(hypothesis, [write_file(tmp_path / "o.sgm", SGM.format("ref", "b", "x", "y"))])


def test_test_sets_in_xml_have_translators_and_systems(tmp_path: Path) -> None:
    path = write_file(
        tmp_path / "a.xml",
        '<dataset><doc id="d"><src lang="en"><p><seg id="1">s</seg></p></src>'
        '<ref lang="de" translator="A"><p><seg id="1">a</seg></p></ref>'
        '<ref lang="de" translator="B"><p><seg id="1">b</seg></p></ref>'
        '<hyp system="X"><p><seg id="1">x</seg></p></hyp>'
        '<hyp system="Y"><p><seg id="1">y</seg></p></hyp></doc></dataset>',
    )
    assert (read(path, "source"), read(path, "reference")) == ([["s"]], [["a"], ["b"]])
    assert read(tmp_path / "a.xml:B", "reference") == [["b"]]
    assert read(tmp_path / "a.xml:Y") == [["y"]]
    with pytest.raises(DataError, match="there is no hypothesis, or more than one") as caught:
        read(path)
    assert "names in the file: X, Y" in caught.value.hint


def test_xliff_has_sources_and_targets(tmp_path: Path) -> None:
    unit = "<trans-unit><source>a<x/>b</source><target>c</target></trans-unit>"
    path = write_file(tmp_path / "a.xlf", f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>')
    assert (read(path, "source"), read(path, "reference")) == ([["a b"]], [["c"]])


def test_other_formats_are_not_scored(tmp_path: Path) -> None:
    for name, text in (("a.tmx", "<tmx>"), ("a.po", 'msgid ""\nmsgstr ""\n'), ("a.tex", "x")):
        with pytest.raises(DataError, match="which nmt evaluate does not read"):
            read(write_file(tmp_path / name, text))


def test_empty_hypotheses_and_references_are_told_with_their_lines() -> None:
    texts = ["Good."] * 200
    hypotheses = ["", *texts[1:-1], " "]
    warnings = list_warnings(["bleu"], hypotheses, [[text] for text in texts])
    assert "2 hypotheses are empty: sentences 1, 200" in warnings
    assert "1 reference is empty: sentence 1" in list_warnings(["bleu"], texts, [[""], *([text] for text in texts[1:])])
