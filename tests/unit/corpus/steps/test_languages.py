"""What the languages of a corpus are called."""

import errno
import random
from pathlib import Path
from tempfile import gettempdir

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DataError, OptionError, convert_os_error
from nmt_cli.languages.codes import load_identifier

ENGLISH = "My brother wants to visit the old castle number {} near the river."
GERMAN = "Mein Bruder möchte das alte Schloss Nummer {} am Fluss besuchen."


def prepare_lines(folder: Path, lines: list[str], name: str = "corpus.tsv", **options: object) -> tuple[str, str, str]:
    """The languages of a corpus of these lines, and what was noted."""
    (folder / name).write_text("\n".join(lines) + "\n")
    report = prepare(folder / name, folder / "d", PrepareOptions(**options), replace=True)
    return report.manifest.source_language, report.manifest.target_language, " ".join(report.notes)


def test_the_text_names_the_languages_if_it_leaves_no_doubt(tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    lines = [f"{ENGLISH.format(n)}\t{GERMAN.format(n)}" for n in range(400)]
    source, target, note = prepare_lines(tmp_path, lines)
    assert (source, target) == ("en", "de")
    assert "by the text" in note and "--source-language" in note
    assert prepare_lines(tmp_path, lines, "corpus.en-nds.tsv")[:2] == ("en", "nds")
    assert prepare_lines(tmp_path, lines, source_language="sco")[:2] == ("sco", "de")
    assert prepare_lines(tmp_path, lines, target_language="en")[:2] == ("source", "en")
    assert "the source language is en by the text" in prepare_lines(tmp_path, lines, target_language="pdt")[2]
    draws = random.Random(1)
    words = ["".join(draws.choices("aeiou", k=1) + draws.choices("bdgklmnprstuz", k=2)) for _ in range(2_000)]
    unheard = [f"{ENGLISH.format(n)}\t{' '.join(draws.choices(words, k=8))}." for n in range(400)]
    assert prepare_lines(tmp_path, unheard)[:2] == ("en", "target")


def test_a_full_disk_is_told_with_the_folder_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    langid = pytest.importorskip("py3langid.langid")
    load_identifier.cache_clear()

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(langid.LanguageIdentifier, "from_model_file", fail)
    with pytest.raises(OSError) as caught:
        prepare_lines(tmp_path, [f"{ENGLISH.format(n)}\t{GERMAN.format(n)}" for n in range(400)])
    assert convert_os_error(caught.value).message == f"the disk is full: {gettempdir()} could not be written"


def test_few_lines_or_mixed_ones_name_nothing(tmp_path: Path) -> None:
    few = [f"{ENGLISH.format(n)}\t{GERMAN.format(n)}" for n in range(100)]
    assert prepare_lines(tmp_path, few)[:2] == ("source", "target")
    mixed = few * 3 + [f"{GERMAN.format(n)} x{n}\t{ENGLISH.format(n)} x{n}" for n in range(300)]
    assert prepare_lines(tmp_path, mixed, keep=("swapped", "duplicate"))[:2] == ("source", "target")


@pytest.mark.parametrize(
    ("options", "languages"),
    [
        ({}, ("en", "de")),
        ({"reverse": True}, ("de", "en")),
        ({"reverse": True, "source_language": "en"}, ("de", "en")),
        ({"reverse": True, "source_language": "de"}, ("en", "de")),
        ({"source_language": "de"}, ("de", "en")),
    ],
)
def test_options_name_the_languages_of_the_file_and_reverse_swaps_them(
    tmp_path: Path, options: dict[str, object], languages: tuple[str, str]
) -> None:
    unit = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv></tu>'
    units = [unit.format(ENGLISH.format(n), GERMAN.format(n)) for n in range(30)]
    text = ['<tmx version="1.4"><header srclang="en"/><body>', *units, "</body></tmx>"]
    assert prepare_lines(tmp_path, text, "m.tmx", **options)[:2] == languages
    first, second = (tmp_path / "d" / "train.tsv").read_text().splitlines()[0].split("\t")
    assert ("castle" in first, "castle" in second) == (languages[0] == "en", languages[1] == "en")


def test_an_error_about_too_few_pairs_says_which_check_dropped_them(tmp_path: Path) -> None:
    same = [f"the same text number {n} here\tthe same text number {n} here" for n in range(30)]
    with pytest.raises(DataError, match="dropped: 30 identical") as caught:
        prepare_lines(tmp_path, same)
    assert "--keep identical" in caught.value.hint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dev": "60%", "test": "0.5"}, "leave nothing to train on"),
        ({"dev": "0"}, "at least 1 pair"),
        ({"source_column": "2", "target_column": "2"}, "are both 2"),
    ],
)
def test_options_that_cannot_work_are_refused_before_the_corpus_is_read(
    tmp_path: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        prepare_lines(tmp_path, ["one column"], **options)
    with pytest.raises(OptionError, match="has no columns"):
        prepare_lines(tmp_path, ["<tmx/>"], "a.tmx", source_column="2")
