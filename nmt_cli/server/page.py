"""The page at `/`: its files, and its data: words, confidence, attention and alternative translations."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from nmt_cli import __version__
from nmt_cli.api.model_info import collect_scores, read_package
from nmt_cli.pages import POLICY as DESCRIPTION_POLICY
from nmt_cli.pages import render_document
from nmt_cli.runtime.installed_models import name_model
from nmt_cli.server.admission import RequestError
from nmt_cli.server.calls import GET, Call, Reply, ServedPath
from nmt_cli.server.models import ServedModel
from nmt_cli.server.service import TextLine
from nmt_cli.server.shapes import libretranslate
from nmt_cli.text.tags import FORMAL, INFORMAL
from nmt_cli.visuals.labels import label_attention

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

ASSETS = {"page.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HYPOTHESES = 5  # of a line that the page offers
NEAR = 3  # translations of near texts that the page offers
SHOWN = 1_000_000  # numbers of attention in an answer, which grow with the square of a line
REVIEWED = 200  # texts of a document that the page lists
END = "</s>"


async def send_file(call: Call) -> Response:
    """Sends a file of the page; `/` is the page itself."""
    name = str(call.request.path_params.get("name", "page.html"))
    if name not in ASSETS:
        raise RequestError(404, "there is nothing at this address")
    text = resources.files("nmt_cli.server").joinpath("assets", name).read_text(encoding="utf-8")
    return Response(text, media_type=ASSETS[name], headers={"Content-Security-Policy": POLICY})


async def list_models(call: Call) -> Any:
    """Answers with what the page says about the model of each direction."""
    return [
        {
            "source": model.source.code,
            "target": model.target.code,
            "about": summarise_model(model),
            "hasRegisters": {FORMAL, INFORMAL} <= model.card.tags.keys(),
            "domains": sorted(model.card.domains),
        }
        for model in call.service.pool.models
    ]


def summarise_model(model: ServedModel) -> str:
    """Returns a model's name, its BLEU on its first set, its date and its licence, without those that are unknown."""
    name, scores = next(iter(collect_scores(model.card).items()), ("", {}))
    bleu = next((score for metric, score in scores.items() if metric.startswith("bleu")), None)
    score = f"BLEU {bleu.value:.1f} ({name})" if bleu else ""
    licence = read_package(model.directory).licence
    return " · ".join(filter(None, (name_model(model.directory), score, model.card.date, licence)))


async def translate(call: Call) -> Any:
    """Translates the text of the page; responds with each line and its details."""
    text = call.values.read_text("q")
    model = call.service.pool.find(call.values.read_text("source"), call.values.read_text("target"))
    options = call.wishes.fit_to(model)._replace(n_best=HYPOTHESES)
    split = call.service.split_texts([text])
    translations = await call.service.translate_lines(model, split.lines, options, are_text=True)
    (lines,), (per_line,) = split.texts, split.match(translations)
    near = await asyncio.to_thread(lambda: [model.find_near(line.core, NEAR, options.tags) for line in lines])
    return {
        "lines": await asyncio.to_thread(
            lambda: list(map(describe_line, lines, per_line, near, select_shown(per_line)))
        )
    }


async def translate_file(call: Call) -> Any:
    """Translates a document; responds with its address, and with the texts to check, least confident first."""
    job, running = call.values.read_text("job"), call.service.progress
    running[job] = 0

    def count_texts(stage: str, done: int, total: int) -> None:
        if job in running:  # a thread learns late that nobody waits any more
            running[job] = done

    try:
        document = await libretranslate.translate_upload(call, count_texts)
    finally:
        running.pop(job, None)
    return {
        "translatedFileUrl": libretranslate.write_address(call, document),
        "texts": document.report.texts,
        "flaggedCount": document.report.flagged_count,
        "flagged": [
            {
                "number": number,
                "source": translation.source,
                "text": translation.text,
                "checks": describe_checks(translation),
            }
            for number, translation in libretranslate.rank_flagged(document.report)[:REVIEWED]
        ],
    }


