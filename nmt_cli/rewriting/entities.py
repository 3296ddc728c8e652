"""HTML character references for letters and quotes: `&eacute;`, `&#39;`, `&quot;`.

The network reads the characters themselves; the translation is written with the references of its source. All other
references (`&amp;`, `&nbsp;`, `&copy;`) are protected spans (`carrying`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Self

from nmt_cli.carrying.references import REFERENCE
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext, Written
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.characters import QUOTES


class Entities(Rewrite):
    """Reads `&eacute;`, `&#39;` and `&quot;` as characters, and writes them back."""

    scope = "line"

    @classmethod
    def from_model(cls, model: ModelText) -> Self:
        return cls()

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, Mapping[str, str]] | None:
        """Returns the text without references; the memo maps characters to the references they had."""
        if "&" not in text.text or ";" not in text.text:
            return None
        from html import unescape  # which few texts need

        edits: list[Edit] = []
        references: dict[str, str] = {}
        for match in REFERENCE.finditer(text.text):
            character = unescape(match[0])
            if len(character) == 1 and (character.isalpha() or character in QUOTES):
                references.setdefault(character, match[0])
                edits.append(Edit(*match.span(), character))
        return (text.replace(edits), references) if edits else None

    def write(self, translation: str, memo: Mapping[str, str], written: Written) -> str:
        pattern = "|".join(filter(None, (written.span_pattern, *map(re.escape, memo))))
        return re.sub(pattern, lambda match: memo.get(match[0], match[0]), translation)
