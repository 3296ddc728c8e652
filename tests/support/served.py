"""A server of fake models: in this process, or on a port in a thread."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from nmt_cli.api.translator import Translator
from nmt_cli.languages.codes import find_language
from nmt_cli.server.admission import Limits, Rules
from nmt_cli.server.batching import Batcher
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.run import PatientServer, make_application, make_server, open_port
from nmt_cli.server.service import Service
from support.fakes import FakeTranslator, fake_loaded, make_card

DIRECTIONS = (("eng", "deu"),)
HOSTS = frozenset({"localhost"})


def make_pool(
    *directions: tuple[str, str], memory_limit: int | None = None, **fake: Any
) -> tuple[ModelPool, dict[Path, FakeTranslator]]:
    """A pool of fake models, and the fakes that were loaded, by directory."""
    loaded: dict[Path, FakeTranslator] = {}

    def open_model(path: Path) -> Translator:
        card = next(model.card for model in models if model.directory == path)
        loaded[path] = FakeTranslator(card, **fake)
        return fake_loaded(loaded[path])

    models = [
        ServedModel(
            Path(f"{source}-{target}"),
            make_card(source, target),
            find_language(source),
            find_language(target),
            size=100,
        )
        for source, target in directions or DIRECTIONS
    ]
    return ModelPool(models, open_model, memory_limit), loaded


def make_rules(limits: Limits, *, cors: bool = False) -> Rules:
    return Rules(HOSTS, cors, limits)


class Client:
    """Sends requests to an application in this process; each call returns the response."""

    def __init__(self, service: Service | None = None, *, cors: bool = False, base: str = "http://localhost") -> None:
        self.service = service or Service(make_pool()[0])
        self.application = make_application(self.service, make_rules(self.service.limits, cors=cors))
        self.base = base
        self.address = "127.0.0.1"  # from which it asks

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return asyncio.run(self.send(method, path, **options))

    async def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self.application, client=(self.address, 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
            response = await client.request(method, path, **options)
        self.renew_batcher()
        return response

    def renew_batcher(self) -> None:
        """Replaces the batcher, whose workers belong to the event loop of one request."""
        service = self.service
        service.batcher.close()
        service.batcher = service.threads.batcher = Batcher(service.pool, service.limits)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def ask(self, path: str, **values: Any) -> Any:
        """The answer to a JSON request."""
        response = self.post(path, json=values)
        assert response.status_code == 200, response.text
        return response.json()


@contextmanager
def serve_on_port(service: Service | None = None, **options: Any) -> Iterator[tuple[str, PatientServer]]:
    """The address of a server on a free port, run by a thread, and the server."""
    service = service or Service(make_pool()[0])
    application = make_application(service, make_rules(service.limits, **options))
    listener = open_port("127.0.0.1", 0)
    server = make_server(application, service.limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", server
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def connect(url: str) -> socket.socket:
    """A connection to a server."""
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def read_all(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    data = b""
    while part := connection.recv(65536):
        data += part
    return data


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether a condition comes to hold."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def make_head(path: str, *headers: str) -> bytes:
    """The head of a POST."""
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()
