"""Chooses installed fonts that can show a text. Knows matplotlib's list of fonts, and nothing of what is drawn."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

BASE = "DejaVu Sans"  # comes with matplotlib: Latin, Greek, Cyrillic, Arabic, Hebrew, Armenian, Georgian
PREFERRED = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei"),
    *("Yu Gothic", "Malgun Gothic", "Apple SD Gothic Neo", "WenQuanYi Micro Hei", "Noto Sans", "Noto Sans Devanagari"),
    *("Nirmala UI", "Kohinoor Devanagari", "Noto Sans Thai", "Leelawadee UI", "Arial Unicode MS", "Unifont"),
)
# Fonts that come with matplotlib and draw characters as parts of formulas, or as boxes.
NOT_FOR_TEXT = ("cm", "STIX", "Last Resort")


@dataclass(frozen=True)
class FontChoice:
    """Font families, in the order in which glyphs are looked up, and the characters missing from all of them."""

    families: tuple[str, ...]
    missing: str


def choose_fonts(text: str) -> FontChoice:
    """Returns the base font, and the installed families with the characters of `text` that it lacks."""
    missing = {c for c in text if not (c.isspace() or unicodedata.category(c) in ("Cf", "Cc"))}
    families = [BASE]
    for family, characters in list_candidates():
        if not missing:
            break
        covered = {character for character in missing if ord(character) in characters}
        if covered and family not in families:
            families.append(family)
        missing -= covered
    return FontChoice(tuple(families), "".join(sorted(missing)))


def list_candidates() -> Iterator[tuple[str, Iterable[int]]]:
    """Yields the installed families with their code points: the base font, the preferred ones, then all others.

    Lazy, because reading a font takes milliseconds.
    """
    from matplotlib.font_manager import fontManager, get_font  # half a second

    upright = {e.name: e.fname for e in fontManager.ttflist if e.style == "normal" and int(e.weight) in range(300, 600)}
    others = sorted(name for name in upright if not name.startswith(NOT_FOR_TEXT))
    for name in dict.fromkeys((BASE, *(family for family in PREFERRED if family in upright), *others)):
        yield name, get_font(upright[name]).get_charmap()
