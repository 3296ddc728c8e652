"""The languages in the names of files."""

from __future__ import annotations

import pytest

from nmt_cli.languages.file_names import find_languages_in_name, guess_languages


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("eng-deu.tsv", ("eng", "deu")),
        ("corpus.en-de.tsv", ("en", "de")),
        ("news_en-pt_BR.txt", ("en", "pt_BR")),
        ("corpus.tsv", ("source", "target")),
        ("well-known.tsv", ("source", "target")),
        ("2018-05-13.tsv", ("source", "target")),
    ],
)
def test_languages_are_read_from_file_names_of_the_usual_form(name: str, languages: tuple[str, str]) -> None:
    assert guess_languages(name) == languages


def test_two_files_name_a_language_each() -> None:
    assert guess_languages("train.en", "train.de.gz") == ("en", "de")
    assert guess_languages("a.txt", "b.txt") == ("source", "target")


def test_codes_that_may_be_words_are_no_languages() -> None:
    assert find_languages_in_name("eng-deu.tsv") == ("eng", "deu")
    assert find_languages_in_name("to-do.tsv") == find_languages_in_name("m.tsv") == ("source", "target")
