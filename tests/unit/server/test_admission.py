"""Keys: where they are written, when they change, what the head of a request decides, and how often one may ask."""

import asyncio
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.server import admission
from nmt_cli.server.admission import (
    Admission,
    Key,
    KeyFile,
    Limits,
    RequestCounter,
    RequestError,
    name_network,
    parse_keys,
)
from nmt_cli.server.service import Service
from support.served import Client, connect, make_head, make_pool, read_all, serve_on_port, wait_until

VALUES = {"q": "hello", "source": "en", "target": "de"}
BEARER = {"Authorization": "Bearer secret"}


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


def make_client(*keys: Key, log: Any = print, **options: Any) -> Client:
    return Client(Service(make_pool()[0], admission=Admission(keys, **options), log=log))


def test_keys_have_names_and_rates() -> None:
    text = "alice s3#ret 60  # of the office\n\n# nobody\nbob t0ken\n"
    keys = [Key("alice", "s3#ret", 60), Key("bob", "t0ken")]
    assert (
        parse_keys(text, "keys.txt") == parse_keys(text.replace("\n", ",\n"), "NMT_API_KEYS", has_commas=True) == keys
    )
    several = parse_keys("lonely, 1234", "NMT_API_KEYS", has_commas=True)
    assert several == [Key("key 1", "lonely"), Key("key 2", "1234")]
    numbers = ("many", "0", "-5", "60 9")
    for wrong in ("s3cret", "a,s3cret,60", "a, s3cret, 60", "a s3cret, b t0ken", *(f"a s3cret {n}" for n in numbers)):
        with pytest.raises(DataError, match=r"^keys\.txt, line 2: ") as raised:
            parse_keys(f"bob t0ken\n{wrong}", "keys.txt")
        assert "s3cret" not in raised.value.message
    with pytest.raises(DataError):  # whose name, or key, is missing
        parse_keys("alice s3cret, bob", "NMT_API_KEYS", has_commas=True)


def test_a_file_of_keys_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path, told = tmp_path / "keys.txt", list[str]()
    path.write_text("alice old\n")
    client = make_client(file=KeyFile(path, told.append))

    def ask(key: str) -> int:
        return client.post("/translate", json={**VALUES, "api_key": key}).status_code

    assert (ask("old"), ask("new"), ask("")) == (200, 403, 403)
    (tmp_path / "next").write_text("alice new\n")
    (tmp_path / "next").replace(path)
    assert (ask("old"), ask("new")) == (403, 200)
    for damage in (lambda: path.write_text("a b c d"), lambda: path.write_bytes(b"\xff"), path.unlink):
        damage()
        assert (ask("old"), ask("new"), ask("new")) == (403, 200, 200)
    assert len(told) == 3 and all("the server keeps the old keys" in line for line in told)
    path.write_text("")
    assert (ask("new"), ask("")) == (403, 403)  # a file without keys lets nobody in


def test_a_file_of_keys_that_is_missing_or_damaged_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        KeyFile(tmp_path / "none", print)
    (tmp_path / "damaged").write_text("a b c d")
    with pytest.raises(DataError):
        KeyFile(tmp_path / "damaged", print)


def test_a_log_names_the_key_and_never_contains_it() -> None:
    lines: list[str] = []
    client = make_client(Key("alice", "secret"), log=lines.append)
    assert client.post("/translate", json=VALUES, headers=BEARER).status_code == 200
    assert client.post("/translate", json={**VALUES, "api_key": "secret"}).status_code == 200
    assert client.post("/translate", json={**VALUES, "api_key": "wrong"}).status_code == 403
    assert [line.endswith("  alice") for line in lines] == [True, True, False]
    assert not any("secret" in line for line in lines)


WRONG = "Authorization: Bearer wrong"
LARGE = "Content-Length: 40000000"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/translate", ["Content-Length: 100", WRONG]),
        ("/translate", ["Transfer-Encoding: chunked", WRONG]),
        ("/translate?api_key=wrong", ["Content-Length: 100"]),
        ("/v2/translate", ["Content-Length: 100", "Authorization: DeepL-Auth-Key wrong"]),
        ("/MTRestService/TranslateJson?tokenCode=wrong", ["Content-Length: 100"]),
        ("/translate_file", [LARGE]),
        ("/translate_file", [LARGE, WRONG]),
        ("/translate_file", ["Transfer-Encoding: chunked"]),
    ],
)
def test_a_key_that_the_head_decides_is_refused_before_the_body(path: str, headers: list[str]) -> None:
    service = Service(make_pool()[0], Limits(linger_seconds=0.1), Admission([Key("alice", "secret")]))
    with serve_on_port(service) as (url, _), connect(url) as connection:
        connection.sendall(make_head(path, *headers))  # and nothing of the body
        assert read_all(connection).startswith(b"HTTP/1.1 403 ")


def test_a_large_document_needs_its_key_in_the_head() -> None:
    def send(size: int, **options: Any) -> int:
        admission = Admission([Key("alice", "secret")])
        client = Client(Service(make_pool()[0], Limits(body=2_000), admission))
        return client.post(
            "/translate_file", files={"file": ("a.txt", b"hello\n" * (size // 6))}, **options
        ).status_code

    form = {"source": "en", "target": "de", "api_key": "secret"}
    assert send(600, data=form) == 200
    assert send(6_000, data=form) == 403
    assert send(6_000, data=form, headers=BEARER) == 200
    assert send(6_000, data=form, params={"api_key": "secret"}) == 200


def test_requests_above_the_rate_wait() -> None:
    clock = Clock()
    client = make_client(Key("alice", "secret"), Key("bob", "other", 1), rate=2, clock=clock)

    def ask(key: str) -> tuple[int, str | None]:
        answer = client.post("/translate", json=VALUES, headers={"Authorization": f"Bearer {key}"})
        return answer.status_code, answer.headers.get("retry-after")

    assert [ask("secret") for _ in range(3)] == [(200, None), (200, None), (429, "30")]
    assert [ask("other"), ask("other")] == [(200, None), (429, "60")]
    assert [ask("wrong") for _ in range(3)] == [(403, None), (403, None), (429, "30")]  # as an address
    answer = client.post("/translate", json={**VALUES, "api_key": "secret"})  # whose key would be in the body
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    clock.time += 30
    assert [ask("secret"), ask("secret")] == [(200, None), (429, "30")]
    assert client.get("/health").status_code == 200


def test_an_address_has_a_rate_where_no_key_is_needed() -> None:
    client = make_client(rate=1, clock=Clock())
    assert client.post("/translate", json=VALUES).status_code == 200
    assert client.post("/v2/translate", json={"text": "a", "target_lang": "DE"}).status_code == 429
    assert client.post("/page/translate", json=VALUES).status_code == 429


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::1", True),
        ("", "192.0.2.1", False),
    ],
)
def test_addresses_of_one_network_count_together(one: str, other: str, is_same: bool) -> None:
    assert (name_network(one) == name_network(other)) == is_same


def test_the_memory_of_callers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "REMEMBERED_CALLERS", 3)
    counter = RequestCounter(Clock())
    for number in range(10):
        counter.count(str(number), 1)
    assert [*counter.allowances] == ["7", "8", "9"]
    with pytest.raises(RequestError):
        counter.count("9", 1)


# Limits: bodies, lines and answers that are too large, too many or too slow.


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
