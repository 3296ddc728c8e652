"""Elements of markup that a client wants kept whole: placeholders while their text is translated.

All other markup is read by `documents.html`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

KEPT = re.compile(r"\{kept(\d+)\}")


class KeptElements(NamedTuple):
    """Texts as they are translated, and the elements that are put back into their translations."""

    texts: list[str]
    elements: list[list[str]]  # of each text

    @classmethod
    def from_texts(cls, texts: Sequence[str], names: Sequence[str]) -> KeptElements:
        """Returns the texts with a placeholder for each element of these names."""
        pairs = [keep_elements(text, names) for text in texts]
        return cls([text for text, _ in pairs], [elements for _, elements in pairs])

    def restore(self, translations: Sequence[str]) -> list[str]:
        """Returns the translations with the elements in the place of their placeholders."""
        return [
            KEPT.sub(lambda match, elements=elements: find_element(elements, match), text)  # type: ignore[misc]
            for text, elements in zip(translations, self.elements, strict=True)
        ]


def find_element(elements: Sequence[str], match: re.Match[str]) -> str:
    """Returns the element of a placeholder; a placeholder that is not ours stays."""
    index = int(match[1])
    return elements[index] if index < len(elements) else match[0]


def keep_elements(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """Returns the text with a placeholder for each element of these names, and the elements."""
    elements: list[str] = []
    if not names:
        return text, elements
    name = "|".join(map(re.escape, names))
    pattern = re.compile(rf"<({name})\b[^<>]*/>|<({name})\b[^<>]*>.*?</\2\s*>", re.DOTALL)

    def keep(match: re.Match[str]) -> str:
        elements.append(match[0])
        return f"{{kept{len(elements) - 1}}}"

    return pattern.sub(keep, text), elements
