"""CLDR data: how languages spell numbers and write dates, in one archive with its licence.

`numbers/` holds the rules for spelling numbers (CLDR 48.2, RBNF), `dates/` the names of months and
days and the order of a date (from Babel 2.19; `data/make_weekdays.py`).
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
