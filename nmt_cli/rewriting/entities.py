"""Character references of HTML that stand for letters and quotes: `&eacute;`, `&#39;`, `&quot;`.

The network reads the characters themselves; a translation is written with the references of its source. All other
references (`&amp;`, `&nbsp;`, `&copy;`) are protected spans (`spans`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nmt_cli.carrying.references import REFERENCE

QUOTES = frozenset("\"'‘’‚“”„«»‹›")


def decode_entities(text: str) -> tuple[str, Mapping[str, str]]:
    """Returns `text` with the characters that its references stand for, and the reference of each such character."""
    from html import unescape  # which few texts need

    references: dict[str, str] = {}

    def decode(match: re.Match[str]) -> str:
        character = unescape(match[0])
        if len(character) != 1 or not (character.isalpha() or character in QUOTES):
            return match[0]
        references.setdefault(character, match[0])
        return character

    return REFERENCE.sub(decode, text), references


def encode_entities(text: str, references: Mapping[str, str], keep: Iterable[str] = ()) -> str:
    """Returns `text` with the references of these characters, except within the texts to `keep`."""
    if not references:
        return text
    kept = "|".join(re.escape(part) for part in sorted(set(keep), key=len, reverse=True) if part)
    pattern = re.compile((f"(?:{kept})|" if kept else "") + "|".join(map(re.escape, references)))
    return pattern.sub(lambda match: references.get(match[0], match[0]), text)
