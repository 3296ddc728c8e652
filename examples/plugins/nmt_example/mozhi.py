"""A shape of requests: Mozhi's, which Crow Translate asks: `GET /api/translate?from=en&to=de&text=Hello`."""

from __future__ import annotations

from typing import Any

from nmt_cli.server.calls import GET, Call, ServedPath


async def translate(call: Call) -> Any:
    values = call.values
    source, target = values.read_text("from", default="auto"), values.read_text("to")
    translated = await call.service.translate_texts([values.read_text("text")], source, target)
    languages = (translated.model.source.code, translated.model.target.code)
    return {
        "engine": values.read_text("engine", default="nmt"),
        "detected": languages[0] if source == "auto" else "",
        "translated-text": translated.texts[0],
        "source_language": languages[0],
        "target_language": languages[1],
    }


PATHS = (
    ServedPath(
        "/api/translate",
        translate,
        "Translate a text, as Mozhi does for Crow Translate.",
        required=("to", "text"),
        optional=("from", "engine"),
        methods=GET,
    ),
)
