"""Parses requests for the handlers, and refuses invalid ones.

Handlers return plain values, which become JSON, values with a status, or a response of their own; errors take the form
expected by a shape's clients."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, dataclass_transform

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nmt_cli.api.options.options import OF_SEARCH
from nmt_cli.api.options.refusals import NOT_SERVED, is_off, list_names
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.errors import NmtError, find_nearest, name_error
from nmt_cli.plugins import list_plugins, load_plugin, name_package_of
from nmt_cli.server.admission import INTERNAL_ERROR, RequestError, explain_missing, name_network
from nmt_cli.server.service import DEFAULT, Service, TranslatedTexts, Wishes
from nmt_cli.server.stores import read_terms
from nmt_cli.text.wrapping import format_count, replace_surrogates
from nmt_cli.translation.config import LineOptions, MemoryOptions

RETRY_SECONDS = 30  # after which a client may ask again
CLIENT_GONE = 499  # nobody reads this status: the client closed the connection
UNNAMED = ("/download_file", "/v2/glossaries", "/v2/document")  # paths that end with a name
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class Values(NamedTuple):
    """The values of a request, from its JSON object, form and query."""

    values: Mapping[str, Any]

    def find(self, *names: str) -> Any:
        """Returns the value of the first of these names in the request, else None."""
        return next((self.values[name] for name in names if self.values.get(name) is not None), None)

    def read_text(self, *names: str, default: str | None = None) -> str:
        """Returns a text, or the default if it is empty. Raises RequestError if it is missing or not a text."""
        value = self.find(*names)
        if value is None or (value == "" and default is not None):
            value = default
        if value is None:
            raise explain_missing(names[0])
        if not isinstance(value, str):
            raise RequestError(400, f"Invalid request: {names[0]} is not a string")
        return value

    def read_choice(self, name: str, *choices: str) -> str:
        """Returns one of the choices, ignoring case; the first by default. Raises RequestError for any other text."""
        value = self.find(name)
        value = (str(value) if isinstance(value, bool) else self.read_text(name, default=choices[0])).lower()
        if value not in choices:
            raise RequestError(400, f"Value for '{name}' not supported: {value}")
        return value

    def read_texts(self, *names: str) -> list[str]:
        """Returns one text or several. Raises RequestError if they are missing or not texts."""
        value = self.find(*names)
        if value is None:
            raise explain_missing(names[0])
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise RequestError(400, f"Invalid request: {names[0]} is neither a string nor a list of strings")
        return texts

    def read_count(self, name: str, most: int) -> int:
        """Returns a whole number from 0 to `most`; 0 if it is missing."""
        value = self.find(name)
        try:
            number = int(value or 0)
        except (TypeError, ValueError, OverflowError) as error:
            raise RequestError(400, f"Invalid request: {name} is not a number") from error
        if not 0 <= number <= most:
            raise RequestError(400, f"Invalid request: {name} is {number}; at most {most} is allowed")
        return number


@dataclass
class Call:
    """A parsed request, and the warnings of its response."""

    request: Request
    values: Values
    service: Service
    warning: str = ""

    @property
    def wishes(self) -> Wishes:
        """How the texts are to be translated, from values that LibreTranslate's clients do not send, but may."""
        formality, domain = (self.values.read_text(key, default="") for key in ("formality", "tag"))
        terms, column = map(self.values.find, ("glossary", "column"))
        return Wishes(
            formality or DEFAULT,
            domain.strip().lower(),
            read_terms(terms) if terms else None,
            tuple(self.values.read_texts("column")) if column else (),
        )

    async def translate(
        self, texts: Sequence[str], source: str | None, target: str | None, alternatives: int = 0, **options: Any
    ) -> TranslatedTexts:
        """Translates texts as `Service.translate_texts` does, by default with the wishes of the request."""
        options = {"wishes": self.wishes, **options}
        translated = await self.service.translate_texts(texts, source, target, alternatives, **options)
        self.warning = translated.warning
        return translated