async def report_progress(call: Call) -> Any:
    """Reports how many texts of a document have been translated."""
    return {"texts": call.service.progress.get(call.values.read_text("job"), 0)}


def select_shown(translations: Sequence[Translation | None]) -> Iterator[bool]:
    """Yields whether the words of each translation are shown: those of the first ones, up to the limit `SHOWN`."""
    left = SHOWN
    for translation in translations:
        if translation is not None and translation.hypotheses:
            left -= len(translation.source_pieces) * len(translation.hypotheses[0].pieces)
        yield left >= 0


def describe_line(
    line: TextLine, translation: Translation | None, near: Sequence[str], shows_words: bool
) -> dict[str, Any]:
    """Returns a line in the form that page.js reads; an untranslated line has its own text as its translation.

    The translations of similar texts come before other hypotheses.
    """
    if translation is None or not translation.hypotheses:
        return {"before": line.before, "after": line.after, "source": line.core, "text": line.core}
    others = dict.fromkeys([*near, *(hypothesis.text for hypothesis in translation.hypotheses[1:])])
    return {
        "before": line.before,
        "after": line.after,
        "source": line.core,
        "text": translation.text,
        "alternatives": [other for other in others if other != translation.text],
        "spans": list(dict.fromkeys(span.text for span in translation.placed)),
        "terms": [span.text for span in translation.placed if span.is_term],
        "isRecalled": translation.is_recalled,
        "isTarget": any(check.kind == "language" for check in translation.checks),
        # The percentage shows the confidence of a line; of several sentences, the message names one.
        "checks": describe_checks(translation, but="" if translation.least_sure else "confidence"),
        "leastSure": translation.least_sure.source if translation.least_sure else None,
        "confidence": None if translation.confidence is None else round(translation.confidence, 3),
        "isUnsure": any(check.kind == "confidence" for check in translation.checks),
        **(describe_words(translation) if shows_words else {}),
    }


def describe_checks(translation: Translation, but: str = "") -> list[str]:
    """Returns the failed checks of a translation in words, except those of the kind `but`."""
    return [check.message for check in libretranslate.list_checks(translation) if check.kind != but]


def describe_words(translation: Translation) -> dict[str, Any]:
    """Returns a line and its translation in segments, the words' probabilities, and their attention (T, S).

    A segment is a text and the index of its word; -1 for text between words.
    """
    labels = label_attention(translation, merge=True)
    return {
        "sourceSegments": cut_segments(translation.source, labels.source),
        "segments": cut_segments(translation.text, labels.target),
        "probabilities": [round(value, 3) for value in labels.probabilities],
        "attention": labels.attention.round(2).tolist(),
    }


def cut_segments(text: str, words: Sequence[str]) -> list[tuple[str, int]]:
    """Returns the segments of a text, in order; skips words that it lacks, such as placeholders."""
    segments: list[tuple[str, int]] = []
    position = 0
    for index, word in enumerate(words):
        start = text.find(word, position)
        if start < 0 or not word or word == END:
            continue
        if start > position:
            segments.append((text[position:start], -1))
        segments.append((word, index))
        position = start + len(word)
    return [*segments, (text[position:], -1)] if position < len(text) else segments


PATHS = (
    ServedPath("/", send_file, methods=GET, needs_key=False),
    ServedPath("/page/translate", translate),
    ServedPath("/page/translate_file", translate_file, optional=("column",), takes_files=True),
    ServedPath("/page/models", list_models, methods=GET, needs_key=False),
    ServedPath("/page/progress", report_progress, methods=GET, needs_key=False),
    ServedPath("/page/{name}", send_file, methods=GET, needs_key=False),
)


# Describes the server: its paths in OpenAPI's form at `/spec`, for people at `/docs`; its metrics at `/metrics`.

