"""What of a connection is kept, when it ends, and who still gets an answer."""

import asyncio
import re
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from nmt_cli.server.admission import Limits
from nmt_cli.server.connections import AHEAD, PatientProtocol
from nmt_cli.server.run import make_application, make_server
from nmt_cli.server.service import Service
from nmt_cli.translation.result import Translation
from support.fakes import louder
from support.served import connect, make_head, make_pool, make_rules, read_all, serve_on_port, wait_until

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
BODY = b'{"q": "hello", "source": "en", "target": "de"}'
READ_AT_ONCE = 256 * 1024  # bytes that asyncio reads of a socket


def list_statuses(answers: bytes) -> list[bytes]:
    return re.findall(rb"HTTP/1.1 (\d+)", answers)


class FakeTransport(asyncio.Transport):
    """A connection whose client takes `window` bytes of its answers."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window
        self.written = b""
        self.reads = True
        self.protocol: Any = None

    def write(self, data: bytes) -> None:
        self.written += data
        if len(self.written) > self.window:
            self.protocol.pause_writing()

    def get_write_buffer_size(self) -> int:
        return max(0, len(self.written) - self.window)

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...

    def abort(self) -> None: ...


@pytest.mark.parametrize("window", [0, 1 << 40], ids=["a client that reads nothing", "a client that reads"])
def test_requests_sent_ahead_wait_with_the_client(window: int) -> None:
    service = Service(make_pool()[0])
    application = make_application(service, make_rules(service.limits))

    async def flood() -> int:
        config: uvicorn.Config = make_server(application, service.limits).config
        config.load()
        transport = FakeTransport(window)
        protocol: Any = config.http_protocol_class(config, ServerState(), {})  # type: ignore[call-arg, operator]
        transport.protocol = protocol
        protocol.connection_made(transport)
        most = 0
        for _ in range(3_000):
            if transport.reads:
                protocol.data_received(HEALTH * (READ_AT_ONCE // len(HEALTH)))
            most = max(most, len(protocol.conn.trailing_data[0]))
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        assert (transport.written.count(b"200 OK") > 100) == bool(window)
        return most

    assert asyncio.run(flood()) <= AHEAD + READ_AT_ONCE


def test_requests_sent_ahead_are_answered_in_order() -> None:
    heads = [make_head("/translate", f"Content-Length: {len(BODY)}") + BODY, HEALTH, make_head("/detect"), LAST]
    with serve_on_port() as (url, _), connect(url) as connection:
        connection.sendall(b"".join(heads))
        assert list_statuses(read_all(connection)) == [b"200", b"200", b"400", b"200"]


REFUSED = {  # by status: a request of which a part is still to come
    "slow": (408, make_head("/translate", "Content-Length: 100000")),
    "slow chunks": (408, make_head("/translate", "Transfer-Encoding: chunked")),
    "unknown path": (404, make_head("/nope", "Content-Length: 100000")),
    "method": (405, make_head("/health", "Content-Length: 100000")),
    "foreign name": (403, make_head("/translate", "Content-Length: 100000").replace(b"localhost", b"evil.example")),
    "too large": (413, make_head("/translate", "Content-Length: 100000000")),
    "too large, unless told to go on": (
        413,
        make_head("/translate", "Content-Length: 100000000", "Expect: 100-continue"),
    ),
    "two lengths": (400, make_head("/translate", "Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n"),
    "no HTTP": (400, b"GET /health\r\n\r\n"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_request_that_is_not_read_to_its_end_ends_the_connection(case: str) -> None:
    status, head = REFUSED[case]
    service = Service(make_pool()[0], Limits(body_seconds=0.1, linger_seconds=0.1))
    with serve_on_port(service) as (url, server), connect(url) as connection:
        connection.sendall(head + HEALTH[:1])
        answer = read_all(connection)  # to the end, though the client may still send
        assert list_statuses(answer) == [b"%d" % status]
        assert b"\r\nconnection: close\r\n" in answer.lower()
        assert wait_until(lambda: not server.server_state.connections)


def test_a_refused_client_that_goes_on_sending_can_read_why() -> None:
    with serve_on_port() as (url, _), connect(url) as connection:
        connection.sendall(make_head("/nope", "Content-Length: 1000000") + bytes(100_000))
        connection.sendall(bytes(900_000))
        assert list_statuses(read_all(connection)) == [b"404"]


@pytest.mark.parametrize("connection_header", ["keep-alive", "close"])
def test_a_client_that_closes_its_half_gets_its_answers(connection_header: str) -> None:
    head = make_head("/translate", f"Content-Length: {len(BODY)}", f"Connection: {connection_header}")
    with serve_on_port(Service(make_pool(seconds_per_line=0.2)[0])) as (url, server), connect(url) as connection:
        connection.sendall(HEALTH + head + BODY)
        connection.shutdown(socket.SHUT_WR)
        answer = read_all(connection)
        assert answer.endswith(b'{"translatedText":"HELLO"}')
        assert [status for status in list_statuses(answer) if status != b"100"] == [b"200", b"200"]
        assert wait_until(lambda: not server.server_state.connections)


def test_a_connection_that_has_ended_is_looked_at_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, look = list[bool](), PatientProtocol.look_for_client

    def look_and_tell(self: PatientProtocol) -> None:
        look(self)
        looks.append(self.transport.is_closing())

    monkeypatch.setattr(PatientProtocol, "look_for_client", look_and_tell)
    with serve_on_port(Service(make_pool(seconds_per_line=0.2)[0])) as (url, _), connect(url) as connection:
        connection.sendall(make_head("/translate", f"Content-Length: {len(BODY)}") + BODY)
        connection.shutdown(socket.SHUT_WR)
        read_all(connection)
        assert wait_until(lambda: looks[-1:] == [True])


@pytest.mark.parametrize("sent", [b"", HEALTH[:20], make_head("/translate", "Content-Length: 100") + b"{"])
def test_a_client_that_closes_its_half_in_a_request_ends_the_connection(sent: bytes) -> None:
    with serve_on_port() as (url, server), connect(url) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == b""
        assert wait_until(lambda: not server.server_state.connections)


def close_half_first(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_WR)
    connection.close()


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("leave", [socket.socket.close, close_half_first, reset])
def test_nothing_is_translated_for_a_client_that_has_gone(leave: Callable[[socket.socket], None]) -> None:
    """The first request occupies the model; the second is given up before its turn comes."""
    gate = threading.Event()
    seen: list[str] = []

    def wait(text: str) -> Translation:
        seen.append(text)
        gate.wait(10)
        return louder(text)

    pool, _ = make_pool(rule=wait)
    with serve_on_port(Service(pool)) as (url, server), connect(url) as first:
        first.sendall(make_head("/translate", f"Content-Length: {len(BODY)}", "Connection: close") + BODY)
        assert wait_until(lambda: bool(seen))
        second = connect(url)
        body = BODY.replace(b"hello", b"gone")
        second.sendall(make_head("/translate", f"Content-Length: {len(body)}") + body)
        assert wait_until(lambda: len(server.server_state.tasks) == 2)
        leave(second)
        assert wait_until(lambda: len(server.server_state.connections) == 1)
        gate.set()
        assert read_all(first).endswith(b'{"translatedText":"HELLO"}')
    assert seen == ["hello"]
