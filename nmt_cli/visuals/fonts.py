"""Which of the installed fonts show a text. Knows matplotlib's list of fonts and nothing of what is drawn."""

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
# Fonts of matplotlib's own that claim characters which they draw as formula parts or as boxes.
NOT_FOR_TEXT = ("cm", "STIX", "Last Resort")


@dataclass(frozen=True)
class FontChoice:
    """Font families in the order in which they are asked for a glyph, and the characters that none of them has."""

    families: tuple[str, ...]
    missing: str


def fonts_for(text: str) -> FontChoice:
    """The base font, and one installed family after the other for what it lacks of `text`."""
    wanted = {c for c in text if not (c.isspace() or unicodedata.category(c) in ("Cf", "Cc"))}
    families = [BASE]
    for family, characters in candidates():
        if not wanted:
            break
        covered = {character for character in wanted if ord(character) in characters}
        if covered and family not in families:
            families.append(family)
        wanted -= covered
    return FontChoice(tuple(families), "".join(sorted(wanted)))


def candidates() -> Iterator[tuple[str, Iterable[int]]]:
    """Installed families with the code points that they cover: the base font, the preferred ones, then all others.

    Lazy, because each font that is looked into costs milliseconds.
    """
    from matplotlib.font_manager import fontManager, get_font  # half a second

    upright = {e.name: e.fname for e in fontManager.ttflist if e.style == "normal" and int(e.weight) in range(300, 600)}
    rest = sorted(name for name in upright if not name.startswith(NOT_FOR_TEXT))
    for name in dict.fromkeys((BASE, *(family for family in PREFERRED if family in upright), *rest)):
        yield name, get_font(upright[name]).get_charmap()