# What a server tells a monitor, at `/metrics` in the text form of Prometheus: numbers alone, and of no text.


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def show_metrics(call: Call) -> PlainTextResponse:
    """Answers with all metrics of the server."""
    service, batcher, counts = call.service, call.service.batcher, call.service.counts
    answers = {f'{{path="{path}",status="{status}"}}': number for (path, status), number in counts.answers.items()}
    loaded = {model.directory for model in service.pool.models if model.translator is not None}
    families: tuple[tuple[str, str, str, Mapping[str, float]], ...] = (
        ("nmt_requests_total", "counter", "Requests answered, by path and status.", answers),
        ("nmt_request_seconds", "histogram", "Time to respond.", dict(counts.write_histogram())),
        ("nmt_lines_total", "counter", "Lines translated.", {"": batcher.line_count}),
        ("nmt_batches_total", "counter", "Batches translated.", {"": batcher.batches}),
        ("nmt_waiting_lines", "gauge", "Lines waiting to be translated.", {"": batcher.waiting_lines}),
        ("nmt_loaded_models", "gauge", "Models in memory.", {"": len(loaded)}),
        ("nmt_glossaries", "gauge", "Glossaries that clients created.", {"": len(service.glossaries.glossaries)}),
        ("process_resident_memory_bytes", "gauge", "Memory of the server.", measure_memory()),
    )
    lines = []
    for name, kind, text, values in families:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{suffix} {value}" for suffix, value in values.items()]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=CONTENT_TYPE)


