"""The language of a text, by the identifier of the extras `formats` and `serve`; nothing is downloaded.

`find_other_language("Où est la gare ?", ["eng", "deu"])` is French, with 0.87. That of "Hello" is None: the text is in
one of these languages, or too short to be sure.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from tempfile import gettempdir
from typing import Any, NamedTuple

from nmt_cli.languages.codes import KnownLanguage, find_code, find_language

READ = 1_000  # characters of a text that are looked at
FEWEST_LETTERS = 10  # that tell a language
# Of 15,000 texts of LibreOffice and Tatoeba in English and German, one is taken for another language, a label; of short
# French, Spanish and Dutch sentences, most are found.
SURE = 0.6  # least probability of another language
NO_LANGUAGE = "zxx"  # formulas and numbers
EXPECTED = 0.05  # largest probability, in all, of the languages that a text should be in


class Identified(NamedTuple):
    """A language, with its probability."""

    language: KnownLanguage
    share: float


def has_identifier() -> bool:
    return find_spec("py3langid") is not None


@cache
def load_identifier() -> Any:
    """Returns the identifier, which takes a second and 100 MB. Raises OSError without room for its temporary file."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:  # of the unnamed file to which it unpacks its model
        error.filename = error.filename or gettempdir()
        raise


def rank_languages(text: str) -> dict[str, float]:
    """Returns the probability of each known language, by its code, the likeliest first."""
    return {str(code): float(share) for code, share in load_identifier().rank(text[:READ])}


def find_other_language(text: str, expected: Iterable[str]) -> Identified | None:
    """Returns the language of a text that is surely in none of the `expected` ones; None in doubt.

    A language that the identifier does not know is always in doubt: its texts look like those of its relatives.
    """
    if sum(map(str.isalpha, text)) < FEWEST_LETTERS or not has_identifier():
        return None
    shares = rank_languages(text)
    codes = set(map(find_code, expected))
    best = next(iter(shares))
    if best == NO_LANGUAGE or not codes <= shares.keys():
        return None
    if shares[best] < SURE or sum(map(shares.__getitem__, codes)) > EXPECTED:
        return None
    return Identified(find_language(best), shares[best])