Handler = Callable[[Call], Awaitable[Any]]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass_transform()
class Reply:
    """A response, or a part of one, whose fields are the keys of its JSON; those that are None are left out."""

    def __init_subclass__(cls) -> None:
        dataclass(cls)

    def list_values(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


class Answer(JSONResponse):
    """JSON in UTF-8. Escapes unpaired surrogates, which some clients send and UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(
            content, default=Reply.list_values, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        return text.encode("utf-8", "backslashreplace")


def make_endpoint(service: Service, path: ServedPath) -> Endpoint:
    """Returns the endpoint of a path: it checks the key, reads the request, limits its time, and counts it."""
    seconds = service.limits.file_seconds if path.takes_files else service.limits.seconds

    async def answer_request(request: Request) -> Response:
        begun = time.monotonic()
        size, caller, warning = 0, None if path.needs_key else "", ""
        try:
            if path.needs_key:
                caller = admit_by_head(request, service, takes_files=path.takes_files)
            values = await read_values(request, service.limits.body)
            size = sum(len(str(value)) for value in values.values.values())
            if caller is None:
                caller = service.admission.admit_caller(find_key(values), find_address(request))
            path.refuse_names(values)
            call = Call(request, values, service)
            result = await run_while_connected(request, path.handler(call), seconds)
            response = result if isinstance(result, Response) else Answer(result, path.status)
            if warning := call.warning:
                response.headers["Warning"] = f'199 nmt "{warning}"'.encode("latin-1", "replace").decode("latin-1")
        except ClientDisconnect:
            response = Response(status_code=CLIENT_GONE)
        except (Exception, asyncio.CancelledError) as error:
            refusal = explain_failure(error)
            if refusal.status == 500 or isinstance(error, OSError):
                service.report(f"{request.method} {name_path(request)}: {refusal.detail}")
            wait = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
            response = Answer({path.error_key: refusal.message}, refusal.status, wait)
        finally:
            await request.close()  # the files of a form
        duration, status = time.monotonic() - begun, response.status_code
        service.counts.add(path.name_shown, status, duration)
        facts = (status, format_count(size, "character"), f"{duration:.3f} s", caller, warning)
        answer = "  ".join(str(fact) for fact in facts if fact)
        service.log(f"{request.method} {name_path(request)} {answer}")
        return response

    return answer_request


def explain_failure(error: BaseException) -> RequestError:
    """Returns an error as it is reported to a client, without any of the client's text."""
    if isinstance(error, RequestError):
        return error
    if isinstance(error, asyncio.CancelledError):  # only a server that stops gives up its requests
        return RequestError(503, "the server is stopping", retry_after=RETRY_SECONDS)
    if isinstance(error, OSError):  # a full disk, or too many open files
        problem = "this server cannot read or write a file"
        if error.strerror is None:
            return RequestError(503, problem, retry_after=RETRY_SECONDS, detail=f"{problem}: {name_error(error)}")
        return RequestError(503, f"{problem}: {error.strerror.lower()}", retry_after=RETRY_SECONDS)
    return RequestError(500, INTERNAL_ERROR, detail=f"{INTERNAL_ERROR}: {name_error(error)}")


def name_path(request: Request) -> str:
    """Returns the path of a request, without names that only its client should know."""
    path = request.url.path
    return next((mark for mark in UNNAMED if path.startswith(mark)), path)


async def read_values(request: Request, most_bytes: int) -> Values:
    """Returns the values of a request; the body overrules the query.

    Raises RequestError if they are invalid, such as a form field of more than `most_bytes`.
    """
    values: dict[str, Any] = collect_values(request.query_params.multi_items())
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    is_json = kind == FORMS[0] and (await request.body()).lstrip()[:1] == b"{"  # curl -d without a header
    if kind in FORMS and not is_json:
        try:
            form = await request.form(max_files=1, max_fields=10_000, max_part_size=most_bytes)
        except HTTPException as error:
            raise RequestError(400, f"Invalid request: {error.detail}") from error
        values |= collect_values(form.multi_items(), are_from_form=True)
        return Values(values)
    body = await request.body()
    if body.strip():
        values |= parse_json(body)
    return Values(values)


def parse_json(body: bytes) -> dict[str, Any]:
    try:
        parsed = make_sound(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "Invalid request: the body is not valid JSON") from error
    if isinstance(parsed, list):  # OPUS-CAT's order of texts to come
        return {"input": parsed}
    if not isinstance(parsed, dict):
        raise RequestError(400, "Invalid request: the body is not a JSON object")
    return parsed


def make_sound(value: Any) -> Any:
    """Returns a JSON value with U+FFFD in place of each half of a character in its texts and keys.

    Programs that cut texts between UTF-16 units, as JavaScript does, send such halves; forms and addresses cannot
    contain them.
    """
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return list(map(make_sound, value))
    if isinstance(value, dict):
        return {replace_surrogates(key): make_sound(part) for key, part in value.items()}
    return value


def collect_values(items: list[tuple[str, Any]], *, are_from_form: bool = False) -> dict[str, Any]:
    """Returns the values by name, as a list if a name is repeated or is `q[]`; line ends of forms become LF."""
    values: dict[str, list[Any]] = {}
    for name, value in items:
        if are_from_form and isinstance(value, str):
            value = value.replace("\r\n", "\n")
        values.setdefault(name, []).append(value)
    return {
        name.removesuffix("[]"): several if len(several) > 1 or name.endswith("[]") else several[0]
        for name, several in values.items()
    }


def admit_by_head(request: Request, service: Service, *, takes_files: bool) -> str | None:
    """Returns the name of a request's key, from its head alone; None if its body may contain the key.

    Raises RequestError for a wrong key, for too many requests, and for a document so large that it is not read without
    a key.
    """
    caller = service.admission.admit_by_head(find_key_in_head(request), find_address(request))
    most = service.limits.body
    if caller is None and takes_files and int(request.headers.get("content-length", most + 1)) > most:
        raise RequestError(403, "for a document this large, send the API key in a header: Authorization: Bearer KEY")
    return caller


def find_address(request: Request) -> str:
    """Returns the address of the client; a proxy on this machine may name the client that it acts for."""
    return request.client.host if request.client is not None else ""


def find_key_in_head(request: Request) -> str | None:
    """Returns the key in the head of a request: as DeepL's clients send it, or in the query."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "deepl-auth-key") and key:
        return key.strip()
    return find_key(Values(request.query_params))


def find_key(values: Values) -> str | None:
    """Returns the key among the values of a request."""
    key = values.find("api_key", "auth_key", "tokenCode")
    return key if isinstance(key, str) else None


def find_secret(call: Call) -> str:
    """Returns the key that came with a call, whether or not this server asks for one; empty without any."""
    return find_key_in_head(call.request) or find_key(call.values) or ""


def find_owner(call: Call) -> str:
    """Returns the owner of what a call creates or requests: its key, required or not, else its address."""
    secret = find_secret(call)
    return f"key {secret}" if secret else f"address {name_network(find_address(call.request))}"


async def run_while_connected(request: Request, work: Awaitable[Any], seconds: float) -> Any:
    """Returns the result of the work.

    Raises RequestError if it takes too long, ClientDisconnect if the client has left.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(wait_for_disconnect(request))
    try:
        done, _ = await asyncio.wait({task, watch}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task in done:
            return task.result()
        if watch in done:
            raise ClientDisconnect
        raise RequestError(503, f"the request took longer than {seconds:g} seconds", retry_after=RETRY_SECONDS)
    finally:
        for unfinished in (task, watch):
            unfinished.cancel()
        with suppress(asyncio.CancelledError, RequestError):
            await watch


async def wait_for_disconnect(request: Request) -> None:
    """Returns once the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# A path that is served, as the tables of `shapes/` and those of other packages list them.


ADDED = "nmt_cli.shapes"  # the entry points of shapes that other packages add
GET, POST, BOTH = ("GET",), ("POST",), ("GET", "POST")


OF_NMT = ("formality", "tag", "glossary", "column")  # values that nmt adds to LibreTranslate's
SURELY_MEANT = 0.77  # similarity of a name to a value of a path: "formatting" is another client's
OF_CLIENTS = {"to", "format", "context", "split_sentences"}  # options of nmt that are values of other servers, too
OPTIONS = {"n_best", "prefix", *list_names(*OF_SEARCH, LineOptions, MemoryOptions, DocumentOptions)} - OF_CLIENTS


class ServedPath(NamedTuple):
    """A path with its handler, and its description in `/docs` and `/spec`; without a summary, it is not described.

    The type that the handler returns is the schema of its response.
    """

    path: str
    handler: Handler
    summary: str = ""
    required: tuple[str, ...] = ()  # values of a request
    optional: tuple[str, ...] = ()
    methods: tuple[str, ...] = POST
    needs_key: bool = True
    takes_files: bool = False
    error_key: str = "error"  # under which its clients look for a message
    name: str | None = None  # for links to it
    status: int = 200  # of an answer
    shown: str = ""  # the path as it is described, if clients write it in several ways

    @property
    def name_shown(self) -> str:
        return self.shown or self.path

    def refuse_names(self, values: Values) -> None:
        """Raises RequestError for an option of nmt that this path does not take, and for a misspelled optional value.

        Other clients may send names of their own.
        """
        ours = self.optional if "tag" in self.optional else ()  # formality is also DeepL's
        for name in values.values.keys() - {*self.required, *self.optional, *OF_NMT[:3]}:
            if name in OPTIONS and not is_off(values.values[name]):
                raise RequestError(400, f"Invalid request: there is no {name!r}; {self.explain_option(name)}")
            nearest = find_nearest(name, ours, SURELY_MEANT)
            if nearest is not None:
                raise RequestError(400, f"Invalid request: there is no {name!r}; did you mean {nearest!r}?")

    def explain_option(self, name: str) -> str:
        """Returns a hint that says where to use an option that this path does not take."""
        if name == "n_best" and "alternatives" in self.optional:
            return "did you mean 'alternatives'?"
        if name in OF_NMT:
            return "use this option with /translate_file"
        command = "for files: nmt translate FILE" if name in NOT_SERVED else "for a server: nmt translate --serve 5000"
        return f"this option is {command} --{name.replace('_', '-')}"

    def make_route(self, service: Service) -> Route:
        return Route(self.path, make_endpoint(service, self), methods=list(self.methods), name=self.name)


def load_added_paths(report: Callable[[str], None]) -> Iterator[ServedPath]:
    """Yields the paths of shapes that other packages add; reports those that cannot be served, and leaves them out."""
    for plugin in list_plugins(ADDED):
        try:
            paths = load_plugin(plugin)
        except NmtError as error:
            report(f"{error.message}: the plugin is not served")
            continue
        if isinstance(paths, Sequence) and all(isinstance(path, ServedPath) for path in paths):
            yield from paths
        else:
            report(
                f"{plugin.name} of the package {name_package_of(plugin)} is not a table of paths, so it is not served"
            )
