"""What `prepare` refuses, and that it then leaves nothing behind."""

import json
import os
import shutil
from pathlib import Path

import pytest

from nmt_cli.corpus import prepare as prepare_module
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DataError, NmtError, NotFoundError, OptionError, OutputError
from support.corpora import toy_pairs, write_tsv


@pytest.mark.parametrize(
    ("column", "hint"), [("pag", "did you mean 'page'?"), ("chapter", "the columns are English, German, page")]
)
def test_a_group_column_that_no_input_has_is_refused(tmp_path: Path, column: str, hint: str) -> None:
    rows = [("English", "German", "page"), *((*pair, "1") for pair in toy_pairs(30))]
    with pytest.raises(DataError) as caught:
        prepare(write_tsv(tmp_path / "a.tsv", rows), tmp_path / "prepared", PrepareConfig(group_column=(column,)))
    assert caught.value.message == f"--group-column: no input has a column '{column}'"
    assert caught.value.hint == hint


def test_a_report_does_not_stand_in_what_is_made_anew(pairs_file: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="which is replaced as a whole"):
        prepare(pairs_file, tmp_path / "out", PrepareConfig(), report=tmp_path / "out" / "report.html")
    assert not (tmp_path / "out").exists()


def test_what_is_no_prepared_corpus_is_never_replaced(pairs_file: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="something other"):
        prepare(pairs_file, pairs_file.parent, PrepareConfig(), replace=True)
    prepare(pairs_file, tmp_path / "out", PrepareConfig())
    inside = Path(shutil.copy(pairs_file, tmp_path / "out" / "corpus.tsv"))
    with pytest.raises(OutputError, match="which is to be replaced"):
        prepare(inside, tmp_path / "out", PrepareConfig(), replace=True)
    assert pairs_file.exists() and inside.exists()


@pytest.mark.parametrize(
    ("data", "options", "error"),
    [
        (b"", {}, DataError),
        (b"one column\n", {}, DataError),
        (b"a\tb\n\xff\tb\n", {}, DataError),
        (b"a\tb\0\n", {}, DataError),
        (b"a\tb\nc\td\n", {}, DataError),
        (b"\n\n\n", {}, DataError),
        (None, {"vocab_size": 60_000}, OptionError),
        (None, {"vocab_size": 20}, OptionError),
        (None, {"test": "300"}, DataError),
    ],
)
def test_bad_input_leaves_nothing_on_disk(
    pairs_file: Path, tmp_path: Path, data: bytes | None, options: dict[str, object], error: type[NmtError]
) -> None:
    if data is not None:
        pairs_file.write_bytes(data)
    with pytest.raises(error):
        prepare(pairs_file, tmp_path / "out", PrepareConfig(**options))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == [pairs_file]


def test_a_missing_file_and_a_directory_are_not_found(pairs_file: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.tsv", tmp_path):
        with pytest.raises(NotFoundError):
            prepare(path, tmp_path / "out", PrepareConfig())
    assert list(tmp_path.iterdir()) == [pairs_file]


@pytest.mark.parametrize("options", [{"tokenizer": "bpe"}, {"lowercase": True}, {"separate_vocabularies": True}])
def test_options_that_ask_for_other_subwords_than_the_given_are_refused(
    prepared_directory: Path, pairs_file: Path, tmp_path: Path, options: dict
) -> None:
    with pytest.raises(OptionError, match="contradicts the subwords"):
        prepare(pairs_file, tmp_path / "out", PrepareConfig(tokenizer_from=str(prepared_directory), **options))


def test_given_data_of_which_nothing_is_left_is_refused(pairs_file: Path, tmp_path: Path) -> None:
    given = write_tsv(tmp_path / "d.tsv", [("a given source", "a given target")])
    with pytest.raises(DataError, match="no pair of the dev data"):
        prepare(pairs_file, tmp_path / "out", PrepareConfig(dev=str(given), test=str(given)))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tokenizer_from": "nowhere"}, NotFoundError, "nowhere does not exist"),
        ({"tokenizer_from": "."}, NotFoundError, "neither a model nor a prepared corpus"),
        ({"tokenizer_from": __file__}, DataError, "is not a SentencePiece model"),
        ({"dev": "nothing.tsv"}, NotFoundError, "nothing.tsv does not exist"),
        ({"keep": ("swaped",)}, OptionError, "there is no check"),
    ],
)
def test_options_that_name_what_is_not_there_are_refused(
    pairs_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict,
    error: type[NmtError],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(prepare_module, "read_pairs", None)  # rather refused before the work than after it
    with pytest.raises(error, match=message):
        prepare(pairs_file, tmp_path / "out", PrepareConfig(**options))
    assert list(tmp_path.iterdir()) == [pairs_file]


@pytest.mark.parametrize(("name", "error"), [("toy.en-de.tsv/r.html", OutputError), ("r.json", OptionError)])
def test_a_report_that_cannot_be_written_is_refused_before_the_work(
    pairs_file: Path, tmp_path: Path, name: str, error: type[NmtError]
) -> None:
    (tmp_path / "r.json").mkdir()
    with pytest.raises(error):
        prepare(pairs_file, tmp_path / "out", PrepareConfig(), report=pairs_file.parent / name)
    assert not (tmp_path / "out").exists()


def test_strict_refuses_findings_but_writes_the_report(pairs_file: Path, tmp_path: Path) -> None:
    with pairs_file.open("a") as file:
        file.write("<i>a</i> & b\tx\n")
    for suffix in ("json", "html"):
        with pytest.raises(DataError, match=r"--strict: 1 markup \(first: toy.en-de.tsv, line 401\)"):
            prepare(pairs_file, tmp_path / "out", PrepareConfig(strict=True), report=tmp_path / f"r.{suffix}")
    assert json.loads((tmp_path / "r.json").read_text())["findings"][0]["examples"][0]["line"] == 401
    page = (tmp_path / "r.html").read_text()
    assert "&lt;i&gt;a&lt;/i&gt; &amp; b<br>x" in page and "<i>a" not in page and "<script" not in page
    assert not (tmp_path / "out").exists()
    prepare(pairs_file, tmp_path / "out", PrepareConfig(strict=True, keep=("markup",)), report=tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text())
    assert told["counts"]["kept"] == 401 and told["findings"][0]["action"] == "kept"
    with pytest.raises(OptionError, match=r"ends in \.html or \.json"):
        prepare(pairs_file, tmp_path / "other", PrepareConfig(), report=tmp_path / "r.pdf")


def test_a_place_without_permission_is_refused_before_the_work(
    pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Permissions do not bind root, as whom tests may run.
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    monkeypatch.setattr(prepare_module, "read_pairs", lambda *_: pytest.fail("the corpus was read"))
    with pytest.raises(OutputError, match="no permission to write"):
        prepare(pairs_file, tmp_path / "new" / "out", PrepareConfig())
    assert list(tmp_path.iterdir()) == [pairs_file]


def test_a_directory_below_a_file_is_refused(pairs_file: Path) -> None:
    with pytest.raises(OutputError, match="is a file"):
        prepare(pairs_file, pairs_file / "out", PrepareConfig())
