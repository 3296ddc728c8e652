"""Codes of languages: `eng`, `en-US` and `EN` are all English, which clients expect to be called `en`."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import NamedTuple


class OfferedLanguage(NamedTuple):
    """A language by the code that clients use, with its English name."""

    code: str
    name: str


@cache
def load_languages() -> dict[str, OfferedLanguage]:
    """Returns the languages of ISO 639-1, by their codes of two and of three letters."""
    text = resources.files("nmt_cli.server").joinpath("languages.tsv").read_text(encoding="utf-8")
    languages = {}
    for line in text.splitlines():
        code, others, name = line.split("\t")
        for key in (code, *others.split()):
            languages[key] = OfferedLanguage(code, name)
    return languages


def find_language(code: str) -> OfferedLanguage:
    """Returns the language of a code: with a region or a script, in capitals, of two or three letters.

    A code that is not in ISO 639-1 stands for itself.
    """
    first = code.strip().lower().replace("_", "-").split("-")[0]
    return load_languages().get(first, OfferedLanguage(first, code.strip()))
