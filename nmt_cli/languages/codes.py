"""Finds languages by their codes and names, in file names, and by their scripts.

`find_code("deu")` is `"de"`, and so is `find_named_language("German")`; the file name `eng-deu.tsv` names two.
`data/codes.tsv` is the table of common codes; `data/iso639.tsv` (`data/make_languages.py`) has the names of all
languages, and is read only when a name or a code of three letters is looked up. Two codes are one language if langcodes
completes them to the same language and script: "en-GB" and "eng" are, "zh-CN" and "zh-TW" are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple

DATA = Path(__file__).parent / "data"
# Blanks and ASCII marks but hyphens. Others may be signs of vowels, within a word.
HEADING_SEPARATORS = re.compile(r"[\s!-,./:-@\[-`{-~]+")
CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
UNNAMED = ("source", "target", "")  # what a model calls a language that it does not know
LONGEST_NAME = 3  # words of a heading that may be the name of a language
ALSO_WORDS = ("even", "label", "male")  # names of languages that are rather other headings
# Codes of languages into which many translate, and which are no words of a sentence of one word.
CLEAR_CODES = frozenset("en eng es spa fr fra pt por de deu ru rus zh zho cmn".split())
NOT_CODES = frozenset("id src trg tgt ref hyp mt the no nr in out sl tl".split())  # common words of headings


class KnownLanguage(NamedTuple):
    """A language: its shortest code and its English name."""

    code: str
    name: str
    is_right_to_left: bool = False


class LanguageTable(NamedTuple):
    """Languages by every code, and codes by lower-cased name."""

    by_code: dict[str, KnownLanguage]
    by_name: dict[str, str]


@cache
def load_table() -> LanguageTable:
    """Returns the table of languages. A name shared by two languages belongs to the first."""
    table = LanguageTable({}, {})
    for line in (DATA / "codes.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        code, other_codes, name, other_names, direction = line.split("\t")
        table.by_code.update(dict.fromkeys((code, *other_codes.split()), KnownLanguage(code, name, direction == "rtl")))
        for key in (name.lower(), *other_names.split()):
            table.by_name.setdefault(key, code)
    return table


@lru_cache(4096)
def find_language(code: str) -> KnownLanguage:
    """Looks up a code of two or three letters, in any case, with or without a region or a script.

    A code missing from the table becomes a language of its own.
    """
    first = re.split("[-_]", code.strip().lower(), maxsplit=1)[0]
    known = load_table().by_code.get(first)
    if known is None and len(first) == 3:
        return KnownLanguage(first, load_names().get(first, (code.strip(),))[0])
    return known or KnownLanguage(first, code.strip())


@cache
def read_given_names() -> frozenset[str]:
    """Returns common given names."""
    return frozenset((DATA / "given-names.txt").read_text(encoding="utf-8").split())


def find_code(code: str) -> str:
    """Returns the shortest code of a language, without its region: "de" for "deu" and "de-AT"."""
    return find_language(code).code


def find_language_tag(code: str) -> str:
    """Returns the BCP 47 tag of a language, with its region ("de-AT" for "deu-AT"); empty for an invalid code."""
    if CODE.fullmatch(code) is None:
        return ""
    return "-".join([find_code(code), *re.split("[-_]", code)[1:]])


def find_variety(code: str) -> str:
    """Returns a key shared by all codes of one language in one region and script: "pt-br" for "por-BR"."""
    return (find_language_tag(code.strip().replace("_", "-")) or code.strip()).lower()


def is_right_to_left(tag: str) -> bool:
    """Whether the script of a language, given by its tag, runs from right to left."""
    return find_language(tag).is_right_to_left or "-arab" in tag.lower()


def has_same_primary_tag(left: str, right: str) -> bool:
    """Whether two codes name one language, ignoring regions and scripts. An invalid code equals nothing."""
    return find_language_tag(left).split("-")[0] == find_language_tag(right).split("-")[0] != ""


@lru_cache(4096)
def find_language_key(code: str) -> str:
    """Returns a key shared by all codes of one language in one script; an invalid code is its own key."""
    import langcodes  # takes long to import, and most files have no codes

    bare = code.strip().replace("_", "-")
    try:
        tag = langcodes.Language.get(bare)
        full = tag.maximize()
    except (ValueError, LookupError, AttributeError):
        return bare.lower()
    return f"{full.language}-{full.script}" if full.language else bare.lower()


def is_same_language(code: str, other: str) -> bool:
    """Whether two codes name one language in one script, ignoring regions: "en-US", "en_GB" and "eng"."""
    return code == other or find_language_key(code) == find_language_key(other)


def are_same_languages(pair: tuple[str, str], other_pair: tuple[str, str]) -> bool:
    """Whether two pairs of languages are the same; an unknown language equals any other."""
    return all(
        code in UNNAMED or other in UNNAMED or is_same_language(code, other)
        for code, other in zip(pair, other_pair, strict=True)
    )


@lru_cache(4096)  # a translation memory asks for each of its texts
def is_same_variety(code: str, requested: str) -> bool:
    """Whether a code equals the requested one, or is a variety of it if the request has no region: "en-US" for "en"."""
    if normalise_code(code) == normalise_code(requested):
        return True
    return not has_region(requested) and is_same_language(code, requested)


def normalise_code(code: str) -> str:
    return code.strip().lower().replace("_", "-")


def has_region(code: str) -> bool:
    return re.search(r"[-_](?:[A-Za-z]{2}|\d{3})$", code.strip()) is not None


@lru_cache(4096)
def is_language_code(text: str) -> bool:
    """Whether a text is the code of an existing language: "de", "deu", "pt-BR", but no full name."""
    if not CODE.fullmatch(text):
        return False
    import langcodes

    return bool(langcodes.tag_is_valid(text.replace("_", "-")))


def is_common_code(code: str) -> bool:
    """Whether a code names a language that has a two-letter code: "de" and "deu" for German."""
    return is_language_code(code) and len(find_code(code)) == 2


def find_named_language(heading: str) -> str | None:
    """Returns the code of the language that a heading names or abbreviates; None if it names no language."""
    words = [word for word in HEADING_SEPARATORS.split(heading.strip()) if word]
    names = load_table().by_name
    by_word = list(dict.fromkeys(names[word.lower()] for word in words if word.lower() in names))
    if not by_word and is_language_code(heading.strip()):
        return heading.strip()
    outer = dict.fromkeys((*words[:1], *words[-1:]))  # within are words: "Frase en otomí"
    codes = [word for word in outer if len(word) in (2, 3) and word.lower() not in NOT_CODES and is_language_code(word)]
    # A whole name comes before what may be a preposition: "Frase en otomí".
    rare = find_rare_name(heading.strip()) or [code for word in words if len(word) > 4 for code in find_rare_name(word)]
    choices = by_word or rare or (codes if len(words) > 1 else [])
    return choices[0] if len(choices) == 1 else None


def find_rare_name(heading: str) -> list[str]:
    """Returns the code of the ISO 639-3 language that a heading names in full; empty for a sentence or a word.

    A remark in brackets after it does not count: "Shipibo (free translation)".
    """
    heading = heading.partition(" (")[0] if heading.endswith(")") else heading
    if not 0 < len(heading.split()) <= LONGEST_NAME or not heading[-1].isalpha() or heading.lower() in ALSO_WORDS:
        return []
    return [find_codes(heading)[0]] if is_full_name(heading) else []


@cache
def load_names() -> dict[str, tuple[str, ...]]:
    """Returns the names of each language, the main one first, by its code."""
    lines = (DATA / "iso639.tsv").read_text(encoding="utf-8").splitlines()
    return {code: tuple(names) for code, *names in (line.split("\t") for line in lines)}


@cache
def load_folded_names() -> dict[str, list[str]]:
    """Returns, for each folded name, the codes of its languages, first those with this main name."""
    by_name: dict[str, list[str]] = {}
    languages = load_names().items()
    for code, names in (*((code, names[:1]) for code, names in languages), *languages):
        for name in map(fold_name, names):
            if code not in by_name.setdefault(name, []):
                by_name[name].append(code)
    return by_name


@lru_cache(1 << 15)
def fold_name(name: str) -> str:
    """Returns a name in lower case, without accents and punctuation.

    "raramuri" for "Rarámuri", "k iche" for "K'iche'".
    """
    if not name.isascii():
        name = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


# Words that part the languages of many families: a column "language" or "old" is in none.
NO_FAMILIES = frozenset(
    "language languages sign old middle ancient classical standard new early late "
    "central northern southern eastern western northeastern northwestern southeastern southwestern "
    "north south east west upper lower high low highland lowland coastal river valley island islands "
    "african american indian republic democratic individual macrolanguage".split()
)


@lru_cache(4096)
def find_codes(name: str) -> tuple[str, ...]:
    """Returns the codes of all languages that a name may mean: those with that name, else those with its words.

    `find_codes("Shipibo")` is `("shp",)`; `find_codes("Mixtec")` has some fifty codes.
    """
    folded = fold_name(name)
    common = load_table().by_name.get(name.strip().lower())
    if common is not None or not folded:
        return (common,) if common else ()
    by_name = load_folded_names()
    if folded in by_name:
        codes = by_name[folded]
        return tuple([code for code in codes if fold_name(load_names()[code][0]) == folded] or codes)
    if folded in NO_FAMILIES:
        return ()
    words = set(folded.split())
    return tuple(dict.fromkeys(code for known, codes in by_name.items() if words <= {*known.split()} for code in codes))


def is_full_name(text: str) -> bool:
    """Whether a text is the full name of a single language: "German", "Rarámuri", but neither "deu" nor "Mixtec"."""
    is_common = is_common_name(text)
    is_long = len(text.strip()) > 3 or (is_common and not text.isascii())  # 中文
    return is_long and (is_common or fold_name(text) in load_folded_names()) and len(find_codes(text)) == 1


def is_common_name(text: str) -> bool:
    """Whether a text is the name of a common language, in English or in that language."""
    return text.strip().lower() in load_table().by_name


SCRIPTS = {
    "ko": ("\uac00", "\ud7a3"),
    "th": ("\u0e00", "\u0e7f"),
    "lo": ("\u0e80", "\u0eff"),
    "km": ("\u1780", "\u17ff"),
    "my": ("\u1000", "\u109f"),
    "bo": ("\u0f00", "\u0fff"),
}
KANA, HAN = ("\u3040", "\u30ff"), ("\u4e00", "\u9fff")


def guess_language(texts: Iterable[str]) -> str:
    """Returns the language code of the script that most letters belong to; empty if no script has a majority."""
    letters = [letter for text in texts for letter in text if letter.isalpha()]

    def count(script: tuple[str, str]) -> int:
        return sum(script[0] <= letter <= script[1] for letter in letters)

    counts = {language: count(script) for language, script in SCRIPTS.items()}
    kana, han = count(KANA), count(HAN)
    counts["ja" if 20 * kana > kana + han else "zh"] = kana + han
    language = max(counts, key=lambda name: counts[name])
    return language if 2 * counts[language] > len(letters) else ""


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
    """Returns the languages in file names as `guess_languages` does, unless they may be words: `to-do.tsv`."""
    languages = guess_languages(*file_names)
    return languages if all(map(is_common_code, languages)) else ("source", "target")


# The language of a text, by the identifier of the extras `formats` and `serve`; nothing is downloaded.
#
# `find_other_language("Où est la gare ?", ["eng", "deu"])` is French, with 0.87. That of "Hello" is None: the text is
# in one of these languages, or too short to be sure.

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
    """Returns the identifier, loaded in a second with 100 MB. Raises OSError if its temporary file does not fit."""
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
