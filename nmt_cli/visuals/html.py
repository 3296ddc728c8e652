"""Attention as one interactive HTML page that needs no network.

All text stands in the page as JSON data and is put on it as text, never as markup (see attention.js).
Takes what `words.attended` gives; also attention (L, H, T, S) of networks with layers and heads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.files import atomic_path
from nmt_cli.visuals.words import Attended

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray


@dataclass(frozen=True)
class Shown:
    """A sentence of the page, by words and by pieces, and what was measured of its attention."""

    words: Attended
    pieces: Attended
    measured: str = ""


def write_page(sentences: Sequence[Shown], path: Path, *, merge: bool = True, transpose: bool = False) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(page(sentences, merge=merge, transpose=transpose), encoding="utf-8")


def page(sentences: Sequence[Shown], *, merge: bool = True, transpose: bool = False) -> str:
    """The page; `merge` and `transpose` are how it opens."""
    data = {
        "merge": merge,
        "transpose": transpose,
        "sentences": [
            {"words": view(one.words), "pieces": view(one.pieces), "measured": one.measured} for one in sentences
        ],
    }
    title = f"Attention: {sentences[0].words.source_text}" if len(sentences) == 1 else "Attention"
    parts = {
        "TITLE": escape(title),
        "STYLE": package_file("attention.css"),
        "SCRIPT": package_file("attention.js"),
        "DATA": as_data(data),
    }
    # In one pass: what is put in is never looked through for places to put something in.
    return re.sub(r"@([A-Z]+)@", lambda place: parts[place[1]], package_file("attention.html"))


def view(one: Attended) -> dict[str, Any]:
    return {
        "source": one.source,
        "target": one.target,
        "sourceText": one.source_text,
        "targetText": one.target_text,
        "probabilities": [round(value, 4) for value in one.probabilities],
        "attention": layers(one.attention).round(4).tolist(),  # (L, H, T, S)
    }


def layers(attention: FloatArray) -> FloatArray:
    """(L, H, T, S), of one layer and one head where the array has none."""
    return attention if attention.ndim == 4 else attention[None, None]


def as_data(value: Any) -> str:
    """JSON that no parser of HTML can take for the end of its element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return "".join(escapes.get(character, character) for character in text)


def package_file(name: str) -> str:
    return resources.files("nmt_cli.visuals").joinpath(name).read_text(encoding="utf-8")
