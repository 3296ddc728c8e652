"""Controls access to the server: checks keys, rates and sizes, and refuses requests."""

from __future__ import annotations

import asyncio
import hmac
import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nmt_cli.errors import DataError, NmtError, convert_os_error
from nmt_cli.files import read_state

# The keys of a server: their names, their own rates, and the file in which they change while it runs.
#
# A line of the file is `NAME KEY` or `NAME KEY REQUESTS-PER-MINUTE`; a comment begins with `#`. A variable has such
# lines, or only keys, with commas between them.


class Key(NamedTuple):
    """A key, and the name of its user."""

    name: str
    secret: str
    rate: int | None = None  # requests per minute, if it has a rate of its own

    def is_equal(self, secret: str) -> bool:
        """Whether this is the key; the time that this takes reveals nothing about the key."""
        return hmac.compare_digest(secret.encode("utf-8", "surrogatepass"), self.secret.encode("utf-8"))


def parse_keys(text: str, where: str, *, has_commas: bool = False) -> list[Key]:
    """Returns the keys in a text; `where` names the text in errors, which never contain a key. Raises DataError.

    Keys that are separated by commas need no names.
    """
    lines = [re.split(r"(?:^|\s)#", line)[0] for line in text.splitlines()]
    entries = [
        (number, parts)
        for number, line in enumerate(lines, start=1)
        for entry in (line.split(",") if has_commas else [line])
        if (parts := entry.split())
    ]
    if has_commas and all(len(parts) == 1 for _, parts in entries):
        return [Key(f"key {number}", secret) for number, (_, (secret,)) in enumerate(entries, start=1)]
    return [parse_key(parts, f"{where}, line {number}") for number, parts in entries]


def parse_key(parts: Sequence[str], where: str) -> Key:
    name, secret, rate = [*parts, "", ""][:3]
    # A line of CSV would otherwise be a key, or a name.
    if secret and "," not in name + secret and len(parts) <= 3 and re.fullmatch("(?:[1-9][0-9]*)?", rate):
        return Key(name, secret, int(rate) if rate else None)
    raise DataError(
        f"{where}: the line is not a key",
        hint="write a name, a key and, optionally, a number of requests per minute on each line, separated by spaces",
    )


class KeyFile:
    """The keys in a file, which is read again when it changes. If it cannot be read, the old keys stay valid.

    Raises NotFoundError and DataError at the start; later, `report` receives such errors.
    """

    def __init__(self, path: Path, report: Callable[[str], None]) -> None:
        self.path = path
        self.report = report
        self.keys = self.load()
        self.state = read_state(self.path)

    def load(self) -> list[Key]:
        try:
            text = self.path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise convert_os_error(error) from error
        except UnicodeError as error:
            raise DataError(f"{self.path} is not UTF-8", hint="save it as UTF-8") from error
        return parse_keys(text, str(self.path))

    def list_keys(self) -> list[Key]:
        """Returns the keys that are in the file now."""
        if (state := read_state(self.path)) != self.state:
            self.state = state
            try:
                self.keys = self.load()
            except NmtError as error:
                self.report(f"{error.message}: the server keeps the old keys")
        return self.keys


# Limits on requests. Exceeding one is answered by a specific status, never by silence.


class Limits(NamedTuple):
    """The limits of a server."""

    body: int = 2_000_000  # bytes of a request; 413
    file: int = 50_000_000  # bytes of a document; 413
    lines: int = 5_000  # of a request; 413
    characters: int = 200_000  # of a line, which cannot be given up once it is being translated; 413
    waiting: int = 50_000  # lines of all requests that wait; 503
    connections: int = 1_000  # at a time; 503
    head_seconds: float = 10.0  # until the head of a request is there; the connection is closed
    body_seconds: float = 30.0  # until its body is there; 408
    answer_seconds: float = 30.0  # in which a client takes a buffer of its answer; the connection is closed
    linger_seconds: float = 2.0  # in which a refused client that still sends can read why; the connection is closed
    seconds: float = 120.0  # until a text is translated; 503
    file_seconds: float = 1_800.0  # until a document is; 503
    alternatives: int = 10  # of a text
    suggestion: int = 10_000  # characters of each side of a suggestion; 413
    suggestions: int = 10_000_000  # bytes of their file: in memory, short pairs take forty times as much; 507
    client_suggestions: int = 10_000  # of a key, or of an address without one, in a day; 429
    arenas: int = 1  # of the C library, from which all threads have their memory


DEFAULT_LIMITS = Limits()


# Refusals over HTTP, with their statuses. Does not depend on shapes.


INTERNAL_ERROR = "internal error"  # all that a client is told; where it happened, the report of the server says


