"""Describes the server: its paths in OpenAPI's form at `/spec`, for people at `/docs`; its metrics at `/metrics`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

from starlette.responses import HTMLResponse, Response

from nmt_cli import __version__
from nmt_cli.pages.frame import POLICY, render_document
from nmt_cli.server.calls import Call
from nmt_cli.server.metrics import CONTENT_TYPE, write_metrics
from nmt_cli.server.paths import GET, ServedPath

TITLE = "nmt translate --serve"
HEAD = "<tr><th>method</th><th>path</th><th>what it does</th><th>values</th></tr>"
NOTE = (
    "<p>Values are sent as JSON, as a form, or in the query; those in brackets are optional. "
    "A program reads this in OpenAPI's form at <a href='/spec'>/spec</a>; <a href='/'>the page</a> translates.</p>"
)
# On a phone, the cells of a row are below each other.
NARROW = "@media (max-width: 40rem) { th { display: none; } td { display: block; overflow-wrap: anywhere; } }"


def list_description_paths(paths: Sequence[ServedPath]) -> tuple[ServedPath, ...]:
    """Returns the paths at which the server and all others are described."""
    metrics = ServedPath("/metrics", show_metrics, "Tell a monitor (Prometheus) what the server does.", methods=GET)
    described = [path for path in (*paths, metrics) if path.summary]
    return (
        metrics,
        ServedPath("/spec", partial(describe_interface, described), methods=GET, needs_key=False),
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


def describe_operation(path: ServedPath) -> Any:
    parameters = [
        {"name": name, "in": "query", "required": name in path.required, "schema": {"type": "string"}}
        for name in (*path.required, *path.optional)
    ]
    responses = {"200": {"description": "the answer"}, "400": {"description": "the request is not understood"}}
    return {"summary": path.summary, "parameters": parameters, "responses": responses}


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
