"""Starts and stops the server: maps paths to handlers, opens the port, and answers until a signal arrives."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.convertors import register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from nmt_cli.api.serve_config import ServeOptions, parse_size
from nmt_cli.api.translator import Translator
from nmt_cli.errors import ExitCode, OptionError
from nmt_cli.files import leave_terminals, list_ending_signals, list_terminals
from nmt_cli.server import page
from nmt_cli.server.admission import (
    DEFAULT_LIMITS,
    INTERNAL_ERROR,
    Admission,
    Application,
    Guard,
    Key,
    KeyFile,
    Limits,
    Rules,
    refuse,
)
from nmt_cli.server.calls import load_added_paths
from nmt_cli.server.connections import PatientProtocol
from nmt_cli.server.models import ModelPool, ServedDirection, ServedModel
from nmt_cli.server.page import list_description_paths
from nmt_cli.server.service import Log, Service, ignore_line
from nmt_cli.server.shapes import clients, deepl, libretranslate
from nmt_cli.server.stores import SuggestionFile

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import TranslationMemory


# The application: maps each path to its handler.


PATHS = (*libretranslate.PATHS, *deepl.PATHS, *clients.OPUS_CAT_PATHS, *clients.GAME_PATHS, *page.PATHS)


REFUSALS = {404: "there is nothing at this address", 405: "this method is not allowed here"}


def make_application(service: Service, rules: Rules) -> Application:
    """Returns the application, with the guard before it."""

    @asynccontextmanager
    async def close_service(application: Starlette) -> AsyncIterator[None]:
        removal = asyncio.ensure_future(service.results.keep_removing())
        try:
            yield
        finally:
            removal.cancel()
            service.close()

    handlers = dict.fromkeys((404, 405, 500), report_error)
    return Guard(Starlette(routes=list_routes(service), lifespan=close_service, exception_handlers=handlers), rules)


def list_routes(service: Service) -> list[BaseRoute]:
    """Returns the routes of all shapes; those of other packages come last, and do not replace any."""
    register_url_convertor("opus_cat", clients.PathName())
    paths = [*PATHS, *load_added_paths(service.report)]
    return [path.make_route(service) for path in (*list_description_paths(paths), *paths)]


async def report_error(request: Request, error: Exception) -> Response:
    """Answers a request for an unknown path, or one that failed unexpectedly, without revealing any text."""
    status = getattr(error, "status_code", 500)
    return refuse(status, REFUSALS.get(status, INTERNAL_ERROR), getattr(error, "headers", None) or {})


# Ends a process whose threads do not end: Python waits for them, and nothing interrupts a translation.


def end_process_after(seconds: float, clean_up: Callable[[], None]) -> None:
    """Ends this process successfully after `clean_up`, unless it ends by itself within `seconds`."""

    def end() -> None:
        try:
            clean_up()
        finally:
            os._exit(ExitCode.OK)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


# Addresses that are served: parsed, opened and shown. Standard library only.


LOCAL = "127.0.0.1"
BACKLOG = 2048  # connections that may wait to be accepted


def parse_address(text: str) -> tuple[str, int]:
    """Parses [HOST:]PORT; without a host, only this machine is served. Raises OptionError."""
    host, _, number = text.rpartition(":")
    host = host.strip("[]") or LOCAL
    if "/" in host or not number.isascii() or not number.isdecimal() or int(number) > 65535:
        raise OptionError(
            f"--serve cannot be {text!r}",
            hint="give a port, or a host and a port: --serve 5000, --serve 0.0.0.0:5000",
        )
    return host, int(number)


def open_port(host: str, port: int) -> socket.socket:
    """Returns a listening socket; port 0 picks a free port. Raises OptionError if that is impossible."""
    try:
        family, _, _, _, endpoint = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(endpoint)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OptionError(
            f"--serve cannot listen on {host}:{port}: {reason}", hint="name another port, or 0 for any that is free"
        ) from error
    return listener


def write_address(host: str, listener: socket.socket) -> str:
    """Returns the address of a listening socket, for a browser."""
    shown_host = f"[{host}]" if ":" in host else host
    return f"http://{shown_host}:{listener.getsockname()[1]}"


# Starts and stops the server: binds the port, answers until a signal comes, finishes pending requests.
#
# 1. After SIGTERM, SIGHUP or Ctrl-C it goes on accepting for a moment, so that no waiting connection is lost.
# 2. Then it closes the port, answers the requests that have begun to arrive, and returns; clients that do not read
# their
#    answers are given `Limits.answer_seconds`.


LAST_CALL = 0.1  # seconds for which connections are still accepted once a signal has come
LONGEST_HEAD = 256 * 1024  # bytes: the texts of clients that ask by GET stand in it
M_ARENA_MAX = -8  # the option's number in malloc.h
LOGGERS = ("uvicorn", "asyncio", "concurrent.futures")
LONGEST_STOP = 7  # seconds after a signal in which requests are still answered
ENDING_SECONDS = 1  # for the process to end by itself once all requests are answered or given up
FORCED_STOP = LONGEST_STOP + 1.5  # seconds after which the process ends, whatever its threads do


@dataclass(frozen=True)
class ServeRequest:
    """The models to serve, and the clients that may use them; `keys` come from the environment and the command line."""

    options: ServeOptions
    models: tuple[Path, ...]
    opener: Callable[[Path], Translator]
    keys: tuple[Key, ...] = ()
    memories: Mapping[ServedDirection, TranslationMemory] = field(default_factory=dict)


def serve(
    request: ServeRequest, announce: Callable[[str, Service], None], log: Log = ignore_line, report: Log = ignore_line
) -> None:
    """Serves the models until a signal arrives; `announce` receives the address once the server listens.

    `log` receives a line for each request, `report` one for each failure of the server; neither contains any text.
    Raises OptionError for an address that cannot be served, OutputError or DataError for a file of suggestions that
    cannot be written or is not one, and NotFoundError or DamagedError for models.
    """
    options, limits = request.options, DEFAULT_LIMITS
    host, port = parse_address(str(options.serve))
    limit_arenas(limits.arenas)
    models = [model for path in request.models for model in ServedModel.read(path).list_directions()]
    pool = ModelPool(models, request.opener, parse_size(options.memory_limit), report)
    for model in pool.models:
        model.memory = request.memories.get((model.directory, model.card.languages))
    if len(request.models) == 1:
        pool.open(pool.models[0])  # what is damaged is said now, and the first request does not wait
    suggestions = None
    if options.suggestions is not None:
        suggestions = SuggestionFile(Path(options.suggestions), by_direction=len(pool.models) > 1, limits=limits)
        suggestions.require_folder()
        suggestions.recall(pool.models, report)
    key_file = KeyFile(Path(options.api_keys), report) if options.api_keys is not None else None
    admission = Admission(request.keys, key_file, options.rate_limit)
    service = Service(pool, limits, admission, suggestions, log, report)
    hosts = {"localhost", host.lower(), *(name.lower() for name in options.allow_host)}
    if host in ("0.0.0.0", "::"):
        hosts |= {socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}
    application = make_application(service, Rules(frozenset(hosts), options.cors, limits))
    listener = open_port(host, port)
    announce(write_address(host, listener), service)
    try:
        with log_without_texts(service.report):
            make_server(application, limits, service.close).run(sockets=[listener])
    finally:
        listener.close()


def limit_arenas(most: int) -> None:
    """Makes threads share at most `most` arenas of the C library; without glibc, does nothing.

    With an arena for each thread, memory that one thread frees is of no use to others, and the server grows for days.
    """
    import ctypes  # which only a server needs

    if (set_option := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        set_option(M_ARENA_MAX, most)


class FirstLineHandler(logging.Handler):
    """Reports only the first line of each message: tracebacks and other lines may contain parts of texts."""

    def __init__(self, report: Log) -> None:
        super().__init__(logging.WARNING)
        self.report = report

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        name = "" if kind is None else f": {kind.__name__}"
        self.report(f"{record.getMessage().strip().partition(chr(10))[0]}{name}")


@contextmanager
def log_without_texts(report: Log) -> Iterator[None]:
    """Reports the messages logged by the server's libraries while the block runs, without any text."""
    handler, loggers = FirstLineHandler(report), [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def make_server(application: Any, limits: Limits, clean_up: Callable[[], None] = lambda: None) -> PatientServer:
    """Returns the server of an application, with these connection limits; `clean_up` runs before a forced end."""
    config = uvicorn.Config(
        application,
        http=type("LimitedProtocol", (PatientProtocol,), {"limits": limits}),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=LONGEST_STOP,
        h11_max_incomplete_event_size=LONGEST_HEAD,
    )
    server = PatientServer(config)
    server.clean_up = clean_up
    return server


class PatientServer(uvicorn.Server):
    """Stops successfully and without losing a request, since a signal is the normal end of a server.

    Requests that take longer than `LONGEST_STOP` are given up; a thread that translates longer ends with the process.
    """

    clean_up: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.terminals = list_terminals()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():  # of a test
            yield
            return
        numbers = (signal.SIGINT, *list_ending_signals())
        previous = {number: signal.signal(number, self.handle_signal) for number in numbers}
        try:
            yield
            end_process_after(ENDING_SECONDS, self.clean_up)
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def handle_signal(self, number: int, frame: FrameType | None) -> None:
        """Handles a signal: the first asks the server to stop; a second Ctrl-C stops it at once."""
        if number == signal.SIGHUP:
            leave_terminals(self.terminals)
        if self.should_exit and number == signal.SIGINT:
            self.force_exit = True
        if not self.should_exit:
            end_process_after(FORCED_STOP, self.clean_up)
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await asyncio.sleep(LAST_CALL)
        await super().shutdown(sockets)
        if self.force_exit:  # uvicorn has left both to the end of its event loop, which logs them as failures
            for task in self.server_state.tasks:
                task.cancel()
            await self.lifespan.shutdown()
