"""LibreTranslate's interface, which most clients speak, and three others that share its paths."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import UploadFile
from starlette.responses import FileResponse

from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.errors import DataError
from nmt_cli.formats import DOCUMENTS, FORMATS, find_by_name, require_use
from nmt_cli.plugins import list_plugins
from nmt_cli.server.admission import INTERNAL_ERROR, RequestError, explain_error, explain_missing, name_caller
from nmt_cli.server.calls import BOTH, GET, Call, Reply, ServedPath, find_address, find_secret
from nmt_cli.server.models import is_any
from nmt_cli.server.service import DEFAULT, Detected, TranslatedDocument, TranslatedLines, choose_register
from nmt_cli.text.tags import parse_tag_name

if TYPE_CHECKING:
    from nmt_cli.api.translator import FileReport
    from nmt_cli.translation.result import Translation

FLAGGED_SHOWN = 20  # texts of a document that a response lists

# Two small shapes: `text_list` of Immersive Translate and kiss-translator, and DeepLX's single text.


class ListedTranslation(Reply):
    detected_source_lang: str
    text: str


class ListedTranslations(Reply):
    translations: list[ListedTranslation]


class DeepLXTranslation(Reply):
    alternatives: list[str]
    code: int
    data: str
    id: int
    method: str
    source_lang: str
    target_lang: str


async def translate_list(call: Call) -> ListedTranslations:
    """Answers the custom interface of Immersive Translate and kiss-translator."""
    texts = call.values.read_texts("text_list")
    source = call.values.read_text("source_lang", "source", default="auto")
    translated = await call.translate(texts, source, call.values.read_text("target_lang", "target"))
    sources = [translated.name_source(index) if is_any(source) else source for index in range(len(texts))]
    return ListedTranslations(list(map(ListedTranslation, sources, translated.texts)))


async def translate_deeplx(call: Call) -> DeepLXTranslation:
    """Responds like DeepLX, a protocol spoken by many desktop programs."""
    text = call.values.read_text("text")
    source = call.values.read_text("source_lang", default="auto")
    target = call.values.read_text("target_lang")
    are_markup = call.values.read_choice("tag_handling", "", "xml", "html") != ""
    translated = await call.translate([text], source, target, 3, are_markup=are_markup)
    return DeepLXTranslation(
        *(translated.alternatives[0] if translated.alternatives else [], 200, translated.texts[0]),
        *(secrets.randbelow(10**10), "Free"),
        *(translated.name_source(0).upper(), translated.model.target.code.upper()),
    )


# LibreTranslate's interface, which most clients speak, and the two others that share its `/translate`.
#
# Source: LibreTranslate's `app.py`. In addition, `/translate` answers GET, with `translation` beside `translatedText`,
# as plugins of OmegaT require.


ONLY_OF_TEXT = "no alternatives and no quality, because format is html; they need format text"


class FlaggedCheck(Reply):
    kind: str
    message: str


class Quality(Reply):
    checks: list[FlaggedCheck]
    confidence: float | None = None


class GuessedLanguage(Reply):
    confidence: float
    language: str


class TranslateReply(Reply):
    translatedText: str | list[str]
    detectedLanguage: GuessedLanguage | list[GuessedLanguage] | None = None
    alternatives: list[str] | list[list[str]] | None = None
    translation: str | list[str] | None = None
    quality: Quality | list[Quality] | None = None
    warning: str | None = None


class LanguageRow(Reply):
    code: str
    name: str
    targets: list[str]


class FlaggedText(Reply):
    number: int
    source: str
    translation: str
    checks: list[FlaggedCheck]
    confidence: float | None = None


class DocumentReport(Reply):
    texts: int
    failed: int
    checks: dict[str, int]
    flagged: list[FlaggedText]
    notes: dict[str, int]


class TranslatedFile(Reply):
    translatedFileUrl: str
    report: DocumentReport
    warning: str | None = None


class NamedLanguage(Reply):
    code: str
    name: str


class ServerSettings(Reply):
    apiKeys: bool
    charLimit: int
    filesTranslation: bool
    frontendTimeout: int
    keyRequired: bool
    language: dict[str, NamedLanguage]
    suggestions: bool
    supportedFilesFormat: list[str]


async def translate(call: Call) -> TranslateReply | ListedTranslations | DeepLXTranslation:
    """Answers `/translate` in the shape of the client, recognised by the keys of its request."""
    if call.values.find("text_list") is not None:
        return await translate_list(call)
    if call.values.find("q", "target") is None and call.values.find("text") is not None:
        return await translate_deeplx(call)
    values, service = call.values, call.service
    texts = values.read_texts("q")
    is_list = not isinstance(values.find("q"), str)
    source, target = values.read_text("source"), values.read_text("target")
    number = values.read_count("alternatives", service.limits.alternatives)
    text_format = values.read_text("format", default="text").lower()
    if text_format not in ("text", "html"):
        raise RequestError(400, f"{text_format} format is not supported")
    are_markup = text_format == "html"
    translated = await call.translate(texts, source, target, number, are_markup=are_markup)
    answer = TranslateReply(translated.texts, warning=call.warning or None)
    if is_any(source):
        answer.detectedLanguage = describe_guesses(translated.guesses)
    rates = values.read_choice("quality", "false", "true") == "true"
    if are_markup and (number or rates):
        call.warning = answer.warning = "; ".join(filter(None, [call.warning, ONLY_OF_TEXT]))
    if rates and not are_markup:
        answer.quality = list(map(rate_lines, translated.lines))
    if number:
        answer.alternatives = translated.alternatives or [[] for _ in texts]
    if not is_list:  # each list has one item
        vars(answer).update({name: value[0] for name, value in vars(answer).items() if isinstance(value, list)})
    if call.request.method == "GET":
        answer.translation = answer.translatedText
    return answer


async def detect_language(call: Call) -> list[GuessedLanguage]:
    """Detects the language of each text among all languages; if in doubt, prefers the languages of the models."""
    guesses = await call.service.detect_languages(call.values.read_texts("q"))
    return describe_guesses([guess.overall for guess in guesses])


def describe_guesses(guesses: Iterable[Detected]) -> list[GuessedLanguage]:
    return [GuessedLanguage(guess.confidence, guess.language.code) for guess in guesses]


async def list_languages(call: Call) -> list[LanguageRow]:
    """Lists the source languages with their targets, then the targets that are not sources."""
    pool = call.service.pool
    return [
        LanguageRow(known.code, known.name, [target.code for target in pool.list_targets(known)])
        for known in pool.languages
    ]


async def translate_file(call: Call) -> TranslatedFile:
    """Translates an uploaded document; responds with the address of the result."""
    document = await translate_upload(call)
    return TranslatedFile(write_address(call, document), describe_report(document.report), document.warning or None)


def describe_report(report: FileReport) -> DocumentReport:
    """Returns the numbers of texts and of failed checks, as in the command's summary, and the least confident texts."""
    flagged = [
        FlaggedText(number, translation.source, translation.text, list_checks(translation), translation.confidence)
        for number, translation in rank_flagged(report)[:FLAGGED_SHOWN]
    ]
    return DocumentReport(report.texts, report.flagged_count, {**report.failures}, flagged, {**report.notes})


