"""Refusals before anything is read: foreign host names, foreign pages that write, bodies too large or too slow.

Knows only HTTP.

A page of another site open in a browser can send requests to this machine and, once its own name points here (DNS
rebinding), even read the answers. The server must therefore be addressed by a name of its own: a numeric address,
`localhost`, or a name it was told to accept.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nmt_cli.server.admission import BoundedBody, HttpMessage, Limits, Receive, explain_limit

Scope = MutableMapping[str, Any]
Send = Callable[[HttpMessage], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")
FILES = ("/translate_file", "/page/translate_file", "/v2/document")
WRITING = ("/suggest", "/v2/glossaries", *FILES)  # paths of requests that leave something behind
ALLOWED_HEADERS = "Authorization, Content-Type"
ALLOWED_METHODS = "GET, POST"
REMEMBERED = "1728000"  # seconds for which a browser need not ask again, as LibreTranslate says
ALWAYS = {  # of every answer
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}


@dataclass(frozen=True)
class Rules:
    """Who may ask."""

    hosts: frozenset[str]  # names of this server, beside addresses of numbers
    cors: bool  # whether pages of any site may read the answers
    limits: Limits

    def is_own_host(self, header: str) -> bool:
        """Whether the value of a `Host` header names this server."""
        match = HOST.fullmatch(header)
        return match is not None and (is_address(match[1]) or match[1].lower().rstrip(".") in self.hosts)

    def may_read(self, origin: str) -> bool:
        """Whether pages of this origin may read answers: any with `cors`, else those of this machine."""
        if self.cors:
            return True
        parts = split_origin(origin)
        name = parts.hostname or ""
        is_here = name == "localhost" or (is_address(name) and ip_address(name).is_loopback)
        return parts.scheme in ("http", "https") and is_here

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Whether an `Origin` is this server itself, under the name by which it is addressed."""
        return split_origin(origin).netloc.lower() == host.lower()


def split_origin(origin: str) -> SplitResult:
    """Returns the parts of an `Origin`; empty ones if it is invalid."""
    try:
        parts = urlsplit(origin)
        _ = parts.hostname, parts.port
    except ValueError:
        return urlsplit("")
    return parts


def is_address(name: str) -> bool:
    """Whether a name is a numeric address."""
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """Filters requests before the application."""

    def __init__(self, application: Application, rules: Rules) -> None:
        self.application = application
        self.rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        request = Request(scope)
        origin = request.headers.get("origin")
        body = self.bound_body(request, receive)
        sender = self.add_headers(send, origin, body)
        refusal = self.refuse_request(request, origin)
        if refusal is not None:
            await refusal(scope, receive, sender)
        elif request.method == "OPTIONS":
            await Response(status_code=204)(scope, receive, sender)
        else:
            await self.application(scope, body.receive_within_limits, sender)

    def refuse_request(self, request: Request, origin: str | None) -> Response | None:
        """Returns the answer to a request refused by its head, or None."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self.rules.is_own_host(hosts[0]):
            return refuse(403, "this server is not known by that name; see --allow-host")
        path = request.url.path
        if origin is not None and path.startswith(WRITING) and request.method != "OPTIONS":
            if not (self.rules.cors or self.rules.is_own_origin(origin, hosts[0]) or self.rules.may_read(origin)):
                return refuse(403, "pages of other sites may not write here; see --cors")
        length = request.headers.get("content-length")
        if length is not None and "transfer-encoding" in request.headers:  # a proxy may believe the other one
            return refuse(400, "a request has either a Content-Length or a Transfer-Encoding")
        if length is not None and not (length.isdecimal() and int(length) <= self.find_limit(path)):
            return refuse(413, explain_limit(self.find_limit(path)))
        return None

    def find_limit(self, path: str) -> int:
        return self.rules.limits.file if path in FILES else self.rules.limits.body

    def bound_body(self, request: Request, receive: Receive) -> BoundedBody:
        """Returns the body of a request, with the limits of its path."""
        seconds = self.rules.limits.body_seconds * (10 if request.url.path in FILES else 1)
        return BoundedBody(receive, request.headers, self.find_limit(request.url.path), seconds)

    def add_headers(self, send: Send, origin: str | None, body: BoundedBody) -> Send:
        """Returns a `send` that adds the headers common to all answers, and those of CORS for origins that may read.

        An answer to a request whose body was not read closes the connection, since no other request follows.
        """
        extra = dict(ALWAYS)
        if origin is not None and self.rules.may_read(origin):
            extra[b"access-control-allow-origin"] = b"*" if self.rules.cors else origin.encode("latin-1", "replace")
            extra[b"access-control-allow-headers"] = ALLOWED_HEADERS.encode()
            extra[b"access-control-allow-methods"] = ALLOWED_METHODS.encode()
            extra[b"access-control-expose-headers"] = b"Authorization"
            extra[b"access-control-max-age"] = REMEMBERED.encode()
            extra[b"vary"] = b"Origin"

        async def send_with_headers(message: HttpMessage) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = extra if body.is_complete else extra | {b"connection": b"close"}
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in added.items() if name not in present),
                ]
            await send(message)

        return send_with_headers


def refuse(status: int, message: str) -> Response:
    """Returns an answer in the words of both LibreTranslate and DeepL, which closes the connection."""
    return JSONResponse({"error": message, "message": message}, status, {"Connection": "close"})
