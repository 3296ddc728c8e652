"""Writes `data/names.eng-deu.tsv`: names of countries, languages, currencies, months, days and things, for training.

    pip install babel==2.18.0 && npm pack cldr-annotations-full@48.2.0 && tar xzf cldr-annotations-full-48.2.0.tgz
    python data/make_names.py package/annotations

The names are CLDR's: Babel has those of its locales, the package those of pictures, such as *grapes* and *Trauben*. A
name that is explained (*Congo (DRC)*), or that several names of the other language share, is left out, so that each
text stands in the file once on either side.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from babel import Locale

OUTPUT = Path(__file__).parent / "names.eng-deu.tsv"
EXPLAINED = ("(", ")", "[", "]", "–", ",", ":", "SAR", "/", "“", "„", '"', "’", "_")
NO_NAMES = {"EZ", "QO", "ZZ", "XA", "XB", "xxx", "XTS", "XXX"}  # codes of tests, and of what is not known
USUAL = {"TR": "Turkey"}  # what English calls it, where CLDR has the name that the country asks for
NO_THINGS = (  # variants of pictures, signs, and pictures of people
    "tone",
    "keycap",
    "button",
    "o’clock",
    "thirty",
    "flag",
    "sign",
    "arrow",
    "symbol",
    "face",
    "zeichen",
    "man ",
    "person ",
)
FIRST_PICTURE = "\u2600"  # before it are marks and letters
LONGEST = 3  # words of the name of a thing: longer ones describe a picture


class Name(NamedTuple):
    english: str
    german: str
    kind: str


def list_names(english: Locale, german: Locale) -> Iterator[Name]:
    """Yields the names of both locales."""
    for kind, names, others in (
        ("place", {**english.territories, **USUAL}, german.territories),
        ("language", english.languages, german.languages),
        ("currency", english.currencies, german.currencies),
    ):
        for key, name in names.items():
            if key not in NO_NAMES:
                yield Name(name, others.get(key, ""), kind)
    for width in ("wide", "abbreviated"):
        for kind, names, others in (
            ("month", english.months["format"][width], german.months["stand-alone"][width]),
            ("day", english.days["format"][width], german.days["stand-alone"][width]),
        ):
            for key, name in names.items():
                yield Name(name, others[key], kind)


def list_things(annotations: Path) -> Iterator[Name]:
    """Yields the names of pictures."""
    english, german = (
        json.loads((annotations / code / "annotations.json").read_text("utf-8"))["annotations"]["annotations"]
        for code in ("en", "de")
    )
    for picture, names in english.items():
        if picture >= FIRST_PICTURE and "tts" in names and "tts" in german.get(picture, {}):
            yield Name(names["tts"][0], german[picture]["tts"][0], "thing")


def is_usual(name: Name) -> bool:
    """Whether a name is one that a text may have: not explained, without a number, and no variant of a picture."""
    texts = f"{name.english}\n{name.german}"
    if not (name.english and name.german) or any(sign in texts for sign in EXPLAINED) or any(map(str.isdigit, texts)):
        return False
    is_long = max(len(text.split()) for text in texts.split("\n")) > LONGEST
    return name.kind != "thing" or not (is_long or any(word in texts.casefold() for word in NO_THINGS))


def main() -> None:
    named = chain(list_names(Locale.parse("en"), Locale.parse("de")), list_things(Path(sys.argv[1])))
    usual = list(filter(is_usual, named))
    usual = list({name[:2]: name for name in reversed(usual)}.values())[::-1]
    counts = [Counter(name[side] for name in usual) for side in (0, 1)]
    clear = [name for name in usual if all(counts[side][name[side]] == 1 for side in (0, 1))]
    OUTPUT.write_text("".join("\t".join(name) + "\n" for name in clear), encoding="utf-8")


if __name__ == "__main__":
    main()
