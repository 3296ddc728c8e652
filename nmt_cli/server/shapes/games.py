"""Two shapes of translators of games and visual novels: XUnity.AutoTranslator's, and Sugoi's.

Sources: the endpoint `CustomTranslate` of XUnity.AutoTranslator; public clients of Sugoi's server, such as
LunaTranslator and Translator++.
"""

from __future__ import annotations

from typing import Any

from starlette.responses import PlainTextResponse, Response

from nmt_cli.server.calls import Call
from nmt_cli.server.paths import BOTH, ServedPath

TRANSLATE = "translate sentences"
CHECK = "check if server is ready"


async def translate_for_unity(call: Call) -> Response:
    """Answers XUnity.AutoTranslator with the translation and nothing else."""
    values = call.values
    text, source = values.read_text("text"), values.read_text("from", default="auto")
    translated = await call.service.translate_texts([text], source, values.read_text("to", default=""))
    return PlainTextResponse(translated.texts[0].encode("utf-8", "replace"))


async def answer_sugoi(call: Call) -> Any:
    """Answers a message of Sugoi's clients: a text with a text, a list with a list; others are accepted."""
    message = call.values.read_text("message")
    if message == CHECK:
        return True
    if message != TRANSLATE:  # to close or to pause the server, which only its owner does
        return ""
    texts = call.values.read_texts("content")
    translated = await call.service.translate_texts(texts, "auto", "")
    is_single = isinstance(call.values.find("content"), str)
    return translated.texts[0] if is_single else translated.texts


PATHS = (
    ServedPath(
        *("/xunity", translate_for_unity, "Translate a text for XUnity.AutoTranslator.", ("text",), ("from", "to")),
        methods=BOTH,
    ),
    ServedPath("/", answer_sugoi, "Translate texts for clients of Sugoi.", ("message", "content")),
)