def rank_flagged(report: FileReport) -> list[tuple[int, Translation]]:
    """Returns the texts that failed a check, with their numbers, least confident first."""
    return sorted(report.flagged, key=lambda pair: (pair[1].confidence or 0.0, pair[0]))


def list_checks(translation: Translation) -> list[FlaggedCheck]:
    """Returns the failed checks of a translation, without places in the code."""
    messages = {"failed": f"not translated: {INTERNAL_ERROR}"}
    return [FlaggedCheck(kind, messages.get(kind, message)) for kind, message in translation.checks]


def rate_lines(lines: TranslatedLines) -> Quality:
    """Returns the failed checks of a text, and the confidence of its least confident line."""
    done = list(filter(None, lines))
    rated = [line.confidence for line in done if line.confidence is not None]
    return Quality([check for line in done for check in list_checks(line)], min(rated, default=None))


def write_address(call: Call, document: TranslatedDocument) -> str:
    return str(call.request.url_for("download_file", name=document.name))


async def translate_upload(call: Call, progress: StageReporter = ignore_progress) -> TranslatedDocument:
    """Translates the document uploaded in a form. Raises RequestError for one that cannot be translated."""
    source, target = call.values.read_text("source"), call.values.read_text("target")
    wishes = call.wishes
    with tempfile.TemporaryDirectory(prefix="nmt.") as folder:
        upload = await store_upload(call, Path(folder))
        return await call.service.translate_document(*upload, source, target, progress, wishes)


class StoredUpload(NamedTuple):
    """An uploaded document, stored as a file, and the name that its client gave it."""

    path: Path
    name: str


