"""Adds the names of weekdays and of places to `nmt_cli/languages/data/cldr.zip`, from CLDR as Babel has it.

    pip install babel==2.19.0 && python data/make_cldr.py

A calendar gets `days`, the names in full, and `short_days`, the abbreviations, Monday first. `places/en.txt` has the
English names of countries, and of the cities that time zones are named after, a line each; the file of another language
has its names in the same lines, empty where they are the same or not known.
"""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from babel import Locale

ARCHIVE = Path(__file__).parent.parent / "nmt_cli" / "languages" / "data" / "cldr.zip"
CALENDARS, PLACES = "dates", "places"
COMPRESSION = 9
CONTINENTS = {"002", "003", "005", "009", "013", "019", "142", "150"}
NO_PLACES = {"EU", "EZ", "QO", "UN", "ZZ", "XA", "XB", "Unknown"}
DESCRIBED = ("(", ")", "[", "]", " - ", "–", ",", "SAR")  # Congo (DRC), Macao SAR China: nobody writes so
FEWEST_PLACES = 60
OTHER_DAYS = {"de": {5: "Sonnabend"}}  # that CLDR lacks, behind its own
USUAL = {  # what English calls countries whose names in CLDR are new or explained
    "Burma": "MM",
    "Congo": "CG",
    "Czech Republic": "CZ",
    "East Timor": "TL",
    "Ivory Coast": "CI",
    "Macedonia": "MK",
    "Myanmar": "MM",
    "Swaziland": "SZ",
    "Turkey": "TR",
}


def main() -> None:
    with ZipFile(ARCHIVE) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.startswith(PLACES)}
    languages = {Path(name).stem: name for name in files if name.startswith(CALENDARS)}
    locales = {language: Locale.parse(language) for language in languages}
    files |= {name: add_weekdays(files[name], locales[language]) for language, name in languages.items()}
    files |= {f"{PLACES}/{language}.txt": content for language, content in write_places(locales).items()}
    with ZipFile(ARCHIVE, "w") as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED, COMPRESSION)


def add_weekdays(content: bytes, locale: Locale) -> bytes:
    """Returns the file of a language with the names of its days."""
    calendar = json.loads(content)
    alone, within = locale.days["stand-alone"], locale.days["format"]
    calendar["days"] = [sorted({alone["wide"][day], within["wide"][day]}) for day in range(7)]
    for day, name in OTHER_DAYS.get(str(locale), {}).items():
        calendar["days"][day].append(name)
    calendar["short_days"] = [alone["abbreviated"][day] for day in range(7)]
    return json.dumps(calendar, ensure_ascii=False, separators=(",", ":")).encode()


def write_places(locales: dict[str, Locale]) -> dict[str, bytes]:
    """Returns the file of each language that names enough places in its own way."""
    names = {language: list_places(locale) for language, locale in locales.items()}
    keys = sorted({key for places in names.values() for key in places})
    usual = [(key, names["en"].get(key, key)) for key in keys if len(key) > 2 or key in names["en"]]
    usual += [(key, name) for name, key in USUAL.items()]
    rows = {"en": [name for _, name in usual]}
    for language in names.keys() - rows.keys():
        row = [names[language].get(key, name) for key, name in usual]
        row = [name if name != english else "" for name, english in zip(row, rows["en"], strict=True)]
        if len(list(filter(None, row))) >= FEWEST_PLACES:
            rows[language] = row
    return {language: "\n".join(row).encode() for language, row in sorted(rows.items())}


def list_places(locale: Locale) -> dict[str, str]:
    """Returns the names of a language by code or, of a city, by the end of its zone's name."""
    zones = {
        key.split("/")[-1].replace("_", " "): zone["city"] for key, zone in locale.time_zones.items() if "city" in zone
    }
    areas = {key: name for key, name in locale.territories.items() if len(key) == 2 or key in CONTINENTS}
    names = {key: name.replace("\u00ad", "") for key, name in (areas | zones).items() if key not in NO_PLACES}
    return {key: name for key, name in names.items() if not any(sign in name for sign in DESCRIBED)}


if __name__ == "__main__":
    main()
