"""What is given as input, and the format that it is read in."""

from pathlib import Path

import pytest

from nmt_cli.corpus.formats import find_format, open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions, parse_input
from nmt_cli.errors import NotFoundError, OptionError
from nmt_cli.text.tags import parse_tag_list


def test_a_missing_file_names_the_nearest_and_a_directory_is_none(path: Path) -> None:
    path.write_text("a\tb\n")
    with pytest.raises(NotFoundError) as caught:
        open_reader(CorpusFile(path.with_name("corpsu.tsv")), ReadOptions())
    assert "corpus.tsv" in caught.value.hint
    with pytest.raises(NotFoundError, match="is a directory"):
        open_reader(CorpusFile(path.parent), ReadOptions())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.tsv", "tsv"),
        ("a.CSV.gz", "csv"),
        ("a.jsonl.zst", "jsonl"),
        ("a.xlf", "xliff"),
        ("a.pot", "po"),
        ("a", "tsv"),
    ],
)
def test_the_format_is_that_of_the_suffix_unless_it_is_given(name: str, expected: str) -> None:
    assert find_format(CorpusFile(Path(name)), ReadOptions()) == expected
    assert find_format(CorpusFile(Path(name)), ReadOptions(format="tmx")) == "tmx"
    with pytest.raises(OptionError, match="there is no format 'tsvv'") as caught:
        find_format(CorpusFile(Path(name)), ReadOptions(format="tsvv"))
    assert caught.value.hint == "did you mean 'tsv'?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.tsv", CorpusFile(Path("a.tsv"))),
        ("a.tsv=2", CorpusFile(Path("a.tsv"), None, 2.0)),
        ("a.en,a.de=0.5", CorpusFile(Path("a.en"), Path("a.de"), 0.5)),
        ("-", CorpusFile(Path("-"))),
        ("a.tsv=ui", CorpusFile(Path("a.tsv"), tags=parse_tag_list("ui"))),
        ("a.tsv=2=train=nl=formal", CorpusFile(Path("a.tsv"), None, 2.0, True, parse_tag_list("to:nl formal"))),
        ("a.en,a.nl=>nl", CorpusFile(Path("a.en"), Path("a.nl"), tags=parse_tag_list("to:nl"))),
        ("a=b.tsv", CorpusFile(Path("a=b.tsv"))),
    ],
)
def test_an_input_is_a_name_or_two_with_a_weight_and_tags(text: str, expected: CorpusFile) -> None:
    assert parse_input(text) == expected


def test_a_name_that_exists_is_no_weight_and_a_weight_has_bounds(tmp_path: Path) -> None:
    odd = tmp_path / "a,b=2"
    odd.touch()
    assert parse_input(str(odd)) == CorpusFile(odd)
    for text in ("a.tsv=0", "a.tsv=5000"):
        with pytest.raises(OptionError, match="a weight is"):
            parse_input(text)