async def store_upload(call: Call, folder: Path) -> StoredUpload:
    """Writes the document uploaded in a form to a folder. Raises RequestError for one that cannot be translated."""
    upload = call.values.find("file")
    if not isinstance(upload, UploadFile):
        raise explain_missing("file")
    name = upload.filename or ""
    if Path(name).suffix.lower() not in list_suffixes():
        raise refuse_name(name)
    path = folder / f"upload{Path(name).suffix.lower()}"
    with path.open("wb") as file:
        while block := await upload.read(1 << 20):
            file.write(block)
    return StoredUpload(path, name)


def refuse_name(name: str) -> RequestError:
    """Returns the error for a document that its name rules out, with what to do instead if known."""
    known = find_by_name(name)
    try:
        if known is not None:
            require_use(known, "translate", name)
    except DataError as error:
        return RequestError(400, explain_error(error))
    endings = "such as .txt, .docx, .srt or .csv"
    return RequestError(400, f"Invalid request: this server translates documents by their endings, {endings}")


def list_suffixes() -> list[str]:
    """Returns the endings of the documents that can be translated."""
    formats = [format for format in FORMATS if "translate" in format.uses]
    added = [f".{plugin.name.lower()}" for plugin in list_plugins(DOCUMENTS)]
    extensions = [extension for format in formats for extension in format.extensions]
    return list(dict.fromkeys([".txt", *extensions, *added]))


async def download_file(call: Call) -> FileResponse:
    return send_result(call, str(call.request.path_params["name"]))


def send_result(call: Call, name: str) -> FileResponse:
    """Returns a translated document. Raises RequestError if it no longer exists."""
    path = call.service.results.find(name)
    if path is None:
        raise RequestError(404, "this file does not exist, or no longer exists")
    headers = {"Content-Security-Policy": "sandbox; default-src 'none'"}
    _, _, given_name = name.partition(".")
    return FileResponse(path, media_type="application/octet-stream", filename=given_name, headers=headers)


async def keep_suggestion(call: Call) -> dict[str, bool]:
    """Keeps a correction, if the server was started with a file for them."""
    values, service = call.values, call.service
    if service.suggestions is None:
        raise RequestError(403, "Suggestions are disabled on this server.")
    model = service.pool.find(values.read_text("source"), values.read_text("target"))
    source, target = values.read_text("q"), values.read_text("s")
    register = choose_register(model, values.read_text("formality", default=DEFAULT))
    service.check_lines([source, target])
    tags = (*model.tags, *map(parse_tag_name, register))
    client = name_caller(service.admission.find_key(find_secret(call)), find_address(call.request))
    await asyncio.to_thread(service.suggestions.append, model, source, target, tags, client)
    return {"success": True}


async def report_health(call: Call) -> dict[str, str]:
    return {"status": "ok"}


async def list_settings(call: Call) -> ServerSettings:
    """Describes what the server offers, as requested by LibreTranslate's page and clients."""
    service, first = call.service, call.service.pool.models[0]
    languages = {"source": first.source, "target": first.target}
    return ServerSettings(
        apiKeys=service.admission.needs_key,
        charLimit=-1,
        filesTranslation=True,
        frontendTimeout=500,
        keyRequired=service.admission.needs_key,
        language={side: NamedLanguage(language.code, language.name) for side, language in languages.items()},
        suggestions=service.suggestions is not None,
        supportedFilesFormat=list_suffixes(),
    )


PATHS = (
    ServedPath(
        *("/translate", translate, "Translate one text or several.", ("q", "source", "target")),
        *(("format", "alternatives", "quality", "formality", "tag", "glossary"), BOTH),
    ),
    ServedPath("/detect", detect_language, "Detect the language of a text.", ("q",), (), BOTH),
    ServedPath("/languages", list_languages, "List the languages.", methods=GET, needs_key=False),
    ServedPath(
        *(
            "/translate_file",
            translate_file,
            "Translate a document.",
            ("file", "source", "target"),
            ("formality", "tag", "glossary", "column"),
        ),
        takes_files=True,
    ),
    ServedPath(
        *("/download_file/{name}", download_file, "Fetch a translated document."),
        methods=GET,
        needs_key=False,
        name="download_file",
    ),
    ServedPath("/suggest", keep_suggestion, "Send a correction.", ("q", "s", "source", "target"), ("formality",)),
    ServedPath("/health", report_health, "Say whether the server answers.", methods=GET, needs_key=False),
    ServedPath("/frontend/settings", list_settings, "List what the server offers.", methods=GET, needs_key=False),
)
