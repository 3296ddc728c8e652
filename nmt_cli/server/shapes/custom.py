"""Two small shapes: `text_list` of Immersive Translate and kiss-translator, and DeepLX's single text."""

from __future__ import annotations

import secrets
from typing import Any

from nmt_cli.server.calls import Call


async def translate_list(call: Call) -> Any:
    """Answers the custom interface of Immersive Translate and kiss-translator."""
    texts = call.values.read_texts("text_list")
    source = call.values.read_text("source_lang", "source", default="auto")
    translated = await call.service.translate_texts(texts, source, call.values.read_text("target_lang", "target"))
    language = translated.model.source.code if source == "auto" else source
    return {"translations": [{"detected_source_lang": language, "text": text} for text in translated.texts]}


async def translate_deeplx(call: Call) -> Any:
    """Answers like DeepLX, a protocol spoken by many desktop programs."""
    text = call.values.read_text("text")
    source = call.values.read_text("source_lang", default="auto")
    target = call.values.read_text("target_lang")
    are_markup = call.values.find("tag_handling") in ("xml", "html")
    translated = await call.service.translate_texts([text], source.lower(), target, 3, are_markup=are_markup)
    return {
        "alternatives": translated.alternatives[0] if translated.alternatives else [],
        "code": 200,
        "data": translated.texts[0],
        "id": secrets.randbelow(10**10),
        "method": "Free",
        "source_lang": translated.model.source.code.upper(),
        "target_lang": translated.model.target.code.upper(),
    }
