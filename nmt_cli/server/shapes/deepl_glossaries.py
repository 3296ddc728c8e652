"""DeepL's glossaries, of version 2: created, listed, read and deleted; `/v2/translate` names one by its id."""

from __future__ import annotations

from typing import Any

from starlette.responses import PlainTextResponse, Response

from nmt_cli.server.calls import Call, find_owner
from nmt_cli.server.errors import RequestError
from nmt_cli.server.glossaries import LONGEST_NAME, ClientGlossary, read_terms
from nmt_cli.server.paths import GET, ServedPath

CREATED = 201
DELETED = 204
GLOSSARY = "/v2/glossaries/{identifier}"


async def list_pairs(call: Call) -> Any:
    pairs = dict.fromkeys((model.source.code, model.target.code) for model in call.service.pool.models)
    return {"supported_languages": [{"source_lang": source, "target_lang": target} for source, target in pairs]}


async def create_glossary(call: Call) -> Any:
    values = call.values
    name = values.read_text("name")
    if not 0 < len(name) <= LONGEST_NAME:
        raise RequestError(400, f"Invalid request: a name has 1 to {LONGEST_NAME:,} characters")
    model = call.service.pool.find(values.read_text("source_lang"), values.read_text("target_lang"))
    terms = read_terms(values.read_text("entries"), values.read_text("entries_format", default="tsv"))
    glossary = ClientGlossary(name, model.source, model.target, terms, find_owner(call))
    call.service.glossaries.add(glossary)
    return describe_glossary(glossary), CREATED


async def list_glossaries(call: Call) -> Any:
    return {"glossaries": list(map(describe_glossary, call.service.glossaries.list_of(find_owner(call))))}


async def show_glossary(call: Call) -> Any:
    return describe_glossary(find_glossary(call))


async def list_entries(call: Call) -> Response:
    lines = [f"{source}\t{target}\n" for source, target in find_glossary(call).glossary.terms.items()]
    return PlainTextResponse("".join(lines).encode("utf-8", "replace"), media_type="text/tab-separated-values")


async def delete_glossary(call: Call) -> Response:
    call.service.glossaries.remove(str(call.request.path_params["identifier"]), find_owner(call))
    return Response(status_code=DELETED)


def find_glossary(call: Call) -> ClientGlossary:
    """Returns the glossary of the path. Raises RequestError if the client has no such one."""
    return call.service.glossaries.find(str(call.request.path_params["identifier"]), find_owner(call))


def find_named_glossary(call: Call, source: str, target: str) -> ClientGlossary | None:
    """Returns the glossary that a request names, if any. Raises RequestError for one of other languages."""
    if call.values.find("glossary_id") is None:
        return None
    glossary = call.service.glossaries.find(call.values.read_text("glossary_id"), find_owner(call))
    model = call.service.pool.find(glossary.source.code if source == "auto" else source, target)
    if (model.source, model.target) != (glossary.source, glossary.target):
        raise RequestError(400, "Invalid request: the glossary is of other languages")
    return glossary


def describe_glossary(glossary: ClientGlossary) -> dict[str, Any]:
    return {
        "glossary_id": glossary.identifier,
        "name": glossary.name,
        "ready": True,
        "source_lang": glossary.source.code,
        "target_lang": glossary.target.code,
        "creation_time": glossary.created.isoformat(timespec="microseconds"),
        "entry_count": len(glossary.glossary.terms),
    }


PATHS = (
    ServedPath("/v2/glossary-language-pairs", list_pairs, "List the directions of glossaries.", methods=GET),
    ServedPath(
        *("/v2/glossaries", create_glossary, "Create a glossary, as DeepL does."),
        *(("name", "source_lang", "target_lang", "entries"), ("entries_format",)),
    ),
    ServedPath("/v2/glossaries", list_glossaries, "List the glossaries of the key.", methods=GET),
    ServedPath(GLOSSARY, show_glossary, "Describe a glossary.", methods=GET),
    ServedPath(GLOSSARY, delete_glossary, "Delete a glossary.", methods=("DELETE",)),
    ServedPath(f"{GLOSSARY}/entries", list_entries, "List the terms of a glossary.", methods=GET),
)
