"""Describes the server: its paths in OpenAPI's form at `/spec`, for people at `/docs`; its metrics at `/metrics`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse, Response

from nmt_cli import __version__
from nmt_cli.pages import POLICY, render_document
from nmt_cli.server.calls import GET, Call, ServedPath
from nmt_cli.server.service import Service

# What a server tells a monitor, at `/metrics` in the text form of Prometheus: numbers alone, and of no text.


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def write_metrics(service: Service) -> str:
    """Returns all metrics of a server."""
    batcher, counts = service.batcher, service.counts
    answers = {f'{{path="{path}",status="{status}"}}': number for (path, status), number in counts.answers.items()}
    loaded = {model.directory for model in service.pool.models if model.translator is not None}
    families: tuple[tuple[str, str, str, Mapping[str, float]], ...] = (
        ("nmt_requests_total", "counter", "Requests answered, by path and status.", answers),
        ("nmt_request_seconds", "histogram", "Time until an answer.", dict(counts.write_histogram())),
        ("nmt_lines_total", "counter", "Lines translated.", {"": batcher.line_count}),
        ("nmt_batches_total", "counter", "Batches translated.", {"": batcher.batches}),
        ("nmt_waiting_lines", "gauge", "Lines that wait to be translated.", {"": batcher.waiting_lines}),
        ("nmt_loaded_models", "gauge", "Models in memory.", {"": len(loaded)}),
        ("nmt_glossaries", "gauge", "Glossaries that clients created.", {"": len(service.glossaries.glossaries)}),
        ("process_resident_memory_bytes", "gauge", "Memory of the server.", measure_memory()),
    )
    lines = []
    for name, kind, text, values in families:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{suffix} {value}" for suffix, value in values.items()]
    return "\n".join(lines) + "\n"


def measure_memory() -> dict[str, Any]:
    """Returns the resident memory of this process, as a metric; none where the system does not tell it."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return {"": pages * os.sysconf("SC_PAGE_SIZE")}
    return {}


TITLE = "nmt translate --serve"
HEAD = "<tr><th>method</th><th>path</th><th>what it does</th><th>values</th></tr>"
NOTE = (
    "<p>Values are sent as JSON, as a form, or in the query; those in brackets are optional. "
    "A program reads this in OpenAPI's form at <a href='/openapi.json'>/openapi.json</a>; "
    "<a href='/'>the page</a> translates.</p>"
)
# On a phone, the cells of a row are below each other.
NARROW = "@media (max-width: 40rem) { th { display: none; } td { display: block; overflow-wrap: anywhere; } }"


def list_description_paths(paths: Sequence[ServedPath]) -> tuple[ServedPath, ...]:
    """Returns the paths at which the server and all others are described."""
    metrics = ServedPath("/metrics", show_metrics, "Tell a monitor (Prometheus) what the server does.", methods=GET)
    described = [path for path in (*paths, metrics) if path.summary]
    return (
        metrics,
        *(  # LibreTranslate's path, and the usual one
            ServedPath(path, partial(describe_interface, described), methods=GET, needs_key=False)
            for path in ("/spec", "/openapi.json")
        ),
        ServedPath("/docs", partial(show_interface, described), methods=GET, needs_key=False),
    )


async def show_metrics(call: Call) -> Response:
    return Response(write_metrics(call.service), media_type=CONTENT_TYPE)


async def describe_interface(paths: Sequence[ServedPath], call: Call) -> Any:
    operations: dict[str, dict[str, Any]] = {}
    for path in paths:
        described = {method.lower(): describe_operation(path) for method in path.methods}
        operations.setdefault(path.shown or path.path, {}).update(described)
    return {"openapi": "3.0.3", "info": {"title": TITLE, "version": __version__}, "paths": operations}


STRING = {"type": "string"}
STRINGS = {"oneOf": [STRING, {"type": "array", "items": STRING}]}
SCHEMAS = {"q": STRINGS, "text": STRINGS, "file": {**STRING, "format": "binary"}}  # of what is not just a string
FORM = "multipart/form-data"
BODIES = ("application/json", "application/x-www-form-urlencoded", FORM)  # a file needs the last
ANSWERS = {
    "200": "the answer",
    "400": "the request is not understood",
    "403": "the key is missing or wrong",
    "413": "the request is too large",
    "429": "too many requests: wait as Retry-After says",
}


def describe_operation(path: ServedPath) -> dict[str, Any]:
    """Returns a path in OpenAPI's form: the values of GET in its query, those of other methods in their body."""
    in_path = re.findall(r"{(\w+)", path.shown or path.path)
    values = {name: SCHEMAS.get(name, STRING) for name in (*path.required, *path.optional)}
    positions = dict.fromkeys(values if path.methods == GET else (), "query") | dict.fromkeys(in_path, "path")
    operation: dict[str, Any] = {
        "summary": path.summary,
        "parameters": [
            {"name": name, "in": position, "required": position == "path" or name in path.required, "schema": STRING}
            for name, position in positions.items()
        ],
        "responses": {status: {"description": text} for status, text in ANSWERS.items()},
    }
    if values and path.methods != GET:
        schema: dict[str, Any] = {"type": "object", "properties": values}
        schema |= {"required": list(path.required)} if path.required else {}  # which may not be empty
        bodies = (FORM,) if path.takes_files else BODIES
        operation["requestBody"] = {"content": {body: {"schema": schema} for body in bodies}}
    return operation


async def show_interface(paths: Sequence[ServedPath], call: Call) -> Response:
    """Answers with a page that lists the paths."""
    rows = [
        f"<tr><td>{' '.join(path.methods)}</td><td><code>{escape(path.shown or path.path)}</code></td>"
        f"<td>{escape(path.summary)}</td><td>{escape(write_values(path))}</td></tr>"
        for path in paths
    ]
    body = [f"<h1>{TITLE}</h1>", NOTE, f"<table><thead>{HEAD}</thead><tbody>", *rows, "</tbody></table>"]
    return HTMLResponse(render_document(TITLE, body, style=NARROW), headers={"Content-Security-Policy": POLICY})


def write_values(path: ServedPath) -> str:
    """Returns the values of a request as a list, the optional ones in brackets."""
    return ", ".join((*path.required, *(f"[{name}]" for name in path.optional)))
