"""The part of DeepL's version 2 that its clients and Weblate need: texts, documents, glossaries."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Literal

from starlette.responses import FileResponse, PlainTextResponse, Response

from nmt_cli.server.admission import RequestError
from nmt_cli.server.calls import BOTH, GET, Call, Reply, ServedPath, explain_failure, find_owner
from nmt_cli.server.models import is_any
from nmt_cli.server.service import Wishes
from nmt_cli.server.shapes.libretranslate import DocumentReport, describe_report, send_result, store_upload
from nmt_cli.server.stores import LONGEST_NAME, ClientDocument, ClientGlossary, FinishedDocument, read_terms
from nmt_cli.text.tags import FORMAL, INFORMAL

# DeepL's glossaries, of version 2: created, listed, read and deleted; `/v2/translate` names one by its id.


GLOSSARY = "/v2/glossaries/{identifier}"


class GlossaryPair(Reply):
    source_lang: str
    target_lang: str


class GlossaryPairs(Reply):
    supported_languages: list[GlossaryPair]


class GlossaryDescription(Reply):
    glossary_id: str
    name: str
    ready: bool
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class GlossaryList(Reply):
    glossaries: list[GlossaryDescription]


async def list_pairs(call: Call) -> GlossaryPairs:
    pairs = dict.fromkeys((model.source.code, model.target.code) for model in call.service.pool.models)
    return GlossaryPairs([GlossaryPair(*pair) for pair in pairs])


async def create_glossary(call: Call) -> GlossaryDescription:
    values = call.values
    name = values.read_text("name")
    if not 0 < len(name) <= LONGEST_NAME:
        raise RequestError(400, f"Invalid request: a name has 1 to {LONGEST_NAME:,} characters")
    model = call.service.pool.find(values.read_text("source_lang"), values.read_text("target_lang"))
    terms = read_terms(values.read_text("entries"), values.read_text("entries_format", default="tsv"))
    glossary = ClientGlossary(name, model.source, model.target, terms, find_owner(call))
    call.service.glossaries.add(glossary)
    return describe_glossary(glossary)


async def list_glossaries(call: Call) -> GlossaryList:
    return GlossaryList(list(map(describe_glossary, call.service.glossaries.list_of(find_owner(call)))))


async def show_glossary(call: Call) -> GlossaryDescription:
    return describe_glossary(find_glossary(call))


class TableResponse(PlainTextResponse):
    media_type = "text/tab-separated-values"


async def list_entries(call: Call) -> TableResponse:
    lines = [f"{source}\t{target}\n" for source, target in find_glossary(call).glossary.terms.items()]
    return TableResponse("".join(lines).encode("utf-8", "replace"))


async def delete_glossary(call: Call) -> Response:
    call.service.glossaries.remove(str(call.request.path_params["identifier"]), find_owner(call))
    return Response(status_code=204)


def find_glossary(call: Call) -> ClientGlossary:
    """Returns the glossary named in the path. Raises RequestError if the client has no such glossary."""
    return call.service.glossaries.find(str(call.request.path_params["identifier"]), find_owner(call))


def read_wishes(call: Call) -> tuple[str, Wishes]:
    """Returns a request's source language and other wishes. Raises RequestError for a glossary in other languages."""
    source, target = call.values.read_text("source_lang", default="auto"), call.values.read_text("target_lang")
    identifier = call.values.read_text("glossary_id", default="")
    if not identifier:
        return source, call.wishes
    glossary = call.service.glossaries.find(identifier, find_owner(call))
    model = call.service.pool.find(glossary.source.code if is_any(source) else source, target)
    if (model.source, model.target) != (glossary.source, glossary.target):
        raise RequestError(400, "Invalid request: the glossary is for other languages")
    return glossary.source.code, call.wishes._replace(glossary=glossary.glossary)


def describe_glossary(glossary: ClientGlossary) -> GlossaryDescription:
    created = glossary.created.isoformat(timespec="microseconds")
    languages, number = (glossary.source.code, glossary.target.code), len(glossary.glossary.terms)
    return GlossaryDescription(glossary.identifier, glossary.name, True, *languages, created, number)


GLOSSARY_PATHS = (
    ServedPath("/v2/glossary-language-pairs", list_pairs, "List the directions of glossaries.", methods=GET),
    ServedPath(
        *("/v2/glossaries", create_glossary, "Create a glossary, as DeepL does."),
        *(("name", "source_lang", "target_lang", "entries"), ("entries_format",)),
        status=201,
    ),
    ServedPath("/v2/glossaries", list_glossaries, "List the glossaries of the key.", methods=GET),
    ServedPath(GLOSSARY, show_glossary, "Describe a glossary.", methods=GET),
    ServedPath(GLOSSARY, delete_glossary, "Delete a glossary.", methods=("DELETE",), status=204),
    ServedPath(f"{GLOSSARY}/entries", list_entries, "List the terms of a glossary.", methods=GET),
)


# DeepL's documents, of version 2: sent, asked for and fetched, in three requests.


DOCUMENT = "/v2/document/{identifier}"
WAIT_SECONDS = 1  # until a client should ask again


class SentDocument(Reply):
    document_id: str
    document_key: str


class DocumentStatus(Reply):
    document_id: str
    status: Literal["translating", "error", "done"]
    seconds_remaining: int | None = None
    error_message: str | None = None
    billed_characters: int | None = None
    report: DocumentReport | None = None
    warning: str | None = None


