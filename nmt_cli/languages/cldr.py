"""CLDR data: how languages spell numbers, write dates and name places, in one archive with its licence.

`numbers/` holds the rules for spelling numbers (CLDR 48.2, RBNF), `dates/` the names of months and days and the order
of a date, `places/` the names of countries and cities (from Babel 2.19; `data/make_cldr.py`).
"""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from typing import Any, Literal
from zipfile import ZipFile

from nmt_cli.languages.codes import DATA, find_code


@cache
def read_archive() -> ZipFile:
    return ZipFile(BytesIO((DATA / "cldr.zip").read_bytes()))


@cache
def load_cldr(kind: Literal["dates", "numbers"], language: str) -> dict[str, Any] | None:
    """Returns the archive's data for a language code of two or three letters; None for an unknown language."""
    try:
        content: dict[str, Any] = json.loads(read_archive().read(f"{kind}/{find_code(language)}.json"))
    except KeyError:
        return None
    return content


@cache
def load_places(language: str) -> list[str]:
    """Returns the names of countries and cities in a language, the English ones where it has none, in one order."""
    archive, english = read_archive(), "places/en.txt"
    names = archive.read(english).decode().split("\n")
    if (path := f"places/{find_code(language)}.txt") not in archive.namelist():
        return names
    return [name or usual for name, usual in zip(archive.read(path).decode().split("\n"), names, strict=True)]
