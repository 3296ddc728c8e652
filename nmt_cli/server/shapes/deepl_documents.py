"""DeepL's documents, of version 2: sent, asked for and fetched, in three requests."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from starlette.responses import Response

from nmt_cli.server.calls import Call, explain_failure, find_owner
from nmt_cli.server.errors import RequestError
from nmt_cli.server.paths import ServedPath
from nmt_cli.server.results import ClientDocument
from nmt_cli.server.service import TranslatedDocument
from nmt_cli.server.shapes.deepl_glossaries import find_named_glossary
from nmt_cli.server.shapes.libretranslate import send_result, store_upload

DOCUMENT = "/v2/document/{identifier}"
WAIT_SECONDS = 1  # until a client should ask again


async def send_document(call: Call) -> Any:
    """Starts the translation of a document; answers with its id and its key."""
    values, service = call.values, call.service
    source, target = values.read_text("source_lang", default="auto"), values.read_text("target_lang")
    formality = values.read_text("formality", default="default")
    glossary = find_named_glossary(call, source, target)
    folder = tempfile.TemporaryDirectory(prefix="nmt.")
    try:
        path, name = await store_upload(call, Path(folder.name))
        refuse_other_format(path, values.read_text("output_format", default=""))

        async def translate() -> str:
            language = source if glossary is None else glossary.source.code
            terms = None if glossary is None else glossary.glossary
            translated = await bound_time(
                service.translate_document(path, name, language, target, glossary=terms, formality=formality),
                service.limits.file_seconds,
            )
            return translated.name

        document = service.documents.start(find_owner(call), translate)
    except BaseException:
        folder.cleanup()
        raise

    def clean_up(task: asyncio.Task[str]) -> None:
        folder.cleanup()
        if not task.cancelled():
            task.exception()  # which asyncio reports if nobody asks

    document.task.add_done_callback(clean_up)
    return {"document_id": document.identifier, "document_key": document.key}


async def bound_time(work: Awaitable[TranslatedDocument], seconds: float) -> TranslatedDocument:
    """Returns the result of the work. Raises RequestError if it takes too long."""
    try:
        return await asyncio.wait_for(work, seconds)
    except TimeoutError as error:
        raise RequestError(503, f"this took longer than {seconds:g} seconds") from error


def refuse_other_format(path: Path, requested: str) -> None:
    """Raises RequestError for a result in another format than the document's."""
    if requested and requested.lower() != path.suffix[1:]:
        raise RequestError(400, f"Value for 'output_format' not supported: {requested}; documents keep their format")


async def show_status(call: Call) -> Any:
    document = find_document(call)
    answer = {"document_id": document.identifier}
    if not document.task.done():
        return {**answer, "status": "translating", "seconds_remaining": WAIT_SECONDS}
    if document.error is not None:
        return {**answer, "status": "error", "error_message": explain_failure(document.error).message}
    return {**answer, "status": "done", "billed_characters": 0}


async def fetch_result(call: Call) -> Response:
    document = find_document(call)
    if not document.task.done():
        raise RequestError(503, "Document not ready", retry_after=WAIT_SECONDS)
    if document.error is not None:
        raise RequestError(404, "Document not translated")
    return send_result(call, document.task.result())


def find_document(call: Call) -> ClientDocument:
    """Returns the document of the path. Raises RequestError if the client has no such one."""
    identifier, key = str(call.request.path_params["identifier"]), call.values.read_text("document_key")
    return call.service.documents.find(identifier, find_owner(call), key)


PATHS = (
    ServedPath(
        *("/v2/document", send_document, "Translate a document, as DeepL does.", ("file", "target_lang")),
        optional=("source_lang", "formality", "glossary_id", "output_format"),
        takes_files=True,
    ),
    ServedPath(DOCUMENT, show_status, "Say whether a document is translated.", ("document_key",)),
    ServedPath(f"{DOCUMENT}/result", fetch_result, "Fetch a translated document.", ("document_key",)),
)
