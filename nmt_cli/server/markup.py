"""Texts with markup, of clients that say so: entities are read and written, and whole elements can be kept.

Tags themselves need no care here, since translation keeps them in any text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

TAG = re.compile(r"(<!--.*?-->|</?[A-Za-z][^<>]*>|<[?!][^<>]*>)", re.DOTALL)
ENTITY = re.compile(r"&(amp|quot|apos|#39|nbsp|#160);")
CHARACTERS = {"amp": "&", "quot": '"', "apos": "'", "#39": "'", "nbsp": "\u00a0", "#160": "\u00a0"}
KEPT = re.compile(r"\{kept(\d+)\}")


class MarkupTexts(NamedTuple):
    """Texts as they are translated, and what is put back into their translations."""

    texts: list[str]
    kept: list[list[str]]  # the elements of each text that are kept whole
    is_markup: bool

    @classmethod
    def from_texts(cls, texts: Sequence[str], *, is_markup: bool, kept_elements: tuple[str, ...] = ()) -> MarkupTexts:
        """Returns the texts with their entities read; elements whose names are `kept_elements` become placeholders."""
        if not is_markup:
            return cls(list(texts), [[] for _ in texts], is_markup=False)
        pairs = [keep_elements(text, kept_elements) for text in texts]
        return cls([read_entities(text) for text, _ in pairs], [kept for _, kept in pairs], is_markup=True)

    def restore(self, translations: Sequence[str]) -> list[str]:
        """Returns the translations with entities written and elements put back."""
        if not self.is_markup:
            return list(translations)
        return [
            KEPT.sub(lambda match, kept=kept: find_kept(kept, match), write_entities(text))  # type: ignore[misc]
            for text, kept in zip(translations, self.kept, strict=True)
        ]


def find_kept(kept: Sequence[str], match: re.Match[str]) -> str:
    """Returns the element of a placeholder; a placeholder that is not ours stays."""
    index = int(match[1])
    return kept[index] if index < len(kept) else match[0]


def keep_elements(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """Returns the text with a placeholder for each element of these names, and the elements."""
    kept: list[str] = []
    if not names:
        return text, kept
    name = "|".join(map(re.escape, names))
    element = re.compile(rf"<({name})\b[^<>]*/>|<({name})\b[^<>]*>.*?</\2\s*>", re.DOTALL)

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"{{kept{len(kept) - 1}}}"

    return element.sub(keep, text), kept


def read_entities(text: str) -> str:
    """Reads the entities that are characters of running text; `&lt;` stays, so that no text becomes a tag."""
    return ENTITY.sub(lambda match: CHARACTERS[match[1]], text)


def write_entities(text: str) -> str:
    """Writes `&` outside tags and entities as an entity."""
    parts = TAG.split(text)
    return "".join(part if index % 2 else re.sub(r"&(?!#?\w+;)", "&amp;", part) for index, part in enumerate(parts))
