"""Renders attention as one interactive HTML page that needs no network connection.

The page holds all text as JSON data, and its script shows it as text, never as markup (see attention.js). Takes the
result of `labels.label_attention`. Letters: L layers, H heads, T target labels, S source labels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.files import write_text
from nmt_cli.pages import read_asset, render_document
from nmt_cli.visuals.labels import DARK_RAMP, RAMP, LabelledAttention

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray


@dataclass(frozen=True)
class PageSentence:
    """A sentence of the page, by words and by pieces, with a summary of its attention."""

    words: LabelledAttention
    pieces: LabelledAttention
    summary: str = ""
    model: str = ""  # its name, where several are compared


def write_page(sentences: Sequence[PageSentence], path: Path, *, merge: bool = True, transpose: bool = False) -> None:
    """Writes the page that `render_page` returns."""
    write_text(path, render_page(sentences, merge=merge, transpose=transpose))


def render_page(sentences: Sequence[PageSentence], *, merge: bool = True, transpose: bool = False) -> str:
    """Returns the page. It opens by words if `merge`, else by pieces, and with swapped axes if `transpose`."""
    data = {
        "merge": merge,
        "transpose": transpose,
        "ramp": RAMP,
        "darkRamp": DARK_RAMP,
        "sentences": [
            {
                "words": describe_view(sentence.words),
                "pieces": describe_view(sentence.pieces),
                "measured": sentence.summary,
                "model": sentence.model,
            }
            for sentence in sentences
        ],
    }
    title = f"Attention: {sentences[0].words.source_text}" if len(sentences) == 1 else "Attention"
    style, script = (read_asset("nmt_cli.visuals", f"attention.{kind}") for kind in ("css", "js"))
    encoded = f'<script type="application/json" id="data">{encode_data(data)}</script>'
    return render_document(
        title, [read_asset("nmt_cli.visuals", "attention.html"), encoded], style=style, script=script
    )


def describe_view(view: LabelledAttention) -> dict[str, Any]:
    """Returns one view of a sentence, by words or by pieces, in the form that attention.js reads."""
    return {
        "source": view.source,
        "target": view.target,
        "sourceText": view.source_text,
        "targetText": view.target_text,
        "probabilities": [round(value, 4) for value in view.probabilities],
        "attention": add_layer_axes(view.attention).round(4).tolist(),  # (L, H, T, S)
    }


def add_layer_axes(attention: FloatArray) -> FloatArray:
    """Returns attention (L, H, T, S); attention (T, S) becomes that of one layer with one head."""
    return attention if attention.ndim == 4 else attention[None, None]


def encode_data(value: Any) -> str:
    """Returns JSON in which no HTML parser can find the end of its element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return "".join(escapes.get(character, character) for character in text)