def measure_memory() -> dict[str, Any]:
    """Returns the resident memory of this process, as a metric; empty if the system does not report it."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return {"": pages * os.sysconf("SC_PAGE_SIZE")}
    return {}


TITLE = "nmt translate --serve"
HEAD = "<tr><th>method</th><th>path</th><th>what it does</th><th>values</th></tr>"
NOTE = (
    "<p>Values are sent as JSON, as a form, or in the query; those in brackets are optional. "
    "Programs can read this in OpenAPI format at <a href='/openapi.json'>/openapi.json</a>; "
    "<a href='/'>the page</a> translates.</p>"
)
# On a phone, the cells of a row are below each other.
NARROW = "@media (max-width: 40rem) { th { display: none; } td { display: block; overflow-wrap: anywhere; } }"


def list_description_paths(paths: Sequence[ServedPath]) -> tuple[ServedPath, ...]:
    """Returns the paths that describe the server and all its other paths."""
    metrics = ServedPath("/metrics", show_metrics, "Report the server's state to a monitor (Prometheus).", methods=GET)
    described = [path for path in (*paths, metrics) if path.summary]
    return (
        metrics,
        *(  # LibreTranslate's path, and the usual one
            ServedPath(path, partial(describe_interface, described), methods=GET, needs_key=False)
            for path in ("/spec", "/openapi.json")
        ),
        ServedPath("/docs", partial(show_interface, described), methods=GET, needs_key=False),
    )


async def describe_interface(paths: Sequence[ServedPath], call: Call) -> Any:
    operations: dict[str, dict[str, Any]] = {}
    for path in paths:
        described = {method.lower(): describe_operation(path, method) for method in path.methods}
        operations.setdefault(path.name_shown, {}).update(described)
    replies = {reply.__name__: describe_reply(reply) for reply in Reply.__subclasses__()}
    keys = KEYS if call.service.admission.needs_key else {}
    info = {"title": TITLE, "version": __version__}
    components = {"schemas": replies, "securitySchemes": keys}
    security: list[dict[str, list[str]]] = [{name: []} for name in keys]  # one of them
    return {"openapi": "3.0.3", "info": info, "paths": operations, "components": components, "security": security}


KEYS = {  # how a request gives its key, where the server needs one
    "bearer": {"type": "http", "scheme": "bearer"},
    "api_key": {"type": "apiKey", "in": "query", "name": "api_key"},
}


VALUES: dict[str, Any] = {  # types of the values of requests that are not just a string
    **dict.fromkeys(("q", "text", "ignore_tags", "content"), str | list[str]),
    "text_list": list[str],
    "alternatives": int,
    "quality": bool,
    "glossary": str | dict[str, str],
    "file": bytes,
}
NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}
FORM = "multipart/form-data"
BODIES = ("application/json", "application/x-www-form-urlencoded", FORM)  # a file needs the last
ERRORS = {
    400: "the request is not understood",
    403: "the key is missing or wrong",
    404: "there is nothing with this name",
    408: "the request arrived too slowly",
    413: "the request is too large",
    429: "too many requests: wait as Retry-After says",
    500: "the server failed",
    503: "the server is busy: wait as Retry-After says",
}


def describe_type(kind: Any) -> dict[str, Any]:
    """Returns a type in OpenAPI's form; empty for a type that replies do not use."""
    origin, parts = get_origin(kind), [part for part in get_args(kind) if part is not NoneType]
    if origin is Literal:
        return {"type": "string", "enum": parts}
    if origin in (Union, UnionType):
        kinds = [describe_type(part) for part in parts]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin is list:
        return {"type": "array", "items": describe_type(parts[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": describe_type(parts[1])}
    if isinstance(kind, type) and issubclass(kind, Reply):
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"type": "string", "format": "binary"} if kind is bytes else {"type": NAMES[kind]} if kind in NAMES else {}


def describe_reply(reply: type[Reply]) -> dict[str, Any]:
    """Returns the schema of a reply: its fields without a default are required."""
    values = {name: describe_type(kind) for name, kind in get_type_hints(reply).items()}
    return describe_object(values, [name for name in values if not hasattr(reply, name)])


def describe_object(values: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {"type": "object", "properties": values} | ({"required": [*required]} if required else {})


def describe_answer(path: ServedPath) -> dict[str, Any]:
    """Returns the content of a path's response, by the type that its handler returns; a `Response` is not JSON."""
    kind: Any = Any
    with suppress(NameError, TypeError):  # of a handler of another package, which may be any object
        kind = get_type_hints(path.handler).get("return", Any)
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    values = [part for part in kinds if not (isinstance(part, type) and issubclass(part, Response))]
    content = {"application/json": {"schema": describe_type(Union[*values])}} if values else {}
    for part in kinds:
        if part not in (*values, Response):  # a text, or a file of any kind
            of, media = (str, part.media_type) if part.media_type else (bytes, "application/octet-stream")
            content[media] = {"schema": describe_type(of)}
    return content


def describe_operation(path: ServedPath, method: str) -> dict[str, Any]:
    """Returns a path in OpenAPI's form: GET has its values in the query, other methods in the body."""
    values = {name: describe_type(VALUES.get(name, str)) for name in (*path.required, *path.optional)}
    positions = dict.fromkeys(values if method == "GET" else (), "query")
    positions |= dict.fromkeys(re.findall(r"{(\w+)", path.name_shown), "path")
    error = {"application/json": {"schema": describe_object({path.error_key: describe_type(str)}, [path.error_key])}}
    errors = {str(status): {"description": text, "content": error} for status, text in ERRORS.items()}
    operation: dict[str, Any] = {
        "summary": path.summary,
        "parameters": [
            {
                "name": name,
                "in": position,
                "required": position == "path" or name in path.required,
                "schema": describe_type(str),
            }
            for name, position in positions.items()
        ],
        "responses": {str(path.status): {"description": "the response", "content": describe_answer(path)}, **errors},
    } | ({} if path.needs_key else {"security": []})
    if values and method != "GET":
        body = {"schema": describe_object(values, path.required)}
        operation["requestBody"] = {"content": dict.fromkeys((FORM,) if path.takes_files else BODIES, body)}
    return operation


async def show_interface(paths: Sequence[ServedPath], call: Call) -> Response:
    """Answers with a page that lists the paths."""
    rows = [
        f"<tr><td>{' '.join(path.methods)}</td><td><code>{escape(path.name_shown)}</code></td>"
        f"<td>{escape(path.summary)}</td><td>{escape(write_values(path))}</td></tr>"
        for path in paths
    ]
    body = [f"<h1>{TITLE}</h1>", NOTE, f"<table><thead>{HEAD}</thead><tbody>", *rows, "</tbody></table>"]
    return HTMLResponse(
        render_document(TITLE, body, style=NARROW), headers={"Content-Security-Policy": DESCRIPTION_POLICY}
    )


def write_values(path: ServedPath) -> str:
    """Returns the values of a request as a list, the optional ones in brackets."""
    return ", ".join((*path.required, *(f"[{name}]" for name in path.optional)))