async def send_document(call: Call) -> SentDocument:
    """Starts the translation of a document; responds with its id and its key."""
    values, service = call.values, call.service
    (source, wishes), target = read_wishes(call), values.read_text("target_lang")
    folder = tempfile.TemporaryDirectory(prefix="nmt.")
    try:
        path, name = await store_upload(call, Path(folder.name))
        form = values.read_text("output_format", default="")
        if form and form.lower() != path.suffix[1:]:
            problem = f"Value for 'output_format' not supported: {form}; documents keep their format"
            raise RequestError(400, problem)

        async def translate() -> FinishedDocument:
            seconds = service.limits.file_seconds
            work = service.translate_document(path, name, source, target, wishes=wishes)
            try:
                done = await asyncio.wait_for(work, seconds)
            except TimeoutError as error:
                raise RequestError(503, f"the translation took longer than {seconds:g} seconds") from error
            return FinishedDocument(done.name, describe_report(done.report), done.warning)

        document = service.documents.start(find_owner(call), translate)
    except BaseException:
        folder.cleanup()
        raise

    def clean_up(task: asyncio.Task[FinishedDocument]) -> None:
        folder.cleanup()
        if not task.cancelled():
            task.exception()  # which asyncio reports if nobody asks

    document.task.add_done_callback(clean_up)
    return SentDocument(document.identifier, document.key)


async def show_status(call: Call) -> DocumentStatus:
    document = find_document(call)
    if not document.task.done():
        return DocumentStatus(document.identifier, "translating", seconds_remaining=WAIT_SECONDS)
    if document.error is not None:
        return DocumentStatus(document.identifier, "error", error_message=explain_failure(document.error).message)
    done = document.task.result()
    return DocumentStatus(document.identifier, "done", None, None, 0, done.report, done.warning or None)


async def fetch_result(call: Call) -> FileResponse:
    document = find_document(call)
    if not document.task.done():
        raise RequestError(503, "Document not ready", retry_after=WAIT_SECONDS)
    if document.error is not None:
        raise RequestError(404, "Document not translated")
    return send_result(call, document.task.result().name)


def find_document(call: Call) -> ClientDocument:
    """Returns the document named in the path. Raises RequestError if the client has no such document."""
    identifier, key = str(call.request.path_params["identifier"]), call.values.read_text("document_key")
    return call.service.documents.find(identifier, find_owner(call), key)


DOCUMENT_PATHS = (
    ServedPath(
        *("/v2/document", send_document, "Translate a document, as DeepL does.", ("file", "target_lang")),
        optional=("source_lang", "formality", "glossary_id", "output_format"),
        takes_files=True,
    ),
    ServedPath(DOCUMENT, show_status, "Say whether a document is translated.", ("document_key",)),
    ServedPath(f"{DOCUMENT}/result", fetch_result, "Fetch a translated document.", ("document_key",)),
)


# The part of DeepL's version 2 that its official clients and Weblate need.


NO_LIMIT = 1_000_000_000_000


class DeepLTranslation(Reply):
    detected_source_language: str
    text: str
    billed_characters: int


class DeepLTranslations(Reply):
    translations: list[DeepLTranslation]


class DeepLLanguage(Reply):
    language: str
    name: str
    supports_formality: bool | None = None


class DeepLUsage(Reply):
    character_count: int = 0
    character_limit: int = NO_LIMIT


async def translate(call: Call) -> DeepLTranslations:
    values = call.values
    texts = values.read_texts("text")
    (source, wishes), target = read_wishes(call), values.read_text("target_lang")
    lists = values.read_texts("ignore_tags") if values.find("ignore_tags") else []
    ignored = frozenset(name.strip().lower() for names in lists for name in names.split(","))
    are_markup = values.read_choice("tag_handling", "", "xml", "html") != ""
    translated = await call.translate(*(texts, source, target), are_markup=are_markup, kept_tags=ignored, wishes=wishes)
    return DeepLTranslations(
        [
            DeepLTranslation(translated.name_source(index).upper(), text, len(texts[index]))
            for index, text in enumerate(translated.texts)
        ]
    )


async def list_languages(call: Call) -> list[DeepLLanguage]:
    """Lists the source languages or, with `type=target`, the target languages."""
    pool = call.service.pool
    if call.values.read_choice("type", "source", "target") == "source":
        return [DeepLLanguage(language.code.upper(), language.name) for language in pool.list_sources()]
    targets = dict.fromkeys(model.target for model in pool.models)
    formal = {model.target for model in pool.models if {FORMAL, INFORMAL} <= model.card.tags.keys()}
    return [DeepLLanguage(language.code.upper(), language.name, language in formal) for language in targets]


async def report_usage(call: Call) -> DeepLUsage:
    return DeepLUsage()


PATHS = tuple(
    path._replace(error_key="message")
    for path in (
        ServedPath(
            *("/v2/translate", translate, "Translate texts, as DeepL does.", ("text", "target_lang")),
            optional=("source_lang", "tag_handling", "ignore_tags", "formality", "glossary_id"),
        ),
        ServedPath("/v2/languages", list_languages, "List the languages, as DeepL does.", (), ("type",), BOTH),
        ServedPath("/v2/usage", report_usage, "Report that there is no quota.", methods=BOTH),
        *GLOSSARY_PATHS,
        *DOCUMENT_PATHS,
    )
)