class RequestError(Exception):
    """A request that cannot be answered: the status, and a message for a person.

    `detail` is what the server reports instead, such as places in the code or on its disk, which no client should see.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None, detail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.detail = detail or message
        self.retry_after = retry_after  # seconds


def explain_error(error: NmtError) -> str:
    """Returns an error as a client sees it: with its hint, except what applies only to the command line."""
    hint = "; ".join(part for part in error.hint.split("; ") if part and "--" not in part)
    message = error.message.replace("--column", "column")
    return f"{message}{' ' if message.endswith('?') else '; '}{hint}" if hint else message


def explain_missing(parameter: str) -> RequestError:
    """Returns the error for a missing parameter, in LibreTranslate's words."""
    return RequestError(400, f"Invalid request: missing {parameter} parameter")


# Who may ask, and how often: a request counts for its key, or for the address that it comes from.


MINUTE = 60.0  # seconds
REMEMBERED_CALLERS = 10_000  # whose requests are counted; the one that has not asked for longest is forgotten
NETWORK_BITS = 64  # of an IPv6 address: whoever has one has all that begin like it


class Admission:
    """Checks keys, and counts the requests of each key, and of each address without a valid key."""

    def __init__(
        self,
        keys: Sequence[Key] = (),
        file: KeyFile | None = None,
        rate: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`rate` is in requests per minute, for each key without a rate of its own, and for each address."""
        self.keys = tuple(keys)
        self.file = file
        self.rate = rate
        self.counter = RequestCounter(clock)

    @property
    def needs_key(self) -> bool:
        """Whether only requests with a key are answered."""
        return bool(self.keys) or self.file is not None

    def find_key(self, secret: str | None) -> Key | None:
        """Returns the key that a request gave, if it is one of this server's."""
        keys = [*self.keys, *(self.file.list_keys() if self.file is not None else ())]
        matching = [key for key in keys if key.is_equal(secret or "")]  # all are compared, to take the same time
        return matching[0] if matching else None

    def admit_caller(self, secret: str | None, address: str) -> str:
        """Counts a request, and returns the name of its key, empty if none is needed.

        Raises RequestError for a missing or wrong key, and for a caller with too many requests.
        """
        key = self.find_key(secret)
        caller = name_caller(key, address)
        self.counter.count(caller, self.rate if key is None or key.rate is None else key.rate)
        if key is None and self.needs_key:
            raise RequestError(403, "Invalid API key" if secret else "This server asks for an API key")
        return "" if key is None else key.name

    def admit_by_head(self, secret: str | None, address: str) -> str | None:
        """Does what `admit_caller` does if the head of a request is enough to decide; otherwise, returns None."""
        if secret is not None or not self.needs_key:
            return self.admit_caller(secret, address)
        self.counter.check(name_network(address), self.rate)
        return None


def name_caller(key: Key | None, address: str) -> str:
    return name_network(address) if key is None else f"key {key.name}"


def name_network(address: str) -> str:
    """Returns the network whose requests are counted together: an address, or the beginning of an IPv6 address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or int(parsed) >> NETWORK_BITS)


class RequestCounter:
    """Counts requests per minute: a caller may send those of a whole minute at once, then one whenever one is due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        # The requests that callers have left at a time of the clock; the one used last is last.
        self.allowances: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def check(self, caller: str, rate: int | None) -> float:
        """Returns how many requests a caller has left. Raises RequestError if it is less than one."""
        if rate is None:
            return math.inf
        now = self.clock()
        before, time_before = self.allowances.get(caller, (rate, now))
        left = min(rate, before + (now - time_before) * rate / MINUTE)
        if left < 1:
            wait = math.ceil((1 - left) * MINUTE / rate)
            raise RequestError(429, f"more than {rate:,} per minute; try again later", retry_after=wait)
        return left

    def count(self, caller: str, rate: int | None) -> None:
        """Counts a request. Raises RequestError if the caller has none left."""
        left = self.check(caller, rate)
        if rate is None:
            return
        self.allowances[caller] = left - 1, self.clock()
        self.allowances.move_to_end(caller)
        if len(self.allowances) > REMEMBERED_CALLERS:
            self.allowances.popitem(last=False)


# The body of a request: how much of it is read, and for how long. Knows only HTTP.


HttpMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[HttpMessage]]


class BoundedBody:
    """Receives a body that may neither grow too large nor arrive too slowly."""

    def __init__(self, receive: Receive, headers: Headers, limit: int, seconds: float) -> None:
        """`limit` is in bytes."""
        self.receive_part = receive
        self.limit = limit
        self.size = 0
        self.deadline = asyncio.get_running_loop().time() + seconds
        self.is_complete = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers

    async def receive_within_limits(self) -> HttpMessage:
        """Returns the next message. Raises RequestError for a body that is too large or too slow."""
        if self.is_complete:
            return await self.receive_part()
        left = self.deadline - asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(self.receive_part(), max(0.001, left))
        except TimeoutError as error:
            raise RequestError(408, "the request arrived too slowly") from error
        self.size += len(message.get("body", b""))
        self.is_complete = not message.get("more_body", False)
        if self.size > self.limit:
            raise RequestError(413, explain_limit(self.limit))
        return message


