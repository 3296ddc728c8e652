"""Limits: bodies, lines and answers that are too large, too many or too slow."""

import asyncio
import socket
import time
from contextlib import suppress

from nmt_cli.server.admission import Limits
from nmt_cli.server.service import Service
from support.served import Client, connect, make_pool, read_all, serve_on_port, wait_until

VALUES = {"q": "hello", "source": "en", "target": "de"}


def test_a_text_of_a_form_may_be_as_large_as_a_request() -> None:
    text = "1" * 1_900_000  # the library's own limit is 1 MB
    values = {**VALUES, "q": text}
    client = Client()
    assert client.post("/translate", data=values).json()["translatedText"] == text
    parts = {name: (None, value) for name, value in values.items()}
    assert client.post("/translate", files=parts).json()["translatedText"] == text


def test_a_large_body_is_refused_whether_it_says_so_or_not() -> None:
    client = Client(Service(make_pool()[0], Limits(body=100)))
    assert client.post("/translate", json={**VALUES, "q": "a" * 200}).status_code == 413

    async def send_parts() -> int:
        async def parts() -> object:  # type: ignore[misc]
            for _ in range(50):
                yield b"aaaaaaaaaa"

        response = await client.send("POST", "/translate", content=parts())
        return response.status_code

    assert asyncio.run(send_parts()) == 413


def test_too_many_lines_and_too_many_waiting_lines_have_their_status() -> None:
    client = Client(Service(make_pool()[0], Limits(lines=3)))
    assert client.post("/translate", json={**VALUES, "q": ["a"] * 4}).status_code == 413
    assert client.post("/translate", json={**VALUES, "q": ["<p>a</p>"] * 4, "format": "html"}).status_code == 413
    assert client.post("/detect", json={"q": ["a"] * 4}).status_code == 413
    busy = Client(Service(make_pool()[0], Limits(waiting=3))).post("/translate", json={**VALUES, "q": ["a"] * 4})
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "2")


def test_a_text_that_takes_too_long_is_given_up() -> None:
    client = Client(Service(make_pool(seconds_per_line=0.5)[0], Limits(seconds=0.05)))
    assert client.post("/translate", json=VALUES).status_code == 503


def test_a_client_that_sends_slowly_is_cut_off() -> None:
    service = Service(make_pool()[0], Limits(head_seconds=0.3, body_seconds=0.3))
    with serve_on_port(service) as (url, _):
        with connect(url) as silent, connect(url) as slow_head, connect(url) as slow_body:
            slow_head.sendall(b"GET /health HTTP/1.1\r\nHost: local")
            slow_body.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            begun = time.monotonic()
            assert read_all(silent) == b""
            assert read_all(slow_head) == b""
            slow_body.settimeout(5)
            assert b" 408 " in slow_body.recv(65536)
            assert time.monotonic() - begun < 5


def test_a_client_that_does_not_read_is_cut_off_and_never_delays_the_end() -> None:
    """Several answers are asked for at once, so that they fill the buffers of the system."""
    service = Service(make_pool()[0], Limits(answer_seconds=0.3))
    body = b'{"source": "en", "target": "de", "q": "%s"}' % (b"1" * 1_900_000)
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serve_on_port(service) as (url, server), socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = url.removeprefix("http://").partition(":")
        connection.connect((host, int(port)))
        connection.settimeout(5)
        with suppress(OSError):
            for _ in range(20):
                connection.sendall(head + body)
        assert wait_until(lambda: not server.server_state.connections)


def test_a_client_that_reads_slowly_gets_all_of_its_answer() -> None:
    service = Service(make_pool()[0], Limits(answer_seconds=0.5))
    body = b'{"source": "en", "target": "de", "q": "%s"}' % (b"1" * 1_900_000)
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serve_on_port(service) as (url, _), connect(url) as connection:
        connection.sendall(head + body)
        size = 0
        for _ in range(10):
            size += len(connection.recv(20_000))
            time.sleep(0.1)
        size += len(read_all(connection))
    assert size > 1_900_000
