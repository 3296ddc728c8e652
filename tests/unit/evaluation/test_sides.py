"""Sources, hypotheses and references from files of several formats."""

from pathlib import Path

import pytest

from nmt_cli.errors import DataError
from nmt_cli.evaluation.analysis.warnings import list_warnings
from nmt_cli.evaluation.texts import read_files, read_side

SGM = '<{0}set><doc docid="{1}"><seg id="1">{2}</seg>\n<seg id="2">{3}</seg></doc></{0}set>'


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, role: str = "hypothesis") -> list[list[str]]:
    return read_side(path, role).columns  # type: ignore[arg-type]


def test_columns_are_named_behind_a_colon(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv", "id\ttext\n1\tone\n2\ttwo\n")
    assert read(tmp_path / "a.tsv:text") == [["one", "two"]]
    assert read(tmp_path / "a.tsv:2") == [["text", "one", "two"]]
    write(tmp_path / "b.csv", 'sep=;\nid;text\n1;"one; two"\n2;"three\nfour"\n')
    assert read(tmp_path / "b.csv:text") == [["one; two", "three four"]]
    write(tmp_path / "c:d", "plain\n")
    assert read(tmp_path / "c:d") == [["plain"]]
    with pytest.raises(DataError, match="has 2 columns: id, text") as caught:
        read(tmp_path / "a.tsv")
    assert f"{tmp_path}/a.tsv:1" in caught.value.hint
    with pytest.raises(DataError, match="there is no column 'txt'"):
        read(tmp_path / "a.tsv:txt")
    for name, content in (("e.txt", "x\n"), ("f.sgm", SGM.format("tst", "a", "x", "y")), ("g.xlf", "<xliff></xliff>")):
        with pytest.raises(DataError, match=r"is .*, which has no columns"):
            read(write(tmp_path / name, content).with_name(f"{name}:2"))


def test_a_blank_line_is_an_empty_text_of_one_column_and_no_row_of_several(tmp_path: Path) -> None:
    assert read(write(tmp_path / "one.csv", 'text\n"a, b"\n\nc\n').with_name("one.csv:text")) == [["a, b", "", "c"]]
    assert read(write(tmp_path / "two.csv", "text,id\na,1\n\nc,2\n").with_name("two.csv:text")) == [["a", "c"]]


def test_json_lines_have_usual_keys_by_role(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"src": "a", "ref": "b", "mt": "c"}\n{"src": "d", "ref": "e", "mt": "f"}\n')
    assert [read(path, role)[0] for role in ("source", "reference", "hypothesis")] == [
        ["a", "d"],
        ["b", "e"],
        ["c", "f"],
    ]
    assert read(tmp_path / "a.jsonl:src") == [["a", "d"]]
    with pytest.raises(DataError, match="line 1: no text under 'x'"):
        read(tmp_path / "a.jsonl:x")


def test_segments_of_test_sets_are_aligned_by_their_numbers(tmp_path: Path) -> None:
    hypothesis = write(tmp_path / "h.sgm", SGM.format("tst", "a", "one", "two"))
    turned = '<refset><doc docid="a"><seg id="2">zwei &amp;</seg><seg id="1">eins</seg></doc></refset>'
    reference = write(tmp_path / "r.sgm", turned)
    assert read_files(hypothesis, [reference]).references == (("eins",), ("zwei &",))
    write(tmp_path / "lines.txt", "x\ny\n")
    assert read_files(hypothesis, [tmp_path / "lines.txt"]).references == (("x",), ("y",))
    with pytest.raises(DataError, match="other segments"):
        read_files(hypothesis, [write(tmp_path / "o.sgm", SGM.format("ref", "b", "x", "y"))])


def test_test_sets_in_xml_have_translators_and_systems(tmp_path: Path) -> None:
    path = write(
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
    with pytest.raises(DataError, match="hypothesis is one of several") as caught:
        read(path)
    assert "of X, Y" in caught.value.hint


def test_xliff_has_sources_and_targets(tmp_path: Path) -> None:
    unit = "<trans-unit><source>a<x/>b</source><target>c</target></trans-unit>"
    path = write(tmp_path / "a.xlf", f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>')
    assert (read(path, "source"), read(path, "reference")) == ([["a b"]], [["c"]])


def test_other_formats_are_not_scored(tmp_path: Path) -> None:
    for name, text in (("a.tmx", "<tmx>"), ("a.po", 'msgid ""\nmsgstr ""\n'), ("a.tex", "x")):
        with pytest.raises(DataError, match="which nmt evaluate does not read"):
            read(write(tmp_path / name, text))


def test_empty_hypotheses_and_references_are_told_with_their_lines() -> None:
    texts = ["Good."] * 200
    hypotheses = ["", *texts[1:-1], " "]
    warnings = list_warnings(["bleu"], hypotheses, [[text] for text in texts])
    assert "2 hypotheses are empty: lines 1, 200" in warnings
    assert "1 reference is empty: line 1" in list_warnings(["bleu"], texts, [[""], *([text] for text in texts[1:])])
