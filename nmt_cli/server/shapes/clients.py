"""The interfaces of individual programs: game translators, and OPUS-CAT's plugins for memoQ, Trados and OmegaT."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.convertors import StringConvertor
from starlette.responses import PlainTextResponse, Response

from nmt_cli.server.admission import RequestError
from nmt_cli.server.calls import BOTH, Call, Reply, ServedPath

# Two shapes of translators of games and visual novels: XUnity.AutoTranslator's, and Sugoi's.
#
# Sources: the endpoint `CustomTranslate` of XUnity.AutoTranslator; public clients of Sugoi's server, such as
# LunaTranslator and Translator++.


TRANSLATE = "translate sentences"
CHECK = "check if server is ready"


async def translate_for_unity(call: Call) -> PlainTextResponse:
    """Answers XUnity.AutoTranslator with the translation and nothing else."""
    values = call.values
    text, source = values.read_text("text"), values.read_text("from", default="auto")
    translated = await call.translate([text], source, values.read_text("to", default=""))
    return PlainTextResponse(translated.texts[0].encode("utf-8", "replace"))


async def answer_sugoi(call: Call) -> str | list[str] | bool:
    """Answers a message from Sugoi's clients: a text with a text, a list with a list; accepts and ignores others."""
    message = call.values.read_text("message")
    if message == CHECK:
        return True
    if message != TRANSLATE:  # to close or to pause the server, which only its owner does
        return ""
    texts = call.values.read_texts("content")
    translated = await call.translate(texts, "auto", "")
    is_single = isinstance(call.values.find("content"), str)
    return translated.texts[0] if is_single else translated.texts


GAME_PATHS = (
    ServedPath(
        *("/xunity", translate_for_unity, "Translate a text for XUnity.AutoTranslator.", ("text",), ("from", "to")),
        methods=BOTH,
    ),
    ServedPath("/", answer_sugoi, "Translate texts for Sugoi clients.", ("message", "content")),
)


# OPUS-CAT's interface, used by its plugins for memoQ, Trados, Wordfast and OmegaT.
#
# Source: OPUS-CAT's `MtRestServiceController`. Clients write its paths in several ways, so case is ignored.


class PathName(StringConvertor):
    """The first part of the paths, which clients write in upper or lower case."""

    regex = "(?i:MTRestService)"


class OpusCatTranslation(Reply):
    translation: str


OpusCatAnswer = OpusCatTranslation | str | list[str] | Response


async def serve_method(call: Call) -> OpusCatAnswer:
    """Answers the method named by the path."""
    method = METHODS.get(call.request.path_params["method"].lower())
    if method is None:
        raise RequestError(404, "OPUS-CAT's interface has no such method here")
    return await method(call)


async def translate_text(call: Call) -> str:
    values = call.values
    translated = await call.translate(
        [values.read_text("input")],
        values.read_text("srcLangCode", default="auto"),
        values.read_text("trgLangCode", default=""),
    )
    return translated.texts[0]


async def translate_json(call: Call) -> OpusCatTranslation:
    return OpusCatTranslation(await translate_text(call))


async def translate_stream(call: Call) -> Response:
    return PlainTextResponse((await translate_text(call)).encode("utf-8", "replace"))


async def check_model_status(call: Call) -> str:
    model = call.service.pool.find(call.values.find("srcLangCode"), call.values.find("trgLangCode"))
    return f"model loaded and ready to translate ({model.source.code}-{model.target.code})"


async def list_pairs(call: Call) -> list[str]:
    return [f"{model.source.code}-{model.target.code}" for model in call.service.pool.models]


async def list_model_tags(call: Call) -> list[str]:
    return []


async def log_in(call: Call) -> str:
    """Answers with a token that is ignored, since it is an API key that keeps others out."""
    return call.values.read_text("tokenCode", default="0")


async def accept_order(call: Call) -> Response:
    """Accepts an announcement of texts to come, for which nothing has to be prepared here."""
    return Response(status_code=200)


METHODS: dict[str, Callable[[Call], Awaitable[OpusCatAnswer]]] = {
    "translate": translate_text,
    "translatepost": translate_json,
    "translatejson": translate_json,
    "translateparagraphjson": translate_text,
    "translatestream": translate_stream,
    "checkmodelstatus": check_model_status,
    "listsupportedlanguagepairs": list_pairs,
    "getlanguagepairmodeltags": list_model_tags,
    "preorderbatch": accept_order,
    "login": log_in,
}
OPUS_CAT_PATHS = (
    ServedPath(
        *("/{name:opus_cat}/{method}", serve_method, "Translate a text, as OPUS-CAT does."),
        *((), ("input", "srcLangCode", "trgLangCode"), BOTH),
        shown="/MTRestService/TranslateJson",
    ),
)
