"""Adds the names of the days of the week to `nmt_cli/languages/data/cldr.zip`, from CLDR as Babel has it.

    pip install babel==2.19.0 && python data/make_weekdays.py

`days` are the names in full and `short_days` the abbreviations, Monday first.
"""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from babel import Locale

ARCHIVE = Path(__file__).parent.parent / "nmt_cli" / "languages" / "data" / "cldr.zip"
FOLDER = "dates/"
COMPRESSION = 9


def main() -> None:
    with ZipFile(ARCHIVE) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    changed = {name: add_weekdays(files[name], Path(name).stem) for name in files if name.startswith(FOLDER)}
    with ZipFile(ARCHIVE, "w") as archive:
        for name, content in (files | changed).items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED, COMPRESSION)


def add_weekdays(content: bytes, language: str) -> bytes:
    """Returns the file of a language with the names of its days."""
    calendar = json.loads(content)
    names = Locale.parse(language).days
    alone, within = names["stand-alone"], names["format"]
    calendar["days"] = [sorted({alone["wide"][day], within["wide"][day]}) for day in range(7)]
    calendar["short_days"] = [alone["abbreviated"][day] for day in range(7)]
    return json.dumps(calendar, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    main()
