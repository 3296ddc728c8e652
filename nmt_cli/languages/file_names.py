"""Finds the languages in the names of files: `eng-deu.tsv`, `train.en` and `train.de`. Knows only names."""

from __future__ import annotations

import re

from nmt_cli.languages.codes import is_common_code

LANGUAGES_IN_NAME = re.compile(r"(?:^|[._])([a-z]{2,3}(?:_[A-Za-z]{2,4})?)-([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?:\.|$)")

LANGUAGE_AS_SUFFIX = re.compile(r"[._](?!txt|tsv|tok|bpe)([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?:\.(?:txt|gz|xz|zst|bz2))*$")


def guess_languages(file_name: str, target_name: str | None = None) -> tuple[str, str]:
    """Returns the languages in a name like `eng-deu.tsv` or `corpus.en-de.tsv`, else "source" and "target".

    With two files, each names its own language: `train.en` and `train.de.gz`.
    """
    if target_name is not None:
        source, target = LANGUAGE_AS_SUFFIX.search(file_name), LANGUAGE_AS_SUFFIX.search(target_name)
        return (source[1], target[1]) if source and target else ("source", "target")
    languages = LANGUAGES_IN_NAME.search(file_name)
    return (languages[1], languages[2]) if languages else ("source", "target")


def find_languages_in_name(*file_names: str) -> tuple[str, str]:
    """Returns the languages in the names as `guess_languages` does, unless these may be words: `to-do.tsv`."""
    languages = guess_languages(*file_names)
    return languages if all(map(is_common_code, languages)) else ("source", "target")