def explain_limit(limit: int) -> str:
    """Returns the message for a body of more than `limit` bytes."""
    return f"the request is too large; at most {limit:,} bytes are read"


# Refusals before anything is read: foreign host names, foreign pages that write, bodies too large or too slow.
#
# Knows only HTTP.
#
# A page of another site open in a browser can send requests to this machine and, once its own name points here (DNS
# rebinding), even read the answers. The server must therefore be addressed by a name of its own: a numeric address,
# `localhost`, or a name it was told to accept.

Scope = MutableMapping[str, Any]
Send = Callable[[HttpMessage], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")
FILES = ("/translate_file", "/page/translate_file", "/v2/document")
WRITING = ("/suggest", "/v2/glossaries", *FILES)  # paths of requests that leave something behind
OF_READERS = {  # of answers that pages of an origin may read
    b"access-control-allow-headers": b"Authorization, Content-Type",
    b"access-control-allow-methods": b"GET, POST",
    b"access-control-expose-headers": b"Authorization",
    b"access-control-max-age": b"1728000",  # seconds for which a browser need not ask again, as LibreTranslate says
    b"vary": b"Origin",
}
ALWAYS = {  # of every answer
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}


@dataclass(frozen=True)
class Rules:
    """The hosts, sites and clients that may send requests."""

    hosts: frozenset[str]  # names of this server, beside addresses of numbers
    cors: bool  # whether pages of any site may read the answers
    limits: Limits

    def is_own_host(self, header: str) -> bool:
        """Whether the value of a `Host` header names this server."""
        match = HOST.fullmatch(header)
        return match is not None and (is_address(match[1]) or match[1].lower().rstrip(".") in self.hosts)

    def may_read(self, origin: str) -> bool:
        """Whether pages of this origin may read responses: any with `cors`, else those of this machine."""
        if self.cors:
            return True
        parts = split_origin(origin)
        name = parts.hostname or ""
        is_here = name == "localhost" or (is_address(name) and ip_address(name).is_loopback)
        return parts.scheme in ("http", "https") and is_here


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


CLOSING = {"Connection": "close"}


class Guard:
    """Filters requests before they reach the application."""

    def __init__(self, application: Application, rules: Rules) -> None:
        self.application = application
        self.rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        # `//translate/` comes from an address that ends with a slash.
        scope["path"] = f"/{'/'.join(filter(None, scope['path'].split('/')))}"
        request = Request(scope)
        origin = request.headers.get("origin")
        path, seconds = request.url.path, self.rules.limits.body_seconds
        body = BoundedBody(receive, request.headers, self.find_limit(path), seconds * (10 if path in FILES else 1))
        sender = self.add_headers(send, origin, body)
        refusal = self.refuse_request(request, origin)
        if refusal is not None:
            await refusal(scope, receive, sender)
        elif request.method == "OPTIONS":
            await Response(status_code=204)(scope, receive, sender)
        else:
            await self.application(scope, body.receive_within_limits, sender)

    def refuse_request(self, request: Request, origin: str | None) -> Response | None:
        """Returns the response to a request refused by its head, or None."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self.rules.is_own_host(hosts[0]):
            return refuse(403, "this server is not known by that name; start it with --allow-host NAME")
        path = request.url.path
        if origin is not None and path.startswith(WRITING) and request.method != "OPTIONS":
            is_own_page = split_origin(origin).netloc.lower() == hosts[0].lower()
            if not (is_own_page or self.rules.may_read(origin)):
                return refuse(403, "pages from other sites may not write here; see --cors")
        length = request.headers.get("content-length")
        if length is not None and "transfer-encoding" in request.headers:  # a proxy may believe the other one
            return refuse(400, "a request must have either a Content-Length or a Transfer-Encoding")
        if length is not None and not (length.isdecimal() and int(length) <= self.find_limit(path)):
            return refuse(413, explain_limit(self.find_limit(path)))
        return None

    def find_limit(self, path: str) -> int:
        return self.rules.limits.file if path in FILES else self.rules.limits.body

    def add_headers(self, send: Send, origin: str | None, body: BoundedBody) -> Send:
        """Returns a `send` that adds the headers common to all responses, and those of CORS for origins that may read.

        A response to a request whose body was not read closes the connection, since no other request can follow.
        """
        extra = dict(ALWAYS)
        if origin is not None and self.rules.may_read(origin):
            allowed = b"*" if self.rules.cors else origin.encode("latin-1", "replace")
            extra |= OF_READERS | {b"access-control-allow-origin": allowed}

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


def refuse(status: int, message: str, headers: Mapping[str, str] = CLOSING) -> Response:
    """Returns a response that clients of LibreTranslate and DeepL understand; by default, it closes the connection."""
    return JSONResponse({"error": message, "message": message}, status, headers)
