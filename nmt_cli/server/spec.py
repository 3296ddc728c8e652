"""A short description of the interface in OpenAPI's form, at `/spec`."""

from __future__ import annotations

from typing import Any

from nmt_cli import __version__
from nmt_cli.server.calls import Call

OPERATIONS = {  # path: method, summary, required values, optional values
    "/translate": (
        "post",
        "Translate one text or several.",
        ("q", "source", "target"),
        ("format", "alternatives"),
    ),
    "/detect": ("post", "Detect the language of a text.", ("q",), ()),
    "/languages": ("get", "List the languages.", (), ()),
    "/translate_file": ("post", "Translate a document.", ("file", "source", "target"), ()),
    "/suggest": ("post", "Send a correction.", ("q", "s", "source", "target"), ()),
    "/health": ("get", "Say whether the server answers.", (), ()),
    "/frontend/settings": ("get", "List what the server offers.", (), ()),
    "/v2/translate": ("post", "Translate as DeepL does.", ("text", "target_lang"), ("source_lang", "tag_handling")),
    "/v2/languages": ("get", "List the languages as DeepL does.", (), ("type",)),
    "/v2/usage": ("get", "Say that there is no quota.", (), ()),
    "/MTRestService/TranslateJson": ("get", "Translate as OPUS-CAT does.", ("input", "srcLangCode", "trgLangCode"), ()),
}


async def describe_interface(call: Call) -> Any:
    return {
        "openapi": "3.0.3",
        "info": {"title": "nmt translate --serve", "version": __version__},
        "paths": {path: describe_operation(*operation) for path, operation in OPERATIONS.items()},
    }


def describe_operation(method: str, summary: str, required: tuple[str, ...], optional: tuple[str, ...]) -> Any:
    parameters = [
        {"name": name, "in": "query", "required": name in required, "schema": {"type": "string"}}
        for name in (*required, *optional)
    ]
    responses = {"200": {"description": "the answer"}, "400": {"description": "the request is not understood"}}
    return {method: {"summary": summary, "parameters": parameters, "responses": responses}}
